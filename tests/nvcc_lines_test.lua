-- nvcc_lines_test.lua -- the real nvcc and the lines of templates: its errors name them, with LINES=1 and
-- without; #line changes no cubin; the template of the walk in templates/README.md compiles. No GPU.

local sh = require "tests_sh"

local function need_nvcc()
  local have = sh.run { "sh", "-c", "command -v nvcc || test -x /usr/local/cuda/bin/nvcc" }
  if have.code ~= 0 then skip("no nvcc on this machine") end
end

-- A copy of the project; returns its folder and a function that builds one kernel of a space.
local function project(name)
  need_nvcc()
  local dir = sh.tmpdir(name)
  for _, part in ipairs { "lua", "spaces", "templates" } do
    assert(sh.run({ "cp", "-r", host.root .. "/" .. part, dir .. "/" }).code == 0)
  end
  return dir, function(...)
    return sh.run({ sh.loom, "build", "SHAPE=1024x1024x1024", ... }, { cwd = dir, timeout = 300 })
  end
end

-- `text` with `fault` behind the line that begins with `behind`; the fault's line.
local function plant(text, behind, fault)
  local at = assert(text:find("\n" .. behind, 1, true)) + 1
  local to = assert(text:find("\n", at, true))
  local line = select(2, text:sub(1, to):gsub("\n", "")) + 1
  return text:sub(1, to) .. fault .. "\n" .. text:sub(to + 1), line
end

local FAULTS = { -- template, the line before it, what is planted, what nvcc says
  { "simt", "  grid_dep_wait();", "  int q = undefined_thing;", 'identifier "undefined_thing" is undefined' },
  { "mma", "      if (n >= N)", "      static_assert(frags_m > 100, \"planted\");", "static assertion failed" },
  { "simt", "  grid_dep_wait();", "#error planted", "#error planted" }, -- the preprocessor's own form
  { "wgmma", "    //@ first, step =", "    q = 1;", 'identifier "q" is undefined' },
}

local function errors()
  local dir, build = project "nvcc lines"
  for _, fault in ipairs(FAULTS) do
    local path = dir .. "/templates/" .. fault[1] .. ".cu"
    local good = assert(host.read(path))
    local bad, line = plant(good, fault[2], fault[3])
    assert(host.write(path, bad))
    local knobs = { "SPACE=" .. (fault[1] == "wgmma" and "hopper" or fault[1]), "LAYOUT=tn", "N=1", "SHAPE=4096x4096x4096" }
    local function said(want, ...)
      local run = sh.run({ sh.loom, "build", knobs[1], knobs[2], knobs[3], knobs[4], ... }, { cwd = dir, timeout = 300 })
      assert(run.code == 1 and run.output:find(want), want .. " is not in: " .. run.output)
    end
    local what = fault[4]:gsub("%p", "%%%0")
    said("%-%x+%.cu[(:]%d+%)?:[%d: ]*error: " .. what .. "[^\n]* %(templates/" .. fault[1] .. "%.cu:" .. line .. "%)")
    said("templates/" .. fault[1] .. "%.cu[(:]" .. line .. "%)?:[%d: ]*error: " .. what, "LINES=1")
    assert(host.write(path, good))
  end
  assert(build("SPACE=simt", "LAYOUT=tn", "N=1").code == 0)
  sh.remove(dir)
end

-- The cubins below a folder, sorted hashes.
local function cubins(dir)
  local run = sh.run { "sh", "-c", 'cd "$1" && sha256sum */*.cubin | cut -c1-64 | sort', "sh", dir .. "/out/cache" }
  assert(run.code == 0, run.output)
  return run.output
end

local function same_cubins()
  local dir, build = project "nvcc same"
  local knobs = { "SPACE=hopper,mma,simt", "LAYOUT=nn", "N=4" }
  local run = build(knobs[1], knobs[2], knobs[3])
  assert(run.code == 0, run.output)
  local plain = cubins(dir)
  sh.remove(dir .. "/out")
  run = build(knobs[1], knobs[2], knobs[3], "LINES=1")
  assert(run.code == 0, run.output)
  assert(#plain >= 4 * 65 and cubins(dir) == plain, "#line changes a cubin")
  sh.remove(dir)
end

local function walk()
  local dir, build = project "nvcc walk"
  local page = assert(host.read(dir .. "/templates/README.md"))
  assert(host.write(dir .. "/spaces/tiny.lua", page:match("\n```lua\n(.-\n)```\n")))
  assert(host.write(dir .. "/templates/tiny.cu", page:match("\n```cuda\n(.-\n)```\n")))
  local run = build("SPACE=tiny", "LAYOUT=nn,tn,nt,tt", "N=1")
  assert(run.code == 0 and run.output:find("4 kernels of ", 1, true), run.output)
  sh.remove(dir)
end

return {
  { name = "an error of nvcc names the template's line, with LINES=1 in its own words", run = errors },
  { name = "kernels with #line have the cubins of those without", run = same_cubins },
  { name = "the kernels of the walk \"write a template\" compile", run = walk },
}
