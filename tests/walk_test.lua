-- walk_test.lua -- the walk "write a template" of templates/README.md: its space and its template are taken
-- from the page and go through gen, the host compiler, clang-format, and nvcc where there is one.

local sh = require "tests_sh"

-- The page's only block in a language.
local function block(page, language)
  local found = {}
  for text in page:gmatch("\n```" .. language .. "\n(.-\n)```\n") do found[#found + 1] = text end
  assert(#found == 1, #found .. " blocks of " .. language)
  return found[1]
end

-- A copy of the project with the files of the walk; returns its folder and a function that runs a verb.
local function project(name)
  local dir = sh.tmpdir(name)
  for _, part in ipairs { "lua", "spaces", "templates" } do
    assert(sh.run({ "cp", "-r", host.root .. "/" .. part, dir .. "/" }).code == 0)
  end
  local page = assert(host.read(host.root .. "/templates/README.md"))
  assert(host.write(dir .. "/spaces/tiny.lua", block(page, "lua")))
  assert(host.write(dir .. "/templates/tiny.cu", block(page, "cuda")))
  return dir, function(verb, ...)
    return sh.run({ sh.loom, verb, "SHAPE=512x512x512", "SPACE=tiny", ... }, { cwd = dir, timeout = 300 })
  end
end

local function kernels(dir)
  local list = {}
  for _, name in ipairs(assert(host.list(dir .. "/out/kernels"))) do
    if name:find("%.cu$") then list[#list + 1] = dir .. "/out/kernels/" .. name end
  end
  return list
end

return {
  { name = "the space and the template of the walk give kernels in all layouts", run = function()
    local dir, loom = project "walk"
    local count = loom("count", "LAYOUT=nn")
    assert(count.code == 0 and count.output:find("a-cta", 1, true), count.output)
    local gen = loom("gen", "LAYOUT=nn,tn,nt,tt", "N=3", "NVCC=none")
    assert(gen.code == 0 and gen.output:find("12 kernels in ", 1, true), gen.output)
    assert(not gen.output:find("note:", 1, true), gen.output)
    for _, path in ipairs(kernels(dir)) do
      local run = sh.run { "g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++",
                           "-I" .. dir .. "/templates/lib", path }
      assert(run.code == 0, run.output)
    end
    sh.remove(dir)
  end },
  { name = "the template of the walk is as clang-format wants it", run = function()
    if sh.run({ "sh", "-c", "command -v clang-format" }).code ~= 0 then skip "no clang-format" end
    local dir = project "walk format"
    assert(host.write(dir .. "/.clang-format", assert(host.read(host.root .. "/.clang-format"))))
    local run = sh.run { "clang-format", "--dry-run", "-Werror", dir .. "/templates/tiny.cu" }
    assert(run.code == 0, run.output)
    sh.remove(dir)
  end },
}
