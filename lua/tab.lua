-- tab: plain text tables. Columns are as wide as their widest cell; a column whose cells are all
-- numbers is aligned to the right.

local tab = {}

local function cells_of(row, columns)
  local out = {}
  for i, column in ipairs(columns) do
    local value = row[column.key]
    if value == nil then value = row[i] end
    out[i] = value == nil and "" or tostring(value)
  end
  return out
end

-- A number as a table shows it: a sign or '>' in front, a fraction, an exponent, a unit behind.
local function numeric(cell)
  return cell == "" or cell == "-" or cell:find("^[-+]?%d[%d.]*[e%d+-]*[%%xs]?$") ~= nil
    or cell:find("^> [%d.e]+$") ~= nil
end

local function right_aligned(column, grid, i)
  if column.align then return column.align == "right" end
  local any = false
  for _, cells in ipairs(grid) do
    if not numeric(cells[i]) then return false end
    any = any or (cells[i] ~= "" and cells[i] ~= "-")
  end
  return any
end

local function width(text)
  return utf8.len(text) or #text
end

local function normalised(columns)
  local out = {}
  for i, column in ipairs(columns) do
    if type(column) == "string" then column = { title = column, key = column } end
    out[i] = { title = column.title or column.key, key = column.key or column.title, align = column.align }
  end
  return out
end

-- rows: lists of cells, or tables by column key; columns: names, or {title=, key=, align=}.
-- Returns the table's text: a line of titles, a line for each row.
function tab.format(rows, columns)
  columns = normalised(columns)
  local grid, titles, widths, right = {}, {}, {}, {}
  for r, row in ipairs(rows) do grid[r] = cells_of(row, columns) end
  for i, column in ipairs(columns) do
    titles[i], widths[i] = column.title, width(column.title)
    right[i] = right_aligned(column, grid, i)
    for _, cells in ipairs(grid) do widths[i] = math.max(widths[i], width(cells[i])) end
  end
  local out = {}
  local function line(cells)
    local parts = {}
    for i, cell in ipairs(cells) do
      local gap = (" "):rep(widths[i] - width(cell))
      parts[i] = right[i] and gap .. cell or cell .. gap
    end
    out[#out + 1] = (table.concat(parts, "  "):gsub("%s+$", "")) .. "\n"
  end
  line(titles)
  for _, cells in ipairs(grid) do line(cells) end
  return table.concat(out)
end

return tab
