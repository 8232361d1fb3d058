-- rules_test.lua -- what may not stand in a kernel's text, and what not in its cubin; and that good ones pass.

local cubin = require "cubin"
local rules = require "rules"

local kit = dofile(host.root .. "/tests/plant_kit.lua")
local list = dofile(host.root .. "/tests/cheats/list.lua")

-- ------------------------------------------------------------------------------- the text

local GOOD = [[
// a comment with asm, "quotes", printf(1) and /* what not
#include "loom.cuh"
#define twice(x) (2 * (x)) /* static, __shared__ */
#line 12 "templates/x.cu"
#pragma unroll
static_assert(2 + 2 == 4, "asm \" clock64() // static");
struct slot { __device__ void step() {} static constexpr char c = '"'; };
LOOM_FN int free_of(int free) { return free / 2 % 3; }
extern "C" __global__ void __launch_bounds__(64, 1)
    loom_kernel(gptr<f16> C, const __grid_constant__ tensor_map t) {}
]]

local function good_text()
  local found = rules.source(GOOD)
  assert(#found == 0, found[1])
  assert(rules.refused(GOOD) == nil)
end

-- A line in the place of `#pragma unroll`, line 5, and a piece of what is said of it.
local CASES = {
  { 'asm volatile("exit;");', "line 5: 'asm': an instruction" }, { 'int x; __asm__("exit;");', "'__asm__'" },
  { "static int calls;", "'static': memory" }, { "static  constexprx int calls;", "'static': memory" },
  { "__device__ int calls;", "'__device__': memory" }, { "__device__ int calls = f(1);", "'__device__': memory" },
  { "__device__ int calls{1};", "'__device__': memory" }, { "__shared__ int s;", "'__shared__': a word" },
  { "__constant__ int t[2];", "'__constant__'" }, { "__managed__ int t[2];", "'__managed__'" },
  { "thread_local int t;", "'thread_local'" }, { "extern int t;", "'extern': calls" },
  { 'extern "C" void f();', "'extern': calls" }, { "x = clock();", "'clock': reads" }, { "x = clock64 ();", "'clock64': reads" },
  { "auto f = clock64;", "'clock64': reads" }, { "x = __nanosleep(1);", "'__nanosleep'" }, { 'printf("x");', "'printf': calls" },
  { "p = malloc(1);", "'malloc': calls" }, { "free(p);", "'free': calls" }, { "p = new int;", "'new': calls" },
  { "delete p;", "'delete': calls" }, { "p = reinterpret_cast<int *>(q);", "'reinterpret_cast': a pointer" },
  { "#include <cuda.h>", "includes another header" }, { ' #include "loom.cuh"', "includes another header" },
  { '#include "loom.cuh" // "x.h"', "includes another header" }, { "#if 1", "'#if': a kernel is the same" },
  { "# ifdef __CUDACC__", "'#ifdef'" }, { "#undef twice", "'#undef'" }, { "#pragma once", "a pragma" },
  { '_Pragma("unroll")', "'_Pragma'" }, { "#define glue(a, b) a##b", "'##' outside" }, { "%: define x", "'%:' outside" },
  { "as\\\nm(1);", "line 5: '\\' outside" }, { "\\u0061sm(1);", "'\\' outside" }, { 'x = R"(" /*)"; asm(1); //*/', "line 5: a literal" },
  { "x = 1'000'000;", "line 5: a literal" }, { "x = \"abc", "line 5: a literal" }, { "/* never", "line 5: a comment that" },
  { "__global__ void other() {}", "2 kernels, not one" },
}

local function bad_text(case)
  local at = GOOD:find("#pragma unroll", 1, true)
  local text = GOOD:sub(1, at - 1) .. case[1] .. GOOD:sub(at + 14)
  local found = table.concat(rules.source(text), "\n")
  assert(found:find(case[2], 1, true), string.format("%s: '%s'", case[1], found))
end

local function no_kernel()
  assert(rules.refused(GOOD:gsub("loom_kernel", "my_kernel"), nil) == "its kernel is not called loom_kernel")
  assert(rules.refused("") == "0 kernels, not one; its kernel is not called loom_kernel")
end

local function good_kernels()
  for _, base in ipairs(list.bases) do
    local found = rules.refused(kit.render(base).text)
    assert(not found, found)
  end
end

-- ------------------------------------------------------------------------------- the cubin

local CS2R = string.pack("<I8I8", 0x47805, 0xfcc0000015000) -- CS2R R4, SR_CLOCKLO
local EXIT = string.pack("<I8I8", 0x794d, 0x3ffde000003800000)

-- An ELF of {name, kind, flags, bytes, link}; a kind of 8 has no bytes in the file.
local function elf(sections)
  local names, body, heads = "\0", {}, { string.rep("\0", 64) }
  local offset = 64
  for _, s in ipairs(sections) do
    local bytes = s[2] == 8 and "" or s[4]
    heads[#heads + 1] = string.pack("<I4I4I8I8I8I8I4I4I8I8", #names, s[2], s[3], 0, offset, #s[4], s[5] or 0, 0, 1, 0)
    names, offset = names .. s[1] .. "\0", offset + #bytes
    body[#body + 1] = bytes
  end
  heads[#heads + 1] = string.pack("<I4I4I8I8I8I8I4I4I8I8", 0, 3, 0, 0, offset, #names, 0, 0, 1, 0)
  local text = table.concat(body) .. names
  return "\127ELF\2\1" .. string.rep("\0", 10) .. string.pack("<I2I2I4I8I8I8I4I2I2I2I2I2I2", 2, 190, 1, 0, 0, 64 + #text, 0, 64, 0, 0,
    64, #heads, #heads - 1) .. text .. table.concat(heads)
end

local function symbol(name, section)
  return string.pack("<I4BBI2I8I8", name, 0x12, 0, section, 0, 0)
end

local STRINGS = "\0loom_kernel\0vprintf\0.nv.reservedSmem.offset0\0"

-- The cubin of a good kernel, with `code` and `more` sections and symbols.
local function good_elf(code, more, symbols)
  local sections = { { ".text.loom_kernel", 1, 6, EXIT .. (code or "") }, { ".strtab", 3, 0, STRINGS },
    { ".symtab", 2, 0, symbol(0, 0) .. symbol(1, 1) .. symbol(21, 0) .. (symbols or ""), 2 },
    { ".nv.shared.loom_kernel", 8, 3, ("\0"):rep(64) }, { ".nv.constant0.loom_kernel", 1, 2, ("\0"):rep(64) } }
  for _, s in ipairs(more or {}) do sections[#sections + 1] = s end
  return elf(sections)
end

local function one(bytes, wanted)
  local found = cubin.refusals(bytes)
  assert(#found == (wanted and 1 or 0), table.concat(found, "; "))
  assert(found[1] == wanted, found[1])
end

local function cubins()
  one(good_elf())
  one(good_elf(CS2R), "reads %clock at instruction 1")
  one(good_elf(nil, { { ".nv.global", 8, 3, "1234" } }), "section '.nv.global' of 4 bytes: memory that outlives a launch")
  one(good_elf(nil, { { ".data.own", 1, 3, "12" } }), "section '.data.own' of 2 bytes: memory that outlives a launch")
  one(good_elf(nil, { { ".text.other", 1, 6, EXIT } }), "section '.text.other': code beside the kernel")
  one(good_elf(nil, nil, symbol(13, 0)), "calls 'vprintf', which is not in it")
  one(elf { { ".text.mine", 1, 2, EXIT } }, "its kernel is not called loom_kernel")
  one("", "no whole cubin")
  assert(rules.refused(GOOD, good_elf(CS2R)) == "reads %clock at instruction 1")
end

-- Whatever the bytes are, it is an answer.
local function damaged()
  local whole = good_elf(CS2R)
  for n = 0, #whole - 1 do assert(#cubin.refusals(whole:sub(1, n)) > 0) end
  for n = 1, #whole do
    for _, byte in ipairs { 0, 127, 255 } do cubin.refusals(whole:sub(1, n - 1) .. string.char(byte) .. whole:sub(n + 1)) end
  end
end

local tests = {
  { name = "a kernel's text passes", run = good_text },
  { name = "a text needs its kernel", run = no_kernel },
  { name = "emitted kernels pass", run = good_kernels },
  { name = "a cubin's sections, symbols and clocks", run = cubins },
  { name = "damaged cubins are refused", run = damaged },
}
for _, case in ipairs(CASES) do
  tests[#tests + 1] = { name = "refused in a text: " .. case[1]:gsub("\n", " "), run = function() bad_text(case) end }
end
return tests
