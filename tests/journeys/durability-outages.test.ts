import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ticketIdOf } from "@svc/store";
import type { Project } from "@svc/store";
import { readTestSettings, waitFor, queryDatabase } from "@svc/testing";
import { Client } from "pg";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { holdTable } from "./support/hold-table.ts";
import { startPrivateGround } from "./support/start-private-ground.ts";
import type { PrivateGround } from "./support/start-private-ground.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
const PROJECT = "outages";
/** Number of consecutive crashes of Postgres. */
const POSTGRES_ROUNDS = process.env["SVC_SOAK"] === "1" ? 60 : 3;
const ROUND_TIMEOUT_MS = 60_000;
const isOnRedis = readTestSettings().queueBackend === "redis";

let ground: PrivateGround;
let product: Product;
let api: ApiClient;
let project: Project;
/** No process may need a restart to recover from an outage. */
let pids: number[];

beforeAll(async () => {
  ground = await startPrivateGround();
  product = await startProduct({ ground });
  api = createApiClient(product);
  project = await addProject(product.store, PROJECT, { fixedReply: FIXED });
  pids = product.composition.processes.map(({ pid }) => pid);
});

afterAll(() => product.stop());

const healthIs = (status: string) =>
  waitFor(
    async () => {
      const answers = await Promise.all(product.composition.apiUrls.map((url) => callApi(`${url}/api/v1/health`)));
      return answers.every(({ body }) => body.status === status);
    },
    { what: `health to be ${status}`, timeoutMs: 30_000 },
  );

/** Counts the messages and replies of a chat, delivered or not. */
async function countIn(chatId: string) {
  const rows = await queryDatabase<{ messages: number; replies: number; waiting: number }>(
    product.databaseUrl,
    `SELECT (SELECT count(*)::integer FROM messages WHERE ticket_id = $1) AS messages,
       (SELECT count(*)::integer FROM replies WHERE ticket_id = $1) AS replies,
       (SELECT count(*)::integer FROM messages WHERE ticket_id = $1 AND state = 'received') AS waiting`,
    [ticketIdOf(project.id, "api", chatId)],
  );
  return rows[0];
}

/** Collects the replies of a chat from the drain until there are this many, and then once more. */
async function drain(chatId: string, count: number): Promise<string[]> {
  const texts: string[] = [];
  await waitFor(
    async () => {
      texts.push(...(await api.drain(PROJECT, chatId, "?wait=1000", { replica: 1 })).texts);
      return texts.length >= count;
    },
    { what: `${count} replies in ${chatId}`, timeoutMs: 40_000 },
  );
  return [...texts, ...(await api.drain(PROJECT, chatId)).texts];
}

/** A call that a client may make at any time, and the response of a sync call that times out. */
const sendAsync = (chatId: string) => api.send(PROJECT, { text: "hello", chatId, mode: "async" });
const PENDING = { status: 202, body: { ok: true, mode: "sync", status: "pending", timedOut: true, replies: [] } };

async function isAsBefore(): Promise<void> {
  await healthIs("pass");
  const answer = await api.send(PROJECT, { text: "hello", timeoutMs: 60_000 });
  expect(answer).toMatchObject({ status: 200, texts: [FIXED] });
  expect(product.composition.processes.map(({ pid }) => pid)).toEqual(pids);
}

// The queues of the postgres backend have no separate server.
(isOnRedis ? describe : describe.skip)("while Redis is unavailable", () => {
  test("messages are accepted and processed later, calls end as pending in time, health warns; after it recovers empty, all are answered", async () => {
    await ground.redis?.kill();
    expect((await sendAsync("no-redis-async")).status).toBe(202);
    expect(await api.send(PROJECT, { text: "hello", chatId: "no-redis-sync", timeoutMs: 1_000 })).toMatchObject(
      PENDING,
    );
    await healthIs("warn");
    const many = await Promise.all(Array.from({ length: 60 }, (_, index) => sendAsync(`no-redis-${index % 20}`)));
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([202]));
    const call = api.send(PROJECT, { text: "hello", chatId: "no-redis-patient", timeoutMs: 60_000 });
    await waitFor(async () => (await countIn("no-redis-patient"))?.messages === 1, { what: "the call to be accepted" });

    await ground.redis?.start();
    expect(await call).toMatchObject({ status: 200, texts: [FIXED] });
    expect(await drain("no-redis-async", 1)).toEqual([FIXED]);
    expect(await drain("no-redis-sync", 1)).toEqual([FIXED]);
    for (let index = 0; index < 20; index++) {
      expect(await drain(`no-redis-${index}`, 3)).toEqual([FIXED, FIXED, FIXED]);
    }
    await isAsBefore();
  });

  test("repeatedly, no process needs a restart", async () => {
    for (const round of [1, 2, 3]) {
      await ground.redis?.kill();
      expect((await sendAsync(`round-${round}`)).status).toBe(202);
      await ground.redis?.start();
      expect(await drain(`round-${round}`, 1)).toEqual([FIXED]);
    }
    await isAsBefore();
  });
});

describe("while the queues hang", () => {
  /** Makes every call to the queues hang; returns the function that lets them continue. */
  async function hangQueues(): Promise<() => Promise<void>> {
    const { redis } = ground;
    if (redis !== null) {
      process.kill(redis.pid, "SIGSTOP");
      return () => Promise.resolve(void process.kill(redis.pid, "SIGCONT"));
    }
    const client = new Client({ connectionString: product.databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ tables: string }>(
      "SELECT string_agg(format('bullmq.%I', tablename), ', ') AS tables FROM pg_tables WHERE schemaname = 'bullmq'",
    );
    await client.query("BEGIN");
    await client.query(`LOCK TABLE ${rows[0]?.tables ?? ""} IN ACCESS EXCLUSIVE MODE`);
    return () => client.end();
  }

  test("messages are accepted and processed later, calls end as pending in time; afterwards all are answered", async () => {
    const goOn = await hangQueues();
    try {
      expect((await sendAsync("hang-async")).status).toBe(202);
      expect(await api.send(PROJECT, { text: "hello", chatId: "hang-sync", timeoutMs: 1_000 })).toMatchObject(PENDING);
    } finally {
      await goOn();
    }
    expect(await drain("hang-async", 1)).toEqual([FIXED]);
    expect(await drain("hang-sync", 1)).toEqual([FIXED]);
    await isAsBefore();
  });
});

describe("while Postgres is unavailable", () => {
  test("nothing is half accepted, waiting calls continue or end as pending, health fails; after it recovers, no reply is lost or duplicated", async () => {
    // Three accepted messages are in progress when it crashes.
    const hold = await holdTable(product.databaseUrl, "replies", "writers");
    const patient = api.send(PROJECT, { text: "hello", chatId: "patient", timeoutMs: 60_000 });
    const hurried = api.send(PROJECT, { text: "hello", chatId: "hurried", timeoutMs: 4_500 });
    expect((await sendAsync("later")).status).toBe(202);
    await waitFor(
      async () => {
        const counts = await Promise.all(["patient", "hurried", "later"].map(countIn));
        return counts.every((count) => count?.messages === 1);
      },
      { what: "the messages to be accepted" },
    );
    await ground.postgres.kill();
    await hold();

    const refused = await Promise.all([
      ...Array.from({ length: 20 }, () => sendAsync("refused")),
      api.send(PROJECT, { text: "hello", chatId: "refused", timeoutMs: 1_000 }),
      api.drain(PROJECT, "refused"),
      api.drain(PROJECT, "refused", "?after=0&wait=1000"),
    ]);
    for (const answer of refused) {
      expectProblem(answer, "unavailable");
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    await healthIs("fail");
    // The call with the short timeout gets its response in time, while nothing can be stored. Until then the outage
    // lasts longer than a process counts as alive without a heartbeat: its calls must still be reserved for it
    // afterwards.
    expect(await hurried).toMatchObject(PENDING);

    await ground.postgres.start();
    expect(await patient).toMatchObject({ status: 200, texts: [FIXED] });
    expect(await drain("hurried", 1)).toEqual([FIXED]);
    expect(await drain("later", 1)).toEqual([FIXED]);
    expect((await api.drain(PROJECT, "patient", "?after=0")).texts).toEqual([]);
    for (const chatId of ["patient", "hurried", "later"]) {
      expect(await countIn(chatId)).toEqual({ messages: 1, replies: 1, waiting: 0 });
    }
    expect(await countIn("refused")).toEqual({ messages: 0, replies: 0, waiting: 0 });
    expect((await sendAsync("refused")).status).toBe(202);
    expect(await drain("refused", 1)).toEqual([FIXED]);
    await isAsBefore();
  });

  test("a long poll ends or continues, and its reply is in the drain", async () => {
    const poll = api.drain(PROJECT, "polled", "?after=0&wait=30000");
    await ground.postgres.kill();
    await ground.postgres.start();
    await healthIs("pass");
    expect((await sendAsync("polled")).status).toBe(202);
    const answer = await poll;
    const texts = answer.status === 200 ? answer.texts : (expectProblem(answer, "unavailable"), []);
    expect(texts.length > 0 ? texts : await drain("polled", 1)).toEqual([FIXED]);
  });

  // With enough rounds, connections drop at every moment of their life.
  const again = async () => {
    for (let round = 1; round <= POSTGRES_ROUNDS; round++) {
      const chatId = `postgres-round-${round}`;
      const messages = Array.from({ length: 5 }, () => sendAsync(chatId));
      await ground.postgres.kill();
      const accepted = (await Promise.all(messages)).filter(({ status }) => status === 202).length;
      await ground.postgres.start();
      await healthIs("pass");
      await waitFor(async () => (await countIn(chatId))?.waiting === 0, {
        what: "all to be answered",
        timeoutMs: 30_000,
      });
      const count = await countIn(chatId);
      // A dropped call may have been committed all the same; one with a 202 was.
      expect(count?.messages).toBeGreaterThanOrEqual(accepted);
      expect(count?.replies).toBe(count?.messages);
    }
    await isAsBefore();
  };
  test("repeatedly, no process needs a restart", again, ROUND_TIMEOUT_MS * POSTGRES_ROUNDS);
});

// Must be last: it ends the product.
describe("while its servers are unavailable", () => {
  test("every process still shuts down gracefully on SIGTERM", async () => {
    await (ground.redis ?? ground.postgres).kill();
    await healthIs(isOnRedis ? "warn" : "fail");
    const exits = await Promise.all(product.composition.processes.map((process) => process.kill("SIGTERM")));
    expect(exits.map(({ code }) => code)).toEqual(exits.map(() => 0));
    await (ground.redis ?? ground.postgres).start();
  });
});
