import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { ENDPOINTS, SCOPE_ACTIONS, SCOPE_RESOURCES } from "@svc/contracts";
import type { Endpoint, Operation, Scope } from "@svc/contracts";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { startFakeOllama, queryDatabase } from "@svc/testing";
import type { FakeOllama } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { makeBodyIds } from "./support/body-ids.ts";
import type { BodyIds } from "./support/body-ids.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { ENDPOINT_ROWS, rowOf } from "./support/endpoint-rows.ts";
import type { EndpointRow } from "./support/endpoint-rows.ts";
import { TARGETS, TARGET_MODEL } from "./support/endpoint-targets.ts";
import type { TargetIds } from "./support/endpoint-targets.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

/** Every scope that a key can have. */
const SCOPES: Scope[] = [
  "admin:*",
  ...SCOPE_RESOURCES.flatMap((resource) =>
    ([...SCOPE_ACTIONS, "*"] as const).map((action): Scope => `${resource}:${action}`),
  ),
];

interface Call extends Endpoint {
  operation: Operation;
  row: EndpointRow;
}

const CALLS = (Object.entries(ENDPOINTS) as [Operation, Endpoint][]).map(([operation, endpoint]): Call => ({
  ...endpoint,
  operation,
  row: rowOf(operation),
}));
const title = (calls: readonly Call[]) =>
  calls.map((call): [string, Call] => [`${call.operation} (${call.method} ${call.path})`, call]);
const TITLED = title(CALLS.filter(({ row }) => row.isPublic !== true));
const PUBLIC = title(CALLS.filter(({ row }) => row.isPublic === true));
const WITH_TARGET = TITLED.filter(([, { row }]) => row.target !== undefined && !("isGlobal" in TARGETS[row.target]));
const WITH_IDS = TITLED.filter(([, { row }]) => row.foreignBodies !== undefined);

/** Returns the scopes that cover one: itself, every action on its resource, and everything. */
function sufficientFor(scope: Endpoint["scope"]): Scope[] {
  if (scope === null) return SCOPES;
  if (scope === "admin:*") return ["admin:*"];
  const [resource] = scope.split(":");
  return [scope, `${resource}:*` as Scope, "admin:*"];
}

/** Returns the scopes of a key that a call accepts, given one of several. */
const withFurther = (scope: Scope, { alsoScope }: Endpoint): Scope[] =>
  alsoScope === undefined || scope === "admin:*" ? [scope] : [scope, alsoScope];

let product: Product;
let ollama: FakeOllama;
let api: ApiClient;
let north: Project;
let south: Project;
/** Ids that bodies can refer to, in each project. */
let named: { north: BodyIds; south: BodyIds };
/** Keys by their scopes, bound to the project north; that of admin:* to none. */
const keys = new Map<string, string>();
let calls = 0;

beforeAll(async () => {
  // Each call comes from its own address, because an address may fail to authenticate only 30 times a minute.
  ollama = await startFakeOllama([TARGET_MODEL]);
  product = await startProduct({ env: { SVC_TRUST_PROXY: "127.0.0.1", SVC_OLLAMA_BASE_URL: ollama.url } });
  api = createApiClient(product);
  const agent = { fixedReply: "answered", reviewPolicy: "review" as const };
  north = await addProject(product.store, "north", agent);
  south = await addProject(product.store, "south", agent, { handoffText: "A person will look at it." });
  const [ofNorth, ofSouth] = await Promise.all([makeBodyIds(product, north), makeBodyIds(product, south)]);
  named = { north: ofNorth, south: ofSouth };
});

afterAll(async () => {
  await product?.stop();
  await ollama?.close();
});

/** Creates a key with these scopes, without a rate limit. */
async function keyWith(scopes: Scope[]): Promise<string> {
  const name = scopes.join(" ").slice(0, 100);
  const id = scopes.join(" ");
  const known = keys.get(id);
  if (known !== undefined) return known;
  const project = scopes.includes("admin:*") ? null : north.id;
  const { key } = await issueKey(product.store, { name, scopes, project, createdBy: "test", rateLimit: null });
  keys.set(id, key);
  return key;
}

/** Creates the object of a call, in a project. */
async function targetOf({ row }: Call, project: Project): Promise<TargetIds> {
  const name = row.target ?? row.needs;
  if (name === undefined) return {};
  const ids: TargetIds = await TARGETS[name].make(product, project);
  return row.target === undefined ? { ...ids, kbId: ids["id"] ?? "" } : ids;
}

/** Returns ids of missing objects. */
const nothingOf = ({ path }: Call) =>
  Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, newId()]));

/** Sends a call for an object, with the body of its row or its example, and the current version if required. */
async function send(call: Call, ids: TargetIds, request: ApiRequest): Promise<ApiAnswer> {
  const body =
    call.body === undefined && call.row.body === undefined
      ? undefined
      : (call.row.body?.(ids) ?? call.example?.body ?? {});
  const path = call.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(ids[name] ?? newId()));
  const query = new URLSearchParams(call.example?.query ?? {}).toString();
  const version = call.ifMatch === "required" ? await versionOf(ids) : null;
  calls += 1;
  return callApi(`${api.baseUrl(calls % 2)}${path}${query === "" ? "" : `?${query}`}`, {
    method: call.method,
    ...(body === undefined || request.body !== undefined ? {} : { json: body }),
    ...request,
    headers: {
      "X-Forwarded-For": `198.51.${(calls >> 8) & 255}.${calls & 255}`,
      ...(version === null ? {} : { "If-Match": `"${version}"` }),
      ...request.headers,
    },
  });
}

/** Returns the current version of a ticket. */
async function versionOf({ id }: TargetIds): Promise<number> {
  const [row] = await queryDatabase<{ version: number }>(
    product.databaseUrl,
    "SELECT version FROM tickets WHERE id = $1",
    [id],
  );
  return row?.version ?? 1;
}

/** Returns a response body without the fields that always differ. */
function comparableOf({ body: { requestId: _requestId, instance: _instance, ...words } }: ApiAnswer): object {
  return words;
}

test("every public endpoint has a row, and every row has an endpoint", () => {
  expect(Object.keys(ENDPOINT_ROWS).filter((name) => !(name in ENDPOINTS))).toEqual([]);
  const saying = CALLS.filter(({ isPublic, row }) => (isPublic === true) !== (row.isPublic === true));
  expect(saying.map(({ operation }) => operation)).toEqual([]);
});

test("every endpoint whose path or body refers to objects has a row with their kind", () => {
  const silent = CALLS.flatMap(({ operation, path, body, row }) => {
    const shape = body !== undefined && "shape" in body.schema ? Object.keys(body.schema.shape as object) : [];
    const { freeIds = [], foreignBodies, target, isPublic } = row;
    const names = foreignBodies === undefined ? shape.filter((name) => /Ids?$/.test(name)) : [];
    const ofPath = target === undefined && isPublic === undefined && path.includes("{id}") ? ["id"] : [];
    return [...ofPath, ...names.filter((name) => !freeIds.includes(name))].map((name) => `${operation} ${name}`);
  });
  expect(silent).toEqual([]);
});

describe("in public", () => {
  test.each(PUBLIC)("%s needs no key, and ignores an invalid one", async (_title, call) => {
    const answers = await Promise.all([{}, { key: "svc_nonsense" }].map((asked) => send(call, nothingOf(call), asked)));
    expect(answers.map(({ status }) => status)).toEqual(Array(2).fill(call.method === "GET" ? 200 : 401));
    for (const answer of answers) if (answer.status === 401) expectProblem(answer, "invalid_signature");
  });
});

describe("without a key", () => {
  test.each(TITLED)("%s is 401", async (_title, call) => {
    const answer = await send(call, nothingOf(call), {});
    expectProblem(answer, "missing_key");
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="svc"');
    expect(answer.headers.get("x-svc-project")).toBeNull();
  });
});

describe("with scopes", () => {
  test.each(TITLED)("%s is open to the scopes that cover it", async (_title, call) => {
    for (const scope of sufficientFor(call.scope)) {
      const key = await keyWith(withFurther(scope, call));
      const answer = await send(call, await targetOf(call, north), {
        key,
        ...(scope === "admin:*" ? { project: "north" } : {}),
      });
      const isFine = [...call.answers.map(({ status }) => status), call.row.refusal].includes(answer.status);
      expect({ scope, status: answer.status, text: isFine ? "" : answer.text }).toEqual({
        scope,
        status: expect.any(Number),
        text: "",
      });
      expect(answer.headers.get("x-svc-project")).toBe("north");
    }
  });

  test.each(TITLED)("%s is closed to all others together, before its body is read", async (_title, call) => {
    const enough = sufficientFor(call.scope);
    const key = await keyWith(SCOPES.filter((scope) => !enough.includes(scope) && scope !== "admin:*"));
    const answer = await send(call, nothingOf(call), { key, ...(call.body === undefined ? {} : { body: "no JSON" }) });
    expectProblem(answer, "insufficient_scope");
    expect(answer.headers.get("www-authenticate")).toBe(`Bearer error="insufficient_scope", scope="${call.scope}"`);
    expect(answer.headers.get("x-svc-project")).toBe("north");
  });
});

describe("with one of the two scopes that it needs", () => {
  test.each(title(CALLS.filter(({ alsoScope }) => alsoScope !== undefined)))("%s is closed", async (_title, call) => {
    const key = await keyWith(
      SCOPES.filter((scope) => scope !== "admin:*" && scope.split(":")[0] !== call.alsoScope?.split(":")[0]),
    );
    const answer = await send(call, nothingOf(call), { key, ...(call.method === "GET" ? {} : { body: "no JSON" }) });
    expectProblem(answer, "insufficient_scope");
    expect(answer.headers.get("www-authenticate")).toBe(`Bearer error="insufficient_scope", scope="${call.alsoScope}"`);
  });
});

describe("with a project", () => {
  test.each(TITLED)("%s rejects a scoped key for another project, whether or not that exists", async (_title, call) => {
    const [scope = "admin:*"] = sufficientFor(call.scope);
    const key = await keyWith([scope]);
    for (const project of ["south", "nowhere"]) {
      const answer = await send(call, nothingOf(call), { key, project });
      if (scope !== "admin:*") expectProblem(answer, "project_mismatch");
      else if (project === "nowhere") expectProblem(answer, "not_found");
    }
  });

  test.each(WITH_TARGET)(
    "%s has the same error for another project's object as for a missing one",
    async (_title, call) => {
      const [scope = "admin:*"] = sufficientFor(call.scope);
      const foreign = await targetOf(call, south);
      const key = await keyWith(withFurther(scope, call));
      const project = scope === "admin:*" ? { project: "north" } : {};
      const [other, none] = [
        await send(call, foreign, { key, ...project }),
        await send(call, { ...foreign, ...nothingOf(call) }, { key, ...project }),
      ];
      expectProblem(other, "not_found");
      expect(comparableOf(other)).toEqual(comparableOf(none));
    },
  );

  test.each(WITH_IDS)("%s finds only objects of its own project in its body", async (_title, call) => {
    const { row, scope } = call;
    const [enough = "admin:*"] = sufficientFor(scope);
    // Conversations are only shown to callers who may read them.
    const key = await keyWith(enough === "admin:*" ? [enough] : [enough, "tickets:read"]);
    const { north: own, south: there } = named;
    const nothing = {
      kbId: newId(),
      documentId: newId(),
      ticketId: newId(),
      agentId: newId(),
      customerId: newId(),
      tagId: newId(),
      gapId: newId(),
    };
    const bodies = (ids: BodyIds) => row.foreignBodies?.(ids, own) ?? [];
    for (const index of bodies(own).keys()) {
      const ids = await targetOf(call, north);
      const callWith = (of: BodyIds) => send(call, ids, { key, json: bodies(of)[index] });
      const [foreign, none] = [await callWith(there), await callWith(nothing)];
      expect(["not_found", "invalid_request"]).toContain(foreign.body.code);
      expect(comparableOf(foreign)).toEqual(comparableOf(none));
      expect(await callWith(own)).toMatchObject({ status: call.answers[0]?.status });
    }
  });

  test("nothing of another project's chat is returned or removed", async () => {
    const chatId = `souths-${newId()}`;
    const drain = async (project: string, query: string) => {
      const address = `${api.baseUrl()}/api/v1/messages/${chatId}?${query}`;
      return (await callApi(address, { key: product.adminKey, project })).replies;
    };
    const message = { text: "hi", chatId, mode: "async" };
    await callApi(`${api.baseUrl()}/api/v1/messages`, { key: product.adminKey, project: "south", json: message });
    expect(await drain("south", "wait=20000&peek=1")).toHaveLength(1);
    for (const query of ["peek=1", "after=0", "after=1", ""]) expect(await drain("north", query)).toEqual([]);
    expect(await drain("south", "")).toHaveLength(1);
  });

  test("no data of another project's users is exported or erased", async () => {
    const userId = `souths-${newId()}`;
    const message = { text: "hi", userId, mode: "async" };
    await callApi(`${api.baseUrl()}/api/v1/messages`, { key: product.adminKey, project: "south", json: message });
    const ask = async (action: string, project: string) => {
      const address = `${api.baseUrl()}/api/v1/admin/privacy/${action}`;
      const answer = await callApi(address, { key: product.adminKey, project, json: { userId } });
      const { item } = answer.body as unknown as { item: { counts: Record<string, number> } };
      return Object.values(item.counts).reduce((sum, count) => sum + count, 0);
    };
    expect([await ask("export", "north"), await ask("erase", "north")]).toEqual([0, 0]);
    expect(await ask("export", "south")).toBeGreaterThan(0);
  });
});
