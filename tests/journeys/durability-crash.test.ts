import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId, ticketIdOf } from "@svc/store";
import type { Project } from "@svc/store";
import { readTestSettings, waitFor, queryDatabase } from "@svc/testing";
import type { CompositionProcess } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { holdChat } from "./support/hold-chat.ts";
import { holdTable } from "./support/hold-table.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
const isSeparate = readTestSettings().composition === "separate";

let product: Product;
let api: ApiClient;
let project: Project;
let workers: CompositionProcess[];

const sql = <Row extends object>(text: string, values: unknown[] = []) =>
  queryDatabase<Row>(product.databaseUrl, text, values);

/** Returns how often a message of a chat was started: attempts, and leases that expired. */
const attemptsIn = async (chatId: string) => {
  const rows = await sql<{ attempts: number }>(
    "SELECT attempts + coalesce(jsonb_array_length(expired_leases), 0) AS attempts FROM messages WHERE ticket_id = $1",
    [ticketIdOf(project.id, "api", chatId)],
  );
  return rows[0]?.attempts;
};
/**
 * Waits until a message has been started at least this often; more often if the machine is too busy to renew a lease.
 */
const isTried = (chatId: string, attempts: number) =>
  waitFor(async () => ((await attemptsIn(chatId)) ?? 0) >= attempts, { what: `try ${attempts}` });

/** Returns every reply of a chat, delivered or not. */
const repliesIn = (chatId: string) =>
  sql<{ text: string }>("SELECT text FROM replies WHERE ticket_id = $1 ORDER BY seq", [
    ticketIdOf(project.id, "api", chatId),
  ]);

/**
 * Collects the replies of a chat as a careful client does: by cursor, until there are this many, and then once more.
 */
async function collect(chatId: string, count: number): Promise<string[]> {
  const texts: string[] = [];
  let cursor = "0";
  const take = async (wait: number) => {
    const answer = await api.drain("crash", chatId, `?after=${cursor}&wait=${wait}`);
    if (answer.status !== 200) return;
    texts.push(...answer.texts);
    cursor = answer.body.cursor ?? cursor;
  };
  await waitFor(
    async () => {
      await take(1_000);
      return texts.length >= count;
    },
    { what: `${count} replies in the drain of ${chatId}`, timeoutMs: 40_000 },
  );
  await take(0);
  return texts;
}

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  project = await addProject(product.store, "crash", { fixedReply: FIXED });
  workers = product.composition.processes.filter(({ name }) => /pipeline|standalone/.test(name));
});

afterAll(() => product.stop());

describe("a worker that is killed with SIGKILL in the middle of a message", () => {
  let release: () => Promise<void>;
  let first: CompositionProcess;
  let others: CompositionProcess[];

  // Only one worker runs when the message arrives, so that it gets the message.
  beforeEach(async () => {
    [first, ...others] = workers as [CompositionProcess, ...CompositionProcess[]];
    for (const other of others) await other.kill("SIGKILL");
  });

  afterEach(async () => {
    await release();
  });

  /** Kills the worker and lets another one continue: a second replica, or the same one after a restart. */
  async function killAndGoOn(): Promise<void> {
    for (const other of others) await other.start();
    await first.kill("SIGKILL");
    await first.start();
  }

  test("is replaced by another one, which answers it once", async () => {
    // It reads its agents with the first message, and other workers read them when they start.
    release = await holdTable(product.databaseUrl, "agents");
    const chatId = "killed-at-the-beginning";
    expect((await api.send("crash", { text: "hello", chatId, mode: "async" })).status).toBe(202);
    await isTried(chatId, 1);
    await killAndGoOn();
    await release();
    expect(await collect(chatId, 1)).toEqual([FIXED]);
    expect(await repliesIn(chatId)).toHaveLength(1);
    expect(await attemptsIn(chatId)).toBeGreaterThanOrEqual(2);
  });

  test("leaves one reply, even if its last statement still waits in Postgres", async () => {
    release = await holdTable(product.databaseUrl, "replies", "writers");
    const chatId = "killed-at-the-end";
    expect((await api.send("crash", { text: "hello", chatId, mode: "async" })).status).toBe(202);
    const statementsThatWait = async () =>
      (await sql("SELECT 1 FROM pg_locks WHERE relation = 'replies'::regclass AND NOT granted AND mode LIKE 'Row%'"))
        .length;
    await waitFor(async () => (await statementsThatWait()) >= 1, { what: "the worker to be about to finish" });
    await killAndGoOn();
    await waitFor(async () => (await statementsThatWait()) >= 2, { what: "the other one to be as far" });
    await release();
    expect(await collect(chatId, 1)).toEqual([FIXED]);
    expect(await repliesIn(chatId)).toHaveLength(1);
  });
});

(isSeparate ? describe : describe.skip)("a worker that freezes in the middle of a message", () => {
  test("and continues after another one has answered it sends nothing more", async () => {
    const [first, second] = workers as [CompositionProcess, CompositionProcess];
    await second.kill("SIGKILL");
    const chatId = "frozen";
    const release = await holdTable(product.databaseUrl, "replies", "writers");
    expect((await api.send("crash", { text: "hello", chatId, mode: "async" })).status).toBe(202);
    await isTried(chatId, 1);
    process.kill(first.pid, "SIGSTOP");
    try {
      await second.start();
      await isTried(chatId, 2);
      await release();
      expect(await collect(chatId, 1)).toEqual([FIXED]);
    } finally {
      process.kill(first.pid, "SIGCONT");
    }
    // The paused worker works again: it answers the next message of the chat alone.
    await second.kill("SIGKILL");
    expect(await api.send("crash", { text: "next", chatId, timeoutMs: 60_000 })).toMatchObject({ texts: [FIXED] });
    expect(await repliesIn(chatId)).toHaveLength(2);
    await second.start();
  });
});

(isSeparate ? describe : describe.skip)("two workers that are paused in turns, and none is killed", () => {
  test("lose their leases repeatedly, without a message counting as poison", async () => {
    const [first, second] = workers as [CompositionProcess, CompositionProcess];
    await second.kill("SIGKILL");
    // Few chats, since each holds a job, and a process that was paused runs fewer jobs for some seconds: 8 or 4 of
    // its 16 on the PostgreSQL backend.
    const chats = ["paused-0", "paused-1"];
    const release = await holdTable(product.databaseUrl, "replies", "writers");
    let paused = first;
    try {
      for (const chatId of chats) await api.send("crash", { text: "hello", chatId, mode: "async" });
      for (const chatId of chats) await isTried(chatId, 1);
      process.kill(paused.pid, "SIGSTOP");
      await second.start();
      for (const lapses of [1, 2, 3]) {
        for (const chatId of chats) await isTried(chatId, 1 + lapses);
        if (lapses === 3) break;
        process.kill(paused.pid, "SIGCONT");
        paused = paused === first ? second : first;
        process.kill(paused.pid, "SIGSTOP");
      }
    } finally {
      process.kill(paused.pid, "SIGCONT");
      await release();
    }
    for (const chatId of chats) expect(await collect(chatId, 1)).toEqual([FIXED]);
    const rows = await sql<{ state: string; attempts: number; is_suspect: boolean }>(
      `SELECT DISTINCT m.state, m.attempts, c.lease_group IS NOT NULL AS is_suspect FROM messages m
       JOIN chats c USING (ticket_id) WHERE starts_with(c.chat_id, 'paused-')`,
    );
    expect(rows).toEqual([{ state: "answered", attempts: 1, is_suspect: false }]);
  });
});

describe("an API that is killed with SIGKILL", () => {
  test("while it holds a call open leaves the reply to the drain, once", async () => {
    const chatId = "call-cut";
    const release = await holdChat(product.store, project, chatId);
    const call = api.send("crash", { text: "hello", chatId, timeoutMs: 60_000 }).then(
      () => "answered",
      () => "cut",
    );
    await waitFor(
      async () =>
        (
          await sql("SELECT 1 FROM messages WHERE ticket_id = $1 AND mode = 'sync'", [
            ticketIdOf(project.id, "api", chatId),
          ])
        ).length === 1,
      { what: "the call to be accepted" },
    );
    const holder = product.composition.processes.find(({ apiUrl }) => apiUrl === api.baseUrl(0));
    await holder?.kill("SIGKILL");
    expect(await call).toBe("cut");
    await release();
    await holder?.start();
    expect(await collect(chatId, 1)).toEqual([FIXED]);
  });
});

describe("a reader that continues by cursor", () => {
  test("misses nothing if a call crashes whose reply precedes those that it has read", async () => {
    const chatId = "late-to-the-buffer";
    // A process that holds a call open, and will crash.
    const instance = newId();
    await sql("INSERT INTO instances (id, app, alive_until) VALUES ($1, 'api', now() + interval '1 hour')", [instance]);
    await product.store.messages.accept(project.id, {
      channelId: "api",
      chatId,
      userId: null,
      text: "first, by a call that will be cut",
      timestampMs: Date.now(),
      attachments: null,
      channelMeta: {},
      mode: "sync",
      callInstance: instance,
      callback: null,
    });
    expect((await api.send("crash", { text: "second, async", chatId, mode: "async" })).status).toBe(202);
    await waitFor(async () => (await repliesIn(chatId)).length === 2, { what: "both replies", timeoutMs: 20_000 });

    const before = await api.drain("crash", chatId, "?after=0");
    const early = before.replies.map(({ id }) => id);
    await sql("UPDATE instances SET alive_until = now() WHERE id = $1", [instance]);
    const after = await api.drain("crash", chatId, `?after=${before.body.cursor ?? "0"}&wait=20000`);
    const all = [...early, ...after.replies.map(({ id }) => id)];
    const made = await sql<{ id: string }>("SELECT id FROM replies WHERE ticket_id = $1 ORDER BY seq", [
      ticketIdOf(project.id, "api", chatId),
    ]);
    expect(all).toEqual(made.map(({ id }) => id));
  });
});
