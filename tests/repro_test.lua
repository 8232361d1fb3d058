-- repro_test.lua -- the same spec gives the same bytes: twice, in another folder with a space in its
-- name, under a locale whose decimal point is a comma.

local sh = require "tests_sh"

local KNOBS = { "SHAPE=4096x4096x4096", "N=24", "NVCC=none" }

-- Emits with the given copy of loom and returns a folder's files as one text.
local function emit(loom, out, env, cwd)
  local argv = { loom, "gen", "OUT=" .. out }
  for _, knob in ipairs(KNOBS) do argv[#argv + 1] = knob end
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

return {
  { name = "gen emits the same bytes twice, in a folder with a space, with a decimal comma",
    run = function()
      local tmp = sh.tmpdir("repro with space")
      local first = emit(sh.loom, tmp .. "/one")

      -- A locale with a decimal comma, built by the test and seen to be active.
      local made = sh.run { "localedef", "-i", "de_DE", "-f", "UTF-8", tmp .. "/de_DE.UTF-8" }
      assert(host.stat(tmp .. "/de_DE.UTF-8/LC_NUMERIC"), "localedef: " .. made.output)
      local german = { "LOCPATH=" .. tmp, "LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8" }
      local comma = sh.run({ "bash", "-c", "printf '%.1f' 1,5" }, { env = german })
      assert(comma.output == "1,5", "the German locale is not active: " .. comma.output)

      -- The whole project under another path: the binary and what it reads.
      local copy = tmp .. "/a copy"
      for _, part in ipairs { "lua", "spaces", "templates" } do
        local cp = sh.run { "sh", "-c", 'mkdir -p "$1" && cp -r "$2" "$1"/', "sh", copy, host.root .. "/" .. part }
        assert(cp.code == 0, cp.output)
      end
      local cp = sh.run { "sh", "-c", 'mkdir -p "$1/out/build" && cp "$2" "$1/out/build/loom"', "sh", copy, sh.loom }
      assert(cp.code == 0, cp.output)
      local second = emit(copy .. "/out/build/loom", copy .. "/out", german, copy)
      assert(first == second, "the bytes differ")

      for line in first:gmatch("[^\n]+") do
        assert(not line:find(host.root, 1, true) and not line:find(tmp, 1, true),
               "a path stands in an emitted file: " .. line)
        assert(not line:find("%d%d%d%d%-%d%d%-%d%d"), "a date stands in an emitted file: " .. line)
      end
      sh.remove(tmp)
    end },

  { name = "emitted kernels of every space type-check as host C++",
    run = function()
      local tmp = sh.tmpdir("hostcc")
      for layout, spaces in pairs { nn = "hopper,mma,simt", tn = "hopper,mma,simt", nt = "mma,simt",
                                    tt = "mma,simt" } do
        for _, dtype in ipairs { "f16", "bf16" } do
          local run = sh.run { sh.loom, "gen", "SHAPE=1024x1024x1024", "LAYOUT=" .. layout,
                               "DTYPE=" .. dtype, "SPACE=" .. spaces, "N=9", "OUT=" .. tmp, "NVCC=none" }
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
