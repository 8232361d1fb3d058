-- The vocabulary: loom.cuh for nvcc and loom_host.h for the CPU device declare the same functions, and
-- a conformance case shows each of them. Needs g++, as a preprocessor only.

local sh = require "tests_sh"

local LIB, CASES = host.root .. "/templates/lib", host.root .. "/tests/conformance"

-- The text of the vocabulary as one compiler sees it, blanks made one.
local function preprocessed(tmp, defines)
  local file = tmp .. "/v.cpp"
  assert(host.write(file, '#include "loom.cuh"\n') ~= nil)
  local argv = { "g++", "-E", "-P", "-std=c++17", "-I" .. LIB }
  for _, d in ipairs(defines) do argv[#argv + 1] = "-D" .. d end
  argv[#argv + 1] = file
  local run = sh.run(argv)
  assert(run.code == 0, run.output)
  return (run.output:gsub("%s+", " "))
end

-- "u32 (&)[4]" of "u32 (&r)[4]", "gptr<const T>" of "gptr<const T> p".
local function type_of(parameter)
  local text = parameter:gsub("%(&%s*[%a_][%w_]*%)", "(&)"):gsub("^%s+", ""):gsub("%s+$", "")
  if not text:find("(&)", 1, true) then text = text:gsub("%s*[%a_][%w_]*$", "") end
  return (text:gsub("%s", ""))
end

-- Commas inside <> and () part no parameters.
local function types_of(list)
  local types, depth, from = {}, 0, 1
  for i = 1, #list + 1 do
    local c = i <= #list and list:sub(i, i) or ","
    if c:find("[<(%[]") then depth = depth + 1 elseif c:find("[>)%]]") then depth = depth - 1 end
    if c == "," and depth == 0 then
      local text = list:sub(from, i - 1)
      from = i + 1
      if text:find("%S") and not text:find("loom_engine::site", 1, true) then types[#types + 1] = type_of(text) end
    end
  end
  return table.concat(types, ", ")
end

-- What a declaration begins with, in each of the two.
local NVCC = "static __device__ __forceinline__ "
local HOST = "[[maybe_unused]] static inline "

-- {["u32 shfl(u32, int)"] = "shfl", ...}; helpers are called loom_..., run and run_rs.
local function declared(text, mark)
  local found, at = {}, 1
  while true do
    local _, stop = text:find(mark, at, true)
    if not stop then return found end
    local result, name, list = text:match("^([^(]-)([%a_][%w_]*)(%b())", stop + 1)
    assert(name, "no declaration: " .. text:sub(stop, stop + 60))
    if not name:find("^loom_") and name ~= "run" and name ~= "run_rs" then
      found[result:gsub("%s", "") .. " " .. name .. "(" .. types_of(list:sub(2, -2)) .. ")"] = name
    end
    at = stop + 1
  end
end

local function both()
  local tmp = sh.tmpdir("vocabulary")
  local cuda = declared(preprocessed(tmp, { "__CUDACC__", "__CUDA_ARCH__=900", "__CUDA_ARCH_FEAT_SM90_ALL" }), NVCC)
  local cpu = declared(preprocessed(tmp, {}), HOST)
  sh.remove(tmp)
  return cuda, cpu
end

local function sorted(set)
  local list = {}
  for k in pairs(set) do list[#list + 1] = k end
  table.sort(list)
  return list
end

local function same_declarations()
  local cuda, cpu = both()
  local missing = {}
  for _, d in ipairs(sorted(cuda)) do
    if not cpu[d] then missing[#missing + 1] = "not in loom_host.h: " .. d end
  end
  for _, d in ipairs(sorted(cpu)) do
    if not cuda[d] then missing[#missing + 1] = "not in loom.cuh: " .. d end
  end
  assert(#missing == 0, table.concat(missing, "\n"))
  assert(#sorted(cuda) > 90, "only " .. #sorted(cuda) .. " declarations were found")
end

-- What the rows of table.h name, and what the cases call.
local function shown()
  local rows = {}
  for names in assert(host.read(CASES .. "/table.h")):gmatch('"([%w_ ]+)"') do
    for name in names:gmatch("%S+") do rows[name] = true end
  end
  local calls = {}
  for _, file in ipairs(assert(host.list(CASES))) do
    if file:find("%.cuh?$") or file == "case.h" or file == "wgmma.h" then
      for word in assert(host.read(CASES .. "/" .. file)):gmatch("[%a_][%w_]*") do calls[word] = true end
    end
  end
  return rows, calls
end

local function all_shown()
  local rows, calls = shown()
  local cuda, names, missing = both(), {}, {}
  for _, name in pairs(cuda) do names[name] = true end
  for _, name in ipairs(sorted(names)) do
    if not rows[name] then missing[#missing + 1] = "no case of table.h shows " .. name end
    if not calls[name] then missing[#missing + 1] = "no case calls " .. name end
  end
  for _, name in ipairs(sorted(rows)) do
    if not names[name] then missing[#missing + 1] = "table.h names " .. name .. ", which is no function" end
  end
  assert(#missing == 0, table.concat(missing, "\n"))
end

return {
  { name = "loom.cuh and loom_host.h declare the same functions", run = same_declarations },
  { name = "a conformance case shows every function of the vocabulary", run = all_shown },
}
