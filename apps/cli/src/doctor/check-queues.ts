import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { localAdministrator } from "@svc/auth";
import { REPLY_QUEUES, explainCertificateFault } from "@svc/contracts";
import type { QueueName } from "@svc/contracts";
import { listDeadLetters } from "@svc/operations";
import { errorCode } from "@svc/primitives";
import { BACKEND_NAMES } from "@svc/queue";
import type { Resources } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { fail, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";
import { waitForQueues } from "../as-administrator.ts";

const QUEUES: QueueName[] = ["incoming-messages", ...Object.values(REPLY_QUEUES), "webhook-deliveries"];
/** A message that waits longer means that nobody works on the queue. */
const WAITING_TOO_LONG_MS = 30_000;

async function checkBacklog(store: Store, { self, startWith }: Cli): Promise<Check> {
  const name = "Backlog";
  const waitingMs = await store.messages.oldestWaitingMs();
  if (waitingMs < WAITING_TOO_LONG_MS) return ok(name, "no message is overdue");
  return warn(
    name,
    `a message has been waiting for ${Math.round(waitingMs / 1_000)} s`,
    `Check that the pipeline is running. Start it with: ${startWith} (or ${self} start pipeline)`,
  );
}

async function checkDeadLetters(store: Store, { self }: Cli): Promise<Check> {
  const name = "Dead letters";
  const counts: string[] = [];
  for (const project of await store.projects.list()) {
    const letters = await listDeadLetters({ store }, localAdministrator(project));
    if (letters.length > 0) counts.push(`${letters.length} in ${project.name}`);
  }
  if (counts.length === 0) return ok(name, "none");
  const advice = `Check and retry them: ${self} dead-letters list`;
  return warn(name, counts.join(", "), advice);
}

/** From so many failed tries on a receiver is likely to be broken rather than busy. */
const FAILING_TRIES = 3;

async function checkFailingDeliveries(store: Store, { self }: Cli): Promise<Check> {
  const name = "Failing deliveries";
  const failing = await store.deliveries.countFailing(FAILING_TRIES);
  if (failing === 0) return ok(name, "none");
  const detail = `${failing} ${failing === 1 ? "callback keeps" : "callbacks keep"} failing and will be retried`;
  const advice = `Check the errors, fix the receiver, and deliver them now: ${self} deliveries list --state pending`;
  return warn(name, detail, advice);
}

async function checkDeadDeliveries(store: Store, { self }: Cli): Promise<Check> {
  const name = "Dead deliveries";
  const dead = await store.deliveries.countDead();
  if (dead === 0) return ok(name, "none");
  const detail = `${dead} ${dead === 1 ? "callback" : "callbacks"} could not be delivered`;
  const advice = `Check the errors and replay them: ${self} deliveries list --state dead`;
  return warn(name, detail, advice);
}

/** Checks the queues, what waits in them, and what has failed for good. */
export async function checkQueues(cli: Cli, { queues, store }: Resources): Promise<Check[]> {
  const others = [
    await checkBacklog(store, cli),
    await checkDeadLetters(store, cli),
    await checkFailingDeliveries(store, cli),
    await checkDeadDeliveries(store, cli),
  ];
  if (!(await waitForQueues(queues))) {
    const detail = `${BACKEND_NAMES[queues.backend]} is unreachable; messages are accepted and processed later`;
    return [warn("Queues", detail), ...others];
  }
  const counts = await Promise.all(
    QUEUES.map(async (name) => {
      const { waiting, active, delayed } = await queues.countJobs(name);
      return { name, jobs: waiting + active + delayed };
    }),
  );
  const busy = counts.filter(({ jobs }) => jobs > 0).map(({ name, jobs }) => `${name} ${jobs}`);
  const detail = `on ${BACKEND_NAMES[queues.backend]}, ${busy.length === 0 ? "all empty" : `jobs: ${busy.join(", ")}`}`;
  return [ok("Queues", detail), ...others];
}

/** What a Redis says of itself. */
interface RedisInfo {
  /** As in `7.0.15`; a Valkey names the version of Redis that it is compatible with. */
  version: string;
  policy: string;
  /** Whether the last thing that it wrote to its disk was written. */
  writes: "fine" | "failing";
}

const TIMEOUT_MS = 5_000;
const DEFAULT_PORT = 6_379;

/** A command in the protocol of Redis (RESP2): an array of strings, each with its length in bytes. */
function encode(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}

/**
 * Asks a Redis for its version and policy. The queues' own client hides why it cannot connect, since it tries again
 * for ever; this asks once, and rejects with what the system or Redis says.
 */
async function readRedisInfo(redisUrl: string): Promise<RedisInfo> {
  const url = new URL(redisUrl);
  const address = { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(url.port || DEFAULT_PORT) };
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  const auth = password === "" ? "" : encode(["AUTH", ...(user === "" ? [] : [user]), password]);
  const socket = url.protocol === "rediss:" ? connectTls({ ...address, servername: address.host }) : connect(address);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("no response within 5 s")));
  socket.end(`${auth}${encode(["INFO", "server"])}${encode(["INFO", "memory"])}${encode(["INFO", "persistence"])}`);
  let text = "";
  for await (const part of socket.setEncoding("utf8")) text += String(part);
  const version = /^redis_version:(\S+)/m.exec(text)?.[1];
  if (version === undefined) throw new Error(/^-(.*)$/m.exec(text)?.[1]?.trim() ?? "the server is not Redis");
  const isFailing = /^(?:rdb_last_bgsave_status|aof_last_write_status|aof_last_bgrewrite_status):err/m.test(text);
  const policy = /^maxmemory_policy:(\S+)/m.exec(text)?.[1] ?? "unknown";
  return { version, policy, writes: isFailing ? "failing" : "fine" };
}

const REDIS = "Redis";
const OLDEST_REDIS = { major: 6, minor: 2 };

/** Returns the check of a Redis by its information. In production, the apps do not start with one that may drop jobs. */
export function judgeRedis({ version, policy, writes }: RedisInfo, isProduction: boolean): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const detail = `version ${version}, maxmemory-policy ${policy}`;
  if (major < OLDEST_REDIS.major || (major === OLDEST_REDIS.major && minor < OLDEST_REDIS.minor)) {
    return fail(REDIS, detail, `Upgrade to version ${OLDEST_REDIS.major}.${OLDEST_REDIS.minor} or newer.`);
  }
  if (policy !== "noeviction") {
    const judge = isProduction ? fail : warn;
    const rejected = isProduction ? " The apps do not start with it." : "";
    const advice = `Redis may drop jobs when its memory is full.${rejected} Run: redis-cli config set maxmemory-policy "noeviction"`;
    return judge(REDIS, detail, advice);
  }
  if (writes === "failing") {
    const advice = "Check whether its disk is full, and free disk space. Messages are accepted and processed later.";
    return fail(REDIS, `${detail}; cannot write to disk`, advice);
  }
  return ok(REDIS, detail);
}

/** Checks that the Redis of REDIS_URL can be reached, is new enough, and drops no jobs. */
export async function checkRedis(redisUrl: string, isProduction: boolean): Promise<Check> {
  try {
    return judgeRedis(await readRedisInfo(redisUrl), isProduction);
  } catch (error) {
    const certificate = explainCertificateFault(error);
    if (certificate !== null) {
      const detail = `cannot be used: ${certificate}; messages are accepted and processed later`;
      return fail(REDIS, detail, "For TLS, see docs/recipes/managed.md.");
    }
    // An AggregateError of several addresses has no text, but a code.
    const code = errorCode(error);
    const reason = error instanceof Error && error.message !== "" ? error.message : String(code);
    return fail(
      REDIS,
      `cannot be used (${reason}); messages are accepted and processed later`,
      "Start it, or correct the host, port and password in REDIS_URL.",
    );
  }
}
