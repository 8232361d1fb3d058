-- fuzz_tmpl: what must hold of any template. Rendered or refused: a refusal is one line that begins with
-- the template's name and one of its lines; a rendered text has a line in the map for each of its own,
-- and comes out the same again. Run by fuzz_tmpl.c.

local NAME = "templates/fuzz.cu"

local INSTRUCTIONS = 5000 -- of one render
local OUTPUT = 1 << 20    -- bytes of heap that one may take
local OTHER = "//@ local deep = ...\nother $tile_m $(name) $$\n//@ if tile_m > 1 then\nx\n//@ end\n"

debug.setmetatable("", nil) -- string.find and its like may take for ever, and no hook runs in them

local function lines_of(text)
  local _, n = string.gsub(text, "\n", "")
  return n
end

-- What a template can name; `self` is the template, which may include itself a few times.
local function environment(self)
  local depth, env = 0, {}
  local values = { tile_m = 128, tile_n = 64, stages = 4, zero = 0, low = math.mininteger, name = "wgmma",
    empty = "", lines = "a\nb\n", yes = true, none = false, half = 0.5, list = { 1, 2, 3 },
    ipairs = ipairs, assert = assert, tostring = tostring, select = select,
    math = { min = math.min, max = math.max }, launch = function() end }
  function values.error(what) error(what, 2) end -- a higher level would be a place of this file
  function values.include(what)
    depth = depth + 1
    if depth > 4 then error("too deep", 2) end
    if what == "self" then self:run(env) else host.template("templates/other.cu", OTHER):run(env) end
    depth = depth - 1
  end
  return setmetatable(env, { __index = values,
    __newindex = function(_, name) error("cannot set '" .. tostring(name) .. "'", 2) end })
end

local function bounded(f, ...)
  debug.sethook(function() error("more than enough instructions", 2) end, "", INSTRUCTIONS)
  host.memory(OUTPUT * 8)
  local ok, a, b, c = pcall(f, ...)
  host.memory(0)
  debug.sethook()
  return ok, a, b, c
end

-- A refusal stands at a line of a template. Error objects of the template's own making pass.
local function check_refusal(err, lines)
  if type(err) ~= "string" or err == "not enough memory" then return end
  local name, line = string.match(err, "^(templates/%w+%.cu):(%d+): ")
  if not name then error("a refusal without a place: " .. err) end
  if name == NAME and (tonumber(line) < 1 or tonumber(line) > lines + 1) then
    error("a refusal outside of the text: " .. err)
  end
end

local function render(t)
  return bounded(function() return t:render(environment(t)) end)
end

return function(text)
  local lines = lines_of(text)
  local ok, t = pcall(host.template, NAME, text)
  if not ok then
    if type(t) ~= "string" then error("a refusal that is no text") end
    return check_refusal(t, lines)
  end
  local done, out, map, files = render(t)
  if not done then return check_refusal(out, lines) end
  if #map ~= lines_of(out) then error("the map has " .. #map .. " lines, the text " .. lines_of(out)) end
  for i, line in ipairs(map) do
    if not files or files[i] == NAME then
      if line < 1 or line > lines + 1 then error("output line " .. i .. " comes from line " .. line) end
    end
  end
  local again, same = render(t)
  if again and same ~= out then error("a second render differs") end
end
