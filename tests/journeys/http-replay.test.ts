import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey, localAdministrator } from "@svc/auth";
import { replayResultSchema } from "@svc/contracts";
import type { ReplayInput, ReplayItem, ReplayResult } from "@svc/contracts";
import { addDocument, ensureKb } from "@svc/knowledge";
import { replayAgent } from "@svc/operations";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { startFakeModel, testLog, waitFor, queryDatabase } from "@svc/testing";
import type { FakeModel } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import type { ReviewClient } from "./support/create-review-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";
import { svcWithin } from "./support/svc-within.ts";

const REFUNDS = "Money goes back to the card within five days of the return.";
const PARCELS = "Parcels leave the house every working day at three in the afternoon.";
const EDITED = "Our parcels leave at three; today is a holiday.";
const WRITTEN = "We do not sell bicycles.";

let product: Product;
let model: FakeModel;
let reviews: ReviewClient;
let shop: Project;
let agentId: string;
/** An agent whose knowledge base contains no answer to the question. */
let emptyHanded: string;
let south: { project: Project; agentId: string; ticketId: string };
/** The ticket of each reply that operators of the shop have sent. */
let tickets: { approved: string; edited: string; written: string };

async function addKb(project: Project, name: string, text: string): Promise<string> {
  const { store } = product;
  const { kb } = await ensureKb({ store }, project.id, name);
  const document = { key: `${name}.md`, text, mime: "text/markdown" } as const;
  await addDocument({ store, log: testLog() }, project.id, kb.id, document);
  return kb.id;
}

/** Returns a ticket whose question an operator has answered. */
async function answered(
  of: ReviewClient,
  text: string,
  decide: (ticketId: string, version: number) => Promise<ApiAnswer>,
): Promise<string> {
  const { ticketId, ticket } = await of.heldChat({ mode: "async", text });
  const decided = await decide(ticketId, ticket.version);
  if (decided.status !== 200) throw new Error(`nothing was decided: ${decided.text}`);
  await of.untilIn(ticketId, "done");
  return ticketId;
}

beforeAll(async () => {
  model = await startFakeModel();
  product = await startProduct({ env: { SVC_LLM_BASE_URL: model.baseUrl, SVC_LLM_MODEL: "gpt-test" } });
  const { store } = product;
  const asleep = { reviewPolicy: "review", model: "none" } as const;
  shop = await addProject(store, "shop", asleep, { handoffText: "" });
  const [agent] = await store.agents.list(shop.id);
  agentId = agent?.id ?? "";
  const kbIds = [
    await addKb(shop, "refunds", `# Refunds\n\n## How long does a refund take?\n\n${REFUNDS}`),
    await addKb(shop, "parcels", `# Parcels\n\n## When do parcels leave?\n\n${PARCELS}`),
  ];
  await store.agents.update(shop.id, { id: agentId }, { kbIds });
  const bare = { name: "bare", kbIds: [await addKb(shop, "moon", "# Moon\n\nThe moon is far away.")], enabled: false };
  emptyHanded = (await store.agents.insert(shop.id, { ...bare, reviewPolicy: "auto", model: "none" })).id;

  reviews = createReviewClient(product, "shop");
  const approve = (id: string, ifMatch: number) => reviews.decide(id, "approve", { ifMatch });
  const edit = (id: string, ifMatch: number) => reviews.decide(id, "edit", { ifMatch, json: { text: EDITED } });
  const reply = (id: string) => reviews.decide(id, "reply", { json: { text: WRITTEN } });
  tickets = {
    approved: await answered(reviews, "How long does a refund take?", approve),
    edited: await answered(reviews, "When do parcels leave?", edit),
    written: await answered(reviews, "Do you sell bicycles?", reply),
  };

  const project = await addProject(store, "south", { fixedReply: "south", reviewPolicy: "review" });
  const souths = createReviewClient(product, "south");
  const [other] = await store.agents.list(project.id);
  const approveThere = (id: string, ifMatch: number) => souths.decide(id, "approve", { ifMatch });
  south = { project, agentId: other?.id ?? "", ticketId: await answered(souths, "Who are you?", approveThere) };
});

afterAll(async () => {
  await removeFolders();
  await product?.stop();
  await model?.close();
});

const replay = (json: unknown, { id = agentId, ...request }: ApiRequest & { id?: string } = {}) =>
  callApi(`${product.composition.apiUrls[0] ?? ""}/api/v1/admin/agents/${id}/replay`, {
    method: "POST",
    key: product.adminKey,
    project: "shop",
    json,
    ...request,
  });

const resultOf = ({ status, text, body }: ApiAnswer): ReplayResult => {
  if (status !== 200) throw new Error(text);
  const { ok: _ok, ...result } = body as unknown as ReplayResult & { ok: true };
  return replayResultSchema.strict().parse(result);
};
const itemOf = ({ items }: ReplayResult, ticketId: string) =>
  items.find((item) => item.ticketId === ticketId) as ReplayItem;

const countTraces = () =>
  queryDatabase(
    product.databaseUrl,
    `SELECT (SELECT count(*) FROM messages) AS messages, (SELECT count(*) FROM tickets) AS tickets,
       (SELECT count(*) FROM replies) AS replies, (SELECT count(*) FROM ticket_events) AS events,
       (SELECT sum(version) FROM tickets) AS versions, (SELECT sum(version) FROM agents) AS agents,
       (SELECT coalesce(sum(count), 0) FROM gaps) AS gaps, (SELECT count(*) FROM reviews) AS reviews`,
  );

describe("a replay", () => {
  test("compares each operator's reply with both answers, without side effects", async () => {
    const before = await countTraces();
    const result = resultOf(await replay({ against: { reviewPolicy: "auto" } }));
    expect(result).toMatchObject({
      agent: { id: agentId, name: "shop-agent" },
      against: { id: agentId, changed: ["reviewPolicy"] },
      knowledge: "now",
      isComplete: true,
      notCompared: 0,
      summary: { replies: 3, sends: { before: 0 } },
    });
    expect(result.items.map(({ ticketId }) => ticketId)).toEqual([tickets.written, tickets.edited, tickets.approved]);
    expect(itemOf(result, tickets.approved)).toMatchObject({
      decision: "approve",
      question: "How long does a refund take?",
      sent: { text: REFUNDS, author: "agent" },
      before: { text: REFUNDS, sends: false, tokenF1: 1, rougeL: 1, model: null, sources: [{ quote: REFUNDS }] },
      after: { text: REFUNDS, sends: true, tokenF1: 1 },
      verdict: "better",
    });
    expect(itemOf(result, tickets.edited)).toMatchObject({
      decision: "edit",
      sent: { text: EDITED, author: "operator" },
    });
    expect(itemOf(result, tickets.edited).after.tokenF1).toBeLessThan(0.5);
    // It would now be sent, and differs much from the sent reply.
    expect(itemOf(result, tickets.edited).verdict).toBe("worse");
    expect(itemOf(result, tickets.written)).toMatchObject({ decision: "reply", sent: { text: WRITTEN } });
    expect(await countTraces()).toEqual(before);
  });

  test("shows the effects of another knowledge base, another threshold and another agent", async () => {
    const kbIds = [(await product.store.kbs.list(shop.id)).find(({ name }) => name === "refunds")?.id ?? ""];
    const fewer = resultOf(await replay({ against: { kbIds } }));
    expect(fewer.against.changed).toEqual(["kbIds"]);
    expect(itemOf(fewer, tickets.edited)).toMatchObject({ verdict: "worse", before: { text: PARCELS } });
    expect(itemOf(fewer, tickets.edited).after.text).not.toBe(PARCELS);
    expect(itemOf(fewer, tickets.approved).verdict).toBe("same");

    const against = { reviewPolicy: "auto_if", autoThreshold: 0 };
    expect(resultOf(await replay({ against })).summary.sends.after).toBeGreaterThan(0);
    expect(resultOf(await replay({ against: { ...against, autoThreshold: 1 } })).summary.sends.after).toBe(0);

    const bare = resultOf(await replay({ against: { agentId: emptyHanded } }));
    expect(bare.against).toMatchObject({ id: emptyHanded, name: "bare" });
    expect(bare.against.changed).toEqual(expect.arrayContaining(["kbIds", "reviewPolicy"]));
    expect(itemOf(bare, tickets.approved)).toMatchObject({ after: { tokenF1: 0, sends: false }, verdict: "worse" });
  });

  test("shows a language model's answer, without tools or a ticket", async () => {
    const said = "Within five days of the return the money goes back to the card.";
    model.answerWith(() => ({
      answered: true,
      needsPerson: false,
      claims: [{ text: said, citations: [{ passage: 1, quote: REFUNDS }] }],
    }));
    const result = resultOf(await replay({ against: { model: null }, ticketIds: [tickets.approved] }));
    const [item] = result.items;
    expect(item).toMatchObject({ before: { text: REFUNDS, model: null }, after: { text: said, sends: false } });
    expect(item?.after.model).toContain("gpt-test");
    expect(item?.after.tokenF1).toBeGreaterThan(0.5);
    expect(result.summary.usage.before).toEqual({ inputTokens: 0, outputTokens: 0 });
    expect(model.requests().every(({ tools = [] }) => tools.length === 0)).toBe(true);
  });

  test("selects replies by period, tickets and limit", async () => {
    const against = { autoThreshold: 0.4 };
    const [newest] = resultOf(await replay({ against, limit: 1 })).items;
    expect(newest?.ticketId).toBe(tickets.written);
    const { decidedAt } = itemOf(resultOf(await replay({ against })), tickets.edited);
    const idsOf = async (more: object) =>
      resultOf(await replay({ against, ...more })).items.map((item) => item.ticketId);
    expect(await idsOf({ from: decidedAt })).toEqual([tickets.written, tickets.edited]);
    expect(await idsOf({ to: decidedAt })).toEqual([tickets.approved]);
    expect(await idsOf({ ticketIds: [tickets.approved, tickets.approved.toUpperCase()] })).toEqual([tickets.approved]);
    expect(await idsOf({ from: "2020-01-01", to: "2020-01-02" })).toEqual([]);
  });

  test("uses the chat as it was before the question, and nothing of an erased one", async () => {
    const { chatId, ticketId, ticket } = await reviews.heldChat({
      mode: "async",
      text: "How long does a refund take?",
    });
    await reviews.decide(ticketId, "approve", { ifMatch: ticket.version });
    await reviews.untilIn(ticketId, "done");
    const later = { json: { text: "And how long to Iceland?", chatId, mode: "async" } };
    await callApi(`${product.composition.apiUrls[0] ?? ""}/api/v1/messages`, {
      key: product.adminKey,
      project: "shop",
      ...later,
    });
    const held = await reviews.untilHeld(ticketId, 1);
    await reviews.decide(ticketId, "reply", { json: { text: "Ten days." }, ifMatch: held.version });
    await reviews.untilIn(ticketId, "done");

    model.answerWith(() => ({ answered: false, needsPerson: false, claims: [] }));
    const asked = model.requests().length;
    const both = resultOf(await replay({ against: { model: null }, ticketIds: [ticketId] }));
    expect(both.items.map(({ question }) => question)).toEqual([
      "And how long to Iceland?",
      "How long does a refund take?",
    ]);
    const prompts = model
      .requests()
      .slice(asked)
      .map(({ messages }) => JSON.stringify(messages));
    // A search with few results is repeated in other words, for which the model is asked as well.
    const answers = prompts.filter((prompt) => prompt.includes("The passages:"));
    const ofFirst = answers.filter((prompt) => !prompt.includes("Iceland"));
    const ofSecond = answers.filter((prompt) => prompt.includes("Iceland"));
    expect([ofFirst.length, ofSecond.length]).toEqual([1, 1]);
    expect(prompts.join()).not.toContain("Ten days.");

    await callApi(`${product.composition.apiUrls[0] ?? ""}/api/v1/admin/privacy/erase`, {
      method: "POST",
      key: product.adminKey,
      project: "shop",
      json: { chatId, channelId: "api" },
    });
    const gone = await replay({ against: { model: null }, ticketIds: [ticketId] });
    expect(gone.text).not.toContain("Iceland");
  });
});

describe("an invalid replay", () => {
  test("is rejected with the errors of the same PATCH, below /against", async () => {
    const kbId = newId();
    for (const change of [
      { autoThreshold: 2 },
      { kbIds: [kbId] },
      { name: "bare" },
      { colour: "red" },
      { kbIds: ["x"] },
    ]) {
      const patched = await callApi(`${product.composition.apiUrls[0] ?? ""}/api/v1/admin/agents/${agentId}`, {
        method: "PATCH",
        key: product.adminKey,
        project: "shop",
        json: change,
      });
      const errors = (patched.body.errors ?? []).map((error) => ({ ...error, pointer: `/against${error.pointer}` }));
      const refused = await replay({ against: change });
      expectProblem(refused, "invalid_request");
      expect(refused.body.errors).toEqual(errors);
    }
    const invalid = [{}, { against: {} }, { against: { agentId, name: "x" } }, { against: { name: "x" }, limit: 101 }];
    for (const json of invalid) expectProblem(await replay(json), "invalid_request");
  });

  test("finds nothing of another project: no agent on either side, and no ticket", async () => {
    const against = { autoThreshold: 0.4 };
    expectProblem(await replay({ against }, { id: south.agentId }), "not_found");
    const refused = [
      await replay({ against: { agentId: south.agentId } }),
      await replay({ against, ticketIds: [tickets.approved, south.ticketId] }),
    ];
    for (const answer of refused) expectProblem(answer, "invalid_request");
    const pointers = refused.map(({ body }) => (body.errors ?? []).map(({ pointer }) => pointer));
    expect(pointers).toEqual([["/against/agentId"], ["/ticketIds/1"]]);
    expect(resultOf(await replay({ against, limit: 100 })).items.map(({ ticketId }) => ticketId)).not.toContain(
      south.ticketId,
    );
  });

  test("needs both scopes, and adds a row to the audit log", async () => {
    const keyFor = (scopes: ("agents:execute" | "tickets:read")[]) =>
      issueKey(product.store, { name: "replayer", scopes, project: shop.id, createdBy: "test", rateLimit: null });
    const json = { against: { autoThreshold: 0.4 } };
    for (const scope of ["agents:execute", "tickets:read"] as const) {
      const { key } = await keyFor([scope]);
      expectProblem(await replay(json, { key }), "insufficient_scope");
    }
    const { key } = await keyFor(["agents:execute", "tickets:read"]);
    expect((await replay(json, { key })).status).toBe(200);
    const results = await queryDatabase<{ result: string }>(
      product.databaseUrl,
      "SELECT DISTINCT result FROM audit_events WHERE action = 'agents.replay' ORDER BY result",
    );
    expect(results.map(({ result }) => result)).toEqual(expect.arrayContaining(["invalid_request", "not_found", "ok"]));
  });
});

describe("a replay that takes too long", () => {
  const input: ReplayInput = { against: { model: null } };

  /** Calls the operation directly, with a model that does not respond until it is aborted. */
  const replaySlowly = (timeLimitMs: number) => {
    const never = { id: "fake:silent", chat: ({ signal }: { signal: AbortSignal }) => untilAborted(signal) };
    const models = { forAgent: () => never, close: () => undefined };
    const deps = { store: product.store, embeddings: null, models: models as never, log: testLog(), timeLimitMs };
    return replayAgent(deps, localAdministrator(shop), { id: agentId }, input);
  };
  const untilAborted = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });

  test("returns the finished comparisons, and that it is incomplete", async () => {
    const result = await replaySlowly(50);
    const { items, summary, notCompared } = result;
    expect(notCompared).toBeGreaterThan(0);
    expect(result.notComparedTicketIds).toHaveLength(notCompared);
    expect({ isComplete: result.isComplete, replies: summary.replies }).toEqual({
      isComplete: false,
      replies: items.length,
    });
  });

  test("ends when its caller disconnects", async () => {
    const asked = { isAsked: false, answer: (_text: string): void => undefined };
    model.answerWith(() => {
      asked.isAsked = true;
      return new Promise<string>((resolve) => (asked.answer = resolve));
    });
    const countRows = async () => {
      const [row] = await queryDatabase<{ count: string }>(
        product.databaseUrl,
        "SELECT count(*) FROM audit_events WHERE action = 'agents.replay' AND result = 'ok'",
      );
      return Number(row?.count);
    };
    const before = await countRows();
    const hangUp = new AbortController();
    const call = fetch(`${product.composition.apiUrls[0] ?? ""}/api/v1/admin/agents/${agentId}/replay`, {
      method: "POST",
      headers: { "X-Api-Key": product.adminKey, "x-svc-project": "shop", "Content-Type": "application/json" },
      body: JSON.stringify(input),
      signal: hangUp.signal,
    });
    const ended = expect(call).rejects.toThrow();
    await waitFor(() => asked.isAsked, { what: "the model to be asked" });
    hangUp.abort();
    await ended;
    await waitFor(async () => (await countRows()) > before, { what: "the replay to end", timeoutMs: 20_000 });
    asked.answer("too late");
  });
});

test("svc agents ask calls the running service, with only a key", async () => {
  const url = product.composition.apiUrls[0] ?? "";
  const words = ["agents", "ask", "shop-agent", "How long does a refund take?", "--project", "shop", "--url", url];
  const { stdout, stderr, code } = await svcWithin({ SVC_ADMIN_KEY: product.adminKey }, "", ...words, "--json");
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    project: "shop",
    agent: { id: agentId, name: "shop-agent" },
    output: { text: REFUNDS },
    usage: { model: null },
  });
});

describe("svc replay", () => {
  test("runs in the service, and explains what to do if it is not running", async () => {
    const env = { SVC_ADMIN_KEY: product.adminKey, SVC_API_PORT: "9" };
    const refused = await svcWithin(env, "", "replay", "--agent", "shop-agent", "--against", "bare");
    expect(refused).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("Start it with:") });
  });

  const runReplay = (...args: string[]) =>
    svcWithin(
      { SVC_ADMIN_KEY: product.adminKey },
      "",
      "replay",
      "--url",
      product.composition.apiUrls[0] ?? "",
      "--project",
      "shop",
      "--agent",
      "shop-agent",
      ...args,
    );

  test("shows both sides, as text and as JSON, and ends with exit code 0", async () => {
    const folder = await makeFolder();
    const file = join(folder, "change.yaml");
    await writeFile(file, "reviewPolicy: auto\n");
    const shown = await runReplay("--against", file);
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stdout).toContain(REFUNDS);
    expect(shown.stdout).toContain("shop-agent, changed: reviewPolicy");
    const { stdout, code } = await runReplay("--against", "bare", "--ticket", tickets.approved, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, project: "shop", summary: { replies: 1, worse: 1 } });
  });

  test("exits with 1 for a worse result if requested, and for an invalid change", async () => {
    expect(await runReplay("--against", "bare", "--fail-if-worse")).toMatchObject({ code: 1 });
    const file = join(await makeFolder(), "change.json");
    await writeFile(file, '{"autoThreshold": 7}');
    const refused = await runReplay("--against", file);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("/against/autoThreshold");
  });
});
