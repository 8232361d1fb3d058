-- reads: which parameters of a space its template reads. One that nothing reads multiplies the
-- candidates and not the kernels.
--
-- A template reads a name that its Lua mentions, in whatever branch, its includes as well, and what
-- the lets behind such a name are made of. Rules do not count: they choose, they write no text.

local luatok = require "luatok"

local reads = {}

-- Is the name at token i a key: { name = ... }? `inner` is the innermost bracket around it.
local function is_key(tokens, i, inner)
  local before, after = tokens[i - 1], tokens[i + 1]
  return inner == "{" and before.text:find("^[{,;]$") and after and after.text == "="
end

local OPENS, CLOSES = { ["("] = true, ["{"] = true, ["["] = true }, { [")"] = true, ["}"] = true, ["]"] = true }

-- The file that `include` at token i names; nil where it is computed.
local function included(tokens, i)
  local at = tokens[i + 1] and tokens[i + 1].text == "(" and i + 2 or i + 1
  local plain = tokens[at] and tokens[at].kind == "string" and (at == i + 1 or tokens[at + 1].text == ")")
  return plain and luatok.value(tokens[at]) or nil
end

-- Adds to `found` the names that template `name` mentions; false when it may read others as well.
local function scan(name, load_template, found, seen)
  if seen[name] then return true end
  seen[name] = true
  local ok, template = pcall(load_template, name)
  local tokens = ok and luatok.scan(template:lua())
  if not tokens then return false end
  local open = {}
  local from = 1
  while tokens[from].text ~= ";" do from = from + 1 end -- behind `local _ENV, __text = ...`
  for i = from + 1, #tokens do
    local token = tokens[i]
    if OPENS[token.text] then open[#open + 1] = token.text end
    if CLOSES[token.text] then open[#open] = nil end
    local field = token.kind ~= "name" or tokens[i - 1].text == "." or tokens[i - 1].text == ":"
    if not field and token.text == "include" then
      local file = included(tokens, i)
      if not file or not scan(file, load_template, found, seen) then return false end
    elseif not field and token.text == "_ENV" then
      return false
    elseif not field and not is_key(tokens, i, open[#open]) then
      found[token.text] = true
    end
  end
  return true
end

-- The givens and parameters that decide the names `found`.
local function decided_by(space, found)
  local read = {}
  for _, name in ipairs(space.order) do
    local entry = space.names[name]
    if found[name] and entry.kind == "let" then
      for _, root in ipairs(entry.roots) do read[root] = true end
    elseif found[name] then
      read[name] = true
    end
  end
  return read
end

-- A line for each parameter that is not read, at its statement, in declared order. load_template
-- gives the template object of a name.
function reads.unread(space, load_template)
  local found, out = {}, {}
  if not scan(space.template, load_template, found, {}) then return out end
  local read = decided_by(space, found)
  for _, param in ipairs(space.params) do
    local unread = {}
    for _, name in ipairs(param.names) do
      if not read[name] then unread[#unread + 1] = name end
    end
    local what = #unread == #param.names and "it: its values give the same kernel"
      or "'" .. table.concat(unread, "', '") .. "'"
    if #unread > 0 then
      out[#out + 1] = string.format("%s:%d: param '%s': the template does not read %s", param.st.file,
                                    param.st.line, param.name, what)
    end
  end
  return out
end

return reads
