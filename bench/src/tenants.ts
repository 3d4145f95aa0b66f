// Many projects at once: how long the callers of each wait, when one of them floods, and when a few send most messages.
import { randomBytes } from "node:crypto";
import { queryDatabase } from "@svc/testing";
import { FIXED, MESSAGE, MESSAGES_PATH, POST, answerFixed } from "./product.ts";
import type { Bench, PrepareStore, Product } from "./product.ts";
import { Connection, countCpu, load, percentile, printFigure } from "./measure.ts";
import { pause, untilIdle } from "./processes.ts";

/** Duration of a call in ms, and the rank of its project, from 0. */
interface Call {
  rank: number;
  ms: number;
  status: number;
}

interface Arrivals {
  url: string;
  /** Calls per second of all projects together. */
  rate: number;
  /** The rank of the project that calls next. */
  nextRank: () => number;
}

const nameOf = (rank: number) => `tenant-${rank}`;

/** Adds projects that always answer the same. */
const addTenants =
  (count: number): PrepareStore =>
  async (store, project) => {
    await answerFixed(store, project);
    for (let rank = 0; rank < count; rank++) {
      const { project: tenant } = await store.projects.ensure(nameOf(rank));
      await store.agents.insert(tenant.id, { name: "fixed", fixedReply: FIXED, reviewPolicy: "auto" });
    }
  };

/**
 * Makes sync calls at random times, independently of pending ones, like independent callers. Returns a function that
 * stops it and resolves to all calls.
 */
function startCalls({ url, rate, nextRank }: Arrivals): () => Promise<Call[]> {
  const free: Connection[] = [];
  const opened: Connection[] = [];
  const calls: Call[] = [];
  const open = new Set<Promise<void>>();
  const ending = new AbortController();

  async function call(rank: number): Promise<void> {
    let connection = free.pop();
    while (connection?.isClosed === true) connection = free.pop();
    if (connection === undefined) opened.push((connection = new Connection(url)));
    const body = JSON.stringify({ ...MESSAGE, mode: "sync", chatId: randomBytes(8).toString("hex") });
    const sentAt = performance.now();
    const { status } = await connection.send(
      "POST",
      MESSAGES_PATH,
      { ...POST.headers, "x-svc-project": nameOf(rank) },
      body,
    );
    calls.push({ rank, ms: performance.now() - sentAt, status });
    free.push(connection);
  }

  async function arrive(): Promise<void> {
    let at = performance.now();
    while (!ending.signal.aborted) {
      // The time between two independent arrivals.
      at += (-Math.log(1 - Math.random()) * 1_000) / rate;
      await pause(Math.max(0, at - performance.now()));
      const running = call(nextRank());
      open.add(running);
      void running.finally(() => open.delete(running));
    }
  }
  const arriving = arrive();
  return async () => {
    ending.abort();
    await arriving;
    await Promise.all(open);
    for (const connection of opened) connection.end();
    return calls;
  };
}

/** Prints how long calls took, and returns their p95. */
function printCalls(name: string, calls: readonly Call[]): number {
  const sorted = Float64Array.from(calls, ({ ms }) => ms).sort();
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(sorted, share));
  const text = [p50, p95, p99].map((ms) => (ms ?? NaN).toFixed(0)).join(", ");
  const bad = { errors: calls.filter(({ status }) => status !== 200).length };
  printFigure(name, `${String(calls.length).padStart(6)} calls  p50, p95, p99: ${text} ms`, { bad });
  return p95 ?? NaN;
}

const OTHERS = 20;
/** Calls per second of the other projects together: each has one in two seconds. */
const OTHERS_RATE = 10;

const countUnfinished = async ({ databaseUrl }: Product) => {
  const [row] = await queryDatabase<{ count: number }>(
    databaseUrl,
    "SELECT count(*)::integer AS count FROM messages WHERE state = 'received'",
  );
  return row?.count ?? 0;
};

/** Measures the calls of other projects while one project has sent very many messages, on two pipelines. */
export async function measureFairness(bench: Bench) {
  const { messages, seconds } = bench.options;
  const product = { prepareStore: addTenants(OTHERS), apps: { api: 1, pipeline: 2 } };
  await bench.withProduct("fairness", product, async (running) => {
    const [url = ""] = running.urlsOf("api");
    const arrivals = { url, rate: OTHERS_RATE, nextRank: () => Math.floor(Math.random() * OTHERS) };
    const warmUp = startCalls(arrivals);
    await pause(3_000);
    await warmUp();
    const endAlone = startCalls(arrivals);
    await pause(seconds * 1_000);
    const alone = printCalls("others, nobody floods", await endAlone());

    const flood = { left: messages };
    const body = () => JSON.stringify({ ...MESSAGE, mode: "async", chatId: `flood-${flood.left--}` });
    const endSending = startCalls(arrivals);
    const sentAt = performance.now();
    while (flood.left > 0)
      await load({ ...POST, url, body, connections: 64, expect: 202 }, Math.min(5, flood.left / 500));
    const sentSeconds = (performance.now() - sentAt) / 1_000;
    const sending = printCalls(`others, while ${messages} messages are sent`, await endSending());
    const backlog = await countUnfinished(running);
    const endWorking = startCalls(arrivals);
    const workedAt = performance.now();
    while ((await countUnfinished(running)) > 100) await pause(1_000);
    const workedSeconds = (performance.now() - workedAt) / 1_000;
    const working = printCalls(`others, while the other ${backlog} of them are processed`, await endWorking());
    printFigure(
      "p95 against nobody floods",
      `sending ${(sending / alone).toFixed(2)} (${sentSeconds.toFixed(0)} s), processing ${(working / alone).toFixed(2)} (${workedSeconds.toFixed(0)} s)`,
    );
    await untilIdle(running.groups);
  });
}

const TENANTS = 1_000;
const CLASSES = [
  { name: "10 largest", until: 10 },
  { name: "next 90", until: 100 },
  { name: "900 smallest", until: TENANTS },
];

/** Returns ranks with the frequencies of Zipf's law: the second project sends half as much as the first, and so on. */
function zipfRanks(count: number): () => number {
  let total = 0;
  const sums = Float64Array.from({ length: count }, (_, rank) => (total += 1 / (rank + 1)));
  return () => {
    const at = Math.random() * total;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

interface Storage {
  commits: number;
  walBytes: number;
  sizeBytes: number;
}

async function readStorage({ databaseUrl }: Product): Promise<Storage> {
  const [row] = await queryDatabase<Storage>(
    databaseUrl,
    `SELECT xact_commit::float8 AS commits, (pg_current_wal_lsn() - '0/0')::float8 AS "walBytes",
       pg_database_size(current_database())::float8 AS "sizeBytes"
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  if (row === undefined) throw new Error("PostgreSQL has no statistics of the database");
  return row;
}

/** Measures 1,000 projects that send as Zipf's law says, at a steady rate, and what a message of theirs costs. */
export async function measureTenants(bench: Bench) {
  const { minutes, rate } = bench.options;
  const product = { prepareStore: addTenants(TENANTS), apps: { api: 1, pipeline: 1 } };
  await bench.withProduct("tenants", product, async (running) => {
    const [url = ""] = running.urlsOf("api");
    const arrivals = { url, rate, nextRank: zipfRanks(TENANTS) };
    const warmUp = startCalls(arrivals);
    await pause(5_000);
    await warmUp();
    const before = await readStorage(running);
    const endCount = countCpu({ ...running.groups, ...bench.servers });
    const end = startCalls(arrivals);
    await pause(minutes * 60_000);
    const calls = await end();
    const counted = endCount(calls.length);
    const after = await readStorage(running);
    printFigure(`${TENANTS} projects, ${minutes} min`, `${(calls.length / minutes / 60).toFixed(1)}/s`, counted);
    let from = 0;
    for (const { name, until } of CLASSES) {
      printCalls(
        `  ${name}`,
        calls.filter(({ rank }) => from <= rank && rank < until),
      );
      from = until;
    }
    const each = (key: keyof Storage) => (after[key] - before[key]) / calls.length;
    printFigure(
      "  a message, idle work included",
      `${each("commits").toFixed(1)} commits, ${(each("walBytes") / 1_024).toFixed(1)} KiB of WAL, ` +
        `${(each("sizeBytes") / 1_024).toFixed(1)} KiB stored`,
    );
  });
}
