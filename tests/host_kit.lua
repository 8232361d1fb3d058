-- host_kit.lua -- what the tests of the host table share: a fresh folder whose path has a space, scripts
-- for /bin/sh, and what processes leave behind in /proc.

local dir = host.root .. "/out/build/test/host and space"
local function same(got, want)
  if got ~= want then error(("got %s, want %s"):format(tostring(got), tostring(want)), 2) end
end

local function remove_all(path)
  local st = host.stat(path)
  if st and st.dir then for _, name in ipairs(host.list(path)) do remove_all(path .. "/" .. name) end end
  assert(host.remove(path) or not st) -- a link to nothing has none
end

-- A fresh folder for one test.
local function fresh()
  remove_all(dir)
  assert(host.mkdir(dir))
  return dir .. "/"
end

local function sh(script, t)
  t = t or {}
  t.argv = { "/bin/sh", "-c", script }
  return t
end

-- The same in the test's folder, whose path no script needs to know; "$LOOM" is this loom.
local function sh_here(script, t)
  t = sh(script, t)
  t.cwd, t.env = dir, { "LOOM=" .. host.exe }
  return t
end

-- True if a process with this number exists and is no zombie.
local function alive(pid)
  local text = host.read("/proc/" .. pid .. "/stat")
  return text ~= nil and not text:find "%) [ZX] "
end

local function soon(what, condition)
  local limit = host.now() + 5
  repeat
    if condition() then return end
    local p = host.pool(1)
    p:submit(sh "sleep 0.02")
    p:wait()
  until host.now() > limit
  error("not within 5 s: " .. what, 2)
end

local function zombies()
  local n, self = 0, host.read("/proc/self/stat"):match "^%d+"
  for _, name in ipairs(host.list "/proc") do
    local text = name:match "^%d+$" and host.read("/proc/" .. name .. "/stat")
    if text and text:find("%) Z " .. self .. " ") then n = n + 1 end
  end
  return n
end

local function descriptors()
  return #host.list "/proc/self/fd"
end

return { dir = dir, same = same, fresh = fresh, sh = sh, sh_here = sh_here, alive = alive, soon = soon,
         zombies = zombies, descriptors = descriptors }
