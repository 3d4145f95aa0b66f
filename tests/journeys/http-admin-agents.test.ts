import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { AGENT_LIMITS, agentResultSchema, agentSchema } from "@svc/contracts";
import type { Agent, AgentResult, Scope } from "@svc/contracts";
import { newId } from "@svc/store";
import { startFakeModel, waitFor, queryDatabase } from "@svc/testing";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createKbClient, cursorOf, documentOf } from "./support/create-kb-client.ts";
import type { KbClient } from "./support/create-kb-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

let product: Product;
let api: ApiClient;
let kbs: KbClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  kbs = createKbClient(product, "north");
  for (const name of ["north", "south", "triage"]) await product.store.projects.ensure(name);
});

afterAll(() => product.stop());

/** Calls `/api/v1/admin/agents` and paths below it as an administrator, alternating between replicas. */
let calls = 0;
const call = (path: string, request: ApiRequest = {}) =>
  callApi(`${api.baseUrl(calls++ % 2)}/api/v1/admin/agents${path}`, {
    key: product.adminKey,
    project: "north",
    ...request,
  });
const itemOf = ({ body }: ApiAnswer) => (body as unknown as { item: Agent }).item;
const itemsOf = ({ body }: ApiAnswer) => (body as unknown as { items: Agent[] }).items;
const resultOf = ({ body }: ApiAnswer) => {
  const { ok, ...result } = body as unknown as AgentResult & { ok: boolean };
  expect(ok).toBe(true);
  return agentResultSchema.strict().parse(result);
};
const makeAgent = async (more: object = {}) => itemOf(await call("", { json: { name: `agent ${newId()}`, ...more } }));

describe("an agent", () => {
  test("201: is created, read, listed, updated by its version and deleted", async () => {
    const name = `billing ${newId()}`;
    const made = await call("", { json: { name, description: "Invoices.", reviewPolicy: "auto" } });
    const item = itemOf(made);
    expect([made.status, made.headers.get("etag")]).toEqual([201, '"1"']);
    expect(made.headers.get("location")).toBe(`/api/v1/admin/agents/${item.id}`);
    expect(agentSchema.strict().parse(item)).toEqual(item);
    expect(item).toMatchObject({ name, description: "Invoices.", reviewPolicy: "auto", enabled: true, version: 1 });

    const read = await call(`/${item.id}`);
    expect([read.status, read.headers.get("etag"), itemOf(read)]).toEqual([200, '"1"', item]);
    expect(itemsOf(await call(`?q=${encodeURIComponent(name.toUpperCase())}`))).toEqual([item]);
    expect([
      (await call("", { method: "HEAD" })).status,
      (await call(`/${item.id}`, { method: "HEAD" })).status,
    ]).toEqual([200, 200]);
    const json = { fixedReply: "Hello.", enabled: false };
    const changed = await call(`/${item.id}`, { method: "PATCH", json, headers: { "If-Match": '"1"' } });
    expect([changed.status, changed.headers.get("etag")]).toEqual([200, '"2"']);
    expect(itemOf(changed)).toEqual({ ...item, ...json, version: 2 });

    const deleted = await call(`/${item.id}`, { method: "DELETE", headers: { "If-Match": '"2"' } });
    expect([deleted.status, itemOf(deleted)]).toEqual([200, itemOf(changed)]);
    expectProblem(await call(`/${item.id}`), "not_found");
  });

  test("200: lists are paged, newest first", async () => {
    for (const index of [1, 2, 3]) await call("", { json: { name: `paged ${index}` } });
    const names: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page = await call(`?q=paged&limit=2&cursor=${cursor}`);
      names.push(...itemsOf(page).map(({ name }) => name));
      cursor = cursorOf(page);
    }
    expect(names).toEqual(["paged 3", "paged 2", "paged 1"]);
  });

  test("400: all errors of a body or query are reported, including unknown fields", async () => {
    const { id, name } = await makeAgent();
    const bad = { name: "", nmae: "x", autoThreshold: 2, examples: [1], kbIds: ["guide"] };
    const pointers = ["/name", "/nmae", "/autoThreshold", "/examples/0", "/kbIds/0"];
    expectProblem(await call("", { json: bad }), "invalid_request", pointers);
    expectProblem(await call(`/${id}`, { method: "PATCH", json: bad }), "invalid_request", pointers);
    expectProblem(await call("", { json: { name } }), "invalid_request", ["/name"]);
    expectProblem(await call("", { json: { name: "a", kbIds: [newId()] } }), "invalid_request", ["/kbIds/0"]);
    expectProblem(await call("", { body: "{" }), "invalid_json");
    expectProblem(await call("?limit=0&cursor=x"), "invalid_request", ["/limit", "/cursor"]);
    expectProblem(await call(`/${id}/execute`, { json: { inptu: "a" } }), "invalid_request", ["/input", "/inptu"]);
    expect(itemOf(await call(`/${id}`))).toMatchObject({ name, version: 1 });
  });

  test("413: a body may be larger than a message, up to 5 MB", async () => {
    const examples = Array.from({ length: 1_000 }, (_, index) => `${index} ${"x".repeat(1_500)}`);
    expect((await makeAgent({ examples })).examples).toEqual(examples);
    const tooLarge = { name: "large", instructions: "x".repeat(AGENT_LIMITS.bodyMaxBytes) };
    expectProblem(await call("", { json: tooLarge }), "payload_too_large");
  });

  test("412: a change of another version is rejected with the current one, without changes", async () => {
    const item = await makeAgent();
    for (const tag of ['"7"', 'W/"1"', '"x"']) {
      const headers = { "If-Match": tag };
      const changed = await call(`/${item.id}`, { method: "PATCH", json: { name: "stolen" }, headers });
      expectProblem(changed, "version_conflict");
      expect(changed.headers.get("etag")).toBe('"1"');
      expectProblem(await call(`/${item.id}`, { method: "DELETE", headers }), "version_conflict");
    }
    expect(itemOf(await call(`/${item.id}`))).toEqual(item);
  });

  test("405: other methods are rejected with the allowed ones", async () => {
    const { id } = await makeAgent();
    const allow = { "": "GET, HEAD, POST", [`/${id}`]: "GET, HEAD, PATCH, DELETE", [`/${id}/execute`]: "POST" };
    for (const [path, methods] of Object.entries(allow)) {
      const answer = await call(path, { method: "PUT", json: {} });
      expectProblem(answer, "method_not_allowed");
      expect(answer.headers.get("allow")).toBe(methods);
    }
    expectProblem(await call(`/${id}/execute`), "method_not_allowed");
  });

  test("404: of another project it is not found, nor is its knowledge base", async () => {
    const kb = await kbs.makeKb();
    const item = await makeAgent({ kbIds: [kb.id] });
    const project = "south";
    for (const request of [{}, { method: "PATCH", json: { name: "stolen" } }, { method: "DELETE" }] as ApiRequest[]) {
      expectProblem(await call(`/${item.id}`, { project, ...request }), "not_found");
    }
    expectProblem(await call(`/${item.id}/execute`, { project, json: { input: "hello" } }), "not_found");
    expect(itemsOf(await call("", { project }))).toEqual([]);
    expectProblem(await call("", { project, json: { name: "a", kbIds: [kb.id] } }), "invalid_request", ["/kbIds/0"]);
    expect(itemOf(await call(`/${item.id}`))).toEqual(item);
  });

  test("403: each call needs its scope, before its body is read", async () => {
    const { id } = await makeAgent();
    const { project } = await product.store.projects.ensure("north");
    const endpoints: [method: string, path: string, scope: Scope][] = [
      ["GET", "", "agents:read"],
      ["POST", "", "agents:write"],
      ["GET", `/${id}`, "agents:read"],
      ["PATCH", `/${id}`, "agents:write"],
      ["DELETE", `/${id}`, "agents:write"],
      ["POST", `/${id}/execute`, "agents:execute"],
    ];
    const scopes: Scope[] = ["agents:read", "agents:write", "agents:execute"];
    for (const lacking of scopes) {
      const rest: Scope[] = [...scopes.filter((scope) => scope !== lacking), "kb:*", "messages:*"];
      const issued = { name: "a", scopes: rest, project: project.id, createdBy: "test" };
      const { key } = await issueKey(product.store, issued);
      for (const [method, path] of endpoints.filter(([, , scope]) => scope === lacking)) {
        const refused = await call(path, { key, method, ...(method === "GET" ? {} : { body: "{" }) });
        expectProblem(refused, "insufficient_scope");
        expect(refused.headers.get("www-authenticate")).toContain(`scope="${lacking}"`);
      }
    }
    expect((await call(`/${id}`)).status).toBe(200);
  });
});

test("an agent answers with sources, or reports that it found nothing, without a ticket", async () => {
  const kb = await kbs.makeKb();
  const text = "# Returns\n\n## How do I send shoes back?\n\nShoes can be sent back within 30 days.\n";
  const { id: documentId } = documentOf(await kbs.add(kb.id, { key: "returns", text }));
  await kbs.settled(kb.id, documentId);
  const { id } = await makeAgent({ kbIds: [kb.id] });
  const found = resultOf(await call(`/${id}/execute`, { json: { input: "How do I send shoes back?" } }));
  expect(found).toMatchObject({
    output: { text: expect.stringContaining("within 30 days"), markdown: true },
    sources: [{ title: "Returns", documentId, quote: expect.stringContaining("within 30 days") }],
    usage: { model: null, inputTokens: 0, outputTokens: 0 },
  });
  expect(found.confidence).toBeGreaterThan(0.5);
  const json = { input: "Who painted the Mona Lisa?", context: "How do I send shoes back?" };
  expect(resultOf(await call(`/${id}/execute`, { json }))).toMatchObject({ output: { text: null }, sources: [] });
  const { project } = await product.store.projects.ensure("north");
  const tickets = "SELECT id FROM tickets WHERE project_id = $1";
  expect(await queryDatabase(product.databaseUrl, tickets, [project.id])).toEqual([]);
});

test("an added example soon counts in triage on every replica, and a deleted agent gets no messages", async () => {
  const project = "triage";
  const create = async (json: object) => itemOf(await call("", { project, json: { reviewPolicy: "auto", ...json } }));
  const ask = async (text: string) => {
    const { body } = await api.send(project, { text }, { replica: calls++ });
    return body.replies?.map((reply) => (reply.type === "message" ? reply.text : reply.filename)).join();
  };
  const isAnsweredBy = (text: string, name: string) =>
    waitFor(async () => (await ask(text)) === name, { what: `${name} to answer` });

  const billing = { name: "billing", fixedReply: "billing", examples: ["I was charged twice", "Where is my invoice?"] };
  await create(billing);
  const tech = await create({ name: "tech", fixedReply: "tech", examples: ["The installer crashes"] });
  await isAnsweredBy("The installer crashes", "tech");

  const examples = [...tech.examples, "my flimflam wobbles"];
  const changed = await call(`/${tech.id}`, { project, method: "PATCH", json: { examples } });
  expect(changed.status).toBe(200);
  await isAnsweredBy("the flimflam wobbles", "tech");
  await call(`/${tech.id}`, { project, method: "DELETE" });
  await isAnsweredBy("the flimflam wobbles", "billing");
});

describe("the model server", () => {
  const settings = (request: ApiRequest = {}, path = "") =>
    callApi(`${api.baseUrl(0)}/api/v1/admin/model-settings${path}`, { key: product.adminKey, ...request });
  const KEY = "sk-planted-9876543210";
  const none = { ok: true, source: null, baseUrl: null, api: null, apiKey: null, model: null };

  test("is tested, set and removed while the service runs: agents use it immediately, and its key is never returned", async () => {
    const model = await startFakeModel();
    try {
      expect((await settings()).body).toEqual(none);
      const input = { baseUrl: `${model.baseUrl}/`, apiKey: KEY, model: "gpt-test" };
      const away = { ...input, baseUrl: "http://127.0.0.1:9/v1" };
      const fact = "Parcels leave the house every working day at three.";
      const claims = [{ text: "They leave at three.", citations: [{ passage: 1, quote: fact }] }];
      // The test of the settings asks how many days a week has.
      model.answerWith((request) =>
        JSON.stringify(request).includes("How many days has a week?")
          ? { days: 7 }
          : { answered: true, needsPerson: false, claims },
      );
      const failed = await settings({ method: "POST", json: away }, "/test");
      expect(failed.body).toMatchObject({ ok: true, models: [], problem: expect.stringContaining("unreachable") });
      const tested = await settings({ method: "POST", json: input }, "/test");
      expect(tested.body).toMatchObject({ ok: true, problem: null });
      expect((await settings()).body).toEqual(none);

      const shown = {
        ...none,
        source: "stored",
        baseUrl: model.baseUrl,
        api: "openai",
        apiKey: "********",
        model: "gpt-test",
      };
      expect((await settings({ method: "PUT", json: input })).body).toEqual(shown);
      const kb = await kbs.makeKb();
      const { id: documentId } = documentOf(await kbs.add(kb.id, { key: "parcels", text: fact }));
      await kbs.settled(kb.id, documentId);
      const agent = await makeAgent({ kbIds: [kb.id] });
      const ask = async () =>
        resultOf(await call(`/${agent.id}/execute`, { json: { input: "When do parcels leave?" } }));
      const usesModel = async () => (await ask()).usage.model === "openai:gpt-test";
      await waitFor(async () => (await usesModel()) && (await usesModel()), { what: "both replicas to use the model" });
      expect(JSON.stringify(model.requests().at(-1))).toContain("When do parcels leave?");

      const [row] = await queryDatabase<{ text: string }>(
        product.databaseUrl,
        "SELECT model_settings::text AS text FROM installation",
      );
      expect(row?.text).toContain("gpt-test");
      expect(row?.text).not.toContain(KEY);

      // The key belongs to its server, and is not sent to another one.
      expect((await settings({ method: "PUT", json: { ...input, apiKey: "********" } })).body).toEqual(shown);
      const moved = await settings({ method: "PUT", json: { baseUrl: "http://127.0.0.1:9/v1", model: null } });
      expect(moved.body).toMatchObject({ apiKey: null, model: null });
      expect((await settings({ method: "DELETE" })).body).toEqual(none);
      const trail = await queryDatabase<{ action: string; row: string }>(
        product.databaseUrl,
        "SELECT action, a::text AS row FROM audit_events a WHERE action LIKE 'models.%' ORDER BY id",
      );
      const set = "models.set_settings";
      expect(trail.map(({ action }) => action)).toEqual([set, set, set, "models.remove_settings"]);
      expect(JSON.stringify(trail)).not.toContain(KEY);
    } finally {
      await settings({ method: "DELETE" });
      await model.close();
    }
  });

  test("400 with all errors of the input; 403 for keys of one project", async () => {
    for (const baseUrl of [
      "file:///etc/passwd",
      "ftp://host/",
      "http://user:secret@host/v1",
      "http://host/v1?x=1",
      "no URL",
      "",
    ]) {
      expectProblem(await settings({ method: "PUT", json: { baseUrl } }), "invalid_request");
    }
    const { project } = await product.store.projects.ensure("north");
    const scopes: Scope[] = ["models:*", "agents:*"];
    const { key } = await issueKey(product.store, {
      name: "k",
      scopes,
      project: project.id,
      rateLimit: null,
      createdBy: "test",
    });
    for (const request of [
      {},
      { method: "PUT", json: { baseUrl: "http://host/v1" } },
      { method: "DELETE" },
    ] as ApiRequest[]) {
      expectProblem(await settings({ key, ...request }), "insufficient_scope");
    }
  });
});
