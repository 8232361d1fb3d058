-- walls: what stands between a space file and the machine, each as the source has it, and how it is taken
-- out: the text (found exactly once in lua/<file>.lua) is replaced. A wall of several texts is a list.

local function out(file, find, put)
  return { { file = file, find = find, put = put or "" } }
end

return {
  -- what the text can reach
  words = out("room", "if words[name] then return words[name] end", "do return words[name] or rawget(_G, name) end"),
  globals = out("room", "__newindex = function(_, name)", "newindex = function(_, name)"),
  methods = out("room", [[debug.setmetatable("", nil)]]),
  text = out("room", [[CHUNK, "t", env]], [[CHUNK, "bt", env]]),
  ["env-keys"] = {
    { file = "room", find = [[if type(name) ~= "string" then refuse("the globals have no %s in them", type(name)) end]], put = "" },
    { file = "room", find = [[if type(name) ~= "string" then refuse("the globals take no %s", type(name)) end]], put = "" },
  },
  plain = out("room", "result.user = checks.plain(result.user)"),

  -- what it may take
  hook = out("room", "if now() > again then again = look(run) end", "do return end"),
  clock = out("room", "if now() > again then again = look(run) end"),
  parser = out("room", "pcall(load, pieces(run, text),", "pcall(load, text,"),
  memory = out("room", "  host.memory(bytes)\n", "  host.memory(bytes * 0)\n"),
  ["load-clock"] = out("room", "clock = clock(room.load_seconds)", "clock = clock(1000)"),
  bytes = out("space", "space.bytes = 1024 * 1024", "space.bytes = 1 << 40"),
  special = {
    { file = "space", find = [[if st and not st.file then refuse_file(path, "is no regular file") end]], put = "" },
    { file = "space", find = "local text, err = host.read(path, space.bytes)", put = "local text, err = host.read(path)" },
  },
  bases = out("space", "if #chain > space.bases then", "if false then"),
  statements = {
    { file = "dsl", find = "if #run.list >= dsl.statements then", put = "if false then" },
    { file = "inherit", find = "if #list >= dsl.statements then", put = "if false then" },
  },
  values = out("dsl", "dsl.values = 65536", "dsl.values = 1 << 40"),
  expressions = {
    { file = "dsl", find = "if st.run.expressions > dsl.expressions then", put = "if false then" },
    { file = "inherit", find = "elseif bytes > dsl.expressions then", put = "elseif false then" },
  },
  depth = out("expr", "local MAX_DEPTH = 64", "local MAX_DEPTH = 1 << 40"),
  lets = out("resolve", "if #sp.open > 100 then", "if false then"),

  -- what its words may hold
  value = out("checks", [[not string.find(value, "^[%w_.+-]+$")]], "false"),
  word = out("checks", [[elseif kind == "string" and #value > checks.word then]], "elseif false then"),
  name = out("dsl", [[not string.find(name, free and RULE_NAME or "^[%a_][%w_]*$")]], "false"),
  identifier = out("checks", [[not string.find(name, "^[%a_][%w_]*$")]], "false"),
  reserved = out("resolve", [[if RESERVED[name] or (PROBLEM[name] and entry.kind ~= "given") then]], "if false then"),
  forbid = out("resolve", [[if not entry then unknown(sp, st, name) end
  if entry.kind == "let" then refuse(st, "'%s' is a let: a forbid]], [[entry = entry or { type = "integer" }
  if entry.kind == "let" then refuse(st, "'%s' is a let: a forbid]]),
  search = out("duration", [["^(%d+)([smh]?)$"]], [["^(%d+)([smh]?)"]]),
  ["base-path"] = {
    { file = "dsl", find = [[not string.find(t[key], "^[%w_][%w_.-]*$")]], put = "false" },
    { file = "dsl", find = [[not string.find(name, free and RULE_NAME or "^[%a_][%w_]*$")]], put = "false" },
  },
  ["file-name"] = out("dsl", [[not string.find(t[key], "^[%w_][%w_.-]*$")]], "false"),
  control = out("checks", [[if string.find(text, "%c") or string.find(text, "\xc2[\x80-\x9f]") then]], "if false then"),
  backslash = out("checks", [[elseif string.find(text, "\\$") then]], "elseif false then"),
  utf8 = out("checks", [[if not utf8.len(text) then refuse(st, "%s is not UTF-8", what) end]]),
  prose = out("checks", [[if #text > limit then]], "if false then"),
}
