-- fuzz_spec: what must hold of any space file. Loaded, or refused with one line `file:line: ...`; a
-- loaded one can be bound, its points walked, counted, named and read back; its tokens lose no byte;
-- an edit changes the bytes that it says and no others. Run by fuzz_spec.c.

local device = require "device"
local dsl = require "dsl"
local edit = require "edit"
local fail = require "fail"
local flat = require "flat"
local luatok = require "luatok"
local room = require "room"
local space = require "space"

-- Smaller than a user's: most of what a fuzzer finds first is an endless loop.
room.instructions = 10000
room.bytes = 4 << 20
dsl.values = 200

local POINTS = 60 -- of a space are looked at

local PROBLEM = { M = 4096, N = 512, K = 1024, layout = "nn", dtype = "f16", acc = "f32" }
local H200 = device.get "h200"

-- The only files there are, read once.
local files = {}
for _, name in ipairs { "common", "simt" } do
  local path = host.root .. "/spaces/" .. name .. ".lua"
  files[path] = assert(host.read(path))
end
function host.read(path) return files[path], "cannot open '" .. path .. "': No such file or directory" end
function host.stat(path) return files[path] and { size = #files[path], mtime = 0, dir = false, file = true } end
function host.list() return { "common.lua", "simt.lua" } end
function host.write() error("a space file is being written") end

-- A refusal is one line that a terminal shows as it is.
local function refusal(err, placed)
  local text = type(err) == "string" and err or fail.text(err)
  if not text then error(err, 0) end
  if string.find(text, "[%c\127]") then error("not one plain line: " .. text, 0) end
  if placed and not string.find(text, "^[^:]*%.lua:%d+: ") then error("no place: " .. text, 0) end
end

-- f(...), or nil where it is refused.
local function attempt(placed, f, ...)
  local ok, result = xpcall(f, function(e) return fail.text(e) and e or debug.traceback(tostring(e), 2) end, ...)
  if ok then return result end
  if type(result) == "string" then error(result, 0) end
  refusal(result, placed)
end

local function product(sp)
  local n = 1.0
  for _, param in ipairs(sp.params) do n = n * #param.rows end
  return n
end

-- Points one by one; what each says of itself must agree.
local function walk(b)
  local n = 0
  for cand in b:each() do
    n = n + 1
    local key = b:key(cand)
    local ok, rule = b:check(cand)
    if not ok then error("a listed point is refused by " .. tostring(rule)) end
    local _, _, back = space.parse_key(key, b.space)
    if b:key(back) ~= key then error("key '" .. key .. "' reads back as another") end
    if n <= 3 then b:explain(cand) end
    if n == POINTS then return nil end
  end
  return n
end

local function bind(sp)
  if product(sp) > 4000 then return end
  local b = attempt(false, space.bind, sp, PROBLEM, H200)
  if not b then return end
  attempt(true, b.seeds, b)
  local n = attempt(true, walk, b)
  local count = n and attempt(true, b.count, b)
  if not count then return end
  local sum = count.valid
  for _, r in ipairs(count.removed) do sum = sum + r.count end
  if count.valid ~= n then error("counted " .. count.valid .. " points, walked " .. n) end
  if sum ~= count.product then error("the parts are " .. sum .. " points, the product " .. count.product) end
end

local function tokens(text)
  local list = luatok.scan(text)
  if not list then return end
  local at = 1
  for _, t in ipairs(list) do
    if t.from < at or t.to < t.from or string.sub(text, t.from, t.to) ~= t.text then
      error("a token that is not the text's at byte " .. t.from)
    end
    at = t.to + 1
  end
end

-- Some number from the text, the same each time.
local function draw(text, n)
  local sum = #text
  for i = 1, #text, 7 do sum = (sum * 31 + string.byte(text, i)) & 0xffffff end
  return sum % n
end

-- Words of an edit, {a parameter and one of its rows, a name among the rules and lets}.
local EDITS = {
  function(p, v) return { "set-domain", p, v } end,
  function(p) return { "add-value", p, "12345" } end,
  function(p, v) return { "remove-value", p, v } end,
  function(p) return { "set-range", p, "1", "9", "2" } end,
  function(p, v) return { "pin", p, v } end,
  function(p) return { "unpin", p } end,
  function(p, v) return { "add-seed", p .. "=" .. v } end,
  function(p, _, n) return { "set-let", n, p .. " + 1" } end,
  function(p) return { "add-rule", "must", "new-rule", p .. " ~= 3", "not three" } end,
  function(_, _, n) return { "drop-rule", n } end,
  function() return { "set-search", "rng", "7" } end,
}

local function name_of(sp, text)
  local names = { "none" }
  for _, list in ipairs { sp.musts, sp.prefers, sp.lets } do
    for _, entry in ipairs(list) do names[#names + 1] = entry.name end
  end
  return names[draw(text .. "n", #names) + 1]
end

local function words_of(sp, text)
  local param = sp.params[draw(text, #sp.params) + 1]
  local row = param.rows[draw(text .. "r", #param.rows) + 1]
  local parts = {}
  for i, value in ipairs(row) do parts[i] = tostring(value) end
  return EDITS[draw(text .. "o", #EDITS) + 1](param.name, table.concat(parts, ","), name_of(sp, text))
end

-- The result must be the text with the changes put in.
local function put(text, changes)
  local out, at = {}, 1
  for _, c in ipairs(changes) do
    out[#out + 1] = string.sub(text, at, c.from - 1) .. c.text
    at = c.to + 1
  end
  return table.concat(out) .. string.sub(text, at)
end

local function change(sp, path, text)
  if #sp.params == 0 or sp.missing then return end
  local op = edit.parse(words_of(sp, text))
  if not op then return end
  local new, changes = edit.apply(text, path, op)
  if not new then return refusal(changes, true) end
  if new ~= put(text, changes) then error("the changes do not make the new text") end
  local ok, err = edit.check(new, path)
  if not ok then error("an edited file does not load: " .. err) end
end

-- What `loom space FLAT=1` prints loads to the same space, which prints the same.
local function flatten(sp)
  if sp.missing then return end
  local function bare(text) return (string.gsub(text, "%-%- [^\n]*\n", "")) end
  local text = flat.text(sp)
  local ok, again = pcall(space.load_text, sp.name .. ".lua", text)
  if not ok then error("a flat space does not load: " .. tostring(again) .. "\n" .. text) end
  if bare(flat.text(again)) ~= bare(text) then error("a flat space prints as another:\n" .. text) end
end

return function(text)
  local name = string.match(text, "space%s*%(?%s*[\"']([%w_]+)[\"']") or "fuzz"
  local path = name .. ".lua"
  tokens(text)
  local sp = attempt(true, space.load_text, path, text)
  if not sp then return end
  local turn = draw(text, 4) -- one of them each time: all would be slow
  if turn == 0 then change(sp, path, text) elseif turn == 1 then flatten(sp) else bind(sp) end
end
