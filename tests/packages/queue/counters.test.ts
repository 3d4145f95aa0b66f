import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { openQueues } from "@svc/queue";
import type { CountLimit, Counters, Queues } from "@svc/queue";
import { collectLog, createTestDatabase, createTestQueueBackend, readTestSettings, waitFor } from "@svc/testing";
import { Client } from "pg";
import { openTestQueues } from "./open-test-queues.ts";
import type { TestQueues } from "./open-test-queues.ts";
import { canStartPrivateBackend, startPrivateBackend } from "./start-private-backend.ts";
import type { PrivateBackend } from "./start-private-backend.ts";
import { startDeafRelay } from "../../journeys/support/start-deaf-relay.ts";

const isOnPostgres = readTestSettings().queueBackend === "postgres";
const MINUTE: CountLimit = { limit: 5, windowSeconds: 60 };

let servers: TestQueues;
let here: Counters;
let there: Counters;
let names = 0;

/** Returns the name of a new counter. */
const newName = () => `counter-${names++}`;

beforeAll(async () => {
  servers = await openTestQueues();
  [here, there] = [(await openReady()).counters, (await openReady()).counters];
});

afterAll(() => servers.close());

/** Opens queues like another process, and waits until their server is reachable. */
async function openReady(prefix?: string): Promise<Queues> {
  const queues = servers.open(prefix);
  await waitFor(() => queues.isUp(), { what: "the queues to be up" });
  return queues;
}

/** Returns whether one process sees the counts of the other. */
async function isShared(one: Counters, other: Counters): Promise<boolean> {
  const name = newName();
  await one.count(name, MINUTE);
  return (await other.peek(name, MINUTE)).remaining === MINUTE.limit - 1;
}

describe("a counter", () => {
  test("is shared by all processes", async () => {
    const name = newName();
    const counted = [];
    for (const counters of [here, there, here, there, here, there, here]) {
      counted.push(await counters.count(name, MINUTE));
    }
    expect(counted.map(({ isOver, remaining }) => [isOver, remaining])).toEqual([
      [false, 4],
      [false, 3],
      [false, 2],
      [false, 1],
      [false, 0],
      [true, 0],
      [true, 0],
    ]);
    for (const { resetMs } of counted) {
      expect(resetMs).toBeGreaterThan(0);
      expect(resetMs).toBeLessThanOrEqual(60_000);
    }
  });

  test("admits exactly its limit of concurrent calls", async () => {
    const name = newName();
    const limit = { limit: 50, windowSeconds: 60 };
    const counted = await Promise.all(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? here : there).count(name, limit)),
    );
    expect(counted.filter(({ isOver }) => !isOver)).toHaveLength(50);
    expect((await there.peek(name, limit)).remaining).toBe(0);
  });

  test("restarts when its window has ended", async () => {
    const name = newName();
    const second = { limit: 2, windowSeconds: 1 };
    for (const isOver of [false, false, true]) expect(await here.count(name, second)).toMatchObject({ isOver });
    for (const counters of [here, there]) {
      await waitFor(async () => (await counters.peek(name, second)).remaining === 2, { what: "the window to end" });
    }
    expect(await here.count(name, second)).toMatchObject({ isOver: false, remaining: 1 });
  });

  test("is read without counting, by every process", async () => {
    const name = newName();
    for (const counters of [here, there, here]) {
      expect(await counters.peek(name, MINUTE)).toEqual({ remaining: 5, resetMs: 60_000 });
    }
    await here.count(name, MINUTE);
    for (const counters of [there, here, there]) {
      expect(await counters.peek(name, MINUTE)).toMatchObject({ remaining: 4 });
    }
  });

  test("keeps its count when its limit changes", async () => {
    const name = newName();
    for (let time = 0; time < 6; time++) await here.count(name, MINUTE);
    expect(await here.count(name, { ...MINUTE, limit: 10 })).toMatchObject({ isOver: false });
    expect(await there.count(name, { ...MINUTE, limit: 3 })).toMatchObject({ isOver: true });
  });

  test("counts neither for another name nor for another installation", async () => {
    const strangers = (await openReady("svc-test-strangers")).counters;
    const name = newName();
    for (let time = 0; time < 6; time++) await here.count(name, MINUTE);
    expect(await here.count(`${name}0`, MINUTE)).toMatchObject({ remaining: 4 });
    expect(await strangers.peek(name, MINUTE)).toMatchObject({ remaining: 5 });
  });

  test("accepts any name", async () => {
    const hostile = ["a b", "*", "'; DROP TABLE svc_counters; --", "ключ-🗝", "x".repeat(1_000), "a:b::/64"];
    for (const name of hostile) {
      await here.count(name, MINUTE);
      expect(await there.count(name, MINUTE)).toMatchObject({ remaining: 3 });
    }
  });
});

(isOnPostgres ? test : test.skip)("a counter whose window has ended is removed, another one stays", async () => {
  const beats = jest.spyOn(globalThis, "setInterval");
  const queues = await openReady();
  const [ended, open] = [newName(), newName()];
  const listRows = async () => {
    const client = new Client({ connectionString: servers.databaseUrl });
    await client.connect();
    try {
      const { rows } = await client.query<{ key: string }>("SELECT key FROM bullmq.svc_counters");
      return rows.map(({ key }) => key.split(":").at(-1));
    } finally {
      await client.end();
    }
  };
  try {
    const second = { limit: 2, windowSeconds: 1 };
    await queues.counters.count(ended, second);
    await queues.counters.count(open, MINUTE);
    expect(await listRows()).toEqual(expect.arrayContaining([ended, open]));
    await waitFor(async () => (await queues.counters.peek(ended, second)).remaining === 2, {
      what: "the window to end",
    });
    // Runs the tasks that normally run once a minute.
    for (const [beat] of beats.mock.calls) beat();
    await waitFor(async () => !(await listRows()).includes(ended), { what: "the row to be removed" });
    expect(await listRows()).toContain(open);
  } finally {
    beats.mockRestore();
  }
});

(isOnPostgres ? test : test.skip)(
  "a table that is missing is in the log, and this process counts by itself",
  async () => {
    const database = await createTestDatabase();
    const { log, lines } = collectLog();
    const queues = openQueues({ databaseUrl: database.url, redisUrl: undefined, log });
    try {
      await queues.findPolicyProblem(5_000);
      const client = new Client({ connectionString: database.url });
      await client.connect();
      await client.query("DROP TABLE bullmq.svc_counters");
      await client.end();
      const name = newName();
      for (const remaining of [4, 3, 2]) {
        expect(await queues.counters.count(name, MINUTE)).toMatchObject({ isOver: false, remaining });
      }
      expect(lines().filter(({ level }) => level === "warn")).toHaveLength(1);
    } finally {
      await queues.close();
      await database.drop();
    }
  },
);

describe("an unresponsive server", () => {
  test("blocks no call: this process continues with its own counts until the server responds again, and merges them", async () => {
    const { log, lines } = collectLog();
    const database = await createTestDatabase();
    const backend = await createTestQueueBackend();
    const relay = await startDeafRelay(backend.redisUrl ?? database.url);
    const open = (url: string) =>
      openQueues({
        databaseUrl: isOnPostgres ? url : database.url,
        redisUrl: isOnPostgres ? undefined : url,
        prefix: backend.prefix,
        log,
      });
    const behind = open(relay.url);
    const beside = open(backend.redisUrl ?? database.url);
    try {
      const shared = () => isShared(behind.counters, beside.counters);
      await waitFor(shared, { what: "the processes to count together" });
      const [name, later] = [newName(), newName()];
      await beside.counters.count(name, MINUTE);
      for (const known of [name, later]) await behind.counters.count(known, MINUTE);
      relay.hold();
      for (const remaining of [2, 1, 0]) {
        expect(await behind.counters.count(name, MINUTE)).toMatchObject({ isOver: false, remaining });
      }
      for (const remaining of [3, 2]) {
        expect(await behind.counters.count(later, MINUTE)).toMatchObject({ isOver: false, remaining });
      }
      expect(await behind.counters.count(name, MINUTE)).toMatchObject({ isOver: true });
      expect(await behind.counters.peek(name, MINUTE)).toMatchObject({ remaining: 0 });
      expect(lines().filter(({ level }) => level === "warn")).toEqual([]);
      relay.release();
      await waitFor(shared, { what: "the processes to count together again", timeoutMs: 30_000 });
      expect(await behind.counters.count(later, MINUTE)).toMatchObject({ isOver: false, remaining: 1 });
    } finally {
      relay.release();
      await Promise.all([behind.close(), beside.close()]);
      await relay.close();
      await backend.stop();
      await database.drop();
    }
  });
});

((await canStartPrivateBackend()) ? describe : describe.skip)("while the server is away", () => {
  let backend: PrivateBackend;
  let opened: Queues[];

  beforeAll(async () => {
    backend = await startPrivateBackend();
    opened = [backend.open(), backend.open()];
  });

  // Each test leaves the server running.
  afterAll(async () => {
    await Promise.all(opened.map((queues) => queues.close()));
    await backend.stop();
  });

  const both = () => opened.map(({ counters }) => counters) as [Counters, Counters];
  const untilShared = () =>
    waitFor(() => isShared(...both()), { what: "the processes to count together", timeoutMs: 30_000 });

  test("each process counts in its own memory, with the same limit, and together after the server recovers", async () => {
    await untilShared();
    await backend.kill();
    const name = newName();
    for (const counters of both()) {
      const counted = [];
      for (let time = 0; time < 6; time++) counted.push((await counters.count(name, MINUTE)).isOver);
      expect(counted).toEqual([false, false, false, false, false, true]);
    }
    await backend.start();
    await untilShared();
  });

  test("no call fails at the moment of the outage", async () => {
    await untilShared();
    const calls: Promise<unknown>[] = [];
    let isDead = false;
    const killing = backend.kill().then(() => {
      isDead = true;
    });
    const many = { limit: 1_000_000, windowSeconds: 60 };
    await waitFor(
      () => {
        for (const counters of both()) calls.push(counters.count(newName(), many), counters.peek("any", many));
        return isDead;
      },
      { what: "the server to be dead" },
    );
    await killing;
    expect(await Promise.all(calls)).toHaveLength(calls.length);
    await backend.start();
    await untilShared();
  });

  test("a counter over its limit needs no call to the server", async () => {
    await untilShared();
    const [counters] = both();
    const name = newName();
    for (let time = 0; time < 6; time++) await counters.count(name, MINUTE);
    await backend.kill();
    expect(await counters.count(name, MINUTE)).toMatchObject({ isOver: true });
    await backend.start();
  });

  test("queues can be opened, count and be closed", async () => {
    await backend.kill();
    const late = backend.open();
    expect(await late.counters.count(newName(), MINUTE)).toMatchObject({ isOver: false, remaining: 4 });
    await late.close();
    await backend.start();
  });
});
