-- journal: what a search has learned, in out/search/<run>/journal.tsv, one line for each answer.
--
-- A search is a function of its spec, problem, seed, and the answers it gets: times from the GPU,
-- edits from a language model. Each answer has an id and is on the disk before it is used, so a
-- search that was killed runs again from its seed, finds the answers it had, and goes on. Only calls
-- of the model that failed are held back until one succeeds, or the search ends well: should it be
-- given up, the next try begins at the first of them, and not with less time. Every line
-- ends in a checksum; the last one may be torn and is cut off, a broken one before it is refused.
-- The file stays locked: one process at a time writes to a run.

local fail = require "fail"
local outdir = require "outdir"

local journal = { version = 1 }

local Journal = {}
Journal.__index = Journal

local names = { ["%"] = "%25", ["\t"] = "%09", ["\n"] = "%0A", ["\r"] = "%0D" }
local chars = { ["25"] = "%", ["09"] = "\t", ["0A"] = "\n", ["0D"] = "\r" }

-- As short as reads back to the same number.
local function float_text(x)
  local short = string.format("%.15g", x)
  return tonumber(short) == x and short or string.format("%.17g", x)
end

local function escape(value)
  if math.type(value) == "float" then return float_text(value) end
  return (tostring(value):gsub("[%%\t\n\r]", names))
end

local function unescape(text)
  return (text:gsub("%%(%x%x)", chars))
end

local function sum(text)
  return host.sha256(text):sub(1, 8)
end

-- id, {name, value} pairs -> a line. Absent values are left out.
local function encode(id, pairs_)
  local out = { escape(id) }
  for _, p in ipairs(pairs_) do
    if p[2] ~= nil then out[#out + 1] = p[1] .. "=" .. escape(p[2]) end
  end
  local text = table.concat(out, "\t")
  return text .. "\tsum=" .. sum(text) .. "\n"
end

-- A line without its end -> id, {name = text}; nil where it is broken.
local function decode(line)
  local text, promised = line:match("^(.*)\tsum=(%x+)$")
  if not text or sum(text) ~= promised then return nil end
  local fields = {}
  for name, value in text:gmatch("\t([%w_]+)=([^\t]*)") do fields[name] = unescape(value) end
  return unescape(text:match("^[^\t]*")), fields
end

-- Reads all lines into self; the size of what is whole.
local function read(self, text)
  local number, at = 0, 1
  while true do
    local stop = text:find("\n", at, true)
    if not stop then break end
    number = number + 1
    local id, fields = decode(text:sub(at, stop - 1))
    if not id then
      if stop == #text then break end
      fail(string.format("%s:%d: broken line: what follows cannot be trusted; cut the file before it"
                         .. " or say RUN=name", self.shown, number))
    end
    if number == 1 then self.head = { id = id, fields = fields } else self.found[id] = fields end
    at = stop + 1
  end
  return at - 1
end

local function append(self, line)
  local ok, err = self.log:add(line)
  if not ok then fail(err) end
end

-- A journal of another search is no use to this one: the first difference is named.
local function check_head(self, head)
  local elsewhere = "say RUN=name, or remove the folder"
  if self.head.id ~= "warploom-search" or self.head.fields.version ~= tostring(journal.version) then
    fail(string.format("'%s' is no journal of version %d: %s", self.shown, journal.version,
                       elsewhere))
  end
  for _, p in ipairs(head) do
    local had, has = self.head.fields[p[1]], escape(p[2])
    if unescape(has) ~= had then
      fail(string.format("'%s' belongs to a search with %s %s, this one has %s: %s", self.shown,
                         p[1], had or "unknown", tostring(p[2]), elsewhere))
    end
  end
end

-- Opens or begins the journal at `path`; `head` is a list of {name, value}: what the search is.
function journal.open(path, head)
  local self = setmetatable({ path = path, shown = outdir.shown(path), found = {}, held = {} }, Journal)
  local ok, err = host.mkdir(path:match("^(.*)/"))
  if not ok then fail(err) end
  self.log, err = host.log(path)
  if err == "locked" then
    fail(string.format("another process is at work on this search: '%s' is locked; say RUN=name",
                       self.shown))
  elseif not self.log then
    fail(err)
  end
  local text
  text, err = host.read(path)
  if not text then fail(err) end
  local size = read(self, text)
  if size < #text then self.log:cut(size) end
  if self.head then
    check_head(self, head)
  else
    local first = table.move(head, 1, #head, 2, { { "version", journal.version } })
    append(self, encode("warploom-search", first))
  end
  return self
end

-- The fields of an answer, all of them text; nil when it is not known yet.
function Journal:find(id)
  return self.found[id]
end

-- How many answers have an id like this pattern.
function Journal:count(pattern)
  local n = 0
  for id in pairs(self.found) do -- order does not matter: a sum
    if id:find(pattern) then n = n + 1 end
  end
  return n
end

-- Writes down what was held back.
function Journal:flush()
  local lines = table.concat(self.held)
  self.held = {}
  if lines ~= "" then append(self, lines) end
end

-- Writes an answer down, or holds it back until flush; returns it as find will give it.
function Journal:add(id, pairs_, held)
  local line = encode(id, pairs_)
  if held then self.held[#self.held + 1] = line else append(self, line) end
  local _, fields = decode(line:sub(1, -2))
  self.found[id] = fields
  return fields
end

-- Ends it; `forget`: without what is held back.
function Journal:close(forget)
  if not forget then self:flush() end
  self.log:close()
end

return journal
