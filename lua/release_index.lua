-- release_index: INDEX.tsv, the table of a release: one line a problem, the first names the columns.
--
-- A line holds what its row of the store held, so that a release is an input of the next one: who
-- has no measurements of a problem keeps the line that lies there. Sorted by problem, floats with
-- six digits, neither dates nor paths: equal rows are equal bytes. The last column is the format's
-- version.

local fail = require "fail"
local outdir = require "outdir"

local index = { version = 1 }

-- Title, field of a store row, kind. `none` may be absent and is then '-'.
local COLUMNS = {
  { "m", "m", "int" }, { "n", "n", "int" }, { "k", "k", "int" },
  { "layout", "layout", "text" }, { "dtype", "dtype", "text" }, { "acc", "acc", "text" },
  { "kernel", "stem", "text" },
  { "vs_cublas_nopdl", "ratio", "float" }, { "lo", "ratio_lo", "float" }, { "hi", "ratio_hi", "float" },
  { "vs_cublas", "ratio_pdl", "none" }, { "pdl_lo", "ratio_pdl_lo", "none" },
  { "pdl_hi", "ratio_pdl_hi", "none" }, { "us", "us", "float" }, { "us_pdl", "us_pdl", "none" },
  { "cublas_us", "cublas_us", "float" }, { "cublas_nn_us", "cublas_nn_us", "float" },
  { "cublas_tn_us", "cublas_tn_us", "float" }, { "cublas_math", "cublas_math", "text" },
  { "pass", "pass", "int" }, { "blocks", "blocks", "int" }, { "device", "device", "text" },
  { "driver", "driver", "text" }, { "cuda", "cuda", "text" }, { "cublas", "cublas", "text" },
  { "nvcc", "nvcc", "text" }, { "cubin", "cubin", "text" }, { "key", "key", "text" },
  { "format", "format", "int" },
}

local titles = {}
for i, column in ipairs(COLUMNS) do titles[i] = column[1] end
local HEAD = table.concat(titles, "\t")

local LAYOUTS = { nn = 0, tn = 1, nt = 2, tt = 3 }

-- The number loom.h gives a layout, and the pair of element and sum type.
function index.layout(row) return LAYOUTS[row.layout] end

function index.type(row)
  if row.dtype == "bf16" then return 1 end
  return row.acc == "f16" and 2 or 0
end

function index.title(row)
  return string.format("%dx%dx%d %s %s acc %s", row.m, row.n, row.k, row.layout, row.dtype, row.acc)
end

local function before(x, y)
  for _, name in ipairs { "m", "n", "k" } do
    if x[name] ~= y[name] then return x[name] < y[name] end
  end
  local a, b = index.type(x) * 4 + index.layout(x), index.type(y) * 4 + index.layout(y)
  return a < b
end

function index.sort(rows)
  table.sort(rows, before)
end

-- ------------------------------------------------------------------------------- odd rows

local function is_size(v) return math.type(v) == "integer" and v >= 1 and v < 1 << 31 end
local function is_count(v) return math.type(v) == "integer" and v >= 0 end
local function is_text(v) return type(v) == "string" and v ~= "" end
local function is_figure(v) return type(v) == "number" and v > 0 and v < math.huge end

local function or_none(is)
  return function(v) return v == nil or is(v) end
end

local function one_of(words)
  return function(v) return type(v) == "string" and words[v] ~= nil end
end

-- Names of fields, what each has to be; the second list is for rows with figures.
local EVERY = {
  { "m n k", is_size }, { "layout", one_of(LAYOUTS) }, { "dtype", one_of { f16 = 1, bf16 = 1 } },
  { "acc", one_of { f32 = 1, f16 = 1 } }, { "key status", is_text }, { "pass", is_count },
}
local MEASURED = {
  { "us cublas_nn_us cublas_tn_us ratio ratio_lo ratio_hi", is_figure },
  { "us_pdl ratio_pdl ratio_pdl_lo ratio_pdl_hi", or_none(is_figure) },
  { "device driver cuda cublas nvcc cubin", is_text }, { "cublas_math", or_none(is_text) },
  { "blocks", or_none(is_count) },
}

local function check(row, rules)
  for _, rule in ipairs(rules) do
    for name in rule[1]:gmatch("%S+") do
      local v = row[name]
      if v == nil and not rule[2](v) then return name .. " is missing" end
      if not rule[2](v) then return string.format("%s is '%s'", name, v) end
    end
  end
end

-- What keeps a row of a store, or of an INDEX, out of a release; nil when nothing does.
function index.flaw(row)
  local flaw = check(row, EVERY) or row.status == "ok" and check(row, MEASURED) or nil
  if not flaw and row.dtype == "bf16" and row.acc == "f16" then return "acc is 'f16' with bf16" end
  return flaw
end

-- ------------------------------------------------------------------------------- text

local write_as = {
  int = function(v) return string.format("%d", v) end,
  float = function(v) return string.format("%.6g", v) end,
  none = function(v) return v and string.format("%.6g", v) or "-" end,
  text = function(v) return (tostring(v):gsub("[\t\n]", " ")) end,
}

-- The file's text; rows are sorted.
function index.text(rows)
  local lines = { HEAD }
  for _, row in ipairs(rows) do
    local cells = {}
    for i, column in ipairs(COLUMNS) do
      local value = row[column[2]]
      if column[1] == "format" then value = index.version end
      if value == nil and column[3] ~= "none" then value = column[3] == "text" and "-" or 0 end
      cells[i] = write_as[column[3]](value)
    end
    lines[#lines + 1] = table.concat(cells, "\t")
  end
  return table.concat(lines, "\n") .. "\n"
end

local read_as = {
  int = function(t) return t:find("^%d+$") and math.tointeger(tonumber(t)) end,
  float = function(t) return t:find("^[%d.e+-]+$") and tonumber(t) end,
  text = function(t) return t ~= "" and t end,
}

local function read_line(line, place)
  local cells, row = {}, { status = "ok" }
  for cell in (line .. "\t"):gmatch("([^\t]*)\t") do cells[#cells + 1] = cell end
  if #cells ~= #COLUMNS then
    fail(string.format("%s: %d columns, not %d", place, #cells, #COLUMNS))
  end
  for i, column in ipairs(COLUMNS) do
    local kind, cell = column[3], cells[i]
    if not (kind == "none" and cell == "-") then
      local value = read_as[kind == "none" and "float" or kind](cell)
      if not value then fail(string.format("%s: %s '%s' is no %s", place, column[1], cell, kind)) end
      row[column[2]] = value
    end
  end
  if row.format ~= index.version then
    fail(string.format("%s: not a line of format %d", place, index.version))
  end
  local flaw = index.flaw(row)
  if flaw then fail(place .. ": " .. flaw) end
  return row
end

-- The rows of the file at `path`; none when there is no file. Refuses what it would not write.
function index.read(path)
  local text = host.stat(path) and host.read(path)
  if not text then return {} end
  local rows, number = {}, 0
  for line in text:gmatch("[^\n]+") do
    number = number + 1
    local place = string.format("%s:%d", outdir.shown(path), number)
    if number > 1 then
      rows[#rows + 1] = read_line(line, place)
    elseif line ~= HEAD then
      fail(string.format("%s: not an index of format %d: move the release away", place,
                         index.version))
    end
  end
  return rows
end

return index
