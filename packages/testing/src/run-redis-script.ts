import { connect as connectPlain } from "node:net";
import { connect as connectTls } from "node:tls";

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
