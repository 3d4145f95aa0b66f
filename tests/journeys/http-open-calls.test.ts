import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { linesOfPull, startFakeOllama } from "@svc/testing";
import type { FakeOllama } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { holdTable } from "./support/hold-table.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const LIMIT = 2;

let ollama: FakeOllama;
let product: Product;
/** Ends the waiting calls of a test. */
let endWaiting: () => void | Promise<void> = () => undefined;

beforeAll(async () => {
  ollama = await startFakeOllama();
  product = await startProduct({
    replicas: 1,
    env: { SVC_MAX_OPEN_CALLS: String(LIMIT), SVC_MAX_HELD_CALLS: String(LIMIT), SVC_OLLAMA_BASE_URL: ollama.url },
  });
});
afterEach(async () => {
  await endWaiting();
  endWaiting = () => undefined;
});
afterAll(async () => {
  await product?.stop();
  await ollama?.close();
});

const call = (path: string, request: ApiRequest = {}) =>
  callApi(`${product.composition.apiUrls[0] ?? ""}/api/v1${path}`, { key: product.adminKey, ...request });

/** Opens one call more than the limit: exactly one is rejected immediately, and the others continue. */
async function expectOneRejected(open: (index: number) => Promise<ApiAnswer>): Promise<void> {
  const others: ApiAnswer[] = [];
  const calls = Array.from({ length: LIMIT + 1 }, async (_, index) => {
    const answer = await open(index);
    if (answer.status !== 429) others.push(answer);
    return answer;
  });
  const first = await Promise.race(calls);
  expectProblem(first, "rate_limited");
  expect(first.headers.get("retry-after")).toBe("5");
  expect(others).toEqual([]);
  await endWaiting();
  await Promise.all(calls);
  expect(others.filter(({ status }) => status < 300)).toHaveLength(LIMIT);
}

test("waiting calls are limited by key and address, and a call that ends frees its slot", async () => {
  const release = await holdTable(product.databaseUrl, "replies", "writers");
  endWaiting = release;
  const ask = (index: number) =>
    call("/messages", { method: "POST", json: { text: `Question ${index}?`, timeoutMs: 30_000 } });
  await expectOneRejected(ask);
  expect((await ask(9)).status).toBeLessThan(300);
});

test("long polls are limited by key and address", async () => {
  await expectOneRejected((index) => call(`/messages/poll-${index}?wait=3000`));
});

test("calls that follow model pulls are limited by key and address", async () => {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  endWaiting = letGo;
  ollama.pullWith(() => [...linesOfPull().slice(0, 3), { wait: held }, ...linesOfPull().slice(3)]);
  await expectOneRejected((index) =>
    call(`/admin/models/${encodeURIComponent(`ollama:tiny:${index}b`)}/pull`, {
      method: "POST",
      headers: { Accept: "text/event-stream" },
    }),
  );
});
