import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { ENDPOINTS, ERRORS, LIMITS } from "@svc/contracts";
import type { Endpoint, Operation } from "@svc/contracts";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { startFakeOllama, startWebhookReceiver } from "@svc/testing";
import type { FakeOllama, WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { rowOf } from "./support/endpoint-rows.ts";
import type { EndpointRow } from "./support/endpoint-rows.ts";
import { TARGETS, TARGET_MODEL } from "./support/endpoint-targets.ts";
import type { TargetIds } from "./support/endpoint-targets.ts";
import { lintOpenapi } from "./support/lint-openapi.ts";
import { readDescription } from "./support/read-description.ts";
import type { DescribedOperation, DescribedSchema, Description } from "./support/read-description.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const ALL = Object.entries(ENDPOINTS) as [Operation, Endpoint][];
const TITLED = ALL.map(([name, endpoint]): [string, Operation, Endpoint] => [
  `${name} (${endpoint.method} ${endpoint.path})`,
  name,
  endpoint,
]);
/** Errors that only the widget's server and the tool server return, which this description does not include. */
const OF_OTHER_SERVERS = [
  "too_many_files",
  "origin_not_allowed",
  "invalid_identity",
  "not_signed_in",
  "sign_in_failed",
  "csrf_refused",
];
const CHANGES = TITLED.filter(([, name, { method }]) => method === "PATCH" || name === "updateChannel");
const KEYED = TITLED.filter(([, , { isPublic }]) => isPublic !== true);

let product: Product;
let ollama: FakeOllama;
let receiver: WebhookReceiver;
/** Its agent's answers always need review. */
let project: Project;
let api: Description;
/** A key without any required scope. */
let powerless: string;

beforeAll(async () => {
  ollama = await startFakeOllama([TARGET_MODEL]);
  product = await startProduct({ env: { SVC_OLLAMA_BASE_URL: ollama.url } });
  receiver = await startWebhookReceiver();
  receiver.answerWith({ status: 204 });
  project = await addProject(product.store, "described", { fixedReply: "Thank you.", reviewPolicy: "review" });
  await addProject(product.store, "answered", { fixedReply: "Thank you." });
  api = await readDescription(baseUrl());
  const scopes = ["models:execute" as const];
  const issued = { name: "powerless", scopes, project: project.id, rateLimit: null, createdBy: "test" };
  powerless = (await issueKey(product.store, issued)).key;
});

afterAll(async () => {
  await receiver?.close();
  await product?.stop();
  await ollama?.close();
});

const baseUrl = () => product.composition.apiUrls[0] ?? "";

function operationOf(name: Operation): DescribedOperation {
  const { path, method } = ENDPOINTS[name];
  const operation = api.document.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${name} is not described.`);
  return operation;
}

/** Creates the object of a call. */
async function makeTarget({ target, needs }: EndpointRow): Promise<TargetIds> {
  const name = target ?? needs;
  if (name === undefined) return { chatId: `chat-${newId()}` };
  const ids: TargetIds = await TARGETS[name].make(product, project);
  return target === undefined ? { kbId: ids["id"] ?? "" } : ids;
}

/** Sends a call to an endpoint with these ids in its path. */
function call(name: Operation, ids: TargetIds, request: ApiRequest & { query?: Record<string, string> } = {}) {
  const { method, path }: Endpoint = ENDPOINTS[name];
  const { query = {}, ...rest } = request;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => encodeURIComponent(ids[id] ?? "missing"));
  const search = new URLSearchParams(query).size === 0 ? "" : `?${new URLSearchParams(query)}`;
  return callApi(`${baseUrl()}${filled}${search}`, {
    method,
    key: product.adminKey,
    project: project.name,
    ...rest,
  });
}

/** Returns the current version of the object to change, if the call requires it. */
async function versionHeaders(name: Operation, ids: TargetIds): Promise<Record<string, string>> {
  const endpoint: Endpoint = ENDPOINTS[name];
  if (endpoint.ifMatch === undefined) return {};
  const path = endpoint.path.slice(0, endpoint.path.indexOf("}") + 1).replace("{id}", ids["id"] ?? "");
  const found = await callApi(baseUrl() + path, { key: product.adminKey, project: project.name });
  return { "If-Match": found.headers.get("etag") ?? "" };
}

/** Returns the example's body, or the one that refers to existing objects instead of the example's ids. */
function bodyOf(name: Operation, ids: TargetIds): unknown {
  const { example, body }: Endpoint = ENDPOINTS[name];
  const shown = example?.body;
  const namesObjects = /"[0-9a-f]{8}-[0-9a-f-]{27}"|"confirm"/.test(JSON.stringify(shown ?? null));
  const { body: ownBody } = rowOf(name);
  if (ownBody !== undefined && (shown === undefined || namesObjects)) return ownBody(ids);
  return shown ?? (body === undefined || body.isOptional === true ? undefined : {});
}

describe("each endpoint", () => {
  test.each(TITLED.filter(([, name]) => !name.startsWith("callHook")))(
    "%s returns its documented example",
    async (_title, name, endpoint) => {
      const row = rowOf(name);
      expect({ name, hasTarget: row.target !== undefined || !endpoint.path.includes("{id}") }).toEqual({
        name,
        hasTarget: true,
      });
      const ids = await makeTarget(row);
      const json = bodyOf(name, ids);
      const answer = await call(name, ids, {
        ...(json === undefined ? {} : { json }),
        query: endpoint.example?.query ?? {},
        headers: await versionHeaders(name, ids),
      });
      const fine: number[] = endpoint.answers.map(({ status }) => status);
      if (row.refusal !== undefined) fine.push(row.refusal);
      expect({ text: answer.text, isFine: fine.includes(answer.status) }).toEqual({ text: answer.text, isFine: true });
      api.expectDescribed(operationOf(name), answer);
    },
  );

  test.each(CHANGES)("%s keeps the version if it changes nothing", async (_title, name, endpoint) => {
    const ids = await makeTarget(rowOf(name));
    const change = async (json: unknown) => {
      const { status, text, headers } = await call(name, ids, { json, headers: await versionHeaders(name, ids) });
      return { status, text, version: headers.get("etag") };
    };
    const body = rowOf(name).body?.(ids) ?? bodyOf(name, ids);
    const first = await change(body);
    expect(first.status).toBe(200);
    expect(await change(body)).toEqual(first);
    if (endpoint.body?.schema.safeParse({}).success === true) expect(await change({})).toEqual(first);
  });

  test.each(TITLED)("%s has examples with the shapes of its schemas", (_title, name) => {
    const { requestBody, responses, parameters = [] } = operationOf(name);
    const media = [
      ...Object.values(requestBody?.content ?? {}),
      ...Object.keys(responses).flatMap((status) =>
        Object.values(api.responseOf(operationOf(name), Number(status))?.content ?? {}),
      ),
    ];
    const examples = media.flatMap(({ schema, examples: shown = {} }) =>
      Object.values(shown).map(({ value, $ref }) => ({
        schema,
        value: $ref === undefined ? value : api.document.components.examples[$ref.split("/").at(-1) ?? ""]?.value,
      })),
    );
    for (const parameter of parameters) {
      if ("schema" in parameter && "example" in parameter) {
        examples.push({ schema: parameter.schema, value: parameter.example });
      }
    }
    const errors = examples.flatMap(({ schema, value }) =>
      api.faultsOf(schema, value).map((error) => `${JSON.stringify(value)}: ${error}`),
    );
    expect(errors).toEqual([]);
  });

  test.each(KEYED)("%s returns errors as documented", async (_title, name, endpoint) => {
    const operation = operationOf(name);
    const refuse = async (ids: TargetIds, request: ApiRequest & { query?: Record<string, string> }) => {
      const answer = await call(name, ids, request);
      expect({ request, text: answer.text, isError: answer.status >= 400 }).toMatchObject({ isError: true });
      api.expectDescribed(operation, answer);
      return answer.body.code;
    };
    const nowhere = { id: newId(), docId: newId(), importId: newId(), bodyId: newId(), chatId: "chat" };
    const good = (ids: TargetIds) => {
      const json = bodyOf(name, ids);
      return json === undefined ? {} : { json };
    };
    const anywhere = good(nowhere);
    if (endpoint.scope !== null) {
      expect(await refuse(nowhere, { ...anywhere, key: powerless })).toBe("insufficient_scope");
    }
    if (endpoint.path.includes("{id}")) {
      const headers: Record<string, string> = endpoint.ifMatch === undefined ? {} : { "If-Match": '"1"' };
      await refuse(nowhere, { ...anywhere, headers });
      await refuse({ ...nowhere, id: "%00'--" }, { ...anywhere, headers });
    }
    const isAboutOne = [endpoint.ifMatch, endpoint.query, endpoint.body].some((part) => part !== undefined);
    const ids = isAboutOne ? await makeTarget(rowOf(name)) : nowhere;
    if (endpoint.ifMatch !== undefined) {
      expect(await refuse(ids, { ...good(ids), headers: { "If-Match": "no tag" } })).toBe("invalid_request");
      expect(await refuse(ids, { ...good(ids), headers: { "If-Match": '"999999"' } })).toBe("version_conflict");
    }
    if (endpoint.query !== undefined && "limit" in endpoint.query.shape) {
      expect(await refuse(ids, { query: { ...endpoint.example?.query, limit: "0" } })).toBe("invalid_request");
    }
    if (endpoint.body !== undefined) {
      const headers = await versionHeaders(name, ids);
      expect(await refuse(ids, { body: "{", headers })).toBe("invalid_json");
      expect(await refuse(ids, { json: [], headers })).toBe("invalid_request");
      const { maxBytes = LIMITS.bodyMaxBytes, otherTypes } = endpoint.body;
      if (maxBytes <= LIMITS.bodyMaxBytes) {
        expect(await refuse(ids, { body: "x".repeat(maxBytes + 1), headers })).toBe("payload_too_large");
      }
      if (otherTypes === undefined) {
        const type = { ...headers, "Content-Type": "text/plain" };
        expect(await refuse(ids, { body: "{}", headers: type })).toBe("unsupported_media_type");
      }
    }
  });

  test("of documents also accepts files, and responds as documented", async () => {
    const { id = "" } = await makeTarget({ target: "kb" });
    const form = new FormData();
    for (const name of ["one.txt", "two.txt"]) form.append("file", new File([`The words of ${name}.`], name));
    const files = new Request("http://localhost", { method: "POST", body: form });
    const headers = { "Content-Type": files.headers.get("content-type") ?? "" };
    const body = new Uint8Array(await files.arrayBuffer());
    for (const status of [201, 200]) {
      const answer = await call("addDocuments", { id }, { body, headers });
      expect([answer.status, (answer.body as { items?: unknown[] }).items?.length]).toEqual([status, 2]);
      api.expectDescribed(operationOf("addDocuments"), answer);
    }
  });

  test("of a hook responds to a platform as documented", async () => {
    const made = await call(
      "createHook",
      {},
      {
        json: { name: `hook ${newId()}`, auth: { type: "path" }, mapping: { text: "{{$.message}}" } },
      },
    );
    const { id = "", secret = "" } = (made.body as unknown as { item: { id?: string; secret?: string } }).item;
    const json = { message: "Do you ship to Norway?" };
    const noKey = { "Content-Type": "application/json" };
    const url = `${baseUrl()}/api/v1/hooks/${id}`;
    const taken = await callApi(`${url}/${secret}`, { json, headers: noKey });
    expect(taken.status).toBe(202);
    api.expectDescribed(operationOf("callHookWithSecret"), taken);
    for (const request of [{ json: {} }, { body: "{" }]) {
      const refused = await callApi(`${url}/${secret}`, request);
      expect(refused.status).toBe(400);
      api.expectDescribed(operationOf("callHookWithSecret"), refused);
    }
    for (const [name, path] of [
      ["callHook", url],
      ["callHookWithSecret", `${url}/forged`],
    ] as const) {
      const refused = await callApi(path, { json });
      expect(refused.body.code).toBe("invalid_signature");
      api.expectDescribed(operationOf(name), refused);
    }
  });
});

describe("a message", () => {
  const send = (json: object, request: ApiRequest = {}) => call("sendMessage", {}, { json, ...request });
  const isOf = (schema: string, answer: ApiAnswer) => {
    api.expectDescribed(operationOf("sendMessage"), answer);
    expect(api.faultsOf({ $ref: `#/components/schemas/${schema}` }, answer.body)).toEqual([]);
  };

  test("gets its documented response in each mode", async () => {
    const answered = { project: "answered" };
    isOf("SyncAnswer", await send({ text: "hello" }, answered));
    isOf("PendingAnswer", await send({ text: "Where is the zyxgrubl?" }));
    isOf("PendingAnswer", await send({ text: "Where is the zyxgrubl?", timeoutMs: 1 }));
    isOf("AsyncAnswer", await send({ text: "hello", mode: "async", chatId: "described" }, answered));
    isOf("WebhookAnswer", await send({ text: "hello", webhookUrl: receiver.url() }, answered));
    const drained = await call("drainMessages", { chatId: "described" }, { query: { wait: "20000" }, ...answered });
    expect(drained.replies).toHaveLength(1);
    api.expectDescribed(operationOf("drainMessages"), drained);
  });

  test("gets the same response with its Idempotency-Key, and an error with another body", async () => {
    const headers = { "Idempotency-Key": `key-${newId()}` };
    const first = await send({ text: "hello", mode: "async" }, { headers });
    const again = await send({ text: "hello", mode: "async" }, { headers });
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
    isOf("AsyncAnswer", again);
    const other = await send({ text: "hello again", mode: "async" }, { headers });
    expect(other.body.code).toBe("idempotency_mismatch");
    isOf("Problem", other);
  });

  test("has callbacks as documented", async () => {
    const request = await receiver.next();
    const { type } = request.json as { type: string };
    const { post } = api.document.webhooks[type] ?? {};
    const { schema = {}, examples = {} } = post?.requestBody?.content["application/json"] ?? {};
    const [body] = schema["allOf"] as [{ $ref: string }];
    expect(api.faultsOf(body, request.json)).toEqual([]);
    expect(api.faultsOf(body, examples["default"]?.value)).toEqual([]);
    for (const parameter of post?.parameters ?? []) {
      if ("$ref" in parameter) throw new Error("the headers of callbacks are described in their place");
      const sent = request.headers[parameter.name.toLowerCase()] ?? "";
      const value = parameter.schema["type"] === "integer" ? Number(sent) : sent;
      expect([parameter.name, api.faultsOf(parameter.schema, value)]).toEqual([parameter.name, []]);
    }
  });
});

test("a key that is missing, invalid, of another project or over its rate limit gets the documented errors", async () => {
  const refuse = async (request: ApiRequest) => {
    const answer = await callApi(`${baseUrl()}/api/v1/admin/agents`, request);
    api.expectDescribed(operationOf("listAgents"), answer);
    return answer.body.code;
  };
  expect(await refuse({})).toBe("missing_key");
  expect(await refuse({ key: "svc_unknown" })).toBe("invalid_key");
  expect(await refuse({ key: powerless, headers: { "X-Api-Key": product.adminKey } })).toBe("ambiguous_credentials");
  expect(await refuse({ key: powerless, project: "default" })).toBe("project_mismatch");
  expect(await refuse({ key: product.adminKey, project: "nobodys-project" })).toBe("not_found");
  const limited = { name: "limited", scopes: ["agents:read" as const], rateLimit: 1, project: project.id };
  const { key } = await issueKey(product.store, { ...limited, createdBy: "test" });
  const url = `${baseUrl()}/api/v1/admin/agents`;
  const first = await callApi(url, { key });
  expect([first.status, first.headers.has("ratelimit")]).toEqual([200, true]);
  api.expectDescribed(operationOf("listAgents"), first);
  expect(await refuse({ key })).toBe("rate_limited");
});

describe("the description", () => {
  test("needs no key, can be cached, and is also available as a page", async () => {
    for (const [name, type] of [
      ["getOpenApi", "application/json; charset=utf-8"],
      ["getDocs", "text/html; charset=utf-8"],
    ] as const) {
      const { path } = ENDPOINTS[name];
      const first = await callApi(baseUrl() + path);
      expect([first.status, first.headers.get("content-type")]).toEqual([200, type]);
      expect(first.headers.get("cache-control")).toBe("public, max-age=60");
      const policy = first.headers.get("content-security-policy");
      expect(policy ?? "").toMatch(name === "getDocs" ? /^default-src 'none'; script-src 'self'; / : /^$/);
      const etag = first.headers.get("etag") ?? "";
      // Without it fetch would bypass caches.
      const headers = { "If-None-Match": etag, "Cache-Control": "max-age=0" };
      const again = await callApi(baseUrl() + path, { headers });
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
      api.expectDescribed(operationOf(name), again);
      expect((await callApi(baseUrl() + path, { method: "HEAD" })).status).toBe(200);
      const posted = await callApi(baseUrl() + path, { method: "POST" });
      expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
      api.expectDescribed(operationOf(name), posted);
    }
  });

  test("describes every endpoint once, with its scope and the errors of the catalogue", () => {
    const described = Object.values(api.document.paths).flatMap((operations) => Object.values(operations));
    expect(described.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(ENDPOINTS).toSorted());
    for (const [, name, { scope, isPublic = false }] of TITLED) {
      const { security, ...operation } = operationOf(name);
      expect([name, operation["x-required-scope"], security.length]).toEqual([
        name,
        isPublic ? undefined : scope,
        isPublic ? 0 : 2,
      ]);
    }
    const { code } = api.document.components.schemas["Problem"]?.properties ?? {};
    expect(code?.["enum"]).toEqual(Object.keys(ERRORS));
    const shown = Object.keys(api.document.components.examples);
    const ofThisServer = Object.keys(ERRORS).filter((code) => !OF_OTHER_SERVERS.includes(code));
    expect(shown.toSorted()).toEqual(ofThisServer.toSorted());
  });

  test("passes a public linter", async () => {
    expect(await lintOpenapi(api.served.text)).toEqual([]);
  });

  test("limits the length of every text in a body", () => {
    const unlimited: string[] = [];
    const check = (schema: DescribedSchema, position: string): void => {
      const says = ["maxLength", "pattern", "format", "enum", "const", "$ref"].some((word) => word in schema);
      if (schema["type"] === "string" && !says) unlimited.push(position);
      for (const [name, field] of Object.entries(schema.properties ?? {})) check(field, `${position}/${name}`);
      for (const word of ["anyOf", "oneOf", "allOf", "items"]) {
        for (const part of [schema[word] ?? []].flat() as DescribedSchema[]) check(part, position);
      }
    };
    for (const [, name] of TITLED) {
      const schema = operationOf(name).requestBody?.content["application/json"]?.schema ?? {};
      const component = schema.$ref?.split("/").at(-1) ?? "";
      check(api.document.components.schemas[component] ?? schema, name);
    }
    expect(unlimited).toEqual([]);
  });

  test("has a tag with a description for each operation", () => {
    const chapters = new Set(api.document.tags.map(({ name }) => name));
    const strays = ALL.filter(([name]) => !operationOf(name).tags.every((tag) => chapters.has(tag)));
    expect(strays.map(([name]) => name)).toEqual([]);
  });
});
