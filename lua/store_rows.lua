-- store_rows: what a row of the store is: its columns, its text, its identity.
--
-- A row's text is the same on every machine: columns in their order, numbers as short as read back to
-- the same value, what is absent left out. Its hash is the row's identity, so stores can be merged
-- in any order and a row that was damaged is found out. A run has a name of its own, because its
-- number in `rows` holds for one store only.

local store_rows = {}

-- Name and type; `run` is the run's name in text, its number in SQL.
local COLUMNS = {
  { "run", "INTEGER NOT NULL" }, { "time", "INTEGER NOT NULL" }, { "loom", "TEXT NOT NULL" },
  { "m", "INTEGER" }, { "n", "INTEGER" }, { "k", "INTEGER" },
  { "layout", "TEXT" }, { "dtype", "TEXT" }, { "acc", "TEXT" },
  { "key", "TEXT" }, { "hash", "TEXT" }, { "cubin", "TEXT" }, { "source", "TEXT" },
  { "preset", "TEXT" }, { "device", "TEXT" }, { "uuid", "TEXT" }, { "driver", "TEXT" },
  { "cuda", "TEXT" }, { "cublas", "TEXT" }, { "nvcc", "TEXT" }, { "backend", "TEXT" },
  { "pass", "INTEGER" }, { "status", "TEXT" }, { "why", "TEXT" },
  { "us", "REAL" }, { "us_pdl", "REAL" }, { "cublas_nn_us", "REAL" }, { "cublas_tn_us", "REAL" },
  { "ratio", "REAL" }, { "ratio_lo", "REAL" }, { "ratio_hi", "REAL" },
  { "ratio_pdl", "REAL" }, { "ratio_pdl_lo", "REAL" }, { "ratio_pdl_hi", "REAL" },
  { "ratio_nn", "REAL" }, { "ratio_tn", "REAL" }, { "err", "REAL" }, { "rms", "REAL" },
  { "blocks", "INTEGER" }, { "starved", "INTEGER" }, { "reps", "INTEGER" },
  { "checked", "INTEGER" }, { "clock_mhz", "REAL" }, { "cublas_math", "TEXT" },
  { "regs", "INTEGER" }, { "spills", "INTEGER" }, { "warnings", "TEXT" },
  { "predicted_us", "REAL" }, { "verified", "TEXT" },
  -- from here on absent in rows of version 2
  { "schema", "INTEGER" }, { "template", "TEXT" }, { "spec", "TEXT" }, { "seed", "INTEGER" },
  { "cublaslt", "TEXT" }, { "samples", "TEXT" }, -- of the figure, a list, where the worker says them
  { "power_w", "REAL" }, { "temp_c", "REAL" }, { "throttle", "TEXT" }, { "throttled", "INTEGER" },
  { "drift", "REAL" }, { "drifted", "INTEGER" }, { "unsteady", "INTEGER" },
  { "best_nv", "TEXT" }, { "best_nv_us", "REAL" }, { "best_nv_algo", "TEXT" },
  { "ratio_nv", "REAL" }, { "ratio_nv_lo", "REAL" }, { "ratio_nv_hi", "REAL" },
  { "ratio_nv_pdl", "REAL" }, { "ratio_nv_pdl_lo", "REAL" }, { "ratio_nv_pdl_hi", "REAL" },
  { "verdict", "TEXT" }, { "verdict_pdl", "TEXT" },
  -- from here on absent in rows of version 3
  { "families", "INTEGER" }, { "holes", "INTEGER" }, { "ms_families", "REAL" }, { "ms_changed", "REAL" },
  { "ms", "REAL" }, -- the job, by loom's clock
  { "clock", "TEXT" }, { "load", "INTEGER" }, -- absent: launches back to back, cold operands
  { "p99_us", "REAL" }, { "p99_us_pdl", "REAL" }, { "cublas_us", "REAL" }, { "cublas_p99_us", "REAL" },
  { "enqueue_us", "REAL" }, { "enqueue_us_pdl", "REAL" }, { "cublas_enqueue_us", "REAL" },
  { "process", "INTEGER" }, { "processes", "INTEGER" }, { "sanitizer", "TEXT" },
  { "option", "TEXT" }, { "place", "INTEGER" }, { "found", "TEXT" }, -- of the libraries' rows
}

store_rows.names = {}
for i, c in ipairs(COLUMNS) do store_rows.names[i] = c[1] end

local kinds = {} -- by name: INTEGER, REAL or TEXT
for _, c in ipairs(COLUMNS) do kinds[c[1]] = c[2]:match("^%u+") end
kinds.run = "TEXT"

function store_rows.has(name)
  return kinds[name] ~= nil
end

-- SQL of the table's columns.
function store_rows.definition()
  local defs = {}
  for i, c in ipairs(COLUMNS) do defs[i] = c[1] .. " " .. c[2] end
  return table.concat(defs, ", ")
end

-- SQL that adds the columns which a table lacks; `has` says which names it has.
function store_rows.additions(has)
  local out = { "" }
  for _, c in ipairs(COLUMNS) do
    if not has[c[1]] then out[#out + 1] = string.format("ALTER TABLE rows ADD COLUMN %s %s;", c[1], c[2]) end
  end
  return table.concat(out, " ")
end

-- ------------------------------------------------------------------------------- text

local escapes = { ["%"] = "%25", ["\t"] = "%09", ["\n"] = "%0A", ["\r"] = "%0D", ["\0"] = "%00" }
local escaped = { ["25"] = "%", ["09"] = "\t", ["0A"] = "\n", ["0D"] = "\r", ["00"] = "\0" }

local function float_text(x)
  local short = string.format("%.15g", x)
  return tonumber(short) == x and short or string.format("%.17g", x)
end

-- The text of a cell; nothing is an empty one, so an empty text is '%'.
local function cell(value)
  if value == nil then return "" end
  if value == true or value == false then return value and "1" or "0" end
  if math.type(value) == "float" then return float_text(value) end
  local text = tostring(value)
  return text == "" and "%" or (text:gsub("[%%\t\n\r%z]", escapes))
end

local infinite = { inf = math.huge, ["-inf"] = -math.huge }

-- A number as SQLite keeps it in a column of this kind, nil for what is none.
local function number(kind, text)
  local v = infinite[text] or tonumber(text)
  if not v or v ~= v then return nil end
  if kind == "REAL" then return v + 0.0 end -- a float, and 0 without a sign
  return math.tointeger(v) or v
end

-- A cell's value; nil, true where it is not what cell() writes.
local function value_of(name, text)
  if text == "" then return nil end
  if kinds[name] ~= "TEXT" then
    local v = number(kinds[name], text)
    if v == nil or cell(v) ~= text then return nil, true end
    return v
  end
  local v = text == "%" and "" or text:gsub("%%(%x%x)", escaped)
  if cell(v) ~= text then return nil, true end
  return v
end

-- A value as the store will give it back: what it would change has another identity afterwards.
function store_rows.stored(name, v)
  if v == nil then return nil end
  if v == true or v == false then v = v and 1 or 0 end
  if name == "run" then return v end
  if kinds[name] == "TEXT" then return type(v) == "string" and v or cell(v) end
  return number(kinds[name], v) or (type(v) == "string" and v or nil)
end

-- The identity of a row, whose run goes by the name `run`. A column that a later version adds changes
-- nothing of the rows that lack it.
function store_rows.digest(row, run)
  local out = { "run=" .. cell(run) }
  for i = 2, #COLUMNS do
    local name = COLUMNS[i][1]
    if row[name] ~= nil then out[#out + 1] = name .. "=" .. cell(row[name]) end
  end
  return host.sha256(table.concat(out, "\t")):sub(1, 32)
end

-- The line of a row without its end: its identity, its columns.
function store_rows.line(row, run)
  local out = { row.digest, cell(run) }
  for i = 2, #COLUMNS do out[i + 1] = cell(row[COLUMNS[i][1]]) end
  return table.concat(out, "\t")
end

-- The line that names the columns.
function store_rows.head()
  return "digest\t" .. table.concat(store_rows.names, "\t")
end

-- A line's cells under their names -> row with digest and run (its name), or nil and why.
function store_rows.parse(line, names)
  local row, i = {}, 0
  for text in (line .. "\t"):gmatch("([^\t]*)\t") do
    i = i + 1
    local name = names[i]
    if not name then return nil, "more cells than columns" end
    if name == "digest" then
      row.digest = text
    else
      local v, bad = value_of(name, text)
      if bad then return nil, string.format("'%s' is no %s", text:sub(1, 40), name) end
      row[name] = v
    end
  end
  if i < #names then return nil, "fewer cells than columns" end
  return row
end

-- ------------------------------------------------------------------------------- flaws

-- What a measured row cannot do without, and rows of a GPU beside that.
local ALWAYS = { "m", "n", "k", "layout", "dtype", "acc", "key", "backend", "preset", "pass", "status", "device",
                 "driver", "cuda", "cublas", "nvcc" }
local TIMED = { "us", "cublas_nn_us", "cublas_tn_us", "ratio", "ratio_lo", "ratio_hi" }
-- A row with a clock has that clock's base; the libraries' rows are bases themselves.
local CLOCKED = { "us", "ratio", "ratio_lo", "ratio_hi" }
local POSITIVE = { "us", "us_pdl", "cublas_nn_us", "cublas_tn_us", "cublas_us", "ratio", "ratio_lo", "ratio_hi",
                   "p99_us", "p99_us_pdl", "cublas_p99_us" }

local function lacks(row, names)
  for _, name in ipairs(names) do
    if row[name] == nil or row[name] == "" then return "it has no " .. name end
  end
end

local function odd_figure(row)
  for i = 2, #COLUMNS do
    local name = COLUMNS[i][1]
    local v, kind = row[name], kinds[name]
    if v ~= nil and kind ~= "TEXT" then
      if type(v) ~= "number" then return name .. " is no number" end
      if v ~= v or v == math.huge or v == -math.huge then return name .. " is not finite" end
    end
  end
  for _, name in ipairs(POSITIVE) do
    if row[name] and row[name] <= 0 then return name .. " is not above 0" end
  end
  if row.ratio_lo and row.ratio_hi and row.ratio_lo > row.ratio_hi then return "its interval is empty" end
end

-- What an `ok` row lacks of the figures that its kind has.
local function untimed(row)
  if row.backend == "cpu" then return nil end
  if row.backend == "nvidia" then return lacks(row, { "us", "option" }) end
  if not row.clock then return lacks(row, TIMED) end
  return lacks(row, CLOCKED) or not row.cublas_us and lacks(row, TIMED) or nil
end

-- Why a row is odd, nil when it is not. Rows that an older loom wrote need less.
function store_rows.flaw(row)
  local why = lacks(row, ALWAYS)
  if not why and row.backend == "nvidia" then why = lacks(row, { "uuid" }) end
  if not why and row.backend == "cuda" then
    why = lacks(row, row.status == "build" and { "uuid", "source" } or { "uuid", "source", "cubin" })
  end
  if not why and row.status == "ok" then why = untimed(row) end
  return why or odd_figure(row)
end

return store_rows
