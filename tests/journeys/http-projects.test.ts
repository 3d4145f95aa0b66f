import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { projectItemSchema } from "@svc/contracts";
import { waitFor, queryDatabase } from "@svc/testing";
import fc from "fast-check";
import { keyOf, keysOf, projectOf, projectsOf } from "./support/admin-body.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectDecent } from "./support/expect-decent.ts";
import { expectHealthy } from "./support/expect-healthy.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { findInDatabase } from "./support/find-in-database.ts";
import { holdChat } from "./support/hold-chat.ts";
import { plantCanary } from "./support/plant-canary.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const UNKNOWN = "0190b5a0-9e8f-7c1d-8000-0123456789ab";
const RUNS = process.env["SVC_SOAK"] === "1" ? 300 : 25;

let product: Product;
let api: ApiClient;
/** An administrator's key without a rate limit. */
let admin: string;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  const { key } = await issueKey(product.store, {
    name: "journey",
    scopes: ["admin:*"],
    project: null,
    createdBy: "test",
    rateLimit: null,
  });
  admin = key;
});

afterAll(() => product.stop());

interface ProjectsRequest extends ApiRequest {
  replica?: number;
}

/** Calls `/api/v1/projects`, as an administrator unless another key is given. */
async function projects(path = "", { replica, ...request }: ProjectsRequest = {}): Promise<ApiAnswer> {
  const answer = await callApi(`${api.baseUrl(replica)}/api/v1/projects${path}`, { key: admin, ...request });
  expect(answer.headers.get("cache-control")).toBe("no-store");
  return answer;
}

const create = (json: unknown, request: ProjectsRequest = {}) => projects("", { json, ...request });
const change = (id: string, json: unknown, request: ProjectsRequest = {}) =>
  projects(`/${id}`, { method: "PATCH", json, ...request });
const remove = (id: string, confirm: unknown, request: ProjectsRequest = {}) =>
  projects(`/${id}`, { method: "DELETE", ...(confirm === undefined ? {} : { json: { confirm } }), ...request });
const replicas = () => product.composition.apiUrls.map((_, index) => index);

/** Creates a key through the API. */
async function makeKey(json: object): Promise<string> {
  const answer = await callApi(`${api.baseUrl()}/api/v1/admin/keys`, {
    key: admin,
    json: { name: "test", rateLimit: null, ...json },
  });
  expect(answer.status).toBe(201);
  return keyOf(answer).key ?? "";
}

/** Sends the cheapest request that works on a project. */
const drain = (key: string, project?: string, replica = 0) =>
  callApi(`${api.baseUrl(replica)}/api/v1/messages/projects`, { key, ...(project === undefined ? {} : { project }) });

describe("a new project", () => {
  test("has the given settings, on every replica", async () => {
    const made = await create({
      name: "east",
      handoffText: "",
      greeting: "Hi <b>",
      tablesAsXlsx: false,
      retentionDays: 30,
    });
    const item = projectOf(made);
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      ok: true,
      item: {
        id: expect.any(String),
        name: "east",
        handoffText: "",
        handoffTexts: {},
        greeting: "Hi <b>",
        tablesAsXlsx: false,
        retentionDays: 30,
        fileRetentionDays: 90,
        modelLimits: { concurrency: 8, tokensPerDay: null },
        quotas: { messagesPerDay: null, documents: null, storageMb: null, sockets: null },
        businessHours: null,
        replyEmails: null,
        replyTimeMinutes: null,
        slaTargets: [],
        webhookSecret: null,
        previousWebhookSecretUntil: null,
        createdAt: expect.any(String),
        version: 1,
      },
    });
    expect(projectItemSchema.strict().parse(item)).toEqual(item);
    expect([made.headers.get("location"), made.headers.get("etag")]).toEqual([`/api/v1/projects/${item.id}`, '"1"']);
    for (const replica of replicas()) {
      const read = await projects(`/${item.id}`, { replica });
      expect([read.status, read.body, read.headers.get("etag")]).toEqual([200, { ok: true, item }, '"1"']);
      expect(projectsOf(await projects("?limit=1", { replica })).items).toEqual([item]);
      expect((await drain(admin, "east", replica)).headers.get("x-svc-project")).toBe("east");
    }
  });

  test("has the service's defaults for omitted settings", async () => {
    expect(projectOf(await create({ name: "plain" }))).toMatchObject({
      handoffText: expect.stringMatching(/\S/),
      tablesAsXlsx: true,
      retentionDays: null,
      fileRetentionDays: 90,
    });
  });

  test("accepts messages immediately: without an agent they wait for a person, and the sender is notified", async () => {
    await create({ name: "desk", handoffText: "A person in the <desk> & co. will answer." });
    const sent = await api.send("desk", { text: "Is anybody there?" }, { key: admin });
    expect([sent.status, sent.body.status]).toEqual([202, "in_review"]);
    expect(sent.texts).toEqual(["A person in the <desk> & co. will answer."]);
  });

  test("is created once despite concurrent calls on several replicas", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => create({ name: "race" }, { replica: index % 2 })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 201) continue;
      expectProblem(answer, "invalid_request", ["/name"]);
      expect(answer.body.errors).toMatchObject([{ code: "taken" }]);
    }
    expect(projectsOf(await projects("?q=race")).items).toHaveLength(1);
  });
});

describe("the list of projects", () => {
  test("is paged over replicas, with each project once, unaffected by new ones", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.unshift(projectOf(await create({ name: `paging-${index}` })).id);
    const seen: string[] = [];
    let cursor: string | null = "";
    for (let page = 0; cursor !== null; page++) {
      const answer: ApiAnswer = await projects(`?limit=2&cursor=${cursor}&q=PAGING`, { replica: page % 2 });
      seen.push(...projectsOf(answer).items.map(({ id }) => id));
      cursor = projectsOf(answer).nextCursor;
      await create({ name: `paging-later-${page}` });
    }
    expect(seen).toEqual(ids);
  });

  test("has `default`, which the first start created", async () => {
    expect(projectsOf(await projects("?q=default")).items).toMatchObject([{ name: "default" }]);
  });

  test("is searched by literal text", async () => {
    for (const q of ["p%25ging", "p_ging", "'%20OR%201=1;%20--", "<b>", "%5C"]) {
      expect(projectsOf(await projects(`?q=${q}`)).items).toEqual([]);
    }
  });

  test("is rejected for an invalid limit, cursor and search, all at once", async () => {
    expectProblem(await projects("?limit=0&cursor=x&q=%00"), "invalid_request", ["/limit", "/cursor", "/q"]);
    const cursor = projectsOf(await projects("?limit=1")).nextCursor ?? "";
    expectProblem(await projects(`?cursor=${cursor.slice(1)}`), "invalid_request", ["/cursor"]);
    const keys = await callApi(`${api.baseUrl()}/api/v1/admin/keys?cursor=${cursor}`, { key: admin });
    expectProblem(keys, "invalid_request", ["/cursor"]);
  });
});

describe("the project of a key", () => {
  test("is chosen by name with admin:*, `default` without a name, and 404 for an unknown one", async () => {
    const key = await makeKey({ scopes: ["admin:*"] });
    expect((await drain(key)).headers.get("x-svc-project")).toBe("default");
    expectProblem(await drain(key, "chosen"), "not_found");
    await create({ name: "chosen" });
    for (const replica of replicas()) {
      const answer = await drain(key, "chosen", replica);
      expect([answer.status, answer.headers.get("x-svc-project")]).toEqual([200, "chosen"]);
    }
    expect((await projects("", { key, project: "chosen" })).headers.get("x-svc-project")).toBe("chosen");
    expectProblem(await projects("", { key, project: "nowhere" }), "not_found");
  });

  test("isolates its messages", async () => {
    const keyOfProject = async (name: string) => {
      await create({ name, handoffText: `${name} will answer.` });
      return makeKey({ scopes: ["messages:*"], project: name });
    };
    const [one, other] = [await keyOfProject("apart-1"), await keyOfProject("apart-2")];
    const send = { text: "hello", chatId: "same-chat", mode: "async" };
    const sent = await callApi(`${api.baseUrl()}/api/v1/messages`, { key: one, json: send });
    expect(sent.status).toBe(202);
    const read = (key: string, query: string) => callApi(`${api.baseUrl()}/api/v1/messages/same-chat${query}`, { key });
    expect((await read(one, "?wait=20000&peek=1")).texts).toEqual(["apart-1 will answer."]);
    expect((await read(other, "")).replies).toEqual([]);
  });
});

describe("400 names the field:", () => {
  const FIELDS: [field: string, values: unknown[]][] = [
    ["name", [undefined, null, 5, [], {}, "", "Default", "a b", "-a", "a_b", "ä", "a/b", "../x", "n".repeat(64)]],
    ["name", ["'; DROP TABLE projects; --", "<script>alert(1)</script>", "a\u0000", "\ud800", "n".repeat(500_000)]],
    ["handoffText", [null, 5, [], {}, "a\u0000", "\ud800", "x".repeat(5_001)]],
    ["greeting", [null, 5, [], {}, "a\u0000", "\ud800", "x".repeat(4_001)]],
    ["tablesAsXlsx", [null, 1, "true", [], {}]],
    ["retentionDays", [0, -1, 1.5, 36_501, "30", true, [], {}]],
    ["modelLimits", [null, 5, []]],
    ["quotas", [null, 5, []]],
    ["businessHours", [5, [], "always"]],
    ["replyTimeMinutes", [0, 1.5, 40_321, "30", {}]],
  ];

  test.each(FIELDS)("%s", async (field, values) => {
    for (const value of values) {
      const answer = await create({ name: "never-made", [field]: value });
      expectProblem(answer, "invalid_request", [`/${field}`]);
      expect(answer.text.length).toBeLessThan(2_000);
    }
    expect(projectsOf(await projects("?q=never-made")).items).toEqual([]);
  });

  test("also for unknown fields, all errors at once", async () => {
    const body = '{"name":"A","tablesAsXlsx":1,"id":"x","version":2,"__proto__":{"name":"a"},"toString":1}';
    const pointers = ["/name", "/tablesAsXlsx", "/id", "/version", "/__proto__", "/toString"];
    expectProblem(await projects("", { body }), "invalid_request", pointers);
  });

  test("unless the body is not an object, or invalid JSON", async () => {
    for (const json of [null, [], [{ name: "a" }], "a", 5]) {
      expectProblem(await create(json), "invalid_request", [""]);
    }
    expectProblem(await projects("", { body: "{" }), "invalid_json");
    expectProblem(
      await projects("", { body: "name=a", headers: { "Content-Type": "application/x-www-form-urlencoded" } }),
      "unsupported_media_type",
    );
  });
});

describe("an unknown path or method", () => {
  test.each(["default", "x", UNKNOWN, `${UNKNOWN}0`, "%00", "..%2Fprojects", "'%20OR%201=1"])(
    "is 404: the project with the id %s",
    async (id) => {
      expectProblem(await projects(`/${id}`), "not_found");
    },
  );

  test("is 405 with the allowed methods: other methods", async () => {
    const { id } = projectOf(await create({ name: "methods" }));
    for (const method of ["PUT", "OPTIONS"]) {
      const [all, one] = [await projects("", { method }), await projects(`/${id}`, { method })];
      for (const answer of [all, one]) expectProblem(answer, "method_not_allowed");
      expect([all.headers.get("allow"), one.headers.get("allow")]).toEqual([
        "GET, HEAD, POST",
        "GET, HEAD, PATCH, DELETE",
      ]);
    }
    for (const method of ["PATCH", "DELETE"]) expectProblem(await projects("", { method }), "method_not_allowed");
  });

  test.each(["default", "x", UNKNOWN])("can be neither changed nor deleted: the project with the id %s", async (id) => {
    expectProblem(await change(id, { handoffText: "" }), "not_found");
    expectProblem(await remove(id, "default"), "not_found");
  });
});

describe("a changed project", () => {
  test("has the given values, keeps the rest, and gets a new version", async () => {
    const { id } = projectOf(await create({ name: "changing", handoffText: "One.", retentionDays: 30 }));
    const first = await change(id, { tablesAsXlsx: false });
    expect([first.status, first.headers.get("etag")]).toEqual([200, '"2"']);
    expect(projectOf(first)).toMatchObject({ handoffText: "One.", tablesAsXlsx: false, retentionDays: 30, version: 2 });
    expect(projectOf(await change(id, { handoffText: "", retentionDays: null }))).toMatchObject({
      name: "changing",
      handoffText: "",
      tablesAsXlsx: false,
      retentionDays: null,
      version: 3,
    });
    for (const replica of replicas()) {
      expect(projectOf(await projects(`/${id}`, { replica }))).toMatchObject({ handoffText: "", version: 3 });
    }
  });

  test("soon answers customers by its new settings", async () => {
    const { id } = projectOf(await create({ name: "manners", handoffText: "Later." }));
    expect((await api.send("manners", { text: "hi" }, { key: admin })).texts).toEqual(["Later."]);
    await change(id, { handoffText: "Sooner." });
    await waitFor(async () => (await api.send("manners", { text: "hi" }, { key: admin })).texts[0] === "Sooner.", {
      what: "the new hand-off text",
    });
  });

  test("is changed by only one of two callers with the same version", async () => {
    const { id } = projectOf(await create({ name: "contested" }));
    const answers = await Promise.all(
      ["One.", "Other."].map((handoffText, replica) =>
        change(id, { handoffText }, { replica, headers: { "If-Match": '"1"' } }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 412]));
    for (const answer of answers.filter(({ status }) => status === 412)) {
      expectProblem(answer, "version_conflict");
      expect(answer.headers.get("etag")).toBe('"2"');
    }
    expectProblem(await change(id, {}, { headers: { "If-Match": "1" } }), "invalid_request");
  });

  test("is only available under its new name, within a second on every replica, also for its keys", async () => {
    const { id } = projectOf(await create({ name: "maiden" }));
    const key = await makeKey({ scopes: ["messages:*"], project: "maiden" });
    for (const replica of replicas()) {
      expect([(await drain(admin, "maiden", replica)).status, (await drain(key, "maiden", replica)).status]).toEqual([
        200, 200,
      ]);
    }
    expect(projectOf(await change(id, { name: "married" })).name).toBe("married");
    for (const replica of replicas()) {
      expect((await drain(admin, "married", replica)).headers.get("x-svc-project")).toBe("married");
      await waitFor(async () => (await drain(key, "married", replica)).status === 200, { what: "the key to know" });
      expect((await drain(key, undefined, replica)).headers.get("x-svc-project")).toBe("married");
      await waitFor(async () => (await drain(admin, "maiden", replica)).status === 404, { what: "the name to go" });
      expectProblem(await drain(key, "maiden", replica), "project_mismatch");
    }
    expect((await create({ name: "maiden" })).status).toBe(201);
    const taken = await change(id, { name: "maiden" });
    expectProblem(taken, "invalid_request", ["/name"]);
    expect(taken.body.errors).toMatchObject([{ code: "taken" }]);
    expect(projectOf(await change(id, { name: "married" })).name).toBe("married");
  });

  test("keeps its widget under the new name", async () => {
    const { id } = projectOf(await create({ name: "storefront" }));
    await product.store.channelsConfig.update("widget", { project: "storefront" });
    await change(id, { name: "shop-window" });
    expect((await product.store.channelsConfig.read()).widget.config.project).toBe("shop-window");
    await product.store.channelsConfig.update("widget", { project: "default" });
  });

  test("keeps its name if it is `default`, and may be changed otherwise", async () => {
    const { id } = projectOf(await create({ name: "aside" }));
    const [standard] = projectsOf(await projects("?q=default")).items;
    expectProblem(await change(standard?.id ?? "", { name: "standard" }), "invalid_request", ["/name"]);
    expect((await change(standard?.id ?? "", { name: "default", tablesAsXlsx: true })).status).toBe(200);
    expectProblem(await change(id, { name: "default" }), "invalid_request", ["/name"]);
  });

  const ERRORS: [field: string, values: unknown[]][] = [
    ["name", [null, 5, "", "A b", "n".repeat(64), "'; DROP TABLE projects; --"]],
    ["handoffText", [null, 5, "a\u0000", "x".repeat(5_001)]],
    ["greeting", [null, 5, "a\u0000", "x".repeat(4_001)]],
    ["tablesAsXlsx", [null, "true"]],
    ["retentionDays", [0, -1, 1.5, 36_501, "30"]],
    ["version", [2]],
  ];
  test.each(ERRORS)("is not changed by an invalid %s", async (field, values) => {
    const { id } = projectOf(await create({ name: `bad-${field.toLowerCase()}` }));
    for (const value of values) expectProblem(await change(id, { [field]: value }), "invalid_request", [`/${field}`]);
    expect(projectOf(await projects(`/${id}`)).version).toBe(1);
  });
});

describe("a deleted project", () => {
  test("is deleted with all its data, is not found from then on, and leaves nothing in any store", async () => {
    const canary = await plantCanary(product, "doomed");
    const { id, version } = projectOf(await projects(`/${canary.project}`));
    const kb = await product.store.kbs.ensure(canary.project, `base ${canary.name}`);
    const document = { text: `# About ${canary.name}`, title: canary.name, key: canary.name };
    const added = await callApi(`${api.baseUrl()}/api/v1/admin/kb/${kb.kb.id}/documents`, {
      key: admin,
      project: "doomed",
      json: document,
    });
    expect(added.status).toBe(201);

    // The console reads the counts from it.
    const counts =
      /agents: 1, knowledge bases: 1, documents: 1, tickets: 4, API keys: 1, hooks: 1, gaps: 1, proposals: 1.*\. To confirm, send \{"confirm":"doomed"\}\.$/;
    for (const confirm of [undefined, "", "Doomed", "default", "doomed "]) {
      const refused = await remove(id, confirm);
      expectProblem(refused, "invalid_request", ["/confirm"]);
      expect(refused.body.detail).toMatch(counts);
    }
    expectProblem(await remove(id, 5), "invalid_request", ["/confirm"]);
    expectProblem(
      await projects(`/${id}`, { method: "DELETE", json: { confirm: "doomed", force: true } }),
      "invalid_request",
      ["/force"],
    );
    expectProblem(await remove(id, "doomed", { headers: { "If-Match": '"77"' } }), "version_conflict");
    expect((await drain(canary.key)).status).toBe(200);

    const deleted = await remove(id, "doomed", { headers: { "If-Match": `"${version}"` } });
    expect([deleted.status, projectOf(deleted).name]).toEqual([200, "doomed"]);
    expectProblem(await remove(id, "doomed"), "not_found");
    for (const replica of replicas()) {
      expectProblem(await projects(`/${id}`, { replica }), "not_found");
      expect(projectsOf(await projects("?q=d", { replica })).items.map((item) => item.id)).not.toContain(id);
      await waitFor(async () => (await drain(canary.key, undefined, replica)).status === 401, {
        what: "its key to end",
      });
      await waitFor(async () => (await drain(admin, "doomed", replica)).status === 404, { what: "its name to go" });
    }
    const keys = await callApi(`${api.baseUrl()}/api/v1/admin/keys?q=canary`, { key: admin });
    expect(keysOf(keys).items.map(({ name }) => name)).not.toContain("canary");
    await waitFor(async () => (await findInDatabase(product.databaseUrl, canary.name)).length === 0, {
      what: "the canary to be nowhere",
    });
    const again = await create({ name: "doomed" });
    expect([again.status, projectOf(again).id === id]).toEqual([201, false]);
    expect((await api.drain("doomed", `sync ${canary.name}`, "", { key: admin })).replies).toEqual([]);
  });

  test("ends its running work: a waiting call gets its response in time", async () => {
    const { project } = await product.store.projects.ensure("hurried");
    const release = await holdChat(product.store, project, "chat");
    const waiting = api.send("hurried", { text: "hi", chatId: "chat", timeoutMs: 3_000 }, { key: admin });
    const count = "SELECT 1 FROM messages WHERE project_id = $1";
    await waitFor(async () => (await queryDatabase(product.databaseUrl, count, [project.id])).length === 2, {
      what: "the message to be accepted",
    });
    expect((await remove(project.id, "hurried")).status).toBe(200);
    const answer = await waiting;
    expect([answer.status, answer.body.replies]).toEqual([202, []]);
    await expect(release()).rejects.toThrow(/was lost/);
    await waitFor(async () => (await queryDatabase(product.databaseUrl, count, [project.id])).length === 0, {
      what: "its messages to go",
    });
  });

  test("cannot be `default`, nor that of the widget", async () => {
    const [standard] = projectsOf(await projects("?q=default")).items;
    const refused = await remove(standard?.id ?? "", "default");
    expectProblem(refused, "invalid_request");
    expect(refused.body.detail).toMatch(/default cannot be deleted/);
    const { id } = projectOf(await create({ name: "window" }));
    await product.store.channelsConfig.update("widget", { project: "window" });
    const used = await remove(id, "window");
    expectProblem(used, "invalid_request");
    expect(used.body.detail).toMatch(/widget/);
    await product.store.channelsConfig.update("widget", { project: "default" });
    expect((await remove(id, "window")).status).toBe(200);
  });

  test("can only be deleted by administrators", async () => {
    const { id } = projectOf(await create({ name: "guarded" }));
    const key = await makeKey({ scopes: ["privacy:*", "tickets:*"], project: "guarded" });
    expectProblem(await remove(id, "guarded", { key }), "insufficient_scope");
    expectProblem(await change(id, { name: "mine" }, { key }), "insufficient_scope");
    expect(projectOf(await projects(`/${id}`)).name).toBe("guarded");
  });
});

describe("any input", () => {
  test("is accepted or rejected, and never an error of the service", async () => {
    const anyProject = fc.record({
      name: fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[a-z0-9-]{1,70}$/), fc.jsonValue()),
      handoffText: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue()),
      retentionDays: fc.oneof(fc.integer(), fc.jsonValue()),
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyProject, fc.jsonValue()), async (json) => {
        const answer = await create(json);
        expectDecent(answer);
        expect([201, 400]).toContain(answer.status);
      }),
      { numRuns: RUNS },
    );
  });

  test("leaves every process healthy", async () => {
    await expectHealthy(product);
  });
});
