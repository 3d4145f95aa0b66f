import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { Scope } from "@svc/contracts";
import type { Project } from "@svc/store";
import { readTestSettings, waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startPrivateGround } from "./support/start-private-ground.ts";
import type { PrivateGround } from "./support/start-private-ground.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const isOnRedis = readTestSettings().queueBackend === "redis";
const DEFAULT_POLICY = '"default";q=120;w=60';
const AUTH_POLICY = '"auth";q=30;w=60';

let ground: PrivateGround;
let product: Product;
let api: ApiClient;
let project: Project;
let callers = 0;

beforeAll(async () => {
  ground = await startPrivateGround();
  // The tests act as a trusted proxy, so that each can use client addresses of its own.
  const env = { SVC_TRUST_PROXY: "127.0.0.1", SVC_LOG_LEVEL: "debug" };
  product = await startProduct({ ground, hasRateLimit: true, env });
  api = createApiClient(product);
  project = await addProject(product.store, "limits", { fixedReply: "This is always the answer." });
});

afterAll(() => product.stop());

/** Returns an address that no other test has used. */
function newAddress(): string {
  callers++;
  return `198.51.100.${callers}`;
}

async function makeKey({
  scopes = ["messages:*"] as Scope[],
  rateLimit = undefined as number | null | undefined,
} = {}) {
  const { key, record } = await issueKey(product.store, {
    name: "limited",
    scopes,
    project: project.id,
    createdBy: "test",
    rateLimit,
  });
  return { key, id: record.id };
}

interface Asked extends ApiRequest {
  from: string;
  path?: string;
  replica?: number;
}

/** Makes one call from an address; the cheapest one by default. */
function ask({ from, path = "messages/limits", replica, headers, ...request }: Asked): Promise<ApiAnswer> {
  return callApi(`${api.baseUrl(replica)}/api/v1/${path}`, {
    ...request,
    headers: { "X-Forwarded-For": from, ...headers },
  });
}

/** Makes this many concurrent calls, alternating between replicas; returns the number of responses by status. */
async function askTimes(times: number, asked: Asked): Promise<Record<number, number>> {
  const answers = await Promise.all(Array.from({ length: times }, (_, index) => ask({ replica: index, ...asked })));
  const statuses: Record<number, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}

/** Returns the parsed rate limit fields of a response. */
function limitOf({ headers }: ApiAnswer) {
  const fields = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(headers.get("ratelimit") ?? "");
  return {
    policy: headers.get("ratelimit-policy"),
    name: fields?.[1],
    remaining: Number(fields?.[2]),
    seconds: Number(fields?.[3]),
  };
}

function expectRateLimited(answer: ApiAnswer, policy: string): void {
  expectProblem(answer, "rate_limited");
  const limit = limitOf(answer);
  expect(limit).toMatchObject({ policy, remaining: 0 });
  expect(Number(answer.headers.get("retry-after"))).toBe(limit.seconds);
  expect(limit.seconds).toBeGreaterThan(0);
  expect(limit.seconds).toBeLessThanOrEqual(60);
}

/** Waits until the replicas see each other's counts. */
const untilShared = () =>
  waitFor(
    async () => {
      const [{ key }, from] = [await makeKey(), newAddress()];
      const left = [];
      for (const replica of [0, 1, 0, 1]) left.push(limitOf(await ask({ key, from, replica })).remaining);
      return left.join() === "119,118,117,116";
    },
    { what: "the replicas to count together", timeoutMs: 30_000 },
  );

/** Returns how often replicas have found the shared counters too slow so far, and have counted locally for a moment. */
const timesAlone = () =>
  product.composition.processes
    .map((process) => process.output().split("temporarily counted in this process only").length - 1)
    .reduce((sum, times) => sum + times, 0);

/**
 * Checks an expectation that holds while the replicas share their counters. If one of them counted locally meanwhile,
 * which it logs and which is correct on a busy machine, the check is repeated.
 */
async function together(check: () => Promise<void>): Promise<void> {
  for (;;) {
    await untilShared();
    const before = timesAlone();
    try {
      await check();
      return;
    } catch (error) {
      const wasAlone = waitFor(() => timesAlone() > before, { what: "a line in a log", timeoutMs: 2_000 });
      await wasAlone.catch(() => {
        throw error;
      });
    }
  }
}

describe("120 requests a minute", () => {
  test("of an address and key are shared by all replicas; the next one is 429 everywhere and has no effect", () =>
    together(async () => {
      const { key } = await makeKey();
      const from = newAddress();
      expect(await askTimes(130, { key, from })).toEqual({ 200: 120, 429: 10 });
      for (const replica of [0, 1]) {
        expectRateLimited(await ask({ key, from, replica }), DEFAULT_POLICY);
        const posted = await ask({ key, from, replica, path: "messages", json: { text: "hi", chatId: "refused" } });
        expectRateLimited(posted, DEFAULT_POLICY);
      }
      const rows = await queryDatabase(product.databaseUrl, "SELECT 1 FROM chats WHERE chat_id = 'refused'");
      expect(rows).toEqual([]);
    }));

  test("are counted per key and address", () =>
    together(async () => {
      const [one, other] = [await makeKey(), await makeKey()];
      const from = newAddress();
      await askTimes(121, { key: one.key, from });
      for (const asked of [
        { key: other.key, from },
        { key: one.key, from: newAddress() },
        { key: product.adminKey, from },
      ]) {
        const answer = await ask(asked);
        expect([answer.status, limitOf(answer).remaining]).toEqual([200, 119]);
      }
      expectRateLimited(await ask({ key: one.key, from, replica: 1 }), DEFAULT_POLICY);
    }));

  test("are counted by network for IPv6 addresses", () =>
    together(async () => {
      const { key } = await makeKey({ rateLimit: 2 });
      for (const from of ["2001:db8:1:1::1", "2001:db8:1:1:aaaa::2"])
        expect((await ask({ key, from })).status).toBe(200);
      expect((await ask({ key, from: "2001:db8:1:1::3", replica: 1 })).status).toBe(429);
      expect((await ask({ key, from: "2001:db8:1:2::1", replica: 1 })).status).toBe(200);
    }));

  test("count a long poll once", () =>
    together(async () => {
      const { key } = await makeKey();
      const from = newAddress();
      await ask({ key, from, path: "messages/nobody-writes-here?wait=1500" });
      expect(limitOf(await ask({ key, from, replica: 1 })).remaining).toBe(118);
    }));
});

describe("the RateLimit fields", () => {
  test.each<[status: number, what: string, request: Partial<Asked>]>([
    [200, "a sync message", { path: "messages", json: { text: "hi" } }],
    [202, "an async message", { path: "messages", json: { text: "hi", mode: "async" } }],
    [200, "a drain", {}],
    [200, "a HEAD of a drain", { method: "HEAD" }],
    [400, "bad JSON", { path: "messages", body: "{" }],
    [400, "a bad field", { path: "messages", json: { text: "" } }],
    [400, "a bad query", { path: "messages/limits?wait=abc" }],
    [400, "a path that is no UTF-8", { path: "messages/%ff" }],
    [403, "move the ticket to another project", { project: "elsewhere" }],
    [404, "an address that nobody serves", { path: "nowhere" }],
    [405, "a method that is not possible", { path: "messages", method: "DELETE" }],
    [413, "a body that is too large", { path: "messages", json: { text: "x".repeat(1_100_000) } }],
    [415, "a body that is no JSON", { path: "messages", body: "hi", headers: { "Content-Type": "text/plain" } }],
  ])("are on the response %i to %s", async (status, _what, request) => {
    const { key } = await makeKey();
    const answer = await ask({ key, from: newAddress(), ...request });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("ratelimit-policy")).toBe(DEFAULT_POLICY);
    expect(answer.headers.get("ratelimit")).toBe('"default";r=119;t=60');
    expect(answer.headers.get("retry-after")).toBeNull();
  });

  test("are on 403 for a missing scope, and on 404 for an unknown project", async () => {
    const { key } = await makeKey({ scopes: ["messages:read"] });
    const from = newAddress();
    const refused = await ask({ key, from, path: "messages", json: { text: "hi" } });
    const unknown = await ask({ key: product.adminKey, from, project: "elsewhere" });
    expect([refused.status, unknown.status]).toEqual([403, 404]);
    for (const answer of [refused, unknown]) expect(limitOf(answer)).toMatchObject({ policy: DEFAULT_POLICY });
  });

  test("are not on health", async () => {
    const { headers } = await ask({ key: product.adminKey, from: newAddress(), path: "health" });
    expect([headers.get("ratelimit-policy"), headers.get("ratelimit")]).toEqual([null, null]);
  });
});

describe("a key with its own limit", () => {
  test("has that limit over all replicas", () =>
    together(async () => {
      const { key } = await makeKey({ rateLimit: 7 });
      const from = newAddress();
      expect(await askTimes(10, { key, from })).toEqual({ 200: 7, 429: 3 });
      expectRateLimited(await ask({ key, from }), '"default";q=7;w=60');
    }));

  test("without limit is not counted and gets no fields", async () => {
    const { key } = await makeKey({ rateLimit: null });
    const from = newAddress();
    expect(await askTimes(200, { key, from })).toEqual({ 200: 200 });
    expect(limitOf(await ask({ key, from }))).toMatchObject({ policy: null, name: undefined });
  });

  test("gets a changed limit soon on every replica", async () => {
    const { key, id } = await makeKey();
    const from = newAddress();
    await askTimes(4, { key, from });
    await queryDatabase(product.databaseUrl, "UPDATE api_keys SET rate_limit = 3 WHERE id = $1", [id]);
    for (const replica of [0, 1]) {
      await waitFor(async () => (await ask({ key, from, replica })).status === 429, { what: "the new limit" });
    }
    await queryDatabase(product.databaseUrl, "UPDATE api_keys SET rate_limit = 0 WHERE id = $1", [id]);
    for (const replica of [0, 1]) {
      await waitFor(async () => (await ask({ key, from, replica })).status === 200, { what: "no limit" });
    }
  });
});

describe("after 30 failed authentications a minute", () => {
  test("further failures of that address get 429 on every replica, and valid keys still work", () =>
    together(async () => {
      const from = newAddress();
      const { key } = await makeKey();
      const first = await ask({ key: "svc_wrong", from });
      expectProblem(first, "invalid_key");
      expect(first.headers.get("ratelimit")).toBe('"auth";r=29;t=60');
      expect(await askTimes(35, { from })).toEqual({ 401: 29, 429: 6 });
      for (const replica of [0, 1]) {
        for (const wrong of [{ key: "svc_wrong" }, {}]) {
          const answer = await ask({ ...wrong, from, replica });
          expectRateLimited(answer, AUTH_POLICY);
          expect(answer.headers.get("www-authenticate")).toBeNull();
        }
        expect(await ask({ key, from, replica })).toMatchObject({ status: 200 });
        expectProblem(await ask({ key: "svc_wrong", from: newAddress(), replica }), "invalid_key");
      }
    }));

  test("health, where invalid keys count too, returns no details to that address, without an error", () =>
    together(async () => {
      const from = newAddress();
      const health = (key: string, replica: number) => ask({ key, from, replica, path: "health" });
      expect((await health(product.adminKey, 0)).body).toHaveProperty("checks");
      expect(await askTimes(31, { key: "svc_wrong", from, path: "health" })).toEqual({ 200: 31 });
      for (const replica of [0, 1]) {
        const answer = await health(product.adminKey, replica);
        expect([answer.status, answer.body.status, answer.body.checks]).toEqual([200, "pass", undefined]);
        expectRateLimited(await ask({ key: "svc_wrong", from, replica }), AUTH_POLICY);
      }
      const elsewhere = await ask({ key: product.adminKey, from: newAddress(), path: "health" });
      expect(elsewhere.body).toHaveProperty("checks");
    }));
});

(isOnRedis ? test : test.skip)(
  "while Redis is away each replica counts by itself, and together again when it is back",
  async () => {
    await untilShared();
    await ground.redis?.kill();
    const { key } = await makeKey({ rateLimit: 10 });
    const from = newAddress();
    for (const url of product.composition.apiUrls) {
      const replica = product.composition.apiUrls.indexOf(url);
      const posted = await ask({ key, from, replica, path: "messages", json: { text: "hi", mode: "async" } });
      expect([posted.status, limitOf(posted).remaining]).toEqual([202, 9]);
      expect(await askTimes(12, { key, from, replica })).toEqual({ 200: 9, 429: 3 });
    }
    await ground.redis?.start();
    await untilShared();
  },
);

// Last in this file, because the product restarts.
test("without SVC_TRUST_PROXY X-Forwarded-For is ignored", async () => {
  await product.restart({ SVC_TRUST_PROXY: "" });
  await together(async () => {
    const { key } = await makeKey({ rateLimit: 5 });
    const statuses = [];
    for (let call = 0; call < 6; call++) statuses.push((await ask({ key, from: newAddress(), replica: call })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });
});
