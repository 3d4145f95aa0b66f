import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { ADMIN_ENDPOINTS, auditCheckSchema, auditItemSchema } from "@svc/contracts";
import type { AuditCheckItem, AuditItem, Endpoint, Scope } from "@svc/contracts";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import consoleTexts from "../../apps/console/web/src/i18n/en.json" with { type: "json" };
import { keyOf } from "./support/admin-body.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { cursorOf } from "./support/create-kb-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

let product: Product;
let north: Project;
let south: Project;

beforeAll(async () => {
  product = await startProduct();
  north = (await product.store.projects.ensure("north")).project;
  south = (await product.store.projects.ensure("south")).project;
});

afterAll(() => product.stop());

/** Calls the first replica, so that its rows have the order of the calls. */
function call(path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
  const [baseUrl = ""] = product.composition.apiUrls;
  return callApi(`${baseUrl}/api/v1${path}`, { key: product.adminKey, ...request });
}
const audit = (query = "", request: ApiRequest = {}) => call(`/admin/audit${query}`, request);
const rowsOf = ({ body }: ApiAnswer) => (body as unknown as { items: AuditItem[] }).items;
const checkOf = ({ body }: ApiAnswer) => (body as unknown as { item: AuditCheckItem }).item;

const keyFor = (project: Project | null, scopes: Scope[]) =>
  issueKey(product.store, {
    name: "journey",
    scopes,
    project: project?.id ?? null,
    createdBy: "test",
    rateLimit: null,
  });

/** Waits for the rows of a request. */
const untilAudited = (requestId: string) =>
  waitFor(
    async () => {
      const rows = await queryDatabase<{ action: string; object: string | null; result: string }>(
        product.databaseUrl,
        "SELECT action, object, result FROM audit_events WHERE request_id = $1 ORDER BY id",
        [requestId],
      );
      return rows.length > 0 ? rows : null;
    },
    { what: `a row about the request ${requestId}` },
  );

/** Waits until the first replica has written all pending rows, which keep their order. */
async function untilAllIsWritten(): Promise<void> {
  const requestId = newId();
  // Uses another route each time: equal denials are counted.
  const { key } = await keyFor(north, ["models:execute"]);
  await call("/admin/keys", { key, headers: { "X-Request-Id": requestId } });
  await untilAudited(requestId);
}

describe("every administration endpoint other than GET", () => {
  const ENDPOINTS = Object.entries(ADMIN_ENDPOINTS as Record<string, Endpoint>).filter(
    ([, { method }]) => method !== "GET",
  );
  /** Endpoints that only try out their body; nothing is stored, changed or sent, so their calls leave no row. */
  const TRIALS = ["renderCannedReply", "testHook", "testModelSettings"];

  /** Calls an endpoint for a missing object, with the body of its example. */
  async function callEndpoint({ method, path, body, ifMatch, example }: Endpoint, key: string): Promise<string> {
    const requestId = newId();
    await call(
      path.replace("/api/v1", "").replaceAll(/\{\w+\}/g, () => newId()),
      {
        method,
        key,
        headers: { "X-Request-Id": requestId, ...(ifMatch === undefined ? {} : { "If-Match": '"1"' }) },
        ...(body === undefined ? {} : { json: example?.body ?? {} }),
      },
    );
    return requestId;
  }

  /** Returns the number of rows of each request that does not have exactly one. */
  async function findMiscounted(requestIds: ReadonlyMap<string, string>): Promise<Record<string, string[]>> {
    await untilAllIsWritten();
    const rows = await queryDatabase<{ request_id: string; action: string }>(
      product.databaseUrl,
      "SELECT request_id, action FROM audit_events WHERE request_id = ANY ($1::text[])",
      [[...requestIds.values()]],
    );
    const counted = [...requestIds].map(([name, id]): [string, string[]] => [
      name,
      rows.flatMap(({ request_id, action }) => (request_id === id ? [action] : [])),
    ]);
    return Object.fromEntries(counted.filter(([, actions]) => actions.length !== 1));
  }

  test("adds exactly one row per call, whatever its result", async () => {
    const requestIds = new Map<string, string>();
    for (const [name, endpoint] of ENDPOINTS) requestIds.set(name, await callEndpoint(endpoint, product.adminKey));
    expect(await findMiscounted(requestIds)).toEqual(Object.fromEntries(TRIALS.map((name) => [name, []])));
    const actions = await queryDatabase<{ action: string }>(
      product.databaseUrl,
      "SELECT DISTINCT action FROM audit_events",
    );
    // The console has a text for each of them.
    const texts = Object.keys(consoleTexts.pages);
    expect(actions.filter(({ action }) => !texts.includes(`audit.did.${action}`))).toEqual([]);
    const denied = await queryDatabase(
      product.databaseUrl,
      "SELECT 1 FROM audit_events WHERE request_id = ANY ($1::text[]) AND action = 'http.denied'",
      [[...requestIds.values()]],
    );
    expect(denied).toEqual([]);
  });

  test("adds exactly one row if the scope is missing", async () => {
    const { key } = await keyFor(north, ["models:execute"]);
    const requestIds = new Map<string, string>();
    for (const [name, endpoint] of ENDPOINTS) requestIds.set(name, await callEndpoint(endpoint, key));
    expect(await findMiscounted(requestIds)).toEqual({});
  });
});

describe("a completed operation", () => {
  test("is recorded with its actor, action, object, project and request", async () => {
    const headers = { "X-Request-Id": newId() };
    const name = `agent ${newId()}`;
    const made = await call("/admin/agents", { project: "north", json: { name }, headers });
    const { id } = (made.body as unknown as { item: { id: string } }).item;
    await call(`/admin/agents/${id}`, { method: "DELETE", project: "north", headers: { "If-Match": '"7"' } });
    const [named] = rowsOf(await audit(`?object=${id}`));
    expect(named).toMatchObject({ actorName: "SVC_ADMIN_KEY", objectName: name });
    await call(`/admin/agents/${id}`, { method: "DELETE", project: "north" });
    const rows = rowsOf(await audit(`?object=${id}`));
    expect(rows.map(({ action, result }) => `${action} ${result}`)).toEqual([
      "agents.delete ok",
      "agents.delete version_conflict",
      "agents.create ok",
    ]);
    const [admin] = await queryDatabase<{ id: string }>(
      product.databaseUrl,
      "SELECT id FROM api_keys WHERE name = 'SVC_ADMIN_KEY'",
    );
    expect(auditItemSchema.strict().parse(rows[2])).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      actor: `key:${admin?.id}`,
      actorName: "SVC_ADMIN_KEY",
      action: "agents.create",
      object: id,
      objectName: null,
      project: "north",
      result: "ok",
      requestId: headers["X-Request-Id"],
      count: 1,
      network: null,
    });
  });

  test("of the service itself is recorded too: the keys and the first project", async () => {
    const rows = rowsOf(await audit("?limit=200&to=2999-01-01&actor=configuration"));
    expect(rows).toContainEqual(expect.objectContaining({ action: "keys.create", project: null, result: "ok" }));
    expect(rowsOf(await audit("?action=service.initialize"))).toHaveLength(1);
  });

  test("does not reveal the name of another project's object in a denied call", async () => {
    const made = await call("/admin/agents", { project: "north", json: { name: `agent ${newId()}` } });
    const { id } = (made.body as unknown as { item: { id: string } }).item;
    const { key, record } = await keyFor(south, ["agents:write", "audit:read"]);
    expectProblem(await call(`/admin/agents/${id}`, { method: "PATCH", key, json: { enabled: false } }), "not_found");
    const rows = rowsOf(await audit(`?object=${id}`, { key }));
    expect(rows).toMatchObject([{ actor: `key:${record.id}`, actorName: "journey", objectName: null }]);
  });

  test("has no object if the caller has sent something other than an id", async () => {
    const requestId = newId();
    const headers = { "X-Request-Id": requestId };
    const secret = `svc_${"s".repeat(38)}`;
    await call(`/admin/agents/${secret}`, { method: "PATCH", json: { enabled: false }, headers });
    expect(await untilAudited(requestId)).toEqual([{ action: "agents.update", object: null, result: "not_found" }]);
    const kb = await call("/admin/kb", { json: { name: `kb ${newId()}` } });
    const { id } = (kb.body as unknown as { item: { id: string } }).item;
    headers["X-Request-Id"] = newId();
    await call(`/admin/kb/${id}/documents/${secret}`, { method: "DELETE", headers });
    expect(await untilAudited(headers["X-Request-Id"])).toEqual([
      { action: "documents.delete", object: null, result: "not_found" },
    ]);
  });
});

describe("the use of a key", () => {
  test("is recorded once an hour by each replica, with the network instead of the address", async () => {
    const { key, record } = await keyFor(north, ["kb:read"]);
    const { apiUrls } = product.composition;
    for (const url of [...apiUrls, ...apiUrls]) await callApi(`${url}/api/v1/admin/kb`, { key });
    const list = async () => rowsOf(await audit(`?action=key.use&object=${record.id}`));
    const rows = await waitFor(
      async () => {
        const found = await list();
        return found.length >= apiUrls.length ? found : null;
      },
      { what: "a row of each replica" },
    );
    for (const row of rows) {
      expect(row).toMatchObject({ actor: `key:${record.id}`, project: "north", result: "ok", network: "127.0.0.0/24" });
    }
    // The hour may have ended meanwhile.
    const hours = new Set(rows.map(({ at }) => at.slice(0, 13)));
    expect(rows.length).toBeLessThanOrEqual(apiUrls.length * hours.size);
  });
});

describe("a denial", () => {
  test.each<[string, ApiRequest, object]>([
    ["missing_key", { key: "" }, { actor: "anonymous", network: "127.0.0.0/24" }],
    ["invalid_key", { key: `svc_${"w".repeat(38)}` }, { actor: "anonymous", network: "127.0.0.0/24" }],
  ])("without a valid key is recorded with the route and the network: %s", async (code, { key }, who) => {
    const requestId = newId();
    const secret = `svc_${"p".repeat(38)}`;
    const answer = await callApi(`${product.composition.apiUrls[0] ?? ""}/api/v1/admin/kb/${secret}/documents`, {
      ...(key === "" ? {} : { key: key ?? "" }),
      headers: { "X-Request-Id": requestId },
    });
    expectProblem(answer, code as "missing_key");
    await untilAudited(requestId);
    const [row] = rowsOf(await audit(`?result=${code}&limit=1`));
    const object = "GET /api/v1/admin/kb/{id}/documents";
    expect(row).toMatchObject({ ...who, action: "http.denied", object, project: null, requestId, count: 1 });
  });

  test("of a valid key is recorded with the key, and the project if it has access", async () => {
    const { key, record } = await keyFor(north, ["kb:read"]);
    expectProblem(await call("/admin/keys", { key }), "insufficient_scope");
    expectProblem(await call("/admin/kb", { key, project: "south" }), "project_mismatch");
    await untilAllIsWritten();
    const rows = rowsOf(await audit(`?actor=key:${record.id}&action=http.denied`));
    expect(rows).toEqual([
      expect.objectContaining({ object: "GET /api/v1/admin/kb", result: "project_mismatch", project: null }),
      expect.objectContaining({ object: "GET /api/v1/admin/keys", result: "insufficient_scope", project: "north" }),
    ]);
    expect(rows.map(({ network }) => network)).toEqual([null, null]);
  });

  test("is recorded immediately the first time, and repetitions together as a count", async () => {
    const { key, record } = await keyFor(north, ["kb:read"]);
    for (let round = 0; round < 8; round++) await call("/projects", { key });
    await untilAllIsWritten();
    const list = async () =>
      rowsOf(await audit(`?actor=key:${record.id}&action=http.denied`)).map(({ count, object }) => [count, object]);
    expect(await list()).toEqual([[1, "GET /api/v1/projects"]]);
    // Counted denials are not lost when the process ends.
    await product.restart({});
    expect(await list()).toEqual([
      [7, "GET /api/v1/projects"],
      [1, "GET /api/v1/projects"],
    ]);
  });
});

describe("the audit log list", () => {
  test("403: needs audit:read, and admin:* for another project", async () => {
    const writer = await keyFor(north, ["audit:write"]);
    expectProblem(await audit("", { key: writer.key }), "insufficient_scope");
    const { key } = await keyFor(north, ["audit:read"]);
    for (const name of ["south", "default", "nowhere", ""]) {
      const answer = await audit(`?project=${name}`, { key });
      // A parameter without a value counts as absent.
      if (name === "") expect(answer.status).toBe(200);
      else expectProblem(answer, "insufficient_scope");
    }
  });

  test("has only the rows of its project for a project key, and all rows for an administrator", async () => {
    for (const project of ["north", "south"]) await call("/admin/kb", { project, json: { name: `kb ${newId()}` } });
    const { key, record } = await keyFor(north, ["audit:read"]);
    // The first use of the key adds a row a moment later.
    await audit("", { key });
    await waitFor(async () => rowsOf(await audit(`?action=key.use&object=${record.id}`)).length > 0, {
      what: "the use of the key to be noted",
    });
    const own = rowsOf(await audit("?limit=200", { key }));
    expect(new Set(own.map(({ project }) => project))).toEqual(new Set(["north"]));
    expect(rowsOf(await audit("?limit=200&project=north", { key }))).toEqual(own);
    const all = rowsOf(await audit("?limit=200", { project: "south" }));
    expect(new Set(all.map(({ project }) => project))).toEqual(new Set(["north", "south", "default", null]));
    const south = rowsOf(await audit("?limit=200&project=south"));
    expect(new Set(south.map(({ project }) => project))).toEqual(new Set(["south"]));
    expect(rowsOf(await audit("?project=nowhere"))).toEqual([]);
  });

  test("has operations on the whole installation only for administrators, whatever project a call names", async () => {
    const { key } = await keyFor(north, ["audit:read"]);
    const since = new Date().toISOString();
    const changes: [string, ApiRequest][] = [
      ["/admin/keys", { json: { name: "installation", scopes: ["kb:read"] } }],
      ["/projects", { json: { name: `project-${newId()}` } }],
      ["/admin/operators", { json: { email: `${newId()}@example.com`, name: "Ann" } }],
      ["/admin/channels/api", { method: "PUT", json: {} }],
    ];
    for (const [path, request] of changes) {
      expect((await call(path, { project: "north", ...request })).status).toBeLessThan(300);
    }
    const seen = rowsOf(await audit(`?from=${since}&limit=200`, { key }));
    expect(seen.filter(({ action }) => action !== "key.use")).toEqual([]);
    // The use of the key is recorded a moment later, in its project.
    const rows = rowsOf(await audit(`?from=${since}`)).filter(({ action }) => action !== "key.use");
    const message = rows.map(({ action, project }) => `${action} ${project}`);
    expect(message.toReversed()).toEqual(
      ["keys.create", "projects.create", "operators.create", "channels.update"].map((action) => `${action} null`),
    );
  });

  test("is paged, newest first, unaffected by new rows", async () => {
    const name = `kb ${newId()}`;
    for (let round = 0; round < 5; round++) await call("/admin/kb", { project: "north", json: { name } });
    const seen: AuditItem[] = [];
    let cursor: string | null = "";
    while (cursor !== null && seen.length < 6) {
      const page = await audit(`?action=kb.create&limit=2&cursor=${cursor}`);
      await call("/admin/kb", { project: "north", json: { name } });
      seen.push(...rowsOf(page));
      cursor = cursorOf(page);
    }
    const ids = seen.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted().toReversed());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("is filtered by time and result", async () => {
    const [newest] = rowsOf(await audit("?limit=1&action=kb.create"));
    const at = newest?.at ?? "";
    expect(rowsOf(await audit(`?from=${at}&action=kb.create`))).toContainEqual(newest);
    expect(rowsOf(await audit(`?to=${at}&action=kb.create`))).not.toContainEqual(newest);
    expect(rowsOf(await audit("?to=2020-01-01"))).toEqual([]);
    const refused = rowsOf(await audit("?result=invalid_request&action=kb.create"));
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(({ result }) => result))).toEqual(new Set(["invalid_request"]));
  });

  test("400: all errors of a query are reported", async () => {
    expectProblem(await audit("?limit=0&cursor=x&from=yesterday&to=2026-13-01&actor=%00"), "invalid_request", [
      "/actor",
      "/cursor",
      "/from",
      "/limit",
      "/to",
    ]);
    expectProblem(await audit(`?action=${"x".repeat(201)}&object=a&object=b`), "invalid_request", [
      "/action",
      "/object",
    ]);
    // The list has no search; the parameter must not be ignored silently.
    expectProblem(await audit("?q=north&limit=0"), "invalid_request", ["/q", "/limit"]);
    expectProblem(await call("/admin/deliveries?q=x"), "invalid_request", ["/q"]);
    // A cursor of another list.
    const other = cursorOf(await call("/admin/keys?limit=1"));
    expectProblem(await audit(`?cursor=${other}`), "invalid_request", ["/cursor"]);
  });

  test.each(["' OR '1'='1", "'; DROP TABLE audit_events; --", "%", "_", "\\", "ok' UNION SELECT 1"])(
    "treats a filter as literal text: %s",
    async (text) => {
      for (const name of ["actor", "action", "object", "result", "project"]) {
        const answer = await audit(`?${name}=${encodeURIComponent(text)}`);
        expect([answer.status, rowsOf(answer)]).toEqual([200, []]);
      }
    },
  );

  test("405: is read-only", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      expectProblem(await audit("", { method }), "method_not_allowed");
    }
  });
});

describe("the verification of the audit log", () => {
  const verify = (query = "", request: ApiRequest = {}) => call(`/admin/audit/verify${query}`, request);

  test("403: is for administrators, since all projects share one chain", async () => {
    const { key } = await keyFor(north, ["audit:*"]);
    expectProblem(await verify("", { key }), "insufficient_scope");
  });

  test("400: requires a valid, ordered and limited range of days, and a valid head", async () => {
    expectProblem(await verify("?from=2026-02-30&to=x&expect=1"), "invalid_request", ["/expect", "/from", "/to"]);
    expectProblem(await verify("?from=2026-03-02&to=2026-03-01"), "invalid_request", ["/to"]);
    expectProblem(await verify("?from=2026-01-01&to=2026-02-01"), "invalid_request", ["/from"]);
    const position = `2026-01-01:1:${"0".repeat(64)}`;
    expectProblem(await verify(`?from=2026-01-01&after=${position}`), "invalid_request", ["/after"]);
    expect((await verify("?from=2026-01-01&to=2026-01-31")).status).toBe(200);
  });

  test("200: reports a valid chain with its head, and verifies it against an earlier head", async () => {
    const first = auditCheckSchema.strict().parse(checkOf(await verify()));
    expect(first).toMatchObject({ isIntact: true, fault: null, to: null, next: null });
    expect(first.rows).toBeGreaterThan(10);
    await call("/admin/kb", { json: { name: `kb ${newId()}` } });
    expect(checkOf(await verify(`?expect=${first.head}`))).toMatchObject({ isIntact: true });
    const rest = checkOf(await verify(`?after=${first.head}`));
    expect(rest).toMatchObject({ isIntact: true, from: null });
    expect(rest.rows).toBeGreaterThan(0);
    expect(rest.rows).toBeLessThan(first.rows);
    const [day, number] = (first.head ?? "").split(":");
    const wrong = `${day}:${number}:${"0".repeat(64)}`;
    expect(checkOf(await verify(`?expect=${wrong}`))).toMatchObject({
      isIntact: false,
      fault: { kind: "unexpected", day, number: Number(number) },
    });
  });
});

test("no row contains secret or personal data, wherever it was sent", async () => {
  const planted: string[] = [];
  const plant = (prefix = "") => {
    const value = `${prefix}planted${randomBytes(16).toString("hex")}`;
    planted.push(value);
    return value;
  };
  const imported = plant();
  const made = keyOf(await call("/admin/keys", { json: { name: plant(), scopes: ["admin:*"], key: imported } }));
  const rotated = keyOf(await call(`/admin/keys/${made.id}/rotate`, { json: {} }));
  const scoped = keyOf(await call("/admin/keys", { json: { name: plant(), scopes: ["kb:read"] } }));
  planted.push(rotated.key ?? "", scoped.key ?? "");
  for (const key of [imported, rotated.key ?? "", scoped.key ?? "", plant(), plant("svc_")]) {
    await call("/admin/agents", { key });
    await call("/admin/keys", { key });
    await call(`/admin/agents/${key}`, { method: "DELETE" });
    await call(`/admin/kb/${newId()}/documents/${key}`, { method: "DELETE" });
    await call(`/admin/agents/${key}/execute`, { key: scoped.key ?? "", json: { input: plant() } });
    await call(`/${key}?key=${key}`, { key: scoped.key ?? "" });
    await call("/admin/kb", { headers: { "x-svc-project": key } });
  }
  const channels: [string, object][] = [
    ["api", { config: { webhookSecret: plant() } }],
    ["messenger", { config: { botToken: `12345678:${plant()}` } }],
    ["widget", { config: { apiKey: plant() } }],
    [plant(), {}],
  ];
  for (const [id, json] of channels) {
    for (const method of ["PUT", "PATCH"]) await call(`/admin/channels/${id}`, { method, json });
  }
  await call("/admin/agents", { json: { name: plant(), description: plant(), fixedReply: plant() } });
  await call("/admin/kb", { json: { name: plant() }, headers: { "X-Request-Id": plant() } });
  await call("/admin/kb", { key: plant(), headers: { "X-Request-Id": plant("req.") } });
  for (const what of ["export", "erase"]) {
    await call(`/admin/privacy/${what}`, { json: { userId: plant() } });
    await call(`/admin/privacy/${what}`, { json: { visitorId: newId(), confirm: plant() } });
  }
  await call("/admin/operators", { json: { name: plant(), email: `${plant()}@example.com`, roles: [] } });
  await call("/messages", { json: { text: plant(), userId: plant(), chatId: plant(), mode: "async" } });
  await untilAllIsWritten();
  const rows = await queryDatabase(product.databaseUrl, "SELECT * FROM audit_events");
  const text = JSON.stringify(rows);
  expect(planted.filter((value) => text.includes(value))).toEqual([]);
  expect(text).not.toContain(product.adminKey);
});

test("a row that was changed in the database is detected and identified", async () => {
  const [row] = rowsOf(await audit("?action=agents.create&limit=1"));
  for (const statement of [
    "ALTER TABLE audit_events DISABLE TRIGGER USER",
    `UPDATE audit_events SET actor = 'key:another' WHERE id = '${row?.id}'`,
    "ALTER TABLE audit_events ENABLE TRIGGER USER",
  ]) {
    await queryDatabase(product.databaseUrl, statement);
  }
  const check = checkOf(await call("/admin/audit/verify"));
  expect(check).toMatchObject({
    isIntact: false,
    fault: { kind: expect.stringMatching(/changed|unlinked/), id: row?.id },
  });
});
