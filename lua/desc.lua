-- desc: the launch descriptor, version 1.
--
-- A template says with `launch {...}` how its kernel is started; `desc.check` fills in the defaults
-- and refuses what no launcher could do, `desc.line` writes the one JSON line that lies beside the
-- kernel. gen/desc.c reads it and is as strict as this file: field order, names and types are
-- fixed, so equal launches are equal bytes.

local fail = require "fail"

local desc = { version = 1 }

local operands = { A = true, B = true, C = true }
local dims = { M = true, N = true, K = true }
local strides = { lda = true, ldb = true, ldc = true }
local plain_args = {
  A = true, B = true, C = true, M = true, N = true, K = true, lda = true, ldb = true, ldc = true,
  alpha = true, beta = true, ws = true,
}

-- What a table may say: fields by name, each with its default; one without must be given.
local function record(known)
  local names = {}
  for name in pairs(known) do names[#names + 1] = name end
  table.sort(names)
  return { known = known, names = names }
end

local launch_record = record {
  args = {}, grid = {}, tile = {}, block = {}, smem = {},
  split_k = { 1 }, cluster = { 1 }, ctas_per_sm = { 1 }, pdl = { false }, cooperative = { false },
  tensors = { {} }, workspace = { 0 }, legal = { {} },
}
local tensor_record = record {
  name = {}, operand = {}, dims = {}, stride = {}, box = {}, swizzle = { 0 }, l2 = { 0 },
}
local legal_record = record {
  m = { 1 }, n = { 1 }, k = { 1 }, ld = { 1 }, align = { 16 },
  M = { 0 }, N = { 0 }, K = { 0 }, resident = { false },
}
local workspace_record = record { bytes = {}, init = { "none" } }

local swizzles = { [0] = true, [32] = true, [64] = true, [128] = true }
local l2_sizes = { [0] = true, [64] = true, [128] = true, [256] = true }
local rules = { tiles = true, persistent = true }
local inits = { none = true, zero = true }

-- A value as a message shows it: the address of a table differs from run to run.
local function shown(v)
  return (type(v) == "table" or type(v) == "function") and "a " .. type(v) or tostring(v)
end

local function need(ok, text, ...)
  if not ok then error(string.format(text, ...), 0) end
end

local function sorted_keys(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = shown(k) end
  table.sort(keys)
  return keys
end

-- Complains about the first name, in alphabetical order, that the record `r` does not know.
local function refuse_unknown(what, t, r)
  for _, name in ipairs(sorted_keys(t)) do
    if not r.known[name] then
      need(false, "%s has an unknown field '%s'%s", what, name, fail.near(name, r.names))
    end
  end
end

-- A copy of `t` with the defaults of the record `r`; a name that is not in it is an error.
local function filled(what, t, r)
  need(type(t) == "table", "%s is a %s, not a table", what, type(t))
  for name in pairs(t) do -- order does not matter: it only looks whether there is one
    if not r.known[name] then refuse_unknown(what, t, r) end
  end
  local out = {}
  for _, name in ipairs(r.names) do
    local v = t[name]
    if v == nil then v = r.known[name][1] end
    need(v ~= nil, "%s lacks the field '%s'", what, name)
    out[name] = v
  end
  return out
end

local function integer(what, v, lo, hi)
  need(math.type(v) == "integer", "%s is %s, not an integer", what, shown(v))
  need(v >= lo and v <= hi, "%s is %d, outside %d..%d", what, v, lo, hi)
end

local function boolean(what, v)
  need(type(v) == "boolean", "%s is %s, not true or false", what, shown(v))
end

local function one_of(what, v, set)
  if set[v] then return end
  need(false, "%s is '%s', not one of %s", what, shown(v), table.concat(sorted_keys(set), " "))
end

-- A list has no names in it: they would be ignored.
local function is_list(v)
  if type(v) ~= "table" then return false end
  local count = 0
  for _ in pairs(v) do count = count + 1 end -- order does not matter: it only counts
  return count == #v
end

local function pair_of(what, v, each)
  need(is_list(v) and #v == 2, "%s is not a list of two", what)
  each(what, v[1])
  each(what, v[2])
end

local function check_tensor(i, tensor)
  local what = "tensor " .. i
  local t = filled(what, tensor, tensor_record)
  need(type(t.name) == "string" and t.name:find("^tmap_%w+$"), "%s: its name is not tmap_...", what)
  what = "tensor '" .. t.name .. "'"
  one_of(what .. ": operand", t.operand, operands)
  pair_of(what .. ": dims", t.dims, function(w, v) one_of(w, v, dims) end)
  one_of(what .. ": stride", t.stride, strides)
  pair_of(what .. ": box", t.box, function(w, v) integer(w, v, 1, 256) end)
  one_of(what .. ": swizzle", t.swizzle, swizzles)
  one_of(what .. ": l2", t.l2, l2_sizes)
  local inner = t.box[1] * 2
  need(inner % 16 == 0, "%s: the box's inner side of %d B is not a multiple of 16", what, inner)
  need(t.swizzle == 0 or inner <= t.swizzle,
       "%s: the box's inner side of %d B is wider than its %d B swizzle", what, inner, t.swizzle)
  return t
end

local function check_args(args, tensors)
  need(is_list(args) and #args > 0, "launch: args is not a list of names")
  local known, used = {}, {}
  for _, t in ipairs(tensors) do
    need(not known[t.name], "tensor '%s' is declared twice", t.name)
    known[t.name] = true
  end
  for _, a in ipairs(args) do
    need(plain_args[a] or known[a], "launch: unknown argument '%s'", shown(a))
    need(not used[a], "launch: argument '%s' is given twice", a)
    used[a] = true
  end
  for _, t in ipairs(tensors) do
    need(used[t.name], "tensor '%s' is not among the arguments", t.name)
  end
end

local function check_legal(legal)
  local l = filled("launch: legal", legal, legal_record)
  for _, name in ipairs { "m", "n", "k", "ld", "align" } do
    integer("launch: legal." .. name, l[name], 1, 1 << 20)
  end
  for _, name in ipairs { "M", "N", "K" } do
    integer("launch: legal." .. name, l[name], 0, (1 << 31) - 1)
  end
  boolean("launch: legal.resident", l.resident)
  return l
end

local function check_workspace(ws)
  if type(ws) ~= "table" then ws = { bytes = ws } end
  local w = filled("launch: workspace", ws, workspace_record)
  integer("launch: workspace", w.bytes, 0, 1 << 40)
  one_of("launch: workspace.init", w.init, inits)
  return w
end

-- The launch with its defaults, every field looked at. Errors are plain text without a position:
-- the caller knows the template's line.
function desc.check(launch)
  local d = filled("launch", launch, launch_record)
  one_of("launch: grid", d.grid, rules)
  pair_of("launch: tile", d.tile, function(w, v) integer(w, v, 1, 1 << 20) end)
  integer("launch: block", d.block, 32, 1024)
  need(d.block % 32 == 0, "launch: block is %d, not whole warps", d.block)
  integer("launch: smem", d.smem, 0, 1 << 20)
  integer("launch: split_k", d.split_k, 1, 1 << 16)
  integer("launch: cluster", d.cluster, 1, 16)
  integer("launch: ctas_per_sm", d.ctas_per_sm, 1, 32)
  boolean("launch: pdl", d.pdl)
  boolean("launch: cooperative", d.cooperative)
  need(is_list(d.tensors), "launch: tensors is not a list")
  local tensors = {}
  for i, t in ipairs(d.tensors) do tensors[i] = check_tensor(i, t) end
  d.tensors = tensors
  check_args(d.args, tensors)
  d.legal = check_legal(d.legal)
  d.workspace = check_workspace(d.workspace)
  return d
end

local function escape(c)
  return string.format("\\u%04x", c:byte())
end

local function quote(text)
  if not text:find('[%c"\\]') then return '"' .. text .. '"' end
  return '"' .. text:gsub('[%c"\\]', escape) .. '"'
end

-- Appends the JSON of a scalar, or of a list, to the parts `out`.
local function put(out, v)
  if type(v) == "string" then
    out[#out + 1] = quote(v)
  elseif type(v) ~= "table" then
    out[#out + 1] = tostring(v)
  else
    out[#out + 1] = "["
    for i, x in ipairs(v) do
      if i > 1 then out[#out + 1] = "," end
      put(out, x)
    end
    out[#out + 1] = "]"
  end
end

local nested

-- Appends the fields of `t` that `order` lists, as a JSON object in that order. heads are the names
-- with what stands around them.
local function put_object(out, t, order, heads)
  for i, name in ipairs(order) do
    out[#out + 1] = heads[i]
    local write = nested[name]
    if write and type(t[name]) == "table" then write(out, t[name]) else put(out, t[name]) end
  end
  out[#out + 1] = "}"
end

local function heads_of(order)
  local heads = {}
  for i, name in ipairs(order) do heads[i] = (i == 1 and '{"' or ',"') .. name .. '":' end
  return heads
end

local function object_of(order)
  local heads = heads_of(order)
  return function(out, t) put_object(out, t, order, heads) end
end

local put_tensor = object_of { "name", "operand", "dims", "stride", "box", "swizzle", "l2" }

-- Fields that are objects, or lists of them.
nested = {
  grid = object_of { "rule", "tile", "split_k", "ctas_per_sm" },
  workspace = object_of { "bytes", "init" },
  legal = object_of { "m", "n", "k", "ld", "align", "M", "N", "K", "resident" },
  tensors = function(out, list)
    out[#out + 1] = "["
    for i, t in ipairs(list) do
      if i > 1 then out[#out + 1] = "," end
      put_tensor(out, t)
    end
    out[#out + 1] = "]"
  end,
}

local put_line = object_of {
  "loom", "kernel", "key", "arch", "layout", "dtype", "acc", "args", "grid", "block", "cluster",
  "smem", "cooperative", "pdl", "tensors", "workspace", "legal",
}

-- The descriptor's line (with its newline) of a checked launch; `id` = {key, arch, layout, dtype,
-- acc}.
function desc.line(d, id)
  local out = {}
  put_line(out, {
    loom = desc.version, kernel = "loom_kernel", key = id.key, arch = id.arch, layout = id.layout,
    dtype = id.dtype, acc = id.acc, args = d.args, block = d.block, cluster = d.cluster,
    smem = d.smem, cooperative = d.cooperative, pdl = d.pdl, tensors = d.tensors,
    workspace = d.workspace, legal = d.legal,
    grid = { rule = d.grid, tile = d.tile, split_k = d.split_k, ctas_per_sm = d.ctas_per_sm },
  })
  return table.concat(out) .. "\n"
end

-- The key in a descriptor's line, or nil: enough for those who only have to recognise the kernel.
function desc.key(line)
  return line:match('"key":"([^"]*)"')
end

return desc
