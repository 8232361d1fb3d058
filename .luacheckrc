-- luacheck: everything is local; `host` is the C host's table, `skip` belongs to test files.
std = "lua54"
max_line_length = 120
read_globals = { "host" }
files["tests"] = { read_globals = { "skip" }, globals = { "host" }, max_line_length = 140 }
local spec = { read_globals = { "space", "given", "param", "let", "must", "prefer", "forbid", "seed", "search", "drop",
  "extend", "narrow", "ipairs" } }
files["spaces"] = { std = spec }
files["tests/spaces"] = { std = spec }
files["tests/gpu/narrow"] = { std = spec }
files["tests/mutants/spaces"] = { std = spec }
exclude_files = { "tests/fail", "tests/sandbox/*.lua", "out" }
