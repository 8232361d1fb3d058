-- library: what the Lua of a template may call. Copies that nobody can change, without what gives
-- another text in another run: random numbers, and the addresses that tables and functions print as.

local library = {}

local function readonly(name, functions)
  return setmetatable({}, { __index = functions, __metatable = false, __newindex = function()
    error(string.format("'%s' is not to be changed", name), 2)
  end })
end

-- A copy of a library without some of its functions.
local function copy(from, without)
  local out = {}
  for name, value in pairs(from) do out[name] = value end -- order does not matter: a copy
  for _, name in ipairs(without) do out[name] = nil end
  return out
end

local function plain(value)
  local kind = type(value)
  return kind == "number" or kind == "string" or kind == "boolean" or kind == "nil"
end

local function safe_tostring(value)
  if plain(value) then return tostring(value) end
  error(string.format("a %s has no text", type(value)), 2)
end

local strings = copy(string, { "dump" })

function strings.format(text, ...)
  if type(text) == "string" and text:gsub("%%%%", ""):find("%%[-%d]*p") then
    error("'%p' prints an address", 2)
  end
  for i = 1, select("#", ...) do
    if not plain((select(i, ...))) then
      error(string.format("a %s has no text", type((select(i, ...)))), 2)
    end
  end
  return string.format(text, ...)
end

-- An error has a text, which gets the template's line; level 2 is the macro's caller, farther up stands
-- nothing of the template's.
local function text_error(text, level)
  if type(text) ~= "string" then error("error wants a text", 2) end
  error(text, level == 0 and 0 or level and level ~= 1 and 3 or 2)
end

local function text_assert(value, text, ...)
  if value then return value, text, ... end
  error(type(text) == "string" and text or "assertion failed", 0)
end

-- The names, and what strings have for methods meanwhile.
library.names = {
  math = readonly("math", copy(math, { "random", "randomseed" })), string = readonly("string", strings),
  table = readonly("table", table), ipairs = ipairs, assert = text_assert, error = text_error,
  tostring = safe_tostring, select = select,
}
library.methods = { __index = strings, __metatable = false }

return library
