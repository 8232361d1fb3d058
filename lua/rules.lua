-- rules: what a kernel may not contain, whatever it computes: state that outlives a launch, a clock, calls
-- out of it, a second kernel, instructions or memory that the vocabulary does not know.
--
-- A kernel without these can neither remember that it was verified nor tell that it is timed. The text is
-- read first, comments and strings stripped: its rules say what to change. The cubin is read too (cubin.lua),
-- for what words can hide. Neither looks at results: that is what runs are for.

local cubin = require "cubin"

local rules = {}

local fmt = string.format

-- ------------------------------------------------------------------------------- the text

local function blank(text)
  return (text:gsub("[^\n]+", " "))
end

-- The end of a quoted literal that begins at `at`, nil where it does not end on its line.
local function quoted_end(text, at)
  local quote, i = text:sub(at, at), at + 1
  while true do
    local stop = text:find("[\\\n" .. quote .. "]", i)
    local c = stop and text:sub(stop, stop)
    if c == quote then return stop end
    if c ~= "\\" then return nil end
    i = stop + 2
  end
end

-- What stands at `at` and is no code: its end, what takes its place, and a flaw.
local function skipped(text, at)
  local two = text:sub(at, at + 1)
  if two == "//" then
    local stop = (text:find("\n", at, true) or #text + 1) - 1
    return stop, " "
  elseif two == "/*" then
    local _, stop = text:find("*/", at + 2, true)
    return stop or #text, blank(text:sub(at, stop)), not stop and "a comment that does not end" or nil
  elseif text:find("^[\"']", at) then
    local stop = quoted_end(text, at)
    local prefixed = text:find("^[%w_]", at - 1) and at > 1
    return stop or at, '""', (prefixed or not stop) and "a literal with a prefix, or without an end" or nil
  end
  return at, text:sub(at, at)
end

-- The text without comments and literals, its lines where they were; nil, line, flaw where it cannot be told
-- what is code.
local function stripped(text)
  local out, at = {}, 1
  while true do
    local stop = text:find("[/\"']", at)
    if not stop then break end
    out[#out + 1] = text:sub(at, stop - 1)
    local last, place, flaw = skipped(text, stop)
    if flaw then
      local _, above = text:sub(1, stop):gsub("\n", "")
      return nil, above + 1, flaw
    end
    out[#out + 1] = place
    at = last + 1
  end
  out[#out + 1] = text:sub(at)
  return table.concat(out)
end

local STATE = "memory that outlives a launch"
local CLOCK = "reads a clock"
local CALL = "calls what is no kernel"

-- Words that no kernel needs, and what they are refused as.
local WORDS = {
  asm = "an instruction of its own: the vocabulary has them", clock = CLOCK, clock64 = CLOCK, globaltimer = CLOCK,
  printf = CALL, malloc = CALL, new = CALL, delete = CALL, alloca = CALL, assert = CALL,
  thread_local = STATE, _Pragma = "a pragma of its own: UNROLL and ROLLED are there",
  reinterpret_cast = "a pointer of its own: gptr_at is there", const_cast = "a pointer of its own: gptr_at is there",
}
-- Of the compiler's own words those that a kernel needs.
local RESERVED = { __global__ = true, __device__ = true, __launch_bounds__ = true, __grid_constant__ = true,
                   __builtin_bit_cast = true }

-- What a word is refused as; `rest` is the code behind it.
local function word_rule(word, rest)
  if WORDS[word] then return WORDS[word] end
  if (word == "free" or word == "puts") and rest:find("^%s*%(") then return CALL end
  if word == "static" and not rest:find("^%s+constexpr%f[^%w_]") then return STATE end
  if word:find("^__") and not RESERVED[word] then return "a word of the compiler, not of the vocabulary" end
  if word == "__device__" and rest:match("^[^;={(]*(.?)") ~= "(" then return STATE end
  if word == "extern" and not rest:find('^%s*""%s*__global__%f[^%w_]') then return CALL end
end

local function word_rules(line, rest_of, add)
  for at, word in line:gmatch("%f[%w_]()([%a_][%w_]*)") do
    local why = word_rule(word, rest_of(at + #word))
    if why then add(fmt("'%s': %s", word, why)) end
  end
end

-- A line of the preprocessor: `line` as stripped, `whole` as written.
local function directive_rule(line, whole)
  local name = line:match("^%s*#%s*([%a_]*)")
  if not name or name == "line" or name == "define" then return nil end
  if name == "include" then
    return not whole:find('^#include "loom%.cuh"%s*$') and "includes another header than loom.cuh" or nil
  elseif name == "pragma" then
    return not line:find("^%s*#%s*pragma%s+unroll") and "a pragma of its own" or nil
  end
  return fmt("'#%s': a kernel is the same for every compiler", name)
end

local SPELLINGS = { "\\", "##", "%:", "??", "<%", "%>" } -- other ways to write a word

local function spelling_rule(line)
  for _, text in ipairs(SPELLINGS) do
    if line:find(text, 1, true) then return fmt("'%s' outside of a comment: it hides words", text) end
  end
end

local function each_line(code, take)
  local number, at = 0, 1
  for line, next_ in code:gmatch("([^\n]*)\n?()") do
    if at > #code then break end
    number = number + 1
    take(number, line, at)
    at = next_
  end
end

local function kernel_rule(code, add)
  local count = 0
  for _ in code:gmatch("%f[%w_]__global__%f[^%w_]") do count = count + 1 end
  if count ~= 1 then add(0, fmt("%d kernels, not one", count)) end
  if not code:find("%f[%w_]loom_kernel%s*%(") then add(0, "its kernel is not called loom_kernel") end
end

-- The refusals of an emitted or edited kernel's text, in the order of its lines: "line 12: ...".
function rules.source(text)
  local out = {}
  local function add(line, why) out[#out + 1] = line > 0 and fmt("line %d: %s", line, why) or why end
  local code, line, flaw = stripped(text)
  if not code then
    add(line, flaw)
    return out
  end
  local whole = {}
  each_line(text, function(number, written) whole[number] = written end)
  each_line(code, function(number, written, at)
    local why = directive_rule(written, whole[number] or "") or spelling_rule(written)
    if why then add(number, why) end
    word_rules(written, function(to) return code:sub(at + to - 1, at + to + 400) end,
               function(found) add(number, found) end)
  end)
  kernel_rule(code, add)
  return out
end

-- ------------------------------------------------------------------------------- text and cubin

rules.cubin = cubin.refusals

-- All refusals as one line, nil where there are none. `bytes`: of the cubin, where there is one.
function rules.refused(text, bytes)
  local list = rules.source(text)
  if bytes then table.move(rules.cubin(bytes), 1, 256, #list + 1, list) end
  return #list > 0 and table.concat(list, "; ") or nil
end

return rules
