-- duration: a time as people write it, 60, 60s, 30m or 2h. Uses no string methods: they are switched
-- off while a spec runs.

local duration = { form = "a time like 60s, 30m or 2h" }

local SECONDS = { [""] = 1, s = 1, m = 60, h = 3600 }

-- Its seconds, from 1 on; nil for anything else.
function duration.seconds(text)
  local digits, unit = string.match(text, "^(%d+)([smh]?)$")
  local n = digits and #digits <= 9 and math.tointeger(tonumber(digits))
  return n and n > 0 and n * SECONDS[unit] or nil
end

return duration
