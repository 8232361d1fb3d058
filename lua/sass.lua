-- sass: what a cubin's instructions are, counted by what a reader looks for. cuobjdump or nvdisasm says.

local compile = require "compile"
local outdir = require "outdir"

local sass = {}

-- Classes in the order in which they are shown, and the instructions of each: names up to the first dot.
sass.classes = {
  { "HGMMA" }, { "HMMA" }, { "FFMA", "FFMA FFMA2" }, { "UTMALDG" }, { "UTMASTG" }, { "LDGSTS" }, { "LDSM" }, { "STSM" },
  { "LDG" }, { "STG" }, { "LDS" }, { "STS" }, { "LDL" }, { "STL" }, { "atomic", "ATOM ATOMG ATOMS RED REDG UTMAREDG" },
  { "SYNCS" }, { "BAR" }, { "WARPGROUP" }, { "DEPBAR", "DEPBAR LDGDEPBAR UTMACMDFLUSH" }, { "fence", "FENCE MEMBAR" },
  { "convert", "F2F F2FP HADD2" }, { "move", "MOV UMOV R2UR S2R S2UR LDC ULDC LDCU" },
  { "integer", "IADD IADD3 UIADD3 IMAD UIMAD LEA ULEA LOP3 ULOP3 SHF USHF VIADD VIADDMNMX IABS ISETP UISETP SEL USEL "
               .. "PLOP3" },
  { "branch", "BRA BRX BSSY BSYNC CALL RET EXIT" }, { "NOP" },
}

local class_of = {}
for _, class in ipairs(sass.classes) do
  for name in (class[2] or class[1]):gmatch("%S+") do class_of[name] = class[1] end
end

-- Counts of a disassembly by class; "other" and "total" too.
function sass.parse(text)
  local counts = { other = 0, total = 0 }
  for line in text:gmatch("[^\n]+") do
    local body = line:match("^%s*/%*%x%x%x%x+%*/%s+(.*)$")
    local name = body and body:gsub("^@!?U?P%w+%s+", ""):match("^{?%s*([A-Z][A-Z0-9]*)")
    if name then
      local class = class_of[name] or "other"
      counts[class] = (counts[class] or 0) + 1
      counts.total = counts.total + 1
    end
  end
  return counts
end

-- A disassembler and its argument before the cubin, nil without one: beside nvcc, on PATH, in the toolkit's
-- folder.
function sass.tool(nvcc)
  local beside = nvcc:match("^(.*/)[^/]*$") or "./"
  for _, tool in ipairs { { "cuobjdump", "-sass" }, { "nvdisasm", "-c" } } do
    local path = beside .. tool[1]
    if not host.stat(path) then
      path = compile.find(tool[1], ":" .. (host.getenv("CUDA_HOME") or "") .. "/bin:/usr/local/cuda/bin")
    end
    if path then return { path, tool[2] } end
  end
end

-- The counts of the cubin at `path`; nil and why. A listing is longer than what a pool keeps of a job's
-- output: it goes to a file.
function sass.counts(opt, tool, path)
  local listing = outdir.path(opt, string.format("cache/tmp/sass.%d", math.floor(host.now() * 1e6)))
  host.mkdir(outdir.path(opt, "cache/tmp"))
  local pool = host.pool(1)
  pool:submit { argv = { "sh", "-c", 'exec "$1" "$2" "$3" > "$4"', "sh", tool[1], tool[2], path, listing },
                timeout = opt.timeout or 60, env = { "LC_ALL=C" } }
  local ended = pool:wait()
  local text = ended and ended.code == 0 and host.read(listing, 1 << 28)
  host.remove(listing)
  if not text then return nil, string.format("'%s' failed", outdir.shown(tool[1])) end
  local counts = sass.parse(text)
  if counts.total == 0 then return nil, string.format("'%s' shows no instructions", outdir.shown(tool[1])) end
  return counts
end

return sass
