import type { Check } from "./check.ts";
import { readRedisInfo } from "./read-redis-info.ts";
import type { RedisInfo } from "./read-redis-info.ts";

const NAME = "Redis";
const OLDEST = { major: 6, minor: 2 };

/** Judges what a Redis says of itself. */
export function judgeRedis({ version, policy }: RedisInfo): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const found = { name: NAME, detail: `version ${version}, maxmemory-policy ${policy}` };
  if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
    return { ...found, status: "fail", advice: `Upgrade to version ${OLDEST.major}.${OLDEST.minor} or newer.` };
  }
  if (policy === "noeviction") return { ...found, status: "ok" };
  const advice = 'It may drop jobs when its memory is full. Set: redis-cli config set maxmemory-policy "noeviction"';
  return { ...found, status: "warn", advice };
}

/** Checks that the Redis of REDIS_URL can be reached, is new enough, and drops no jobs. */
export async function checkRedis(redisUrl: string): Promise<Check> {
  try {
    return judgeRedis(await readRedisInfo(redisUrl));
  } catch (error) {
    // An AggregateError of several addresses has no text, but a code.
    const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
    const reason = error instanceof Error && error.message !== "" ? error.message : String(code);
    return {
      name: NAME,
      status: "fail",
      detail: `cannot be used (${reason}); messages are accepted and wait`,
      advice: "Start it, or correct host, port and password in REDIS_URL.",
    };
  }
}
