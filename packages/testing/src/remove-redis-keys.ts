import { runRedisScript } from "./run-redis-script.ts";

const REMOVE = `local removed, cursor = 0, "0"
repeat
  local found = redis.call("SCAN", cursor, "MATCH", ARGV[1], "COUNT", 1000)
  cursor = found[1]
  for _, key in ipairs(found[2]) do removed = removed + redis.call("UNLINK", key) end
until cursor == "0"
return removed`;

/** Deletes all keys with a prefix (letters, digits and hyphens), and returns their number. */
export function removeRedisKeys(redisUrl: string, prefix: string): Promise<number> {
  return runRedisScript(redisUrl, REMOVE, [`${prefix}*`]);
}
