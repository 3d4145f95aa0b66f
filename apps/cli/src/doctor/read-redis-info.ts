import { connect } from "node:net";
import { connect as connectTls } from "node:tls";

/** What a Redis says of itself. */
export interface RedisInfo {
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
export async function readRedisInfo(redisUrl: string): Promise<RedisInfo> {
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
