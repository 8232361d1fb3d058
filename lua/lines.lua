-- lines: from which line of which template each line of a kernel comes, told to the compiler as
-- #line directives.
--
-- A directive may only stand where a line of C++ begins: not in a comment or a raw string that goes
-- on, nor behind a line that ends in a backslash. There it waits for the next line that can have one.

local lines = {}

local RAW = { R = true, LR = true, uR = true, UR = true, u8R = true } -- what makes a string a raw one

-- The byte behind the string or character that begins at `at`; nil when the line does not end it.
local function quoted_end(line, at)
  local stops = '[\\' .. line:sub(at, at) .. "]"
  local stop = line:find(stops, at + 1)
  while stop and line:sub(stop, stop) == "\\" do stop = line:find(stops, stop + 2) end
  return stop and stop + 1
end

-- What a line of C++ leaves open, as the text that ends it: "*/", `)x"` of a raw string; nil for
-- nothing. `open` is what the line before left.
local function left_open(line, open)
  local at = 1
  while at do
    if open then
      local _, to = line:find(open, at, true)
      if not to then return open end
      open, at = nil, to + 1
    end
    local from = line:find("[/\"']", at)
    if not from then return nil end
    local pair, word = line:sub(from, from + 1), line:sub(1, from - 1):match("[%w_]*$")
    at = from + 1
    if pair == "//" then
      return nil
    elseif pair == "/*" then
      open, at = "*/", from + 2
    elseif pair:find('^"') and RAW[word] then
      local mark = line:match('^"([^()\\ ]*)%(', from)
      if mark then open, at = ")" .. mark .. '"', from + #mark + 2 end
    elseif pair:find('^"') or pair:find("^'") and not word:find("^%d") then -- 1'000 is a number
      at = quoted_end(line, from)
    end
  end
end

-- `text` with `#line N "file"` wherever the next line is not the one after the last: line i comes
-- from line map[i] of files[i], or of `name` where files is nil.
function lines.directives(text, map, files, name)
  local out, file, number, open, joined, i = {}, nil, nil, nil, false, 0
  for line in text:gmatch("([^\n]*)\n") do
    i = i + 1
    local from = files and files[i] or name
    if not open and not joined and (from ~= file or map[i] ~= number) then
      file, number = from, map[i]
      out[#out + 1] = string.format('#line %d "%s"', number, file)
    end
    out[#out + 1] = line
    number = number and number + 1
    open, joined = left_open(line, open), line:find("\\[ \t]*$") ~= nil
  end
  out[#out + 1] = ""
  return table.concat(out, "\n")
end

return lines
