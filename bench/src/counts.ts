// Counts what a message costs in round trips, and what a set of idle processes does: figures that no load of the machine
// changes. A proxy counts what passes to PostgreSQL, and Redis reports its commands (MONITOR).
import net from "node:net";
import { load } from "./load.ts";
import { printFigure } from "./measure.ts";

const IDLE_SECONDS = 30;
/** What happens after a response, such as the record of its delivery. */
const AFTER_MS = 1_000;
/** Rarer statements belong to the background, or to caches that are read once a second. */
const LEAST_SHOWN = 0.05;
const NAME_CHARS = 70;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts the commands that clients send to Redis, those that scripts run, and the jobs that are added to each queue. */
async function watchRedis(port, prefix) {
  const counts = { commands: 0, scripted: 0, jobs: {}, names: {} };
  const socket = net.connect({ host: "127.0.0.1", port });
  await new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  let rest = "";
  socket.setEncoding("utf8").on("data", (part) => {
    const lines = (rest + part).split("\r\n");
    rest = lines.pop();
    for (const line of lines) {
      const [, source, name, key] = /^\+[\d.]+ \[\d+ (\S+)\] "(\w+)"(?: "([^"]*)")?/.exec(line) ?? [];
      if (source === undefined) continue;
      if (source !== "lua") {
        counts.commands += 1;
        const shown = name.toLowerCase();
        counts.names[shown] = (counts.names[shown] ?? 0) + 1;
        continue;
      }
      counts.scripted += 1;
      // A job's number in its queue.
      const [, queue] = (name.toLowerCase() === "incr" && /^([^:]+:[^:]+):id$/.exec(key ?? "")) || [];
      const short = queue?.slice(prefix.length + 1);
      if (short !== undefined) counts.jobs[short] = (counts.jobs[short] ?? 0) + 1;
    }
  });
  socket.write("MONITOR\r\n");
  return { read: () => structuredClone(counts), close: () => socket.destroy() };
}

function subtract(after, before) {
  const found = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]);
  return Object.fromEntries(found.filter(([, count]) => count > 0));
}

function differenceOf(before, after) {
  return {
    seconds: (after.at - before.at) / 1_000,
    statements: subtract(after.statements, before.statements),
    transactions: after.transactions - before.transactions,
    commands: after.redis.commands - before.redis.commands,
    scripted: after.redis.scripted - before.redis.scripted,
    jobs: subtract(after.redis.jobs, before.redis.jobs),
    names: subtract(after.redis.names, before.redis.names),
  };
}

const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);

/** BEGIN and COMMIT are round trips, and no statements. */
const BRACKETS = /^(?:BEGIN|COMMIT|ROLLBACK)/;
const withoutBrackets = (counts) => Object.fromEntries(Object.entries(counts).filter(([name]) => !BRACKETS.test(name)));

/** Prints counts, most first. */
function printList(title, counts, divisor, least) {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const shown = sorted.filter(([, count]) => count / divisor >= least);
  for (const [name, count] of shown)
    printFigure(`  ${title}: ${name.replace(/\s+/g, " ").slice(0, NAME_CHARS)}`, (count / divisor).toFixed(2));
}

/** Prints what each of `times` pieces of work cost, without what the processes do when idle. */
function printCosts(name, found, times, idle) {
  const own = (count, idleCount) => Math.max(0, count - (idleCount / idle.seconds) * found.seconds) / times;
  const counts = withoutBrackets(found.statements);
  const ownCounts = Object.fromEntries(
    Object.entries(counts).map(([statement, count]) => [statement, own(count, idle.statements[statement] ?? 0)]),
  );
  const statements = own(sum(counts), sum(withoutBrackets(idle.statements)));
  const transactions = own(found.transactions, idle.transactions);
  const commands = own(found.commands, idle.commands);
  const scripted = own(found.scripted, idle.scripted);
  printFigure(
    name,
    `${statements.toFixed(1)} statements in ${transactions.toFixed(1)} transactions, ` +
      `${commands.toFixed(1)} Redis commands (+ ${scripted.toFixed(1)} in scripts), ` +
      `${(sum(found.jobs) / times).toFixed(2)} jobs`,
  );
  printList("statement", ownCounts, 1, LEAST_SHOWN);
  printList("jobs", found.jobs, times, 0.01);
}

function printIdle(name, found) {
  const { seconds } = found;
  const statements = sum(withoutBrackets(found.statements)) / seconds;
  const commands = found.commands / seconds;
  printFigure(
    name,
    `${(statements + commands).toFixed(1)}/s: ${statements.toFixed(1)} statements in ` +
      `${(found.transactions / seconds).toFixed(1)} transactions, ${commands.toFixed(1)} Redis commands ` +
      `(+ ${(found.scripted / seconds).toFixed(1)} in scripts)`,
  );
  printList("statement", found.statements, seconds, LEAST_SHOWN);
  printList("command", found.names, seconds, LEAST_SHOWN);
}

/**
 * Counts what the product does when idle, and for a message: one after the other in known chats, and with 64
 * connections. `proxy` is what the product reaches PostgreSQL through; `bodyOf` makes the body of a message in a chat.
 */
export async function measureCounts(product, { proxy, redisPort, prefix, request, bodyOf }) {
  const redis = await watchRedis(redisPort, prefix);
  const read = () => ({ at: performance.now(), ...proxy.read(), redis: redis.read() });
  const send = async (chat, fields, expected) => {
    const { path, headers } = request;
    const response = await fetch(product.url + path, { method: "POST", headers, body: bodyOf(chat, fields) });
    if (response.status !== expected) throw new Error(`${response.status}: ${await response.text()}`);
    return response.json();
  };
  const sendSync = (chat) => send(chat, { mode: "sync" }, 200);
  async function sendAsync(chat) {
    const { drainUrl } = await send(chat, { mode: "async" }, 202);
    const drained = await fetch(`${product.url}${drainUrl}?wait=10000`, { headers: request.headers });
    if (!drained.ok || (await drained.json()).replies.length === 0) throw new Error("the drain returned no reply");
  }
  async function countDuring(work) {
    const before = read();
    await work();
    await wait(AFTER_MS);
    return differenceOf(before, read());
  }
  const chats = Array.from({ length: 50 }, (_, index) => `counted-${index}`);
  const each = (work) => async () => {
    for (const chat of chats) await work(chat);
  };
  try {
    await each(sendSync)();
    await wait(AFTER_MS);
    const idle = await countDuring(() => wait(IDLE_SECONDS * 1_000));
    printIdle(`idle, ${Object.keys(product.groups).length} processes`, idle);
    printCosts("sync message in a known chat", await countDuring(each(sendSync)), chats.length, idle);
    printCosts("async message and its drain", await countDuring(each(sendAsync)), chats.length, idle);
    let requests = 0;
    const found = await countDuring(async () => {
      const body = () => bodyOf(undefined, { mode: "sync" });
      ({ requests } = await load({ ...request, url: product.url, body, connections: 64, seconds: 5 }));
    });
    printCosts("sync message in a new chat, 64 connections", found, requests, idle);
  } finally {
    redis.close();
  }
}
