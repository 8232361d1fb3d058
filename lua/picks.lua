-- picks: which candidates a problem has, remembered between the calls of a campaign once it is done.
--
-- Choosing and rendering them takes a tenth of a second, a campaign has thousands of problems, and most of
-- its calls find most of them done. The candidates are a function of the specs, the templates, loom's own
-- Lua and some knobs: a hash of all these names the folder. A problem's file in it lists the key's hash and
-- the source's of every candidate; whether those were measured is not said here, the store knows. What KEYS lists for
-- the problem is part of its file's name: a line more for one problem is no reason to choose anew for the others.

local compile = require "compile"
local emit = require "emit"
local outdir = require "outdir"
local select_ = require "select"

local picks = {}

local Picks = {}
Picks.__index = Picks

-- Folders and files that decide what is chosen and what its text is.
local function sources()
  local templates = emit.dir or host.root .. "/templates"
  local parts = { compile.texts(templates, "%.cuh?$"), compile.texts(host.root .. "/lua", "%.lua$"),
                  compile.texts(host.root .. "/spaces", "%.lua$") }
  if host.stat(templates .. "/lib") then parts[#parts + 1] = compile.texts(templates .. "/lib", "%.c?u?h$") end
  return table.concat(parts, "\0")
end

-- A spec of the user's own may have a base anywhere: those are chosen from anew in every call.
local function own_files(names)
  for _, name in ipairs(names or {}) do
    if name:find("[/.]") then return true end
  end
  return false
end

-- The memory of candidates for a run with `opt`; one that remembers nothing where a spec is the user's own.
function picks.open(opt)
  if own_files(opt.space) then return setmetatable({}, Picks) end
  local knobs = { host.version, opt.device.name, tostring(opt.n), table.concat(opt.space or { "-" }, ","),
                  opt.key or "-", sources() }
  local stamp = host.sha256(table.concat(knobs, "\0")):sub(1, 16)
  return setmetatable({ dir = outdir.path(opt, "cache/picks/" .. stamp), opt = opt }, Picks)
end

local function listed(opt, problem)
  if not opt.keys then return "" end
  local keys = {}
  for i, entry in ipairs(select_.listed(problem, opt)) do keys[i] = entry.key end
  return "-" .. host.sha256(table.concat(keys, "\n")):sub(1, 16)
end

local function path_of(self, p)
  return string.format("%s/%dx%dx%d-%s-%s-%s%s", self.dir, p.M, p.N, p.K, p.layout, p.dtype, p.acc, listed(self.opt, p))
end

-- {hash, source} of each candidate; nil where nothing is remembered, or the file was cut short.
function Picks:recall(problem)
  local text = self.dir and host.read(path_of(self, problem))
  local count = text and text:match("^picks 1 (%d+)\n")
  if not count then return nil end
  local list = {}
  for hash, source in text:gmatch("\n(%x+) (%x+)") do list[#list + 1] = { hash = hash, source = source } end
  return #list == tonumber(count) and #list > 0 and list or nil
end

-- Remembers rendered kernels. A folder that cannot be written to costs time only.
function Picks:keep(problem, kernels)
  if not self.dir then return end
  local lines = { string.format("picks 1 %d\n", #kernels) }
  for i, kernel in ipairs(kernels) do
    lines[i + 1] = string.format("%s %s\n", kernel.hash, host.sha256(kernel.text))
  end
  host.write(path_of(self, problem), table.concat(lines))
end

return picks
