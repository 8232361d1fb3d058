-- tests_sh.lua -- what tests share: run a program and keep its output; temporary folders.

local sh = {}

-- The loom under test: what runs this test, unless LOOM_UNDER_TEST names another.
sh.loom = host.getenv("LOOM_UNDER_TEST") or host.exe

-- Runs argv to its end; returns {code=, signal=, timeout=, output=}.
function sh.run(argv, opt)
  opt = opt or {}
  local pool = host.pool(1)
  pool:submit { argv = argv, timeout = opt.timeout or 120, tag = 1, env = opt.env, cwd = opt.cwd }
  return assert(pool:wait())
end

local made = 0

-- A new empty folder under out/build/test; its name contains `what`.
function sh.tmpdir(what)
  made = made + 1
  local group = host.getenv "LOOM_TEST_GROUP" -- of the files that run beside others (lua/testing.lua)
  local dir = string.format("%s/out/build/test/%s%s %d", host.root, group and group .. " " or "", what, made)
  sh.remove(dir)
  assert(host.mkdir(dir))
  return dir
end

function sh.remove(dir)
  assert(dir:find("/out/build/test/", 1, true), "refusing to remove " .. dir)
  sh.run { "rm", "-rf", dir }
end

return sh
