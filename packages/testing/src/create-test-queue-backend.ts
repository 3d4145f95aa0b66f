import { randomBytes } from "node:crypto";
import { askSharedServer } from "./shared-servers.ts";
import { holdResource } from "./held-resources.ts";
import { readTestSettings } from "./test-settings.ts";
import type { QueueBackend } from "./test-settings.ts";
import { connect as connectPlain } from "node:net";
import { connect as connectTls } from "node:tls";

/** Queue backend of a test file. */
export interface TestQueueBackend {
  /** The Redis of this run; absent if the queues are in the database. */
  readonly redisUrl?: string;
  /** Separates the jobs of test files on one Redis. */
  readonly prefix: string;
  /** Removes the test file's keys from Redis. Close the queues first. */
  stop(): Promise<void>;
}

type Opener = (prefix: string) => Promise<TestQueueBackend>;

const OPENERS = {
  postgres: async (prefix) => ({ prefix, stop: () => Promise.resolve() }),
  redis: async (prefix) => {
    const { url: redisUrl } = await askSharedServer("redis");
    const removeKeys = () => removeRedisKeys(redisUrl, prefix);
    const release = holdResource(`queues with prefix ${prefix}`, removeKeys);
    return {
      redisUrl,
      prefix,
      async stop() {
        await removeKeys();
        release();
      },
    };
  },
} satisfies Record<QueueBackend, Opener>;

/** Creates the queue backend that TEST_QUEUE_BACKEND names, with a unique prefix. Stop it in `afterAll`. */
export async function createTestQueueBackend(
  backend: QueueBackend = readTestSettings().queueBackend,
): Promise<TestQueueBackend> {
  return OPENERS[backend](`svc-test-${randomBytes(6).toString("hex")}`);
}

const TIMEOUT_MS = 10_000;

/**
 * Runs a Lua script on a Redis and returns its number. Implements the protocol itself, because only the queue package
 * may use a Redis client, and four commands need none. The script runs on the server, so that the response is a single
 * line.
 */
export async function runRedisScript(redisUrl: string, script: string, args: string[]): Promise<number> {
  const { protocol, hostname, port, username, password, pathname } = new URL(redisUrl);
  const commands = [["EVAL", script, "0", ...args]];
  if (pathname.length > 1) commands.unshift(["SELECT", pathname.slice(1)]);
  if (password !== "") commands.unshift(["AUTH", ...[username, password].filter(Boolean).map(decodeURIComponent)]);

  const address = { host: hostname, port: Number(port || 6379) };
  const socket = protocol === "rediss:" ? connectTls(address) : connectPlain(address);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("Redis did not answer in time.")));
  socket.write(commands.map(encodeCommand).join(""));
  let received = "";
  try {
    for await (const chunk of socket.setEncoding("utf8")) {
      received += String(chunk);
      const answers = received.split("\r\n").slice(0, -1);
      const failure = answers.find((answer) => answer.startsWith("-"));
      if (failure !== undefined) throw new Error(`Redis refused the script of a test: ${failure}`);
      if (answers.length === commands.length) return Number(answers.at(-1)?.slice(1));
    }
  } finally {
    socket.destroy();
  }
  throw new Error("Redis closed the connection before the script of a test had ended.");
}

/** Encodes a command for Redis: an array of strings, each with its length in bytes. */
function encodeCommand(words: string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${parts.join("")}`;
}

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
