-- edit_words: the words of an edit, `add-value stages 13`, read and written. They come as a list, as a
-- shell hands them over, or as one text with blanks between; there a text that is not one plain word
-- stands in double quotes, with \" \\ \n \r \t \ddd inside. EXPECT=text may stand anywhere among them.

local fail = require "fail"

local words = {}

local fmt = string.format

-- Quoted texts -------------------------------------------------------------------------------------

local NAMED = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ['"'] = '\\"', ["\\"] = "\\\\" }
local MEANS = { n = "\n", r = "\r", t = "\t" }

local function quoted(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return NAMED[c] or fmt("\\%03d", c:byte()) end) .. '"'
end

local function unquoted(word)
  local inner = word:match('^"(.*)"$')
  if not inner then return word end
  return (inner:gsub("\\(.)(%d?%d?)", function(c, digits)
    if c:find("%d") and #digits == 2 then return string.char(tonumber(c .. digits) % 256) end
    return (MEANS[c] or c) .. digits
  end))
end

-- The words of a text; a quote that opens within one closes in it.
local function split(text)
  local list, at = {}, 1
  while true do
    local from = text:find("%S", at)
    if not from then return list end
    at = from
    while text:find("^%S", at) do
      if text:sub(at, at) == '"' then
        local close = at + 1
        while text:find('^[^"]', close) do close = close + (text:sub(close, close) == "\\" and 2 or 1) end
        if close > #text then fail(fmt("no quote closes %s", text:sub(at, at + 39))) end
        at = close
      end
      at = at + 1
    end
    list[#list + 1] = text:sub(from, at - 1)
  end
end

-- Values: 128, 0x80, pingpong, "128" (a string), pingpong,2 ------------------------------------------

local function is_number(text)
  return text:find("^-?%d+$") or text:find("^-?0[xX]%x+$")
end

local function parse_part(word, part)
  local text = part:match('^"([^"]*)"$')
  if text then return text end
  if part == "" then fail(fmt("value '%s' has an empty part", word)) end
  if not is_number(part) then return part end
  local value = math.tointeger(tonumber(part))
  if not value then fail(fmt("value '%s' does not fit in 64 bits", part)) end
  return value
end

local function parse_value(word)
  local row = {}
  for part in (word .. ","):gmatch("([^,]*),") do row[#row + 1] = parse_part(word, part) end
  return #row == 1 and row[1] or row
end

local function format_part(value)
  local text = tostring(value)
  return type(value) == "string" and is_number(text) and '"' .. text .. '"' or text
end

local function format_value(value)
  local parts = {}
  for i, part in ipairs(type(value) == "table" and value or { value }) do parts[i] = format_part(part) end
  return table.concat(parts, ",")
end

-- Forms: for each operation its usage, how many words it takes, how many of the first may stand in
-- quotes, and both directions ------------------------------------------------------------------------

-- A name as it is where it is one plain word.
local function name_word(name)
  local text = tostring(name)
  return text:find("^[%w_.-]+$") and text or quoted(text)
end

local values = {
  usage = "PARAM VALUE...", least = 2, quotes = 1,
  parse = function(op, list)
    op.param, op.values = list[1], {}
    for i = 2, #list do op.values[i - 1] = parse_value(list[i]) end
  end,
  format = function(op, out)
    out[#out + 1] = name_word(op.param)
    for _, value in ipairs(op.values or {}) do out[#out + 1] = format_value(value) end
  end,
}

-- The same with other bounds.
local function like_values(usage, least, most)
  return { usage = usage, least = least, most = most, quotes = 1, parse = values.parse, format = values.format }
end

-- Fields of the op in the order of their words: a name as it is, other texts in quotes.
local function texts(usage, fields, plain)
  return {
    usage = usage, least = #fields, most = #fields, quotes = #fields,
    parse = function(op, list)
      for i, field in ipairs(fields) do op[field] = list[i] end
    end,
    format = function(op, out)
      for i, field in ipairs(fields) do
        out[#out + 1] = i <= plain and name_word(op[field]) or quoted(tostring(op[field]))
      end
    end,
  }
end

local seed = {
  usage = "NAME=VALUE...", least = 1, quotes = 0,
  parse = function(op, list)
    op.fields = {}
    for i, word in ipairs(list) do
      local name, value = word:match("^([%a_][%w_]*)=(.*)$")
      if not name then fail(fmt("'%s' is not of the form NAME=VALUE", word)) end
      op.fields[i] = { name = name, value = parse_value(value) }
    end
  end,
  format = function(op, out)
    for _, field in ipairs(op.fields or {}) do out[#out + 1] = field.name .. "=" .. format_value(field.value) end
  end,
}

-- Keys of a search that are numbers; the others are texts, also those that look like numbers.
words.search_numbers = { rng = true, n = true }

local search = texts("KEY VALUE", { "key", "value" }, 2)
search.parse = function(op, list)
  op.key, op.value = list[1], list[2]
  if words.search_numbers[op.key] and is_number(op.value) then op.value = parse_part(op.value, op.value) end
end

words.forms = {
  ["set-domain"] = values, ["add-value"] = values, ["remove-value"] = values,
  ["set-range"] = like_values("PARAM LOW HIGH [STEP]", 3, 4), ["pin"] = like_values("PARAM VALUE", 2),
  ["unpin"] = like_values("PARAM", 1, 1), ["add-seed"] = seed, ["set-let"] = texts("NAME EXPR", { "name", "expr" }, 1),
  ["add-rule"] = texts("must|prefer NAME EXPR WHY", { "rule", "name", "expr", "why" }, 2),
  ["drop-rule"] = texts("NAME", { "name" }, 1), ["set-search"] = search,
}

words.does = {
  ["set-domain"] = "exactly these values", ["add-value"] = "these values join",
  ["remove-value"] = "these values leave", ["set-range"] = "the values are a range",
  ["pin"] = "of its values this one counts", ["unpin"] = "all of them count again",
  ["add-seed"] = "one more seed", ["set-let"] = "a let has this expression", ["add-rule"] = "one more rule",
  ["drop-rule"] = "a rule goes, an inherited one is dropped", ["set-search"] = "a key of the search",
}

words.ops = { "set-domain", "add-value", "remove-value", "set-range", "pin", "unpin", "add-seed", "set-let",
  "add-rule", "drop-rule", "set-search" }

-- Both directions ----------------------------------------------------------------------------------

-- Takes EXPECT=... out of the words.
local function take_expect(list, is_text)
  local rest, expect = {}, nil
  for _, word in ipairs(list) do
    local text = word:match("^EXPECT=(.*)$")
    if text and expect then fail("EXPECT= is given twice") end
    if text then expect = is_text and unquoted(text) or text else rest[#rest + 1] = word end
  end
  return rest, expect
end

-- The op of a list of words or of a text; fails with what is wrong.
function words.parse(given)
  local is_text = type(given) == "string"
  local list, expect = take_expect(is_text and split(given) or given, is_text)
  local op = { kind = list[1], expect = expect }
  if not op.kind then fail("an edit wants OP and what it takes") end
  local form = words.forms[op.kind]
  if not form then
    fail(fmt("unknown edit '%s'%s; there are %s", op.kind, fail.near(op.kind, words.ops),
      table.concat(words.ops, ", ")))
  end
  local rest = table.move(list, 2, #list, 1, {})
  if #rest < form.least or #rest > (form.most or #rest) then
    fail(fmt("edit '%s' wants %s", op.kind, form.usage))
  end
  for i = 1, is_text and math.min(form.quotes, #rest) or 0 do rest[i] = unquoted(rest[i]) end
  form.parse(op, rest)
  return op
end

-- The words of an op as one text, which words.parse reads back.
function words.format(op)
  local out = { tostring(op.kind) }
  (words.forms[op.kind] or values).format(op, out)
  if op.expect then out[#out + 1] = "EXPECT=" .. quoted(op.expect) end
  return table.concat(out, " ")
end

return words
