-- screen: kernels of edited specs are checked on the CPU device before their first launch on the GPU.
--
-- An edit may lead to where no expert went: kernels that deadlock, or write where they must not. On the
-- GPU that costs a killed worker, here some tenths of a second. What is refused becomes a row with its
-- reason, in the journal like any other, and is never launched. Spec 0 is its author's and is not asked.

local check = require "check"
local cpu = require "cpu"

local screen = {}

-- Is the CPU device asked? Of the fake backend only where the user wants it: nothing is launched there.
local function wanted(opt)
  if opt.backend == "fake" then return opt.check == true end
  return opt.check ~= false
end

-- What checks kernels, nil where nothing does; that is said once.
local function screener(s)
  if s.screen ~= nil then return s.screen or nil end
  s.screen = false
  if not wanted(s.opt) then return nil end
  local missing = cpu.missing(s.opt)
  if missing then
    s.p:clear()
    host.err(string.format("note: kernels of edited specs are launched unchecked: %s\n", missing))
    return nil
  end
  s.screen = check.start(s.opt)
  return s.screen
end

local function edited(s, item)
  return item.b ~= s.root.bound
end

-- Compiles those of the rendered `items` that are to be checked, not those measured before; false when
-- interrupted.
function screen.build(s, items)
  local kernels = {}
  for _, item in ipairs(items) do
    local built = item.kernel and item.kernel.built
    if built and not built.error and not s.known[item.key] and edited(s, item) and screener(s) then
      kernels[#kernels + 1] = item.kernel
    end
  end
  return #kernels == 0 or check.build(s.screen, kernels)
end

-- nil when the item's kernel may be launched; else the status of its row, and why. "interrupted" is none.
function screen.refusal(s, item)
  if not edited(s, item) or not screener(s) then return nil end
  local status, why = check.quick(s.screen, item.kernel, s.problem)
  if status == "ok" then return nil end
  if status ~= "wrong" and status ~= "interrupted" then status = "refused" end
  return status, "on the CPU device: " .. (why or "no reason given")
end

function screen.close(s)
  if s.screen then s.screen.session:drop() end
end

return screen
