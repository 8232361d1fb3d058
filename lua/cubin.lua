-- cubin: what a compiled kernel is made of, read from its ELF: sections, symbols, instructions.
--
-- cubin.refusals says what of it no kernel may have: memory that outlives a launch, functions that are not
-- in it, more than one kernel, reads of a clock. Instructions have 16 bytes since sm_70.

local cubin = {}

local fmt = string.format

local WRITE_ALLOC, EXECUTE, NOBITS = 3, 4, 8
local KERNEL = ".text.loom_kernel"

-- The string that begins at byte `at` of a string table; nil where there is none.
local function name_at(bytes, table_, at)
  return bytes:match("^[^%z]*", table_.offset + at + 1)
end

-- The sections: {name, kind, flags, offset, size, link}; nil where it is no whole 64-bit ELF.
local function sections_of(bytes)
  if #bytes < 64 or bytes:sub(1, 6) ~= "\127ELF\2\1" then return nil end
  local at, size, count, names = string.unpack("<I8", bytes, 41), string.unpack("<I2I2I2", bytes, 59)
  if size ~= 64 or at < 64 or at > #bytes - 64 * count or names >= count then return nil end
  local list = {}
  for i = 0, count - 1 do
    local name, kind, flags, _, offset, length, link = string.unpack("<I4I4I8I8I8I8I4", bytes, at + 64 * i + 1)
    local held = kind ~= NOBITS and length or 0 -- of its bytes the file has
    if offset < 0 or offset > #bytes or held < 0 or held > #bytes - offset then return nil end
    list[i + 1] = { name = name, flags = flags, offset = offset, size = length, held = held, link = link }
  end
  for _, s in ipairs(list) do s.name = name_at(bytes, list[names + 1], s.name) or "" end
  return list
end

local function named(sections, name)
  for _, s in ipairs(sections) do
    if s.name == name then return s end
  end
end

-- Writable memory is shared memory, or it is state.
local function memory_rule(sections, add)
  for _, s in ipairs(sections) do
    local state = s.flags & WRITE_ALLOC == WRITE_ALLOC and not s.name:find("%.nv%.shared%.")
    if state or s.name:find("^%.nv%.global") or s.name:find("^%.bss") then
      add(fmt("section '%s' of %d bytes: memory that outlives a launch", s.name, s.size))
    end
  end
end

local function kernel_rule(sections, add)
  for _, s in ipairs(sections) do
    if s.flags & EXECUTE ~= 0 and s.name ~= KERNEL then add(fmt("section '%s': code beside the kernel", s.name)) end
  end
  if not named(sections, KERNEL) then add("its kernel is not called loom_kernel") end
end

-- Symbols that are defined elsewhere: the compiler's own of shared memory are no functions.
local function symbol_rule(bytes, sections, add)
  local symbols = named(sections, ".symtab")
  local names = symbols and sections[symbols.link + 1]
  if not names then return end
  for at = symbols.offset + 1, symbols.offset + symbols.held - 23, 24 do
    local name, _, _, section = string.unpack("<I4BBI2", bytes, at)
    local text = section == 0 and name_at(bytes, names, name) or ""
    if text ~= "" and not text:find("^%.nv%.reservedSmem%.") then add(fmt("calls '%s', which is not in it", text)) end
  end
end

-- CS2R, S2R and S2UR: what reads a special register, by the low 12 bits; the register is byte 9.
local READS = { [0x805] = true, [0x919] = true, [0x9c3] = true }
local CLOCKS = { [0x50] = "clock", [0x51] = "clock_hi", [0x52] = "globaltimer", [0x53] = "globaltimer_hi" }

local function clock_rule(bytes, sections, add)
  local code = named(sections, KERNEL)
  if not code then return end
  for at = code.offset + 1, code.offset + code.held - 15, 16 do
    local low, high = bytes:byte(at, at + 1)
    local register = READS[low + (high & 15) * 256] and CLOCKS[bytes:byte(at + 9)]
    if register then return add(fmt("reads %%%s at instruction %d", register, (at - 1 - code.offset) // 16)) end
  end
end

-- What is refused of a cubin, a text each.
function cubin.refusals(bytes)
  local sections, out = sections_of(bytes), {}
  local function add(why) out[#out + 1] = why end
  if not sections then return { "no whole cubin" } end
  memory_rule(sections, add)
  kernel_rule(sections, add)
  symbol_rule(bytes, sections, add)
  clock_rule(bytes, sections, add)
  return out
end

return cubin
