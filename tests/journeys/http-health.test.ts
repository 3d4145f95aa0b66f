import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { Project } from "@svc/store";
import { migrateTestDatabase, readTestSettings, startPostgres, startRedis, waitFor, queryDatabase } from "@svc/testing";
import type { PrivatePostgres, PrivateRedis } from "@svc/testing";
import { Client } from "pg";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { holdChat } from "./support/hold-chat.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const isOnRedis = readTestSettings().queueBackend === "redis";

/** Separate servers, because this file stops them. */
let postgres: PrivatePostgres;
let redis: PrivateRedis | null;
let product: Product;
let api: ApiClient;
let project: Project;

beforeAll(async () => {
  postgres = await startPostgres();
  await migrateTestDatabase(postgres.url);
  redis = isOnRedis ? await startRedis() : null;
  product = await startProduct({
    ground: {
      databaseUrl: postgres.url,
      ...(redis === null ? {} : { redisUrl: redis.url }),
      prefix: "svc-health",
      async remove() {
        await redis?.stop();
        await postgres.stop();
      },
    },
  });
  api = createApiClient(product);
  project = await addProject(product.store, "health", { fixedReply: FIXED });
});

afterAll(() => product.stop());

const health = (key?: string, replica = 0) =>
  callApi(`${api.baseUrl(replica)}/api/v1/health`, key === undefined ? {} : { key });
const adminHealth = () => health(product.adminKey);
const onEveryReplica = (check: (url: string) => Promise<boolean>) =>
  waitFor(async () => (await Promise.all(product.composition.apiUrls.map(check))).every(Boolean), {
    what: "every replica to say so",
    timeoutMs: 20_000,
  });
const statusIs = (status: string) =>
  onEveryReplica(async (url) => (await callApi(`${url}/api/v1/health`)).body.status === status);

const post = (url: string, chatId: string) =>
  callApi(`${url}/api/v1/messages`, {
    key: product.adminKey,
    project: "health",
    json: { text: "hello", chatId, mode: "async" },
  });
const disable = async () => {
  await product.store.channelsConfig.setEnabled("api", false);
  await onEveryReplica(async (url) => (await post(url, "probe")).status === 503);
};
const enable = async () => {
  await product.store.channelsConfig.setEnabled("api", true);
  await onEveryReplica(async (url) => (await post(url, "probe")).status === 202);
};

describe("GET /api/v1/health", () => {
  test("returns pass without a key, and no details", async () => {
    const answer = await health();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toEqual({
      ok: true,
      status: "pass",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      time: expect.stringMatching(RFC3339),
    });
  });

  test("shows an administrator the state of each part", async () => {
    expect((await adminHealth()).body).toMatchObject({
      ok: true,
      status: "pass",
      checks: {
        store: { status: "pass" },
        queue: { status: "pass" },
        pipeline: { status: "pass" },
        channels: { api: { id: "api", state: "running", error: null, since: expect.stringMatching(RFC3339) } },
      },
    });
  });

  test("shows it to no other key", async () => {
    const { key } = await issueKey(product.store, {
      name: "scoped",
      scopes: ["messages:*", "tickets:*"],
      project: project.id,
      createdBy: "test",
    });
    const answer = await health(key);
    expect([answer.status, Object.keys(answer.body).sort()]).toEqual([200, ["ok", "status", "time", "version"]]);
  });

  test("needs no key, so that an invalid one is not an error", async () => {
    for (const key of ["svc_wrong", ""]) {
      expect(await health(key)).toMatchObject({ status: 200, body: { ok: true, status: "pass" } });
    }
  });

  test("responds to HEAD", async () => {
    const answer = await callApi(`${api.baseUrl()}/api/v1/health`, { method: "HEAD" });
    expect([answer.status, answer.text]).toEqual([200, ""]);
  });

  test("warns if a message waits for too long", async () => {
    // Every worker that claims the chat blocks on its row, while the sweepers keep announcing its message.
    const { ticketId } = (await api.send("health", { text: "hello", chatId: "waits-too-long" })).body;
    const client = new Client({ connectionString: product.databaseUrl });
    await client.connect();
    try {
      await client.query("BEGIN");
      await client.query("SELECT 1 FROM chats WHERE ticket_id = $1 FOR UPDATE", [ticketId]);
      await queryDatabase(
        product.databaseUrl,
        `INSERT INTO messages (id, project_id, ticket_id, seq, text, timestamp_ms, channel_meta, mode, due_at, created_at)
         SELECT gen_random_uuid(), project_id, ticket_id, 1000, 'hello', 0, '{}', 'async', now(), now() - interval '2 minutes'
         FROM chats WHERE ticket_id = $1`,
        [ticketId],
      );
      await statusIs("warn");
      const answer = await adminHealth();
      expect(answer).toMatchObject({ status: 200, body: { ok: true, checks: { pipeline: { status: "warn" } } } });
      await client.query("COMMIT");
    } finally {
      await client.end();
    }
    await statusIs("pass");
  });
});

describe("/healthz and /readyz", () => {
  test.each(["/healthz", "/readyz"])("%s needs no key", async (path) => {
    expect(await callApi(`${api.baseUrl()}${path}`)).toMatchObject({ status: 200, text: '{"ok":true}' });
  });
});

describe("the API channel, disabled while it runs,", () => {
  test("rejects messages with channel_disabled, keeps health and drains available, and can be enabled again", async () => {
    await api.send("health", { text: "hello", chatId: "before", mode: "async" });
    await disable();
    try {
      const refused = await post(api.baseUrl(), "refused");
      expectProblem(refused, "channel_disabled");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);

      const state = await adminHealth();
      expect(state).toMatchObject({
        status: 200,
        body: { status: "warn", checks: { channel: { status: "warn" }, channels: { api: { state: "stopped" } } } },
      });
      expect((await callApi(`${api.baseUrl()}/readyz`)).status).toBe(200);
      expect((await api.drain("health", "before", "?wait=10000")).texts).toEqual([FIXED]);
    } finally {
      await enable();
    }
    expect((await api.send("health", { text: "hello" })).texts).toEqual([FIXED]);
    expect((await api.drain("health", "refused")).replies).toEqual([]);
  });

  test("still responds to accepted calls", async () => {
    const release = await holdChat(product.store, project, "accepted-before");
    const call = api.send("health", { text: "hello", chatId: "accepted-before", timeoutMs: 60_000 });
    await waitFor(
      async () => {
        const rows = await queryDatabase(
          product.databaseUrl,
          "SELECT 1 FROM messages m JOIN chats c USING (ticket_id) WHERE c.chat_id = 'accepted-before'",
        );
        return rows.length === 2;
      },
      { what: "the call to be accepted" },
    );
    try {
      await disable();
    } finally {
      await release();
    }
    expect(await call).toMatchObject({ status: 200, texts: [FIXED] });
    await enable();
  });
});

// Last in this file, because these tests stop the servers.
describe("while a server is unavailable", () => {
  (isOnRedis ? test : test.skip)(
    "Redis: health warns, messages are still accepted, the channel can be disabled and enabled again",
    async () => {
      await redis?.kill();
      await statusIs("warn");
      const answer = await adminHealth();
      expect(answer).toMatchObject({ status: 200, body: { ok: true, checks: { queue: { status: "warn" } } } });
      expect((await api.send("health", { text: "hello", chatId: "no-redis", mode: "async" })).status).toBe(202);
      await disable();
      await redis?.start();
      await enable();
      await statusIs("pass");
      expect((await api.drain("health", "no-redis", "?wait=20000")).texts).toEqual([FIXED]);
    },
  );

  test("Postgres: health fails with 503, messages and drains are `unavailable`, the process stays alive", async () => {
    const pids = product.composition.processes.map(({ pid }) => pid);
    await postgres.kill();
    await statusIs("fail");
    const failed = await adminHealth();
    expect(failed.status).toBe(503);
    expect(failed.body).toEqual({
      ok: false,
      status: "fail",
      version: expect.any(String),
      time: expect.stringMatching(RFC3339),
    });
    const isUnavailable = (answer: ApiAnswer) => {
      expectProblem(answer, "unavailable");
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    };
    expect(Number(failed.headers.get("retry-after"))).toBeGreaterThan(0);
    isUnavailable(await api.send("health", { text: "hello" }));
    isUnavailable(await api.drain("health", "some-chat"));
    expect((await callApi(`${api.baseUrl()}/healthz`)).status).toBe(200);
    expect((await callApi(`${api.baseUrl()}/readyz`)).status).toBe(503);

    await postgres.start();
    await statusIs("pass");
    await onEveryReplica(async (url) => (await callApi(`${url}/readyz`)).status === 200);
    expect((await api.send("health", { text: "hello", timeoutMs: 60_000 })).texts).toEqual([FIXED]);
    expect(product.composition.processes.map(({ pid }) => pid)).toEqual(pids);
  });
});
