import { runRedisScript } from "./run-redis-script.ts";

const COUNT = `local count, cursor = 0, "0"
local function text(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for _, part in ipairs(value) do parts[#parts + 1] = text(part) end
  return table.concat(parts, "\\n")
end
local function read(key)
  local kind = redis.call("TYPE", key)["ok"]
  if kind == "string" then return redis.call("GET", key) end
  if kind == "hash" then return redis.call("HGETALL", key) end
  if kind == "list" then return redis.call("LRANGE", key, 0, -1) end
  if kind == "set" then return redis.call("SMEMBERS", key) end
  if kind == "zset" then return redis.call("ZRANGE", key, 0, -1) end
  if kind == "stream" then return redis.call("XRANGE", key, "-", "+") end
  return error("a key of an unknown type: " .. kind)
end
repeat
  local found = redis.call("SCAN", cursor, "MATCH", ARGV[1], "COUNT", 1000)
  cursor = found[1]
  for _, key in ipairs(found[2]) do
    local all = string.lower(key .. "\\n" .. text(read(key)))
    if string.find(all, string.lower(ARGV[2]), 1, true) then count = count + 1 end
  end
until cursor == "0"
return count`;

/** Counts the Redis keys with a prefix that contain a text, ignoring case, in their name or value. */
export function countRedisKeysWith(redisUrl: string, prefix: string, text: string): Promise<number> {
  return runRedisScript(redisUrl, COUNT, [`${prefix}*`, text]);
}
