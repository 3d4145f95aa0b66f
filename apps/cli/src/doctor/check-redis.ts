import { explainCertificateFault } from "@svc/contracts";
import { errorCode } from "@svc/primitives";
import type { Check } from "./check.ts";
import { readRedisInfo } from "./read-redis-info.ts";
import type { RedisInfo } from "./read-redis-info.ts";

const NAME = "Redis";
const OLDEST = { major: 6, minor: 2 };

/** Judges what a Redis says of itself; in production the apps do not start on one that may drop jobs. */
export function judgeRedis({ version, policy, writes }: RedisInfo, isProduction: boolean): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const found = { name: NAME, detail: `version ${version}, maxmemory-policy ${policy}` };
  if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
    return { ...found, status: "fail", advice: `Upgrade to version ${OLDEST.major}.${OLDEST.minor} or newer.` };
  }
  if (policy !== "noeviction") {
    const refused = isProduction ? " The apps do not start with it." : "";
    const advice = `Redis may drop jobs when its memory is full.${refused} Run: redis-cli config set maxmemory-policy "noeviction"`;
    return { ...found, status: isProduction ? "fail" : "warn", advice };
  }
  if (writes === "failing") {
    const detail = `${found.detail}; cannot write to disk`;
    return {
      ...found,
      detail,
      status: "fail",
      advice: "Check whether its disk is full, and free disk space. Messages are accepted and processed later.",
    };
  }
  return { ...found, status: "ok" };
}

/** Checks that the Redis of REDIS_URL can be reached, is new enough, and drops no jobs. */
export async function checkRedis(redisUrl: string, isProduction: boolean): Promise<Check> {
  try {
    return judgeRedis(await readRedisInfo(redisUrl), isProduction);
  } catch (error) {
    const certificate = explainCertificateFault(error);
    if (certificate !== null) {
      const detail = `cannot be used: ${certificate}; messages are accepted and processed later`;
      return { name: NAME, status: "fail", detail, advice: "For TLS, see docs/recipes/managed.md." };
    }
    // An AggregateError of several addresses has no text, but a code.
    const code = errorCode(error);
    const reason = error instanceof Error && error.message !== "" ? error.message : String(code);
    return {
      name: NAME,
      status: "fail",
      detail: `cannot be used (${reason}); messages are accepted and processed later`,
      advice: "Start it, or correct the host, port and password in REDIS_URL.",
    };
  }
}
