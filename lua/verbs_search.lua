-- verbs_search: the verb `search`: one problem, one space, one mutator.

local fail = require "fail"
local search = require "search"
local select_ = require "select"
local space = require "space"

local verbs = {}

-- The problem: tn unless LAYOUT says otherwise, because a search is about one.
local function one_problem(opt)
  local list = {}
  for _, p in ipairs(opt.problems) do
    if opt.given.LAYOUT or p.layout == "tn" then list[#list + 1] = p end
  end
  if #list ~= 1 then fail.usage("a search wants one problem: SHAPE=MxNxK and one LAYOUT") end
  return list
end

-- The space named, else that of the most promising candidate.
local function one_space(opt)
  if opt.space and #opt.space > 1 then fail.usage("a search wants one space") end
  if opt.space then return opt.space end
  local item = select_.pick(opt.problems[1], opt.device, { n = 1 })[1]
  return { item.b.space.name }
end

-- What the spec's `search` says, where no knob says otherwise: its key, the knob's field.
local SPEC_KEYS = { { "mutator", "mutator" }, { "budget", "budget" }, { "rng", "seed" }, { "n", "n" } }

local function take_spec(opt)
  local said = space.load(opt.space[1]).search
  for _, pair in ipairs(SPEC_KEYS) do
    if opt[pair[2]] == nil then opt[pair[2]] = said[pair[1]] end
  end
end

function verbs.search(opt)
  opt.problems = one_problem(opt)
  opt.space = one_space(opt)
  take_spec(opt)
  return search.run(opt, require("mutate_" .. (opt.mutator or "random")))
end

return verbs
