-- verbs_release: `loom release` prints what release.lua made.

local index = require "release_index"
local outdir = require "outdir"
local release = require "release"
local tab = require "tab"

local verbs = {}

local columns = { "problem", "ratio", "ratio pdl", "us", "us pdl", "cuBLAS us", "kernel" }

local function number(format, v)
  return v and string.format(format, v) or "-"
end

local function cells(row)
  return {
    problem = index.title(row), kernel = row.stem, ratio = number("%.3f", row.ratio),
    ["ratio pdl"] = number("%.3f", row.ratio_pdl), us = number("%.2f", row.us),
    ["us pdl"] = number("%.2f", row.us_pdl), ["cuBLAS us"] = number("%.2f", row.cublas_us),
  }
end

function verbs.release(opt)
  local made = release.run(opt)
  if not made then
    host.err("loom: interrupted: nothing was written\n")
    return 1
  end
  local rows, sum = {}, 0.0
  for i, row in ipairs(made.rows) do
    rows[i] = cells(row)
    sum = sum + math.log(row.ratio)
  end
  host.out(tab.format(rows, columns))
  local shown = outdir.shown(made.dir)
  host.out(string.format("\n%s: %d files changed, %d old kernels removed; `make -C %s run` builds, "
                         .. "checks and times it\n\n", shown, made.changed, made.removed, shown))
  host.out(string.format("geomean_ratio: %.3f x\nkernels: %d count\nrefused: %d count\n"
                         .. "problems: %d count\n", math.exp(sum / #rows), #made.kernels,
                         #made.refused, #rows))
  return #made.refused == 0 and 0 or 1
end

return verbs
