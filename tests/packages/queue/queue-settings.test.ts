import { createConnection } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { announceWork, migrateQueues, openQueues } from "@svc/queue";
import { createTestDatabase, readTestSettings, testLog, waitFor } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { Client } from "pg";
import { incomingJob } from "./open-test-queues.ts";
import { canStartPrivateBackend, startPrivateBackend } from "./start-private-backend.ts";

const { queueBackend } = readTestSettings();
const canStart = await canStartPrivateBackend();

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
});

/** Sends one command to a Redis as an inline command. */
function sendToRedis(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, "127.0.0.1").setEncoding("utf8");
    let answer = "";
    socket.on("error", reject);
    socket.on("data", (chunk: string) => {
      answer += chunk;
    });
    socket.on("end", () => resolve(answer));
    socket.write(`${command}\r\nQUIT\r\n`);
  });
}

test("migrating the queues again, also concurrently, succeeds without changes", async () => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const tables = async () =>
      (
        await client.query(
          `SELECT table_name, column_name, data_type FROM information_schema.columns
           WHERE table_schema = 'bullmq' ORDER BY 1, 2`,
        )
      ).rows;
    const before = await tables();
    expect(before.length).toBeGreaterThan(0);
    await migrateQueues(database.url, testLog());
    await Promise.all([1, 2, 3].map(() => migrateQueues(database.url, testLog())));
    expect(await tables()).toEqual(before);
    await client.query("DROP SCHEMA bullmq CASCADE");
    await Promise.all([1, 2, 3].map(() => migrateQueues(database.url, testLog())));
    expect(await tables()).toEqual(before);
  } finally {
    await client.end();
  }
});

(queueBackend === "redis" && canStart ? test : test.skip)(
  "a Redis that evicts keys is found out, by name and with the cure",
  async () => {
    const backend = await startPrivateBackend();
    const queues = backend.open();
    try {
      await waitFor(() => queues.isUp(), { what: "the queues to be up" });
      expect(await queues.findPolicyProblem(5_000)).toBeNull();
      expect(await sendToRedis(backend.port, "CONFIG SET maxmemory-policy allkeys-lru")).toMatch(/^\+OK/);
      expect(await queues.findPolicyProblem(5_000)).toMatch(/allkeys-lru.*noeviction/);
      await backend.kill();
      await waitFor(() => !queues.isUp(), { what: "the loss to be noticed" });
      expect(await queues.findPolicyProblem(1)).toBeNull();
    } finally {
      await queues.close();
      await backend.stop();
    }
  },
);

(queueBackend === "postgres" && canStart ? test : test.skip)(
  "queues on Postgres have no policy to be wrong",
  async () => {
    const backend = await startPrivateBackend();
    const queues = backend.open();
    try {
      expect(await queues.findPolicyProblem(5_000)).toBeNull();
    } finally {
      await queues.close();
      await backend.stop();
    }
  },
);

(queueBackend === "postgres" ? test : test.skip)("BullMQ's past events do not pile up in the database", async () => {
  const JOBS = 400;
  const queues = openQueues({ databaseUrl: database.url, redisUrl: undefined, log: testLog() });
  const client = new Client({ connectionString: database.url });
  await client.connect();
  let done = 0;
  const consumer = queues.consume("incoming-messages", () => Promise.resolve(void done++));
  try {
    await waitFor(() => queues.isUp(), { what: "the queues to be up" });
    const jobs = Array.from({ length: JOBS }, (_, index) => ({ ...incomingJob(`event-${index}`), attempts: 0 }));
    await announceWork(queues, "incoming-messages", jobs);
    await waitFor(() => done === JOBS, { what: "all jobs to be done" });
    const { rows } = await client.query<{ past: number; kept: number }>(
      "SELECT max(id)::int AS past, count(*)::int AS kept FROM bullmq.event",
    );
    expect(rows[0]?.past).toBeGreaterThan(2 * JOBS);
    // BullMQ trims with each 256th event, and only the queue of that event.
    expect(rows[0]?.kept).toBeLessThan(JOBS);
  } finally {
    await consumer.close(5_000);
    await client.end();
    await queues.close();
  }
});
