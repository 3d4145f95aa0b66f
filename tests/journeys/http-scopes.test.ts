import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { Scope } from "@svc/contracts";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const RESOURCES = ["messages", "agents", "kb", "models", "tickets", "channels", "webhooks", "audit", "privacy"];
const ACTIONS = ["read", "write", "execute", "*"];
/** Every scope that a key can have. */
const SCOPES = ["admin:*", ...RESOURCES.flatMap((name) => ACTIONS.map((action) => `${name}:${action}`))] as Scope[];

interface Endpoint {
  method: string;
  /** `:id` stands for what the path is about, chosen for each request. */
  path: string;
  /** What a caller is told that it lacks; null where no key is needed. */
  scope: string | null;
  /** The scopes that suffice. */
  allowed: Scope[];
  json?: () => object;
  /** The status of a call that is let on. */
  status: number;
}

const ADMIN = { scope: "admin:*", allowed: ["admin:*"] } satisfies Partial<Endpoint>;
const READ = {
  scope: "messages:read",
  allowed: ["messages:read", "messages:*", "admin:*"],
} satisfies Partial<Endpoint>;
const WRITE = {
  scope: "messages:write",
  allowed: ["messages:write", "messages:*", "admin:*"],
} satisfies Partial<Endpoint>;
const SEE_DELIVERIES = {
  scope: "webhooks:read",
  allowed: ["webhooks:read", "webhooks:*", "admin:*"],
} satisfies Partial<Endpoint>;

const REPLAY = {
  scope: "webhooks:write",
  allowed: ["webhooks:write", "webhooks:*", "admin:*"],
} satisfies Partial<Endpoint>;

const SEE_KBS = { scope: "kb:read", allowed: ["kb:read", "kb:*", "admin:*"] } satisfies Partial<Endpoint>;
const CHANGE_KBS = { scope: "kb:write", allowed: ["kb:write", "kb:*", "admin:*"] } satisfies Partial<Endpoint>;

const SEE_AGENTS = {
  scope: "agents:read",
  allowed: ["agents:read", "agents:*", "admin:*"],
} satisfies Partial<Endpoint>;
const CHANGE_AGENTS = {
  scope: "agents:write",
  allowed: ["agents:write", "agents:*", "admin:*"],
} satisfies Partial<Endpoint>;
const ASK_AGENTS = {
  scope: "agents:execute",
  allowed: ["agents:execute", "agents:*", "admin:*"],
} satisfies Partial<Endpoint>;

const newAgent = () => ({ name: `made-${newId()}`, enabled: false });
const newKb = () => ({ name: `made-${newId()}` });
const newKey = () => ({ name: "made in the table", scopes: ["kb:read"] });
const newProject = () => ({ name: `made-${newId()}` });

/** Every endpoint of the API, with what it needs (service document, sections 4.1 to 4.4). */
const ENDPOINTS: Endpoint[] = [
  { method: "GET", path: "/health", scope: null, allowed: SCOPES, status: 200 },
  { method: "HEAD", path: "/health", scope: null, allowed: SCOPES, status: 200 },
  { method: "POST", path: "/messages", ...WRITE, json: () => ({ text: "hi", mode: "async" }), status: 202 },
  { method: "GET", path: "/messages/chat", ...READ, status: 200 },
  { method: "HEAD", path: "/messages/chat", ...READ, status: 200 },
  { method: "GET", path: "/admin/keys", ...ADMIN, status: 200 },
  { method: "HEAD", path: "/admin/keys", ...ADMIN, status: 200 },
  { method: "POST", path: "/admin/keys", ...ADMIN, json: newKey, status: 201 },
  { method: "GET", path: "/admin/keys/:id", ...ADMIN, status: 200 },
  { method: "HEAD", path: "/admin/keys/:id", ...ADMIN, status: 200 },
  { method: "DELETE", path: "/admin/keys/:id", ...ADMIN, status: 200 },
  { method: "POST", path: "/admin/keys/:id/rotate", ...ADMIN, status: 201 },
  { method: "GET", path: "/projects", ...ADMIN, status: 200 },
  { method: "HEAD", path: "/projects", ...ADMIN, status: 200 },
  { method: "POST", path: "/projects", ...ADMIN, json: newProject, status: 201 },
  { method: "GET", path: "/projects/:id", ...ADMIN, status: 200 },
  { method: "HEAD", path: "/projects/:id", ...ADMIN, status: 200 },
  { method: "GET", path: "/admin/deliveries", ...SEE_DELIVERIES, status: 200 },
  { method: "HEAD", path: "/admin/deliveries", ...SEE_DELIVERIES, status: 200 },
  // There is none here: whoever is let on is told so.
  { method: "GET", path: "/admin/deliveries/:id", ...SEE_DELIVERIES, status: 404 },
  { method: "HEAD", path: "/admin/deliveries/:id", ...SEE_DELIVERIES, status: 404 },
  { method: "POST", path: "/admin/deliveries/:id/replay", ...REPLAY, status: 404 },
  { method: "GET", path: "/admin/kb", ...SEE_KBS, status: 200 },
  { method: "POST", path: "/admin/kb", ...CHANGE_KBS, json: newKb, status: 201 },
  // Nor a knowledge base. The other paths of them are in http-kb.test.ts: there is a limit of failed authentications.
  { method: "DELETE", path: "/admin/kb/:id", ...CHANGE_KBS, status: 404 },
  { method: "POST", path: "/admin/kb/:id/documents", ...CHANGE_KBS, json: () => ({ text: "a" }), status: 404 },
  // Of agents likewise; the other paths are in http-admin-agents.test.ts.
  { method: "GET", path: "/admin/agents", ...SEE_AGENTS, status: 200 },
  { method: "POST", path: "/admin/agents", ...CHANGE_AGENTS, json: newAgent, status: 201 },
  { method: "PATCH", path: "/admin/agents/:id", ...CHANGE_AGENTS, json: newAgent, status: 404 },
  { method: "POST", path: "/admin/agents/:id/execute", ...ASK_AGENTS, json: () => ({ input: "hi" }), status: 404 },
];
const LOCKED = ENDPOINTS.filter(({ scope }) => scope !== null);
const titled = (endpoints: Endpoint[]) =>
  endpoints.map((endpoint): [string, Endpoint] => [`${endpoint.method} ${endpoint.path}`, endpoint]);

let product: Product;
let api: ApiClient;
let north: Project;
/** A key of each scope, bound to the project north; that of admin:* to none. */
const keys = new Map<Scope, string>();

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  north = await addProject(product.store, "north", { fixedReply: "answered in the north" });
  await addProject(product.store, "south", { fixedReply: "answered in the south" });
  for (const scope of SCOPES) keys.set(scope, await makeKey([scope]));
});

afterAll(() => product.stop());

/** Makes a key without a rate limit. */
async function makeKey(scopes: Scope[]): Promise<string> {
  const { key } = await issueKey(product.store, {
    name: scopes.join(" "),
    scopes,
    project: scopes.includes("admin:*") ? null : north.id,
    createdBy: "test",
    rateLimit: null,
  });
  return key;
}

/** A key to work on, of which nothing but its id is known here. */
async function makeTarget(): Promise<string> {
  const target = { name: "target", scopes: ["kb:read" as const], project: north.id, createdBy: "test" };
  return (await issueKey(product.store, target)).record.id;
}

/** What stands for `:id`, by what the path is about. */
const TARGETS: Record<string, () => string | Promise<string>> = {
  keys: makeTarget,
  projects: () => north.id,
  deliveries: newId,
  kb: newId,
  agents: newId,
};

/** What exists, so that it shows whether a refused call has changed anything. */
async function countAll() {
  const keys = await product.store.apiKeys.listPage({ limit: 100_000 });
  const live = keys.filter(({ revokedAt, expiresAt }) => revokedAt === null && expiresAt === null);
  return { keys: keys.length, live: live.length, projects: (await product.store.projects.list()).length };
}

/** Sends a request to an endpoint, with its own body unless another is given. */
async function call(endpoint: Endpoint, request: ApiRequest, replica = 0): Promise<ApiAnswer> {
  const [, family = ""] = /^(?:\/admin)?\/(\w+)\/:id/.exec(endpoint.path) ?? [];
  const id = await TARGETS[family]?.();
  return callApi(`${api.baseUrl(replica)}/api/v1${endpoint.path.replace(":id", id ?? "")}`, {
    method: endpoint.method,
    ...(endpoint.json === undefined || request.body !== undefined ? {} : { json: endpoint.json() }),
    ...request,
  });
}

/** Checks that a call was refused; HEAD has a status only. */
function expectRefused(
  endpoint: Endpoint,
  answer: ApiAnswer,
  code: Parameters<typeof expectProblem>[1],
  status: number,
) {
  if (endpoint.method === "HEAD") expect([answer.status, answer.text]).toEqual([status, ""]);
  else expectProblem(answer, code);
}

describe("without a key", () => {
  test.each(titled(LOCKED))("%s is 401", async (_title, endpoint) => {
    const answer = await call(endpoint, {});
    expectRefused(endpoint, answer, "missing_key", 401);
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="svc"');
    expect(answer.headers.get("x-svc-project")).toBeNull();
  });

  test("health is open, also with a key that is none", async () => {
    for (const key of [undefined, "svc_nonsense"]) {
      const answer = await callApi(`${api.baseUrl()}/api/v1/health`, key === undefined ? {} : { key });
      expect(answer.status).toBe(200);
    }
  });
});

describe("with each scope alone", () => {
  test.each(titled(ENDPOINTS))("%s is open to those that have it", async (_title, endpoint) => {
    for (const [index, scope] of endpoint.allowed.entries()) {
      const answer = await call(endpoint, { key: keys.get(scope) ?? "" }, index % 2);
      expect({ scope, status: answer.status }).toEqual({ scope, status: endpoint.status });
      if (endpoint.scope === null) continue;
      expect(answer.headers.get("x-svc-project")).toBe(scope === "admin:*" ? "default" : "north");
    }
  });

  test.each(titled(LOCKED))("%s is closed to all others, and does nothing for them", async (_title, endpoint) => {
    const others = SCOPES.filter((scope) => !endpoint.allowed.includes(scope));
    const before = await countAll();
    for (const [index, scope] of others.entries()) {
      const key = keys.get(scope) ?? "";
      // Refused before the body is read.
      const answer = await call(endpoint, endpoint.json === undefined ? { key } : { key, body: "no JSON" }, index % 2);
      expect({ scope, status: answer.status }).toEqual({ scope, status: 403 });
      expectRefused(endpoint, answer, "insufficient_scope", 403);
      expect(answer.headers.get("www-authenticate")).toBe(
        `Bearer error="insufficient_scope", scope="${endpoint.scope}"`,
      );
      expect(answer.headers.get("x-svc-project")).toBe("north");
    }
    const targets = endpoint.path.includes("/admin/keys/:id") ? others.length : 0;
    expect(await countAll()).toEqual({
      keys: before.keys + targets,
      live: before.live + targets,
      projects: before.projects,
    });
  });

  test("all that do not suffice together are still not enough", async () => {
    for (const endpoint of LOCKED) {
      const key = await makeKey(SCOPES.filter((scope) => !endpoint.allowed.includes(scope)));
      expectRefused(endpoint, await call(endpoint, { key }), "insufficient_scope", 403);
    }
  });
});

describe("with a project", () => {
  test.each(titled(LOCKED))("%s works on the key's own project, or on none", async (_title, endpoint) => {
    for (const scope of SCOPES.filter((one) => one !== "admin:*" && endpoint.allowed.includes(one))) {
      const key = keys.get(scope) ?? "";
      const own = await call(endpoint, { key, project: "north" });
      expect([own.status, own.headers.get("x-svc-project")]).toEqual([endpoint.status, "north"]);
    }
    for (const scope of SCOPES.filter((one) => one !== "admin:*")) {
      for (const project of ["south", "nowhere"]) {
        const answer = await call(endpoint, { key: keys.get(scope) ?? "", project });
        expectRefused(endpoint, answer, "project_mismatch", 403);
        expect(answer.headers.get("www-authenticate")).toBeNull();
        expect(answer.headers.get("x-svc-project")).toBeNull();
      }
    }
  });

  test.each(titled(LOCKED))("%s works on the project that an administrator names", async (_title, endpoint) => {
    const key = keys.get("admin:*") ?? "";
    for (const project of ["north", "south", "default"]) {
      const answer = await call(endpoint, { key, project });
      expect([answer.status, answer.headers.get("x-svc-project")]).toEqual([endpoint.status, project]);
    }
    expectRefused(endpoint, await call(endpoint, { key, project: "nowhere" }), "not_found", 404);
  });
});
