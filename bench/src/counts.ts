// Counts what a message costs in round trips, and what a set of idle processes does: figures that no load of the machine
// changes. A proxy counts what passes to PostgreSQL, and Redis reports its commands (MONITOR).
import net from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { APP_NAMES } from "@svc/contracts";
import { load, printFigure } from "./measure.ts";
import { pause } from "./processes.ts";
import { POST, queuePrefixOf } from "./product.ts";
import type { Bench, PrepareStore, Product } from "./product.ts";
import { answerFromCorpus, createCorpus } from "./search.ts";

// A proxy before PostgreSQL that counts what passes: statements by name, and transactions by their ends.
const HEADER_BYTES = 5;

/** Calls `onMessage` with the type and the body of each message of one side of a connection. */
function readMessages(onMessage: (type: string, body: Buffer) => void, { hasStartup }: { hasStartup: boolean }) {
  let buffer: Buffer = Buffer.alloc(0);
  let isStartup = hasStartup;
  return (part: Buffer) => {
    buffer = buffer.length === 0 ? part : Buffer.concat([buffer, part]);
    for (;;) {
      // The first message of a client has no type.
      const offset = isStartup ? 0 : 1;
      if (buffer.length < HEADER_BYTES) return;
      const end = offset + buffer.readInt32BE(offset);
      if (buffer.length < end) return;
      if (!isStartup) onMessage(buffer.toString("latin1", 0, 1), buffer.subarray(HEADER_BYTES, end));
      isStartup = false;
      buffer = buffer.subarray(end);
    }
  };
}

const textAt = (body: Buffer, start: number) => {
  const end = body.indexOf(0, start);
  return { text: body.toString("utf8", start, end), next: end + 1 };
};

/** Starts the proxy; `read` returns the statements so far by name, or by text if they have none, and the transactions. */
// oxlint-disable-next-line max-lines-per-function -- The state of one connection is read in both directions.
async function startCountingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const statements: Record<string, number> = {};
  let transactions = 0;
  const sockets = new Set<Socket>();

  function note(name: string) {
    statements[name] = (statements[name] ?? 0) + 1;
  }

  function connect(client: Socket) {
    const server = net.connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    client.setNoDelay(true);
    const texts = new Map<string, string>();
    let bound = "";
    let isReady = false;
    const readClient = readMessages(
      (type, body) => {
        if (type === "Q") note(textAt(body, 0).text);
        if (type === "P") {
          const { text: name, next } = textAt(body, 0);
          texts.set(name, name === "" ? textAt(body, next).text : name);
        }
        if (type === "B") {
          const { text: name } = textAt(body, textAt(body, 0).next);
          bound = texts.get(name) ?? name;
        }
        if (type === "E") note(bound);
      },
      { hasStartup: true },
    );
    const readServer = readMessages(
      (type, body) => {
        if (type !== "Z") return;
        // Idle again: a transaction has ended. The first time, the connection has started.
        if (isReady && body[0] === "I".charCodeAt(0)) transactions += 1;
        isReady = true;
      },
      { hasStartup: false },
    );
    for (const [from, to, readPart] of [
      [client, server, readClient],
      [server, client, readServer],
    ] as const) {
      sockets.add(from);
      from.on("data", (part: Buffer) => {
        readPart(part);
        to.write(part);
      });
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }

  const listener = net.createServer(connect);
  await new Promise<void>((resolve) => {
    listener.listen(0, "127.0.0.1", resolve);
  });
  const url = new URL(databaseUrl);
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    read: () => ({ statements: { ...statements }, transactions }),
    close() {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

type Counts = Record<string, number>;
type CountingProxy = Awaited<ReturnType<typeof startCountingProxy>>;

/** What was counted up to a moment. */
interface Reading {
  at: number;
  statements: Counts;
  transactions: number;
  redis: { commands: number; scripted: number; jobs: Counts; names: Counts };
}
type Found = ReturnType<typeof differenceOf>;

const IDLE_SECONDS = 30;
/** Time for work after a response, such as recording its delivery. */
const AFTER_MS = 1_000;
/** A process counts as idle after ten seconds without work: until then its sweeps run twice a second. */
const IDLE_AFTER_MS = 12_000;
/** Rarer statements belong to the background, or to caches refreshed once per second. */
const LEAST_SHOWN = 0.05;
const NAME_CHARS = 70;

/** Counts the commands that clients send to Redis, those that scripts run, and the jobs that are added to each queue. */
async function watchRedis(port: number, prefix: string) {
  const counts: Reading["redis"] = { commands: 0, scripted: 0, jobs: {}, names: {} };
  const socket = net.connect({ host: "127.0.0.1", port });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  let rest = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    const lines = (rest + part).split("\r\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, source, name, key] = /^\+[\d.]+ \[\d+ (\S+)\] "(\w+)"(?: "([^"]*)")?/.exec(line) ?? [];
      if (source === undefined || name === undefined) continue;
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

function subtract(after: Counts, before: Counts): Counts {
  const found = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
  return Object.fromEntries(found.filter(([, count]) => count > 0));
}

function differenceOf(before: Reading, after: Reading) {
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

const sum = (counts: Counts) => Object.values(counts).reduce((total, count) => total + count, 0);

/** BEGIN and COMMIT are round trips, but not statements. */
const BRACKETS = /^(?:BEGIN|COMMIT|ROLLBACK)/;
const withoutBrackets = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => !BRACKETS.test(name)));

/** Prints counts, most first. */
function printList(title: string, counts: Counts, divisor: number, least: number) {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const shown = sorted.filter(([, count]) => count / divisor >= least);
  for (const [name, count] of shown)
    printFigure(`  ${title}: ${name.replace(/\s+/g, " ").slice(0, NAME_CHARS)}`, (count / divisor).toFixed(2));
}

/** Prints the cost of each of `times` operations, without the idle activity of the processes. */
function printCosts(name: string, found: Found, times: number, idle: Found) {
  const own = (count: number, idleCount: number) =>
    Math.max(0, count - (idleCount / idle.seconds) * found.seconds) / times;
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
  return { statements, transactions };
}

function printIdle(name: string, found: Found) {
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
  return statements + commands;
}

/** Known chats, to which messages are sent one after the other. */
const CHATS = Array.from({ length: 50 }, (_, index) => `counted-${index}`);

/** How a message is sent: `bodyOf` makes its body. */
interface Sender {
  url: string;
  bodyOf: (mode: "sync" | "async", chatId?: string) => string;
}

async function send({ url, bodyOf }: Sender, mode: "sync" | "async", chatId: string) {
  const { path, headers } = POST;
  const response = await fetch(url + path, { method: "POST", headers, body: bodyOf(mode, chatId) });
  if (response.status !== (mode === "sync" ? 200 : 202))
    throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as { drainUrl: string };
}

async function sendAndDrain(sender: Sender, chatId: string) {
  const { drainUrl } = await send(sender, "async", chatId);
  const drained = await fetch(`${sender.url}${drainUrl}?wait=10000`, { headers: POST.headers });
  if (!drained.ok || ((await drained.json()) as { replies: unknown[] }).replies.length === 0)
    throw new Error("the drain returned no reply");
}

/** Counts what the product does when idle, and for a message: in known chats, and with 64 connections. */
async function countAll({ urlsOf, groups }: Product, sender: Omit<Sender, "url">, read: () => Reading) {
  const [url = ""] = urlsOf("api");
  const known = { ...sender, url };
  const countDuring = async (work: () => Promise<unknown>) => {
    const before = read();
    await work();
    await pause(AFTER_MS);
    return differenceOf(before, read());
  };
  const sendEach = async () => {
    for (const chat of CHATS) await send(known, "sync", chat);
  };
  const drainEach = async () => {
    for (const chat of CHATS) await sendAndDrain(known, chat);
  };
  await sendEach();
  await pause(IDLE_AFTER_MS);
  const idle = await countDuring(() => pause(IDLE_SECONDS * 1_000));
  const idlePerSecond = printIdle(`idle, ${Object.keys(groups).length} processes`, idle);
  const sync = printCosts("sync message in a known chat", await countDuring(sendEach), CHATS.length, idle);
  printCosts("async message and its drain", await countDuring(drainEach), CHATS.length, idle);
  let requests = 0;
  const found = await countDuring(async () => {
    const body = () => sender.bodyOf("sync");
    ({ requests } = await load({ ...POST, url, body, connections: 64 }, 5));
  });
  printCosts("sync message in a new chat, 64 connections", found, requests, idle);
  return { idlePerSecond, sync };
}

/** Measures the round trips of a message, and of all apps when they are idle; returns those that have a goal. */
export async function measureCounts(bench: Bench) {
  const corpus = createCorpus(200);
  const prepareStore: PrepareStore = async (store, project) => {
    await answerFromCorpus(corpus)(store, project);
    await store.channelsConfig.update("widget", {}, { enabled: true });
  };
  const apps = Object.fromEntries(APP_NAMES.map((name) => [name, 1]));
  const proxy: CountingProxy = await startCountingProxy(await bench.createDatabase("counts"));
  const redis = await watchRedis(bench.redisPort, queuePrefixOf("counts"));
  // Each chat's question was asked before it is counted, so that the stems of its words are cached.
  const questions = new Map<string, string>();
  const textOf = (chatId: string) => {
    const text = questions.get(chatId) ?? corpus.question();
    questions.set(chatId, text);
    return text;
  };
  const bodyOf: Sender["bodyOf"] = (mode, chatId) =>
    JSON.stringify({ mode, chatId, text: chatId === undefined ? corpus.question() : textOf(chatId) });
  const read = () => ({ at: performance.now(), ...proxy.read(), redis: redis.read() });
  try {
    return await bench.withProduct("counts", { prepareStore, apps, databaseUrl: proxy.url }, (product) =>
      countAll(product, { bodyOf }, read),
    );
  } finally {
    redis.close();
    proxy.close();
  }
}
