-- mutate_llm: a language model as mutator. Writes what is known about the search as a prompt, has
-- loom-llm ask it (a program of its own: gen/llm.c), and reads the edits that come back.
--
-- ask() is the only part that talks: what it returns are plain lines, which the search journals;
-- read() makes edits of lines and is the same live and in replay. No answer is no edit, never an
-- error, until GIVE_UP calls in a row had none.

local breed = require "breed"
local device = require "device"
local diagram = require "diagram"
local edit = require "edit"
local fail = require "fail"
local outdir = require "outdir"

local mutate_llm = {}

local fmt, concat = string.format, table.concat

local GIVE_UP = 5    -- calls in a row without an answer
local TRIES = 3      -- of loom-llm, at most
local TIMEOUT = 120  -- seconds for one of them; LOOM_LLM_TIMEOUT changes it
local PAUSES = 10    -- seconds that loom-llm may spend between its tries and on starting

-- How much of the search the prompt shows.
local BEST, FAILED, REJECTED, HISTORY, TEXT = 20, 6, 20, 12, 64 * 1024

-- The prompt ----------------------------------------------------------------------------------------

local SYSTEM = [[
You tune GPU matrix multiplication kernels. You edit search spaces, never kernels. You answer with JSON only.]]

local INTRO = [[
Warploom makes CUDA kernels from a search space: a Lua file that lists the values each parameter may
take and the rules that every combination must obey. Points of the space are built, verified and timed;
what counts is the ratio: the time of cuBLAS divided by ours, higher is better, above 1 we win.

Your part: edit the value lists, so that the space holds faster points than any measured so far and few
slow ones, because only some of its points can be measured. Widen a list beyond what was tried where the
fastest points lie at its edge; take away what is clearly slow. Only parameters declared in the spec
below can be edited, by the name after `param`. Rules cannot be edited: points that break one are dropped.]]

local OPS = {
  ["set-domain"] = "the parameter has exactly these values; one value alone also becomes its default and that of seeds",
  ["add-value"] = "these values join the parameter's list",
  ["remove-value"] = "these values leave it; one must stay",
  ["pin"] = "the parameter takes this one of its values, the others stay in the list",
}

local FORM = [==[
Answer with one JSON object and nothing else, at most %d edits:
{"edits": [{"name": "deeper ring", "hypothesis": "one sentence: why this should be faster",
            "op": "add-value", "param": "stages", "values": [6, 8]}]}
Every edit has a name, a hypothesis, op, param and values. A value is an integer or a string; a value of a
tied parameter (one with `as`) is a list of its parts: "values": [["pingpong", 2], ["cooperative", 2]].
The edits are applied together, in order, as one child of this spec. One that does not apply, or would
leave the space empty, is dropped, and you are told. The operations:]==]

local function add(out, ...)
  out[#out + 1] = fmt(...)
end

local function add_form(out, n)
  add(out, FORM, n)
  for _, op in ipairs(edit.domain_ops) do
    add(out, "- %s%s", op, OPS[op] and ": " .. OPS[op] or "")
  end
end

-- The spec, and the bases it inherits from.
local function add_spec(out, state)
  add(out, "## The spec\n```lua\n%s\n```", (state.text:sub(1, TEXT):gsub("\n+$", "")))
  local base = state.space.base
  while base do
    local text = breed.read_base(base)
    if text then
      add(out, "It inherits from '%s', which cannot be edited:\n```lua\n%s\n```", base.name,
          (text:sub(1, TEXT):gsub("\n+$", "")))
    end
    base = base.base
  end
end

local function add_problem(out, state)
  local p, dev = state.problem, state.bound.device
  add(out, "## The problem\nC[M][N] = A * B with M=%d, N=%d, K=%d, layout %s, %s, accumulated in %s.",
      p.M, p.N, p.K, p.layout, p.dtype, p.acc)
  local figures = {}
  for _, field in ipairs(device.fields()) do figures[#figures + 1] = field .. "=" .. tostring(dev[field]) end
  add(out, "## The device\n%s", concat(figures, ", "))
  local count = state.bound:count()
  local text = diagram.text
  add(out, "## Points\n%s combinations, %s obey all rules.", text(count.product), text(count.valid))
  for _, r in ipairs(count.removed) do
    if r.count > 0 then add(out, "- rule '%s' removes %s: %s", r.name, text(r.count), r.why) end
  end
end

-- Rows that have a ratio, best first, and those that have none; both in an order of their own.
local function sorted(rows)
  local ok, bad = {}, {}
  for _, row in ipairs(rows) do
    table.insert(row.ratio and ok or bad, row)
  end
  table.sort(ok, function(a, b)
    if a.ratio ~= b.ratio then return a.ratio > b.ratio end
    return a.key < b.key
  end)
  table.sort(bad, function(a, b) return a.key < b.key end)
  return ok, bad
end

-- A value as the answer must spell it: 4, "pingpong", ["pingpong", 2].
local function value_text(row)
  local out = {}
  for i, part in ipairs(row) do out[i] = type(part) == "string" and '"' .. part .. '"' or tostring(part) end
  return #out == 1 and out[1] or "[" .. concat(out, ", ") .. "]"
end

local function point(state, cand)
  local out = {}
  for _, param in ipairs(state.space.params) do
    local row = {}
    for i, name in ipairs(param.names) do row[i] = cand[name] end
    if #row == #param.names then out[#out + 1] = param.name .. "=" .. value_text(row) end
  end
  return concat(out, " ")
end

-- Per value of each parameter: how often it was measured and its best ratio.
local function add_values(out, state, ok)
  add(out, "Best ratio by value (times measured):")
  for _, param in ipairs(state.space.params) do
    local seen, order = {}, {}
    for _, row in ipairs(ok) do
      local value = {}
      for i, name in ipairs(param.names) do value[i] = row.cand[name] end
      local text = value_text(value)
      if #value == #param.names and not seen[text] then
        seen[text] = { best = row.ratio, count = 0 }
        order[#order + 1] = text
      end
      if seen[text] then seen[text].count = seen[text].count + 1 end
    end
    for i, text in ipairs(order) do
      order[i] = fmt("%s: %.3f (%d)", text, seen[text].best, seen[text].count)
    end
    add(out, "- %s  %s", param.name, #order > 0 and concat(order, ", ") or "not measured")
  end
end

local function add_rows(out, state)
  local ok, bad = sorted(state.rows or {})
  add(out, "## Measured so far: %d points, %d without a time", #ok + #bad, #bad)
  if state.reward then add(out, "The best point that lies in this spec has ratio %.4f.", state.reward) end
  for i = 1, math.min(BEST, #ok) do add(out, "%d. %.4f  %s", i, ok[i].ratio, point(state, ok[i].cand)) end
  if #ok > BEST then add(out, "... the worst: %.4f  %s", ok[#ok].ratio, point(state, ok[#ok].cand)) end
  for i = 1, math.min(FAILED, #bad) do
    add(out, "- %s: %s %s", bad[i].status, point(state, bad[i].cand), bad[i].why or "")
  end
  if #ok > 0 then add_values(out, state, ok) end
end

-- The last `limit` of a list, each through `line`.
local function add_last(out, title, list, limit, line)
  if not list or #list == 0 then return end
  add(out, "## %s", title)
  for i = math.max(1, #list - limit + 1), #list do add(out, "- %s", line(list[i])) end
end

-- The edits that made one child, and what they brought together.
local function child_text(child)
  local out = {}
  for i, e in ipairs(child.edits) do
    out[i] = e.text .. (e.name ~= "" and " (" .. e.name .. ")" or "")
  end
  return fmt("%s: %+.4f", concat(out, "; "), child.gain)
end

-- Files of a rejection by their names alone: folders are of no use to a model, and nobody's business.
local function rejection_text(state)
  local files, base = { state.path }, state.space
  while base do
    files[#files + 1], base = base.file, base.base
  end
  return function(r)
    local text = r.text == "" and r.reason or fmt("%s: %s", r.text, r.reason)
    for _, file in ipairs(files) do
      local name = file:match("[^/]*$")
      text = text:gsub(file:gsub("%p", "%%%0"), (name:gsub("%%", "%%%%")))
    end
    return text
  end
end

-- The request as loom-llm reads it. A line of somebody's text that looks like one of its own marks
-- is moved to the right.
function mutate_llm.prompt(state)
  local out = { INTRO }
  add_form(out, state.n or 4)
  add_problem(out, state)
  add_spec(out, state)
  add_rows(out, state)
  add_last(out, "Earlier edits, a line for each child, and what they brought to the best ratio", state.history,
    HISTORY, child_text)
  add_last(out, "Edits that were rejected since your last answer", state.rejected, REJECTED, rejection_text(state))
  local text = ("\n" .. concat(out, "\n")):gsub("\n@@ ", "\n @@ "):sub(2)
  return "@@ system\n" .. SYSTEM .. "\n@@ user\n" .. text .. "\n@@ end"
end

-- Asking --------------------------------------------------------------------------------------------

-- loom-llm lies beside loom, or where the Makefile puts it.
local function program()
  local beside = host.exe:match("^(.*/)[^/]*$") or ""
  for _, path in ipairs { beside .. "loom-llm", host.root .. "/out/build/loom-llm" } do
    if host.stat(path) then return path end
  end
  fail("no loom-llm here: 'make search MUTATOR=llm' builds it (libcurl and jansson)")
end

local function is_set(name)
  return (host.getenv(name) or "") ~= ""
end

local function time_limit(state)
  local text = host.getenv("LOOM_LLM_TIMEOUT") or ""
  local one = tonumber(text)
  if text ~= "" and not (one and one > 0 and one <= 86400) then
    fail(fmt("LOOM_LLM_TIMEOUT wants seconds, not '%s'", text))
  end
  one = one or TIMEOUT
  local all = TRIES * one + PAUSES
  if state.seconds and state.seconds < all then
    all = math.max(1, state.seconds)
    one = math.min(one, all)
  end
  return one, all
end

-- All lines until it ends or the time is up; nil, "interrupted".
local function receive(child, seconds)
  local lines, until_ = {}, host.now() + seconds
  while true do
    local line, why = child:recv(math.max(0, until_ - host.now()))
    if line then
      lines[#lines + 1] = line
    elseif why == "eof" then
      return lines, child:close()
    else
      child:kill()
      if why == "interrupted" then return nil, why end
      return { fmt("error\tno answer within %.0f s", seconds) }
    end
  end
end

local WORDS = { edit = true, bad = true, none = true, error = true }

-- The lines if they are an answer, else one that says what happened instead.
local function checked(lines, code, log)
  for _, line in ipairs(lines) do
    if not WORDS[line:match("^(%l+)\t") or ""] then lines = {} break end
  end
  if #lines > 0 then return lines end
  return { fmt("error\tloom-llm ends with %s and no answer (log: %s)", code and "code " .. code or "a signal",
    outdir.shown(log)) }
end

local function run(self, state)
  local one, all = time_limit(state)
  local log = self.dir .. "/llm.log"
  local argv = { self.program, "--timeout", fmt("%.3f", one), "--tries", tostring(TRIES),
    "--ops", concat(edit.domain_ops, ","), "--transcript", self.transcript }
  local ok, child = pcall(host.spawn, { argv = argv, stderr = log })
  if not ok then return { "error\t" .. tostring(child) } end
  -- it may end before it has read all, and says why
  for line in (mutate_llm.prompt(state) .. "\n"):gmatch("([^\n]*)\n") do
    local sent, why = child:send(line)
    if not sent and why == "interrupted" then
      child:kill()
      return nil, why
    end
    if not sent then break end
  end
  local lines, code = receive(child, all)
  if not lines then return nil, code end
  return checked(lines, code, log)
end

local Mutator = {}
Mutator.__index = Mutator

-- The mutator of a search; its transcript is <dir>/llm.jsonl. Refuses at once where nothing is set.
function mutate_llm.new(opt)
  if not (is_set("LOOM_LLM_URL") or is_set("LOOM_LLM_CMD")) then
    fail("MUTATOR=llm asks an OpenAI-compatible server or a command: set LOOM_LLM_URL " ..
         "(with LOOM_LLM_MODEL, LOOM_LLM_KEY) or LOOM_LLM_CMD")
  end
  assert(host.mkdir(opt.dir))
  return setmetatable({ dir = opt.dir, transcript = opt.dir .. "/llm.jsonl", program = program(),
    failures = 0 }, Mutator)
end

-- One call: lines to journal and to read, and the reason if they are no answer; nil when interrupted;
-- nil and why the model is given up, after too many failures in a row.
function Mutator:ask(state)
  local lines = run(self, state)
  if not lines then return nil end
  local reason = lines[#lines]:match("^error\t(.*)")
  self.failures = reason and self.failures + 1 or 0
  if self.failures >= GIVE_UP then
    return nil, fmt("the language model gave no answer %d times in a row; the last time: %s (all calls: %s); " ..
      "the same command asks again", GIVE_UP, reason, outdir.shown(self.transcript))
  end
  if reason then
    host.err(fmt("loom: no answer from the language model (%d of %d): %s\n", self.failures, GIVE_UP, reason))
  end
  return lines, reason
end

-- Reading -------------------------------------------------------------------------------------------

local function split(line)
  local fields = {}
  for field in (line .. "\t"):gmatch("([^\t]*)\t") do fields[#fields + 1] = field end
  return fields
end

-- Lines -> proposals {op, name, hypothesis}, and rejects {text, reason, detail}: what cannot be an edit.
function Mutator.read(_, lines)
  local proposals, rejects = {}, {}
  for _, line in ipairs(lines) do
    local f = split(line)
    if f[1] == "edit" then
      local words = table.move(f, 4, #f, 1, {})
      local op, why = edit.parse(words)
      if op then
        proposals[#proposals + 1] = { op = op, name = f[2], hypothesis = f[3] }
      else
        rejects[#rejects + 1] = { text = concat(words, " "), reason = why }
      end
    elseif f[1] == "bad" or f[1] == "none" then
      rejects[#rejects + 1] = { text = "", reason = f[2] or "", detail = f[3] }
    end
  end
  return proposals, rejects
end

return mutate_llm
