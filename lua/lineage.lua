-- lineage: the specs of a search, who came from whom, and what each was worth.
--
-- A node is one spec: {id, parent, text, space, bound, edits, reward, gain, ...}. Its reward is the
-- best ratio without pdl of any measured candidate that lies in its space, no matter for which spec
-- it was measured. out/search/<run>/lineage.tsv has a line for each, written anew as a whole: it is
-- a function of the journal, and nobody ever sees half of it.

local fail = require "fail"

local lineage = {}

local Lineage = {}
Lineage.__index = Lineage

function lineage.new(path)
  return setmetatable({ path = path, nodes = {}, texts = {} }, Lineage)
end

-- The node whose spec is this text, nil when it is new.
function Lineage:with_text(text)
  return self.texts[text]
end

function Lineage:add(node)
  self.nodes[#self.nodes + 1] = node
  self.texts[node.text] = self.texts[node.text] or node
end

-- Fixes what the file says of a node, once its own candidates are measured: later rows may raise its
-- reward further.
function lineage.born(node)
  local parent = node.parent
  node.born = { reward = node.reward, best = node.best,
                gain = node.reward - (parent and node.parent_reward or 0.0) }
end

-- Credits `row` to every node whose space holds it.
function Lineage:credit(row)
  for _, node in ipairs(self.nodes) do lineage.credit(node, row) end
end

function lineage.credit(node, row)
  if not row.ratio or row.ratio <= node.reward or not node.bound:check(row.cand) then return end
  node.reward, node.best = row.ratio, row
end

-- The better of two nodes; of equals the younger: it has what the older has, and its own edits.
local function better(x, y)
  if x.reward ~= y.reward then return x.reward > y.reward and x or y end
  return x.id > y.id and x or y
end

local function best_of(nodes)
  local best = nodes[1]
  for _, node in ipairs(nodes) do best = better(best, node) end
  return best
end

function Lineage:best()
  return best_of(self.nodes)
end

-- Who is to have the next child: the best, or the best of three by lot, half of the time each.
function Lineage:choose(rng)
  if rng:chance(50) then return self:best() end
  return best_of { rng:pick(self.nodes), rng:pick(self.nodes), rng:pick(self.nodes) }
end

-- A node and its ancestors, oldest first.
function lineage.path(node)
  local out = {}
  while node do
    table.insert(out, 1, node)
    node = node.parent
  end
  return out
end

function lineage.name(id)
  return string.format("%04d", id)
end

-- The edits of a node as text; each is {text, name, hypothesis}.
function lineage.edits(node, field)
  local out = {}
  for i, e in ipairs(node.edits) do out[i] = e[field] end
  return #out > 0 and table.concat(out, "; ") or "-"
end

local columns = { "id", "parent", "edits", "names", "hypotheses", "reward", "gain", "best",
                  "measured", "failed", "seconds" }

local function cells(node)
  local born = node.born
  return {
    lineage.name(node.id), node.parent and lineage.name(node.parent.id) or "-",
    lineage.edits(node, "text"), lineage.edits(node, "name"), lineage.edits(node, "hypothesis"),
    string.format("%.4f", born.reward), string.format("%+.4f", born.gain),
    born.best and born.best.key or "-", node.measured, node.failed,
    string.format("%.1f", node.ms / 1000),
  }
end

local function line(list)
  local out = {}
  for i, cell in ipairs(list) do out[i] = (tostring(cell):gsub("[\t\n\r]", " ")) end
  return table.concat(out, "\t") .. "\n"
end

-- Does the file that is there go on where these lines end? Their last node may have been cut short.
local function goes_on(path, lines)
  local old, begin = host.read(path) or "", table.concat(lines, "", 1, #lines - 1)
  local _, count = old:gsub("\n", "")
  return count >= #lines and old:sub(1, #begin) == begin
end

-- Writes the file. `more`: the journal goes on behind these nodes, which a smaller BUDGET ended; a
-- file that has those too stays.
function Lineage:write(more)
  local out = { line(columns) }
  for _, node in ipairs(self.nodes) do out[#out + 1] = line(cells(node)) end
  if more and goes_on(self.path, out) then return end
  local ok, err = host.write(self.path, table.concat(out))
  if ok == nil then fail(err) end
end

return lineage
