import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { ticketIdOf } from "@svc/store";
import type { Project } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import type { CompositionProcess } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { holdChat } from "./support/hold-chat.ts";
import { holdTable } from "./support/hold-table.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
const CLEAN = { code: 0, signal: null };

let product: Product;
let api: ApiClient;
let project: Project;
/** The process whose API is called, and the one whose pipeline works: the same one if there is only one. */
let door: CompositionProcess;
let worker: CompositionProcess;

beforeAll(async () => {
  product = await startProduct({ replicas: 2 });
  api = createApiClient(product);
  project = await addProject(product.store, "shutdown", { fixedReply: FIXED });
  const { processes } = product.composition;
  door = processes.find(({ apiUrl }) => apiUrl === api.baseUrl(0)) as CompositionProcess;
  const workers = processes.filter(({ name }) => /pipeline|standalone/.test(name));
  [worker] = workers as [CompositionProcess];
  // One of several pipelines is enough: what it does not finish is done after its restart.
  for (const other of workers.slice(1)) await other.kill();
});

afterAll(() => product.stop());

const readMessages = (chatId: string) =>
  queryDatabase<{ state: string; attempts: number; isLeased: boolean; mode: string }>(
    product.databaseUrl,
    `SELECT m.state, m.attempts, m.mode, c.lease_id IS NOT NULL AS "isLeased"
     FROM messages m JOIN chats c USING (ticket_id) WHERE m.ticket_id = $1 ORDER BY m.seq`,
    [ticketIdOf(project.id, "api", chatId)],
  );

/** Starts a request on an open connection without its last bytes. */
async function beginRequest(baseUrl: string, path: string) {
  const { hostname, port, host } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) }).setEncoding("utf8");
  await once(socket, "connect");
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n`);
  return {
    /** Sends the rest, and returns the response until the connection is closed. */
    async finish(): Promise<string> {
      socket.write("\r\n");
      let answer = "";
      for await (const part of socket) answer += String(part);
      return answer;
    },
    drop: () => void socket.destroy(),
  };
}

describe("an API that gets SIGTERM", () => {
  test("is immediately not ready, responds to its calls early, exits with 0, and their replies are in the drain", async () => {
    const chatId = "waiting-calls";
    const release = await holdChat(product.store, project, chatId);
    const calls = [1, 2, 3].map((number) =>
      api.send("shutdown", { text: `question ${number}`, chatId, timeoutMs: 60_000 }),
    );
    const poll = api.drain("shutdown", "nothing-here", "?wait=60000");
    await waitFor(async () => (await readMessages(chatId)).filter(({ mode }) => mode === "sync").length === 3, {
      what: "the calls to be accepted",
    });
    const readiness = await beginRequest(api.baseUrl(0), "/readyz");

    const exit = door.kill("SIGTERM");
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject({
        status: 202,
        body: { ok: true, mode: "sync", status: "pending", timedOut: false, chatId, replies: [] },
      });
      expect(answer.headers.get("location")).toBe(answer.body.drainUrl);
    }
    expect(await poll).toMatchObject({ status: 200, body: { replies: [] } });
    expect(await readiness.finish()).toMatch(/^HTTP\/1\.1 503 /);
    expect(await exit).toEqual(CLEAN);

    await release();
    // On another replica, or on this one after its restart.
    if (product.composition.processes.length === 1) await door.start();
    const drained: string[] = [];
    let cursor = "0";
    await waitFor(
      async () => {
        const page = await api.drain("shutdown", chatId, `?after=${cursor}&wait=1000`, { replica: 1 });
        drained.push(...page.texts);
        cursor = page.body.cursor ?? cursor;
        return drained.length >= 3;
      },
      { what: "the replies in the drain", timeoutMs: 30_000 },
    );
    expect((await api.drain("shutdown", chatId, `?after=${cursor}`, { replica: 1 })).replies).toEqual([]);
    expect(drained).toEqual([FIXED, FIXED, FIXED]);
    if (product.composition.processes.length > 1) await door.start();
  });
});

describe("a pipeline that gets SIGTERM", () => {
  let release: () => Promise<void> = () => Promise.resolve();
  afterEach(() => release());

  /** Starts a message and keeps it in progress until `release`. */
  async function beginMessage(chatId: string): Promise<void> {
    release = await holdTable(product.databaseUrl, "replies", "writers");
    expect((await api.send("shutdown", { text: "hello", chatId, mode: "async" })).status).toBe(202);
    await waitFor(async () => (await readMessages(chatId))[0]?.attempts === 1, { what: "the message to be worked on" });
  }

  const isStopping = () =>
    waitFor(() => worker.output().includes('"msg":"stopping"'), { what: "the signal to be noticed" });

  async function isAnsweredOnce(chatId: string): Promise<void> {
    expect((await api.drain("shutdown", chatId, "?after=0&wait=30000")).texts).toEqual([FIXED]);
    const rows = await queryDatabase(product.databaseUrl, "SELECT 1 FROM replies WHERE ticket_id = $1", [
      ticketIdOf(project.id, "api", chatId),
    ]);
    expect(rows).toHaveLength(1);
  }

  test("finishes its message, and exits with 0", async () => {
    const chatId = "finished";
    await beginMessage(chatId);
    const exit = worker.kill("SIGTERM");
    await isStopping();
    await release();
    expect(await exit).toEqual(CLEAN);
    expect(await readMessages(chatId)).toEqual([{ state: "answered", attempts: 1, mode: "async", isLeased: false }]);
    await worker.start();
    await isAnsweredOnce(chatId);
  });

  test("exits with 0 even if the message does not end in time, and leaves it to the next process", async () => {
    const chatId = "released";
    await beginMessage(chatId);
    // If the API is in the same process, it also has to wait for a slow client.
    const slow = await beginRequest(api.baseUrl(0), "/readyz");
    expect(await worker.kill("SIGTERM")).toEqual(CLEAN);
    slow.drop();
    expect(await readMessages(chatId)).toMatchObject([{ state: "received", isLeased: false }]);
    await release();
    await worker.start();
    await isAnsweredOnce(chatId);
  });

  test("a second time ends immediately, and the message is answered after the next start", async () => {
    const chatId = "twice";
    await beginMessage(chatId);
    const exit = worker.kill("SIGTERM");
    await isStopping();
    expect(await worker.kill("SIGTERM")).toEqual({ code: 1, signal: null });
    expect(await exit).toEqual({ code: 1, signal: null });
    expect(worker.output()).toContain("second signal");
    await release();
    await worker.start();
    await isAnsweredOnce(chatId);
  });
});
