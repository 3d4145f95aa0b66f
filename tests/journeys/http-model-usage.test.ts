import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Stats, TicketDetail } from "@svc/contracts";
import { addDocument, ensureKb } from "@svc/knowledge";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { startFakeModel, testLog, waitFor } from "@svc/testing";
import type { FakeModel } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const PASSAGE = "Parcels leave the house every working day at three in the afternoon.";
const QUESTION = "When do parcels leave the house?";
const SAID = "Parcels leave the house every working day, at three in the afternoon.";
const PROVIDERS_TEXT = "quota of org-4711 exceeded";

let product: Product;
let model: FakeModel;
let shop: Project;
let agentId: string;

beforeAll(async () => {
  model = await startFakeModel();
  product = await startProduct({
    env: {
      SVC_LLM_BASE_URL: model.baseUrl,
      SVC_LLM_MODEL: "gpt-test",
      SVC_LLM_PRICES: '{"gpt-test":{"input":1,"output":2}}',
    },
  });
  const { store } = product;
  shop = await addProject(store, "shop", {});
  const [agent] = await store.agents.list(shop.id);
  agentId = agent?.id ?? "";
  const { kb } = await ensureKb({ store }, shop.id, "parcels");
  const document = {
    key: "parcels.md",
    text: `# Parcels\n\n## When do parcels leave?\n\n${PASSAGE}`,
    mime: "text/markdown",
  } as const;
  await addDocument({ store, log: testLog() }, shop.id, kb.id, document);
  await store.agents.update(shop.id, { id: agentId }, { kbIds: [kb.id] });
});

afterAll(async () => {
  await product?.stop();
  await model?.close();
});

const call = (path: string, request: ApiRequest = {}) =>
  callApi(`${product.composition.apiUrls[0] ?? ""}/api/v1${path}`, {
    key: product.adminKey,
    project: "shop",
    ...request,
  });

/** Asks in a new chat; returns the ticket with its model calls, and the reply. */
async function ask(chatId: string) {
  const answer = await call("/messages", { json: { text: QUESTION, chatId } });
  const { ticketId } = answer.body as unknown as { ticketId: string };
  const ticket = await waitFor(
    async () => {
      const { item } = (await call(`/admin/tickets/${ticketId}`)).body as unknown as { item: TicketDetail };
      return item.modelCalls.length > 0 ? item : null;
    },
    { what: "the call of the model on the ticket" },
  );
  return { answer, ticket };
}

/** Asks until the model call ends with this error: processes reload a project's limits after some seconds at most. */
const askUntil = (error: string) =>
  waitFor(
    async () => {
      const before = model.requests().length;
      const { answer, ticket } = await ask(newId());
      const isSo = ticket.modelCalls[0]?.fault === error;
      return isSo ? { answer, ticket, asked: model.requests().length - before } : null;
    },
    { what: `a call that ends as ${error}` },
  );

const answersWell = () =>
  model.answerWith(() => ({
    answered: true,
    needsPerson: false,
    claims: [{ text: SAID, citations: [{ passage: 1, quote: PASSAGE }] }],
  }));

test("an answer by a model has its usage on the ticket and in the statistics", async () => {
  answersWell();
  const { answer, ticket } = await ask("answered");
  expect(answer.text).toContain(SAID);
  const [made] = ticket.modelCalls;
  expect(ticket.modelCalls).toHaveLength(1);
  expect(made).toMatchObject({ purpose: "answer", model: "openai:gpt-test", fault: null });
  const [inputTokens, outputTokens] = [made?.inputTokens ?? 0, made?.outputTokens ?? 0];
  expect(outputTokens).toBeGreaterThan(0);
  const costUsd = (inputTokens + 2 * outputTokens) / 1_000_000;
  expect(ticket.modelUsage).toEqual({ calls: 1, inputTokens, outputTokens, costUsd: expect.closeTo(costUsd, 9) });
  const stats = (await call("/admin/stats")).body as unknown as Stats;
  expect(stats.models).toMatchObject([{ model: "openai:gpt-test", calls: 1, faults: 0, inputTokens, outputTokens }]);
});

test("a project over its daily token limit gets quoted answers, as shown on the ticket", async () => {
  const change = (modelLimits: object) =>
    call(`/projects/${shop.id}`, { method: "PATCH", json: { modelLimits }, project: "default" });
  expect((await change({ tokensPerDay: 1 })).body).toMatchObject({
    item: { modelLimits: { concurrency: 8, tokensPerDay: 1 } },
  });
  const { answer, ticket, asked } = await askUntil("over_budget");
  expect(answer.text).toContain(PASSAGE);
  expect(ticket.modelCalls).toMatchObject([{ fault: "over_budget", inputTokens: 0, outputTokens: 0 }]);
  expect(ticket.modelUsage.calls).toBe(0);
  expect(asked).toBe(0);
  expect((await change({ tokensPerDay: null })).status).toBe(200);
});

test("a failing provider is paused, which administrators can see, and customers get a quoted answer", async () => {
  model.answerWith(() => ({ error: { message: PROVIDERS_TEXT, type: "insufficient_quota" }, status: 429 }));
  const { answer, ticket } = await askUntil("rate_limited");
  expect(answer.text).toContain(PASSAGE);
  expect(answer.text).not.toMatch(/org-4711|429|gpt-test/);
  expect(ticket.modelCalls).toMatchObject([{ fault: "rate_limited" }]);
  expect(JSON.stringify(ticket.events)).toContain("429");

  const checks = async () =>
    (await call("/health")).body as { status?: string; checks?: Record<string, { status: string; detail: string }> };
  const isWarned = async () => {
    // Each process has its own circuit breaker: this is the one of the process whose health is checked.
    const executed = await call(`/admin/agents/${agentId}/execute`, { json: { input: QUESTION } });
    expect([executed.status, executed.text.includes(PASSAGE)]).toEqual([200, true]);
    return (await checks()).checks?.["models"]?.status === "warn";
  };
  await waitFor(isWarned, { what: "health to tell of the provider" });
  expect((await checks()).checks?.["models"]?.detail).toContain("agents quote");
  expect((await call("/health", { key: "" })).text).not.toContain("quote");
});
