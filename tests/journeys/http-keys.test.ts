import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { hashApiKey, issueKey, prefixOfApiKey } from "@svc/auth";
import type { Scope } from "@svc/contracts";
import type { Project } from "@svc/store";
import { waitFor } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { sendRaw } from "./support/send-raw.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const CHALLENGE = 'Bearer realm="svc"';
const INVALID_TOKEN = `${CHALLENGE}, error="invalid_token"`;
const PLANTED = "planted-secret-0123456789";
/** A key with spaces and special characters. */
const ADMIN_KEY = 'an admin key, with "signs" = 7%&?';
const FOREIGN_KEY = "clé-d’administrateur-ключ-🗝";

let product: Product;
let api: ApiClient;
let north: Project;
/** Every key of this file, to search the log for them. */
const secrets = new Set([PLANTED, ADMIN_KEY]);

beforeAll(async () => {
  product = await startProduct({ env: { SVC_LOG_LEVEL: "debug", SVC_ADMIN_KEY: ADMIN_KEY } });
  api = createApiClient(product);
  north = await addProject(product.store, "north", { fixedReply: "answered in the north" });
  await addProject(product.store, "south", { fixedReply: "answered in the south" });
});

afterAll(() => product.stop());

async function makeKey(
  scopes: Scope[],
  { project = north, expiresAt }: { project?: Project | null; expiresAt?: Date } = {},
): Promise<{ id: string; key: string }> {
  const { record, key } = await issueKey(product.store, {
    name: scopes.join(" "),
    scopes,
    project: project === null ? null : project.id,
    createdBy: "test",
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  secrets.add(key);
  return { id: record.id, key };
}

/** Inserts a key that was created elsewhere. */
async function importKey(key: string): Promise<void> {
  await product.store.apiKeys.insert({
    name: "imported",
    prefix: prefixOfApiKey(key),
    hash: hashApiKey(key),
    scopes: ["messages:read"],
    project: north.id,
    createdBy: "test",
    expiresAt: null,
  });
  secrets.add(key);
}

/** Sends the cheapest request that needs a key. */
function ask(request: ApiRequest & { replica?: number; query?: string } = {}): Promise<ApiAnswer> {
  const { replica, query = "", ...rest } = request;
  return callApi(`${api.baseUrl(replica)}/api/v1/messages/keys${query}`, rest);
}

/** Sends the same request with headers that fetch would merge. */
function askRaw(headers: [name: string, value: string][]): Promise<ApiAnswer> {
  return sendRaw(api.baseUrl(), { path: "/api/v1/messages/keys", headers });
}

describe("a valid key is accepted", () => {
  test("from Authorization: Bearer", async () => {
    const { key } = await makeKey(["messages:read"]);
    expect((await ask({ headers: { Authorization: `Bearer ${key}` } })).status).toBe(200);
    expect((await ask({ headers: { authorization: `bearer ${key}` } })).status).toBe(200);
  });

  test("from X-Api-Key", async () => {
    const { key } = await makeKey(["messages:read"]);
    expect((await ask({ headers: { "X-Api-Key": key } })).status).toBe(200);
  });

  test("from both headers if they are equal", async () => {
    const { key } = await makeKey(["messages:read"]);
    expect((await ask({ key, headers: { "X-Api-Key": key } })).status).toBe(200);
  });

  test("on every replica", async () => {
    const { key } = await makeKey(["messages:read"]);
    expect((await ask({ key, replica: 0 })).status).toBe(200);
    expect((await ask({ key, replica: 1 })).status).toBe(200);
  });

  test("if it was imported and has another form", async () => {
    const legacy = "legacy/key+of=16";
    await importKey(legacy);
    expect((await ask({ key: legacy })).status).toBe(200);
    expect((await ask({ headers: { "X-Api-Key": legacy } })).status).toBe(200);
  });

  test("if it is SVC_ADMIN_KEY with spaces and special characters", async () => {
    expect((await ask({ key: ADMIN_KEY })).status).toBe(200);
    expect((await ask({ headers: { "X-Api-Key": ADMIN_KEY } })).status).toBe(200);
    expect((await ask({ key: ADMIN_KEY, headers: { "X-Api-Key": ADMIN_KEY } })).status).toBe(200);
  });

  test("if it is not ASCII, sent as UTF-8", async () => {
    await importKey(FOREIGN_KEY);
    // Headers are bytes; Node's client encodes each character of a string as one byte.
    const sent = Buffer.from(FOREIGN_KEY, "utf8").toString("latin1");
    expect((await askRaw([["Authorization", `Bearer ${sent}`]])).status).toBe(200);
    expect((await askRaw([["X-Api-Key", sent]])).status).toBe(200);
  });
});

describe("401", () => {
  test("missing_key without a key", async () => {
    for (const headers of [{}, { "X-Api-Key": "" }]) {
      const answer = await ask({ headers });
      expectProblem(answer, "missing_key");
      expect(answer.headers.get("www-authenticate")).toBe(CHALLENGE);
    }
  });

  test("missing_key for a key in the query string, which is ignored", async () => {
    const { key } = await makeKey(["messages:read"]);
    for (const name of ["apiKey", "api_key", "key", "access_token"]) {
      expectProblem(await ask({ query: `?${name}=${encodeURIComponent(key)}` }), "missing_key");
    }
  });

  test.each([
    ["unknown", `Bearer ${PLANTED}`],
    ["of the right form but unknown", "Bearer svc_0123456789abcdefghijklmnopqrstuv012345"],
    ["without a token", "Bearer"],
    ["of another scheme", `Basic ${Buffer.from(`user:${PLANTED}`).toString("base64")}`],
    ["with a bare key", PLANTED],
  ])("invalid_key for an Authorization that is %s", async (_what, authorization) => {
    const answer = await ask({ headers: { Authorization: authorization } });
    expectProblem(answer, "invalid_key");
    expect(answer.headers.get("www-authenticate")).toBe(INVALID_TOKEN);
    expect(answer.text).not.toContain(PLANTED);
  });

  test("invalid_key for an unknown X-Api-Key, also one of 8,000 characters", async () => {
    expectProblem(await ask({ headers: { "X-Api-Key": PLANTED } }), "invalid_key");
    expectProblem(await ask({ headers: { "X-Api-Key": "k".repeat(8_000) } }), "invalid_key");
  });

  test("invalid_key for an expired key", async () => {
    const { key } = await makeKey(["messages:read"], { expiresAt: new Date(Date.now() - 1_000) });
    expectProblem(await ask({ key }), "invalid_key");
  });

  test("invalid_key as soon as a key expires", async () => {
    let lifeMs = 750;
    const key = await waitFor(
      async () => {
        // On a machine that is too slow to use a key in time, the lifetime is doubled.
        lifeMs *= 2;
        const made = await makeKey(["messages:read"], { expiresAt: new Date(Date.now() + lifeMs) });
        return (await ask({ key: made.key })).status === 200 && made.key;
      },
      { what: "a key that is used before it expires" },
    );
    const answer = await waitFor(
      async () => {
        const answered = await ask({ key });
        return answered.status === 200 ? null : answered;
      },
      { what: "the key to expire" },
    );
    expectProblem(answer, "invalid_key");
  });

  test("invalid_key on every replica once a key is revoked", async () => {
    const { id, key } = await makeKey(["messages:read"]);
    for (const replica of [0, 1]) expect((await ask({ key, replica })).status).toBe(200);
    expect(await product.store.apiKeys.revoke(id)).toBe(true);
    for (const replica of [0, 1]) {
      await waitFor(async () => (await ask({ key, replica })).status === 401, {
        what: `replica ${replica} to refuse the revoked key`,
      });
      expectProblem(await ask({ key, replica }), "invalid_key");
    }
  });

  test("before anything else is checked: body, method and path", async () => {
    const url = `${api.baseUrl()}/api/v1`;
    expectProblem(await callApi(`${url}/messages`, { method: "POST", body: "no json" }), "missing_key");
    expectProblem(await callApi(`${url}/messages`, { method: "DELETE" }), "missing_key");
    expectProblem(await callApi(`${url}/nothing-here`), "missing_key");
  });
});

describe("400 ambiguous_credentials", () => {
  test("for different keys in the two headers, even if both are valid", async () => {
    const { key } = await makeKey(["messages:read"]);
    const { key: other } = await makeKey(["messages:read"]);
    expectProblem(await ask({ key, headers: { "X-Api-Key": other } }), "ambiguous_credentials");
    expectProblem(await ask({ key, headers: { "X-Api-Key": PLANTED } }), "ambiguous_credentials");
    expectProblem(await ask({ key: PLANTED, headers: { "X-Api-Key": key } }), "ambiguous_credentials");
  });

  test.each(["Authorization", "X-Api-Key", "x-svc-project"])("for a header %s that is sent twice", async (name) => {
    const { key } = await makeKey(["messages:read"]);
    const value = { Authorization: `Bearer ${key}`, "X-Api-Key": key, "x-svc-project": "north" }[name] ?? "";
    const first: [string, string][] = name === "x-svc-project" ? [["X-Api-Key", key]] : [];
    const answer = await askRaw([...first, [name, value], [name, value]]);
    expectProblem(answer, "ambiguous_credentials");
  });
});

describe("403 insufficient_scope", () => {
  test.each<{ scopes: Scope[]; lacks: string; request: ApiRequest; path: string }>([
    { scopes: ["messages:read"], lacks: "messages:write", request: { json: { text: "hi" } }, path: "messages" },
    { scopes: ["messages:write"], lacks: "messages:read", request: {}, path: "messages/chat" },
    { scopes: ["messages:write"], lacks: "messages:read", request: { method: "HEAD" }, path: "messages/chat" },
    { scopes: ["kb:*", "tickets:*"], lacks: "messages:write", request: { json: { text: "hi" } }, path: "messages" },
    { scopes: [], lacks: "messages:read", request: {}, path: "messages/chat" },
  ])("$scopes does not cover $lacks", async ({ scopes, lacks, request, path }) => {
    const { key } = await makeKey(scopes);
    const answer = await callApi(`${api.baseUrl()}/api/v1/${path}`, { key, ...request });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("www-authenticate")).toBe(`Bearer error="insufficient_scope", scope="${lacks}"`);
    if (request.method !== "HEAD") expectProblem(answer, "insufficient_scope");
  });

  test("is checked before the body", async () => {
    const { key } = await makeKey(["messages:read"]);
    expectProblem(
      await callApi(`${api.baseUrl()}/api/v1/messages`, { key, method: "POST", body: "no json" }),
      "insufficient_scope",
    );
  });

  test("messages:* covers reading and writing, admin:* everything", async () => {
    const { key: wide } = await makeKey(["messages:*"]);
    const { key: admin } = await makeKey(["admin:*"], { project: null });
    for (const key of [wide, admin]) {
      const sent = await callApi(`${api.baseUrl()}/api/v1/messages`, { key, json: { text: "hi", mode: "async" } });
      expect(sent.status).toBe(202);
      expect((await ask({ key })).status).toBe(200);
    }
  });
});

describe("the project", () => {
  test("is chosen by an administrator with x-svc-project, and every response has it", async () => {
    for (const [project, text] of [
      ["north", "answered in the north"],
      ["south", "answered in the south"],
    ] as const) {
      const answer = await api.send(project, { text: "where?" });
      expect([answer.texts, answer.headers.get("x-svc-project")]).toEqual([[text], project]);
    }
  });

  test("is `default` for an administrator without the header", async () => {
    expect((await ask({ key: product.adminKey })).headers.get("x-svc-project")).toBe("default");
  });

  test("is 404 for an administrator with an unknown one", async () => {
    for (const project of ["nowhere", "North", "__proto__", "n".repeat(500), "'; DROP TABLE projects"]) {
      expectProblem(await ask({ key: product.adminKey, project }), "not_found");
    }
  });

  test("is that of a scoped key, with and without the header", async () => {
    const { key } = await makeKey(["messages:*"]);
    for (const request of [{ key }, { key, project: "north" }]) {
      const answer = await ask(request);
      expect([answer.status, answer.headers.get("x-svc-project")]).toEqual([200, "north"]);
    }
    const sent = await callApi(`${api.baseUrl()}/api/v1/messages`, { key, json: { text: "where?" } });
    expect(sent.texts).toEqual(["answered in the north"]);
  });

  test("is 403 for a scoped key with another one, whether or not that exists", async () => {
    const { key } = await makeKey(["messages:*"]);
    const existing = await ask({ key, project: "south" });
    const missing = await ask({ key, project: "nowhere" });
    expectProblem(existing, "project_mismatch");
    expectProblem(missing, "project_mismatch");
    const { requestId: _one, ...shown } = existing.body;
    const { requestId: _other, ...shownOfMissing } = missing.body;
    expect(shown).toEqual(shownOfMissing);
    const names = (answer: ApiAnswer) => [...answer.headers.keys()].sort();
    expect(names(existing)).toEqual(names(missing));
    expect(existing.headers.get("x-svc-project")).toBeNull();
  });

  test("is also in error responses, once the key is known", async () => {
    const { key } = await makeKey(["messages:read"]);
    const refused = await callApi(`${api.baseUrl()}/api/v1/messages`, { key, json: { text: "hi" } });
    expect([refused.status, refused.headers.get("x-svc-project")]).toEqual([403, "north"]);
  });
});

// Last in this file, because the administrator's key changes.
describe("SVC_ADMIN_KEY", () => {
  test("changed between two starts: the new key works, the old one is revoked, other keys stay", async () => {
    const changed = "another-admin-key-0123456789";
    secrets.add(changed);
    const { key: scoped } = await makeKey(["messages:read"]);
    expectNoSecretInOutput();
    await product.restart({ SVC_ADMIN_KEY: changed });
    for (const replica of [0, 1]) {
      expect((await ask({ key: changed, replica })).status).toBe(200);
      expectProblem(await ask({ key: ADMIN_KEY, replica }), "invalid_key");
      expect((await ask({ key: scoped, replica })).status).toBe(200);
    }
  });

  test("and all other keys and tokens are in no log line", () => {
    expectNoSecretInOutput();
  });
});

function expectNoSecretInOutput(): void {
  for (const { name, output } of product.composition.processes) {
    const lines = output().split("\n");
    expect(lines.length).toBeGreaterThan(1);
    for (const secret of secrets) {
      const message = lines.filter((line) => [secret, encodeURIComponent(secret)].some((form) => line.includes(form)));
      expect({ name, message }).toEqual({ name, message: [] });
    }
  }
}
