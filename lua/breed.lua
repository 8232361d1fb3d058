-- breed: children of a search: a parent's text, edited by the mutator.
--
-- Whatever a mutator says, at worst it costs a generation: an edit that does not apply, breaks the
-- spec or leaves no point is refused, counted by its reason, and told to the mutator.

local answers = require "answers"
local edit = require "edit"
local fail = require "fail"
local lineage = require "lineage"
local rng = require "rng"
local space = require "space"
local why_ = require "why"

local breed = {}

-- A reason without what differs from edit to edit: places, names, values, lists of values.
local function kind_of(reason)
  return (reason:gsub("^.-%.lua:%d+: ", ""):gsub(" %(did you mean '[^']*'%?%)", "")
          :gsub("[^%s']*%.lua:%d+", ".."):gsub("'[^']*'", ".."):gsub("{[^{}]*}", "..")
          :gsub("%-?%f[%w]%d+%f[^%w]", ".."):gsub("%.%.%.+", ".."):gsub("%.%., %f[.]", ""))
end

-- Counts a refused edit by its kind of reason; the mutator is told the whole. `detail` is text of the
-- mutator's own, which says nothing about the kind.
local function refuse(s, text, reason, detail)
  s.refused[#s.refused + 1] = { text = text, reason = detail and reason .. ": " .. detail or reason }
  local short = kind_of(reason)
  if not s.reasons[short] then s.reasons[#s.reasons + 1] = short end
  s.reasons[short] = (s.reasons[short] or 0) + 1
end

-- What a mutator gets to see.
local function state_of(s, parent)
  local left = not s.fixed_ms and math.max(1, (s.budget_ms - s.ms) // 1000) or nil
  return {
    text = parent.text, path = s.path, space = parent.space, bound = parent.bound,
    problem = s.problem, device = s.device, rows = s.rows, reward = parent.reward,
    best = parent.best, rejected = s.refused, history = s.history, n = 4, seconds = left,
  }
end

-- Edits from the mutator; nil when interrupted, or given up (s.given_up says why). A language
-- model's answer is journaled as it came; that there was none, once there is one again.
local function propose(s, parent, generation, draw)
  local m, state = s.mutator, state_of(s, parent)
  if not m.ask then return m:propose(state, draw) end
  local fields = answers.learn(s, "ask " .. generation, function()
    local lines, why = m:ask(state)
    s.given_up = not lines and why
    return lines and { { "lines", table.concat(lines, "\n") } }, why
  end)
  if not fields then return nil end
  if m.failures == 0 then s.journal:flush() end
  s.refused = {}
  local lines = {}
  for line in fields.lines:gmatch("[^\n]+") do lines[#lines + 1] = line end
  local proposals, rejects = m:read(lines)
  for _, r in ipairs(rejects or {}) do refuse(s, r.text, r.reason, r.detail) end
  return proposals
end

-- The parent's text with every proposal that applies; the edits that did.
local function apply(s, parent, proposals)
  local text, done = parent.text, {}
  for _, p in ipairs(proposals) do
    local words_ = edit.format(p.op)
    local new, err = edit.apply(text, s.path, p.op)
    if new then
      text = new
      done[#done + 1] = { text = words_, name = p.name or "", hypothesis = p.hypothesis or "" }
    else
      refuse(s, words_, err)
    end
  end
  return text, done
end

-- Why a space has no point for the problem; short, as reasons are counted by their kind.
function breed.why_empty(bound)
  return "no point is left: " .. why_.brief(bound:why_empty())
end

-- The space of a child's text, bound; nil and the reason where it is no use.
local function settle(s, text)
  if s.lineage:with_text(text) then return nil, "the same spec was there before" end
  local sp, err = edit.check(text, s.path)
  if not sp then return nil, err end
  local ok, bound, total = pcall(function()
    local b = space.bind(sp, s.problem, s.device)
    return b, b:total()
  end)
  if not ok then return nil, fail.text(bound) or error(bound, 0) end
  if total == 0 then return nil, breed.why_empty(bound) end
  return bound
end

-- A node of the lineage that has measured nothing yet.
function breed.node(id, parent, text, bound, edits)
  return { id = id, parent = parent, parent_reward = parent and parent.reward, text = text,
           space = bound.space, bound = bound, edits = edits, reward = 0.0, measured = 0,
           failed = 0, ms = 0 }
end

-- A child of generation `g`; without an edit that works it is the parent again, to be measured
-- further. Nil when interrupted or given up.
function breed.child(s, g)
  local parent
  for try = 1, s.mutator.tries or 1 do
    local draw = rng.new(string.format("%d mutate %d %d", s.seed, g, try))
    parent = s.lineage:choose(draw)
    local proposals = propose(s, parent, g, draw)
    if not proposals then return nil end
    local text, edits = apply(s, parent, proposals)
    if #edits > 0 then
      local bound, reason = settle(s, text)
      if bound then return breed.node(g, parent, text, bound, edits) end
      refuse(s, lineage.edits({ edits = edits }, "text"), reason)
    end
  end
  return breed.node(g, parent, parent.text, parent.bound, {})
end

-- The text of a base; its path may be relative to the project.
function breed.read_base(sp)
  return host.read(sp.file) or host.read(host.root .. "/" .. sp.file)
end

-- Writes a node's spec, and sets its path. Bases that are not shipped are copied along: the spec can
-- be used where it lies.
function breed.write(s, node)
  local dir = string.format("%s/%s", s.dir, lineage.name(node.id))
  node.path = string.format("%s/%s.lua", dir, node.space.name)
  local files = { { node.path, node.text } }
  local base = node.space.base
  while base do
    if not base.file:find("^spaces/[^/]*$") then
      files[#files + 1] = { dir .. "/" .. base.file:match("[^/]*$"), breed.read_base(base) }
    end
    base = base.base
  end
  for _, file in ipairs(files) do
    local ok, err = host.write(file[1], file[2])
    if ok == nil then fail(err) end
  end
end

return breed
