-- release_tree: the files of a release folder, as texts, and how they get there.
--
-- templates/release/ holds what is the same in every release; @NAME@ stands for a word of this one.
-- src/table.c, INDEX.tsv and kernels/ are made here. The files that differ are all written beside
-- their places first, so that a full disk leaves the old release whole; then they are renamed,
-- INDEX.tsv last: a folder whose INDEX is new is complete.

local build = require "build"
local fail = require "fail"
local index = require "release_index"

local tree = {}

-- Copied as they are: from templates/release/, from gen/, from templates/lib/.
local STATIC = {
  "Makefile", "README.md", "loom.h", "src/loom.c", "src/lookup.c", "src/lookup.h", "src/loom.map",
  "example/example.c", "example/example.h", "example/data.c", "example/check.c", "example/timing.c",
}
local LAUNCHER = { "desc.c", "desc.h", "legal.c", "legal.h", "launch.c", "launch.h" }

local function need(path)
  local text, err = host.read(path)
  return text or fail(err)
end

local function words_of(rows, kernels, device, nvcc)
  return {
    DEVICE = device.name, TITLE = device.title, ARCH = device.arch,
    FLAGS = table.concat(build.flags(device.arch), " "),
    NVCC = nvcc, PROBLEMS = tostring(#rows), KERNELS = tostring(#kernels),
  }
end

local function filled(name, text, words)
  return (text:gsub("@(%u+)@", function(word)
    return words[word] or error("templates/release/" .. name .. ": no word @" .. word .. "@")
  end))
end

-- ------------------------------------------------------------------------------- table.c

-- lookup_hash of templates/release/src/lookup.c.
local function hash(row)
  local h = index.type(row) * 4 + index.layout(row)
  for _, part in ipairs { row.m, row.n, row.k } do
    h = (h ~ part) * 0x9e3779b97f4a7c15
    h = h ~ (h >> 29)
  end
  return h
end

-- Slots of the hash table: row numbers from 1, 0 for empty; at most half of them are taken.
function tree.slots(rows)
  local count = 2
  while count < 2 * #rows do count = count * 2 end
  local slots = {}
  for i = 1, count do slots[i] = 0 end
  for i, row in ipairs(rows) do
    local at = hash(row) & (count - 1)
    while slots[at + 1] ~= 0 do at = (at + 1) & (count - 1) end
    slots[at + 1] = i
  end
  return slots
end

local function quoted(text)
  return '"' .. text:gsub("\n$", ""):gsub('[\\"]', "\\%0") .. '"'
end

local LAYOUT_IDS = { [0] = "NN", "TN", "NT", "TT" }
local TYPE_IDS = { [0] = "F16", "BF16", "F16_SUM16" }

local function figure(v)
  return string.format("%.6g", v or 0)
end

local function row_text(row, number)
  return string.format(
    '    {{LOOM_LAYOUT_%s, LOOM_TYPE_%s, %d, %d, %d, "%s", %s, %s, %s, %s, %s, %s, %s, %d}, %d},',
    LAYOUT_IDS[index.layout(row)], TYPE_IDS[index.type(row)], row.m, row.n, row.k, row.stem,
    figure(row.us), figure(row.us_pdl), figure(row.cublas_us), figure(row.ratio),
    figure(row.ratio_lo), figure(row.ratio_hi), figure(row.ratio_pdl),
    row.cublas_math == "strict" and 1 or 0, number)
end

local TABLE_HEAD = [[
/* table.c - the problems of this release, their kernels and the hash table
**
** Written by `loom release`. The cubins are taken in by the assembler, which
** finds them in the folder given by -Wa,-I.
*/
#include "lookup.h"

#define CUBIN(i, stem)                                                                             \
  extern const unsigned char table_cubin_##i[] __attribute__((visibility("hidden")));              \
  extern const unsigned char table_end_##i[] __attribute__((visibility("hidden")));                \
  __asm__(".section .rodata\n.balign 64\ntable_cubin_" #i ":\n.incbin \"" stem ".cubin\"\n"        \
          "table_end_" #i ":\n.byte 0\n.previous\n")

]]

-- rows sorted, kernels sorted by stem.
function tree.table_c(rows, kernels)
  local number, out = {}, { TABLE_HEAD }
  local function add(text, ...)
    out[#out + 1] = string.format(text, ...)
  end
  for i, kernel in ipairs(kernels) do
    number[kernel.stem] = i - 1
    add('CUBIN(%d, "%s");\n', i - 1, kernel.stem)
  end
  add("\nstatic const struct lookup_kernel kernels[] = {\n")
  for i, kernel in ipairs(kernels) do
    add('    {"%s",\n     %s,\n     table_cubin_%d, table_end_%d},\n', kernel.stem,
        quoted(kernel.desc), i - 1, i - 1)
  end
  add("};\n\n/* layout, type, m, n, k, kernel, us, us_pdl, cublas_us, ratio, lo, hi, ratio_pdl, strict */\n"
      .. "static const struct lookup_row rows[] = {\n")
  for _, row in ipairs(rows) do add("%s\n", row_text(row, number[row.stem])) end
  local slots = tree.slots(rows)
  add("};\n\nstatic const uint32_t slots[] = {")
  for i, slot in ipairs(slots) do
    add("%s%d%s", i % 16 == 1 and "\n    " or " ", slot, i < #slots and "," or "")
  end
  add("};\n\nconst struct lookup lookup_table = {rows, kernels, slots, %d, %d, %d};\n", #rows,
      #kernels, #slots - 1)
  return table.concat(out)
end

-- ------------------------------------------------------------------------------- all files

local function sums(kernels)
  local lines = {}
  for i, kernel in ipairs(kernels) do
    lines[i] = string.format("%s  %s.cubin\n", kernel.built.cubin_sha, kernel.stem)
  end
  return table.concat(lines)
end

-- {name, text} of every file, in the order in which they get their places; `nvcc` is the version
-- that made these cubins.
function tree.files(rows, kernels, device, nvcc)
  local from, files = host.root .. "/templates/", {}
  local words = words_of(rows, kernels, device, nvcc)
  local function add(name, text)
    files[#files + 1] = { name, text }
  end
  for _, kernel in ipairs(kernels) do
    add("kernels/" .. kernel.stem .. ".cu", kernel.text)
    add("kernels/" .. kernel.stem .. ".json", kernel.desc)
  end
  for _, name in ipairs(host.list(from .. "lib") or {}) do
    if name:find("%.c?u?h$") then add("kernels/" .. name, need(from .. "lib/" .. name)) end
  end
  add("kernels/SHA256SUMS", sums(kernels))
  for _, name in ipairs(STATIC) do add(name, filled(name, need(from .. "release/" .. name), words)) end
  for _, name in ipairs(LAUNCHER) do add("src/" .. name, need(host.root .. "/gen/" .. name)) end
  add("LICENSE", need(host.root .. "/LICENSE"))
  add(".gitignore", "/build/\n")
  add("src/table.c", tree.table_c(rows, kernels))
  add("INDEX.tsv", index.text(rows))
  return files
end

-- Kernels of an earlier release: ours by their name and by the hash their head states.
local function remove_stale(dir, kernels)
  local keep, removed = {}, 0
  for _, kernel in ipairs(kernels) do keep[kernel.stem] = true end
  for _, name in ipairs(host.list(dir) or {}) do
    local stem, hex = name:match("^([%w_.-]+%-(%x+))%.cu$")
    local text = stem and not keep[stem] and #hex == 12 and host.read(dir .. "/" .. name)
    if text and text:find("\n// hash  " .. hex .. " ", 1, true) then
      host.remove(dir .. "/" .. stem .. ".json")
      host.remove(dir .. "/" .. name)
      removed = removed + 1
    end
  end
  return removed
end

local function give_up(paths, err)
  for _, path in ipairs(paths) do host.remove(path .. ".new") end
  fail(err)
end

-- Writes what differs of the files beside their places; the paths to rename.
local function write_beside(dir, files)
  local paths = {}
  for _, file in ipairs(files) do
    local path = dir .. "/" .. file[1]
    if not host.stat(path) or host.read(path) ~= file[2] then
      paths[#paths + 1] = path
      local wrote, err = host.write(path .. ".new", file[2])
      if wrote == nil then give_up(paths, err) end
    else
      host.remove(path .. ".new") -- of a release that was killed
    end
  end
  return paths
end

-- Writes the files into `dir`; how many changed, and how many kernels of before are gone.
function tree.write(dir, files, kernels)
  local paths = write_beside(dir, files)
  for _, path in ipairs(paths) do
    local ok, err = host.rename(path .. ".new", path)
    if not ok then give_up(paths, err) end
  end
  return #paths, remove_stale(dir .. "/kernels", kernels)
end

return tree
