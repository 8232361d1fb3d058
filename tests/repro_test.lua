-- repro_test.lua -- the same spec gives the same bytes: run after run, in another folder, locale, time zone and
-- environment, from a tree that cannot be written. And what is emitted is C++.

local sh = require "tests_sh"

local KNOBS = { "SHAPE=4096x4096x4096", "N=24", "NVCC=none" }

-- The files that gen writes with the given loom, as one text. `before` is what the command line begins with.
local function emit(loom, out, env, cwd, before)
  local argv = table.move(before or {}, 1, #(before or {}), 1, {})
  for _, word in ipairs { loom, "gen", "OUT=" .. out, table.unpack(KNOBS) } do argv[#argv + 1] = word end
  local run = sh.run(argv, { env = env, cwd = cwd })
  assert(run.code == 0, run.output)
  local names = assert(host.list(out .. "/kernels"))
  assert(#names >= 48, "only " .. #names .. " files emitted")
  local all = {}
  for _, name in ipairs(names) do
    all[#all + 1] = name .. "\n" .. assert(host.read(out .. "/kernels/" .. name))
  end
  return table.concat(all, "\n")
end

local reference
local function first()
  if not reference then
    local tmp = sh.tmpdir "repro first"
    reference = emit(sh.loom, tmp)
    sh.remove(tmp)
  end
  return reference
end

-- The whole project under another path: the binary and what it reads. Returns that loom.
local function copied(to)
  local script = 'mkdir -p "$1/out/build" && cp -r "$2/lua" "$2/spaces" "$2/templates" "$1"/ && cp "$3" "$1/out/build/loom"'
  local cp = sh.run { "sh", "-c", script, "sh", to, host.root, sh.loom }
  assert(cp.code == 0, cp.output)
  return to .. "/out/build/loom"
end

-- A locale with a decimal comma, built by the test and seen to be active.
local function german(tmp)
  local made = sh.run { "localedef", "-i", "de_DE", "-f", "UTF-8", tmp .. "/de_DE.UTF-8" }
  assert(host.stat(tmp .. "/de_DE.UTF-8/LC_NUMERIC"), "localedef: " .. made.output)
  local env = { "LOCPATH=" .. tmp, "LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8" }
  local comma = sh.run({ "bash", "-c", "printf '%.1f' 1,5" }, { env = env })
  assert(comma.output == "1,5", "the German locale is not active: " .. comma.output)
  return env
end

local function runs()
  local tmp = sh.tmpdir "repro runs"
  for i = 1, 3 do assert(emit(sh.loom, tmp .. "/" .. i) == first(), "another run, other bytes") end
  if sh.run({ "setarch", "-R", "true" }).code == 0 then -- all addresses the same, twice
    for i = 4, 5 do assert(emit(sh.loom, tmp .. "/" .. i, nil, nil, { "setarch", "-R" }) == first(), "other bytes without ASLR") end
  end
  sh.remove(tmp)
end

local function folders()
  local tmp = sh.tmpdir "repro with space"
  local copy = tmp .. "/a copy"
  assert(emit(copied(copy), copy .. "/out", german(tmp), copy) == first(), "the bytes differ")
  for line in first():gmatch("[^\n]+") do
    assert(not line:find(host.root, 1, true) and not line:find(tmp, 1, true),
           "a path stands in an emitted file: " .. line)
    assert(not line:find("%d%d%d%d%-%d%d%-%d%d"), "a date stands in an emitted file: " .. line)
  end
  sh.remove(tmp)
end

local function odd_paths()
  local tmp = sh.tmpdir "repro paths"
  for _, name in ipairs { "Größe ☃ 核", "latin-\xe4\xff", "it's $HOME; `x` \"q\" \\n", "-n" } do
    local copy = tmp .. "/" .. name
    assert(emit(copied(copy), copy .. "/aus\xc3\xa4", nil, tmp) == first(), "other bytes in " .. name)
  end
  sh.remove(tmp)
end

local function environments()
  local tmp = sh.tmpdir "repro environment"
  local bare = { "env", "-i", "PATH=/usr/bin:/bin" }
  local function with(...) return table.move({ ... }, 1, select("#", ...), #bare + 1, table.move(bare, 1, #bare, 1, {})) end
  for i, before in ipairs {
    bare,
    with("TZ=Asia/Kathmandu", "LC_ALL=C.UTF-8", "COLUMNS=7", "TERM=dumb"),
    with("HOME=/nonexistent", "USER=nobody", "TMPDIR=/nonexistent", "LUA_PATH=/nonexistent/?.lua", "LUA_INIT=error()"),
    { "sh", "-c", 'umask 077; exec "$@"', "sh" },
    { "sh", "-c", 'umask 000; exec nice -n 5 "$@"', "sh" },
    { "sh", "-c", 'cd / && exec "$@" </dev/null', "sh" },
  } do
    assert(emit(sh.loom, tmp .. "/" .. i, nil, nil, before) == first(), "other bytes with " .. table.concat(before, " "))
  end
  sh.remove(tmp)
end

-- Path, time and size of all that lies below a folder.
local function listing(dir)
  local run = sh.run({ "sh", "-c", "find . -printf '%p %T@ %s %m\\n' | LC_ALL=C sort" }, { cwd = dir })
  assert(run.code == 0, run.output)
  return run.output
end

-- A tree without write permission. Root may write all the same: there another user runs loom, where that
-- is possible; in any case nothing below the tree may have changed.
local function read_only()
  local tmp = sh.tmpdir "repro read-only"
  local tree, out = tmp .. "/tree", tmp .. "/out"
  local loom = copied(tree)
  assert(host.mkdir(out))
  assert(sh.run({ "sh", "-c", 'chmod -R a+rX,a-w "$1" && chmod a+rwx "$2"', "sh", tree, out }).code == 0)
  local before = listing(tree)
  local nobody = { "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups" }
  local probe = table.move({ "sh", "-c", 'test -r "$1/lua/main.lua" && ! touch "$1/x" 2>/dev/null', "sh", tree }, 1, 5, 5,
                           table.move(nobody, 1, 4, 1, {}))
  local other = sh.run({ "id", "-u" }).output:match("^0") and sh.run(probe).code == 0
  assert(emit(loom, out, nil, "/", other and nobody or nil) == first(), "other bytes from a tree that is read-only")
  assert(listing(tree) == before, "gen wrote into the tree")
  sh.run { "chmod", "-R", "u+w", tree }
  sh.remove(tmp)
end

return {
  { name = "gen emits the same bytes in every run, wherever its memory lies", run = runs },
  { name = "gen emits the same bytes in a folder with a space, with a decimal comma", run = folders },
  { name = "gen emits the same bytes in folders with odd names", run = odd_paths },
  { name = "gen emits the same bytes without HOME, in other time zones, with any umask", run = environments },
  { name = "gen emits the same bytes from a read-only tree, and leaves it alone", run = read_only },
  { name = "emitted kernels of every space type-check as host C++",
    run = function()
      local tmp = sh.tmpdir("hostcc")
      for _, layout in ipairs { "nn", "tn", "nt", "tt" } do
        for _, dtype in ipairs { "f16", "bf16" } do
          local run = sh.run { sh.loom, "gen", "SHAPE=1024x1024x1024", "LAYOUT=" .. layout,
                               "DTYPE=" .. dtype, "SPACE=hopper,mma,simt", "N=9", "OUT=" .. tmp, "NVCC=none" }
          assert(run.code == 0, run.output)
        end
      end
      local checked = 0
      for _, name in ipairs(assert(host.list(tmp .. "/kernels"))) do
        if name:find("%.cu$") then
          local run = sh.run { "g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++",
                               "-I" .. host.root .. "/templates/lib", tmp .. "/kernels/" .. name }
          assert(run.code == 0, name .. ": " .. run.output)
          checked = checked + 1
        end
      end
      assert(checked >= 20, "only " .. checked .. " kernels checked")

      -- A kernel that dereferences a global pointer must not compile.
      local bad = '#include "loom.cuh"\nvoid f(gptr<float> p) { *p = 1; }\n'
      host.write(tmp .. "/bad.cu", bad)
      local run = sh.run { "g++", "-std=c++17", "-fsyntax-only", "-x", "c++",
                           "-I" .. host.root .. "/templates/lib", tmp .. "/bad.cu" }
      assert(run.code ~= 0 and run.output:find("operator%*"), "a dereference compiled")
      sh.remove(tmp)
    end },
}
