-- lint_test.lua -- templates and clang-format: the shipped ones are as it wants them, it leaves directives and
-- pasted names alone, and `make lint` would find a line that is not.

local sh = require "tests_sh"

local function need()
  if sh.run({ "sh", "-c", "command -v clang-format" }).code ~= 0 then skip "no clang-format" end
end

-- {path, text} of every template and header of the vocabulary.
local function files()
  local list = {}
  for _, folder in ipairs { "/templates", "/templates/lib" } do
    for _, name in ipairs(assert(host.list(host.root .. folder))) do
      local path = host.root .. folder .. "/" .. name
      if name:find("%.c?u?h?$") and not name:find("%.md$") and not host.stat(path).dir then
        list[#list + 1] = { path, assert(host.read(path)) }
      end
    end
  end
  assert(#list >= 6, "only " .. #list .. " files")
  return list
end

local function checked(path)
  return sh.run { "clang-format", "--dry-run", "-Werror", path }
end

-- What the text says to the template engine: its directives and its dollars, in order.
local function grammar(text)
  local out = {}
  for line in text:gmatch("[^\n]+") do
    local lua = line:match("^%s*(//@.-)%s*$")
    if lua then
      out[#out + 1] = lua
    else
      for token in line:gmatch("%$[%w_$(]*") do out[#out + 1] = token end
    end
  end
  return table.concat(out, "\n")
end

local function clean()
  need()
  for _, file in ipairs(files()) do
    local run = checked(file[1])
    assert(run.code == 0, run.output)
  end
end

-- Every line pushed to the margin or away from it: formatting must not touch what the engine reads.
local function survives()
  need()
  local dir = sh.tmpdir "lint"
  assert(host.write(dir .. "/.clang-format", assert(host.read(host.root .. "/.clang-format"))))
  for _, file in ipairs(files()) do
    for _, indent in ipairs { "", "      " } do
      local messy = ("\n" .. file[2]):gsub("\n[ \t]*", "\n" .. indent)
      assert(host.write(dir .. "/messy.cu", messy))
      local run = sh.run { "clang-format", "-i", dir .. "/messy.cu" }
      assert(run.code == 0, run.output)
      local formatted = assert(host.read(dir .. "/messy.cu"))
      assert(grammar(formatted) == grammar(file[2]), file[1] .. " became:\n" .. formatted)
      assert(checked(dir .. "/messy.cu").code == 0, file[1] .. ": what it formatted is not what it wants")
    end
  end
  sh.remove(dir)
end

local function caught()
  need()
  local dir = sh.tmpdir "lint caught"
  assert(host.write(dir .. "/.clang-format", assert(host.read(host.root .. "/.clang-format"))))
  local text = assert(host.read(host.root .. "/templates/mma.cu"))
  for _, fault in ipairs { { "  const u32 ring", "   const u32 ring" }, { "    //@ if", "//@ if" }, { "int warp =", "int warp=" },
                           { "  UNROLL\n  for", "  UNROLL for" }, { "int warp", "int warp" } } do
    local from, to = text:find(fault[1], 1, true)
    assert(from and host.write(dir .. "/x.cu", text:sub(1, from - 1) .. fault[2] .. text:sub(to + 1)), fault[1])
    assert((checked(dir .. "/x.cu").code == 0) == (fault[1] == fault[2]), fault[1])
  end
  sh.remove(dir)
end

return {
  { name = "templates and their headers are as clang-format wants them", run = clean },
  { name = "clang-format leaves directives and pasted names as they are", run = survives },
  { name = "a template that clang-format would change is found", run = caught },
}
