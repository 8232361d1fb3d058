-- rng: random numbers that depend on their seed alone: xoshiro256** with its state in a table.
--
-- math.random has one state for the whole program; here every stream is its own. A stream is named
-- by a text, so what one part draws never shifts what another gets.

local rng = {}

local Rng = {}
Rng.__index = Rng

local function rotl(x, k)
  return x << k | x >> 64 - k
end

-- The stream of this name.
function rng.new(name)
  local digits = host.sha256(name)
  local s = {}
  for i = 1, 4 do -- %016x wraps to negative integers, as it should: all 64 bits count
    s[i] = math.tointeger(tonumber("0x" .. digits:sub(16 * i - 15, 16 * i)))
  end
  return setmetatable(s, Rng)
end

-- The next 64 bits.
function Rng:bits()
  local s1 = self[2]
  local result = rotl(s1 * 5, 7) * 9
  self[3], self[4] = self[3] ~ self[1], self[4] ~ s1
  self[2], self[1] = s1 ~ self[3], self[1] ~ self[4]
  self[3], self[4] = self[3] ~ s1 << 17, rotl(self[4], 45)
  return result
end

-- 1 to n, each as likely as the other: draws beyond the last whole multiple of n do not count.
function Rng:int(n)
  local most = math.maxinteger - math.maxinteger % n
  local x
  repeat x = self:bits() & math.maxinteger until x < most
  return x % n + 1
end

-- From 0 on and below 1, in steps of 2^-53.
function Rng:unit()
  return (self:bits() >> 11) * 0x1p-53
end

-- True `percent` times in a hundred.
function Rng:chance(percent)
  return self:int(100) <= percent
end

function Rng:pick(list)
  return list[self:int(#list)]
end

-- One of `list`, in proportion to weight(item), an integer from 0 on; nil when all are 0.
function Rng:weighted(list, weight)
  local total = 0
  for _, item in ipairs(list) do total = total + weight(item) end
  if total == 0 then return nil end
  local left = self:int(total)
  for _, item in ipairs(list) do
    left = left - weight(item)
    if left <= 0 then return item end
  end
end

-- A copy of `list` in random order.
function Rng:shuffled(list)
  local out = table.move(list, 1, #list, 1, {})
  for i = #out, 2, -1 do
    local j = self:int(i)
    out[i], out[j] = out[j], out[i]
  end
  return out
end

return rng
