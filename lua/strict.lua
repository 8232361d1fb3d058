-- strict: an undeclared global, read or written, is an error at once. Loaded first by main.lua.
-- `host`, the table of the C host, is the only global of our own and exists before this runs.

local function refuse(_, name)
  error(string.format("undeclared global '%s'", tostring(name)), 2)
end

setmetatable(_G, { __index = refuse, __newindex = refuse })
