-- progress: how far a long step is, on stderr.
--
-- On a terminal it is one line that is written over again and again; elsewhere (a log, CI) a plain
-- line at most every five seconds and one at the end. stdout stays free for results.

local progress = { interval = 5 }

local Progress = {}
Progress.__index = Progress

function progress.new(label, total)
  local self = { label = label, total = total, count = 0, tty = host.isatty(2), text = "" }
  self.shown = host.now()
  return setmetatable(self, Progress)
end

local function line(self)
  local head = string.format("%s %d/%d", self.label, self.count, self.total)
  return self.text == "" and head or head .. "  " .. self.text
end

local function show(self)
  self.shown = host.now()
  if self.tty then
    local width = math.max(20, host.columns() - 1)
    host.err("\r" .. line(self):sub(1, width) .. "\27[K")
  else
    host.err(line(self) .. "\n")
  end
end

-- One more of `total` is done; `text` says which.
function Progress:step(text)
  self.count = self.count + 1
  self:note(text)
end

-- Shows `text` without counting it.
function Progress:note(text)
  self.text = text or ""
  local due = host.now() - self.shown >= progress.interval
  if self.tty or due then show(self) end
end

-- Clears the line so that something else can be printed; the next step draws it again.
function Progress:clear()
  if self.tty then host.err("\r\27[K") end
end

function Progress:done()
  if self.tty then self:clear() return end
  self.text = ""
  show(self)
end

return progress
