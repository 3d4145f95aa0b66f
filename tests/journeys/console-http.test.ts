import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ROLE_SCOPES, makeLink, scopesOfRoles } from "@svc/auth";
import { ADMIN_ENDPOINTS, grantsScope } from "@svc/contracts";
import type { AdminOperation, Endpoint, OperatorRole, RequiredScope, Scope } from "@svc/contracts";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { consoleClientOf, cookieOf, signInToConsole } from "./support/create-console-client.ts";
import type { ConsoleClient } from "./support/create-console-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { hashCheaply } from "./support/hash-cheaply.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const isSoak = process.env["SVC_SOAK"] === "1";
const PASSWORD = "correct horse battery";
/** One hash for all operators, because hashing takes a fraction of a second. */
let passwordHash: string;

let product: Product;
let urls: string[];
let north: Project;
let south: Project;
let addresses = 0;

/** Returns headers with a new client address, because sign-in attempts are limited by address. */
const elsewhere = () => ({ "X-Forwarded-For": `203.0.${(++addresses >> 8) & 255}.${addresses & 255}` });
const urlOf = (index = 0) => urls[index % urls.length] ?? "";

type Roles = readonly { project: string; role: OperatorRole }[];
const idOf = (project: string) => ({ "*": null, north: north.id, south: south.id })[project] ?? null;

async function addOperator(roles: Roles): Promise<{ id: string; email: string; password: string }> {
  const email = `ann-${newId()}@example.com`;
  const record = await product.store.operators.insert({
    email,
    name: "Ann",
    roles: roles.map(({ project, role }) => ({ project: idOf(project), role })),
    passwordHash,
  });
  return { id: record?.id ?? "", email, password: PASSWORD };
}

async function signedIn(roles: Roles): Promise<ConsoleClient & { id: string; email: string }> {
  const person = await addOperator(roles);
  const { email, password, id } = person;
  return { ...(await signInToConsole(urlOf(), { email, password }, elsewhere())), id, email };
}

beforeAll(async () => {
  product = await startProduct({ env: { SVC_TRUST_PROXY: "127.0.0.1" }, apps: ["console"] });
  urls = product.composition.consoleUrls;
  passwordHash = hashCheaply(PASSWORD);
  north = await addProject(product.store, "north", { fixedReply: "answered" });
  south = await addProject(product.store, "south", { fixedReply: "answered" });
});

afterAll(async () => {
  await product?.stop();
});

describe("a link", () => {
  test("creates the first administrator once, also after other operators, and no more once there is one", async () => {
    await product.store.operators.insert({
      email: "viewer@example.com",
      name: "Vic",
      roles: [{ project: null, role: "viewer" }],
      passwordHash,
    });
    const { token } = await makeLink(product.store, null);
    const check = () => callApi(`${urlOf()}/link/look`, { json: { token }, headers: elsewhere() });
    expect((await check()).body).toMatchObject({ kind: "first-administrator", email: null });
    const use = (input: object) => callApi(`${urlOf()}/link`, { json: { token, ...input }, headers: elsewhere() });
    expectProblem(await use({ password: PASSWORD }), "invalid_request", ["/email", "/name"]);
    expectProblem(await use({ password: "short", email: "x", name: "" }), "invalid_request");
    const first = { password: PASSWORD, email: "First@Example.com", name: "First" };
    const client = consoleClientOf(urlOf(), await use(first));
    expect(client.session).toMatchObject({
      operator: { name: "First", email: "First@Example.com", roles: [{ project: "*", role: "administrator" }] },
      isAdministrator: true,
    });
    expect((await client.call("/api/v1/admin/keys")).status).toBe(200);
    expectProblem(await use(first), "not_found");
    expectProblem(await check(), "not_found");
    // A second link fails because an administrator exists.
    const { token: second } = await makeLink(product.store, null);
    expectProblem(
      await callApi(`${urlOf()}/link/look`, { json: { token: second }, headers: elsewhere() }),
      "not_found",
    );
    expectProblem(await use({ ...first, token: second }), "not_found");
  });

  test("lets an operator choose a password, ends their sessions, and cannot be used again", async () => {
    const client = await signedIn([{ project: "north", role: "viewer" }]);
    const administrator = await signedIn([{ project: "*", role: "administrator" }]);
    const made = await administrator.call(`/api/v1/admin/operators/${client.id}/link`, { method: "POST" });
    const { item } = made.body as unknown as { item: { token: string } };
    const use = (password: string) =>
      callApi(`${urlOf()}/link`, { json: { token: item.token, password }, headers: elsewhere() });
    const again = consoleClientOf(urlOf(), await use("another long password"));
    expect(again.session.operator.id).toBe(client.id);
    await waitFor(async () => (await client.call("/session")).status === 401, { what: "the older session to end" });
    expectProblem(await use("yet another password"), "not_found");
    expect(made.text).not.toContain(client.email);
  });
});

describe("signing in", () => {
  test("stores the token in a cookie that is hidden from scripts and other sites, and is sent only over https if the console uses https", async () => {
    const { email, password } = await addOperator([]);
    const answer = await callApi(`${urlOf()}/session`, { json: { email, password }, headers: elsewhere() });
    const [cookie] = answer.headers.getSetCookie();
    expect(cookie).toMatch(
      /^svc_session=[\w-]{43}; Max-Age=604800; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    expect(answer.text).not.toContain(cookieOf(answer)?.split("=")[1] ?? "?");
    const headers = { ...elsewhere(), "X-Forwarded-Proto": "https" };
    const secure = await callApi(`${urlOf()}/session`, { json: { email, password }, headers });
    expect(secure.headers.getSetCookie()[0]).toMatch(
      /^__Host-svc_session=.*; Path=\/; .*; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  test("returns the same error for a wrong password, an unknown address, a missing password and a disabled operator", async () => {
    const { email, id } = await addOperator([]);
    const disabled = await addOperator([]);
    await product.store.operators.update(disabled.id, { disabled: true }, null);
    const without = await addOperator([]);
    await product.store.operators.update(without.id, { passwordHash: null }, null);
    const tries = [
      { email, password: "wrong password!" },
      { email: `nobody-${newId()}@example.com`, password: PASSWORD },
      { email: disabled.email, password: PASSWORD },
      { email: without.email, password: PASSWORD },
    ];
    const words = new Set<string>();
    for (const json of tries) {
      const answer = await callApi(`${urlOf()}/session`, { json, headers: elsewhere() });
      expectProblem(answer, "sign_in_failed");
      expect(cookieOf(answer)).toBeNull();
      words.add(answer.body.detail ?? "");
    }
    expect(words.size).toBe(1);
    const rows = await queryDatabase<{ result: string }>(
      product.databaseUrl,
      "SELECT result FROM audit_events WHERE action = 'session.sign_in' AND object = $1",
      [id],
    );
    expect(rows).toEqual([{ result: "sign_in_failed" }]);
  });

  test("is limited per email address and client address, on all replicas together, and works from another address", async () => {
    const { email } = await addOperator([]);
    const headers = elsewhere();
    const codes: (string | undefined)[] = [];
    for (let count = 0; count < 11; count++) {
      codes.push((await callApi(`${urlOf(count)}/session`, { json: { email, password: "guess" }, headers })).body.code);
    }
    expect(codes).toEqual([...Array<string>(10).fill("sign_in_failed"), "rate_limited"]);
    const owner = { json: { email, password: PASSWORD }, headers: elsewhere() };
    expect((await callApi(`${urlOf()}/session`, owner)).status).toBe(200);
  });

  test("works in a browser that has signed in before, regardless of other attempts from its address", async () => {
    const { email } = await addOperator([]);
    const headers = elsewhere();
    const first = await callApi(`${urlOf()}/session`, { json: { email, password: PASSWORD }, headers });
    const device = first.headers.getSetCookie().find((text) => text.startsWith("svc_device="));
    expect(device).toMatch(/; Path=\/session; .*HttpOnly; SameSite=Strict/);
    for (let count = 0; count < 11; count++) {
      await callApi(`${urlOf()}/session`, { json: { email, password: "guess" }, headers });
    }
    const json = { email, password: PASSWORD };
    expectProblem(await callApi(`${urlOf()}/session`, { json, headers }), "rate_limited");
    const known = { json, headers: { ...headers, Cookie: device?.split(";")[0] ?? "" } };
    expect((await callApi(`${urlOf(1)}/session`, known)).status).toBe(200);
  });

  test("again ends the previous session of the browser", async () => {
    const client = await signedIn([]);
    const json = { email: client.email, password: PASSWORD };
    const again = await callApi(`${urlOf()}/session`, { json, headers: { ...elsewhere(), Cookie: client.cookie } });
    expect(cookieOf(again)).not.toBe(client.cookie);
    await waitFor(async () => (await client.call("/session")).status === 401, { what: "the older session to end" });
  });

  test.each(["text/plain", "application/x-www-form-urlencoded"])(
    "rejects requests that a form of another site can send: %s",
    async (type) => {
      const headers = { ...elsewhere(), "Content-Type": type };
      expectProblem(await callApi(`${urlOf()}/session`, { body: "{}", headers }), "unsupported_media_type");
    },
  );
});

describe("a browser for push notifications", () => {
  const keys = { p256dh: `B${"A".repeat(86)}`, auth: "A".repeat(22) };
  const endpoint = "https://push.example.com/send/1";
  const isOn = async (client: ConsoleClient) =>
    ((await client.call(`/session/push?endpoint=${encodeURIComponent(endpoint)}`)).body as { isSubscribed?: boolean })
      .isSubscribed;

  test.each([
    ["a short point", { p256dh: "BAAA" }],
    ["a compressed point", { p256dh: `A${"A".repeat(43)}` }],
    ["a padded point", { p256dh: `${keys.p256dh}=` }],
    ["a short secret", { auth: "AAAA" }],
    ["a long secret", { auth: "A".repeat(43) }],
  ])("is rejected with 400 if its keys have %s", async (_what, change) => {
    const client = await signedIn([]);
    const answer = await client.call("/session/push", { json: { endpoint, keys: { ...keys, ...change } } });
    expectProblem(answer, "invalid_request", [`/keys/${Object.keys(change)[0]}`]);
    expect(await isOn(client)).toBe(false);
  });

  test("is that of the operator who subscribed it last", async () => {
    const [ann, ben] = [await signedIn([]), await signedIn([])];
    for (const [client, expected] of [
      [ann, [true, false]],
      [ben, [false, true]],
    ] as const) {
      expect((await client.call("/session/push", { json: { endpoint, keys } })).status).toBe(204);
      expect([await isOn(ann), await isOn(ben)]).toEqual(expected);
    }
    expect((await ann.call("/session/push", { method: "DELETE", json: { endpoint } })).status).toBe(204);
    expect(await isOn(ben)).toBe(true);
    expect((await ben.call("/session/push", { method: "DELETE", json: { endpoint } })).status).toBe(204);
    expect(await isOn(ben)).toBe(false);
  });
});

describe("a session", () => {
  test("ends on sign-out, and all sessions together, on every replica", async () => {
    const [one, other] = [await signedIn([]), await signedIn([])];
    const second = await signInToConsole(urlOf(), { email: other.email, password: PASSWORD }, elsewhere());
    expect((await one.call("/session", { method: "DELETE" })).status).toBe(204);
    expect((await other.call("/sessions", { method: "DELETE" })).status).toBe(204);
    for (const client of [one, other, second]) {
      for (const url of urls) {
        await waitFor(async () => (await callApi(`${url}/session`, { headers: client.headers })).status === 401, {
          what: "the session to end",
        });
      }
    }
    expectProblem(await one.call("/session"), "not_signed_in");
  });

  test("ends after 12 hours without use, and after 7 days in any case", async () => {
    for (const column of ["last_used_at", "created_at"]) {
      const client = await signedIn([]);
      const age = column === "created_at" ? "7 days" : "12 hours";
      const isOver = async () => {
        // Again for each call: one with a session that the process still knows counts as a use, and makes it young again.
        await queryDatabase(
          product.databaseUrl,
          `UPDATE operator_sessions SET ${column} = now() - interval '${age}' - interval '1 second' WHERE operator_id = $1`,
          [client.id],
        );
        return (await client.call("/session")).status === 401;
      };
      await waitFor(isOver, { what: `the session to end (${column})` });
    }
  });

  test.each([
    ["disabled", (id: string) => product.store.operators.update(id, { disabled: true }, null)],
    ["removed", (id: string) => product.store.operators.remove(id, null)],
    ["given another password", (id: string) => product.store.operators.update(id, { passwordHash }, null)],
  ])("ends when its operator is %s, and does not become valid again", async (_what, change) => {
    const client = await signedIn([{ project: "*", role: "viewer" }]);
    expect((await client.call("/api/v1/admin/tickets")).status).toBe(200);
    await change(client.id);
    for (const url of urls) {
      await waitFor(async () => (await callApi(`${url}/session`, { headers: client.headers })).status === 401, {
        what: "the session to end",
      });
    }
    await product.store.operators.update(client.id, { disabled: false }, null);
    expectProblem(await client.call("/api/v1/admin/tickets"), "not_signed_in");
  });

  test("has the current roles of its operator", async () => {
    const client = await signedIn([{ project: "north", role: "operator" }]);
    expect((await client.call("/api/v1/admin/kb", { json: { name: `kb ${newId()}` }, project: "north" })).status).toBe(
      201,
    );
    await product.store.operators.update(client.id, { roles: [{ project: north.id, role: "viewer" }] }, null);
    await waitFor(
      async () =>
        (await client.call("/api/v1/admin/kb", { json: { name: `kb ${newId()}` }, project: "north" })).status === 403,
      { what: "the role to be taken away" },
    );
    expect((await client.call("/api/v1/admin/kb", { project: "north" })).status).toBe(200);
  });

  test("cannot be started with an invalid token of any form, or with an API key", async () => {
    const tokens = ["", "x", "a".repeat(43), "%00", "../..", product.adminKey, "a".repeat(5_000)];
    for (const token of tokens) {
      const answer = await callApi(`${urlOf()}/api/v1/admin/tickets`, { headers: { Cookie: `svc_session=${token}` } });
      expectProblem(answer, "not_signed_in");
    }
    expectProblem(await callApi(`${urlOf()}/api/v1/admin/tickets`, { key: product.adminKey }), "not_signed_in");
  });

  test("can change its operator's password with the current one; the other sessions end", async () => {
    const client = await signedIn([]);
    const change = (currentPassword: string) =>
      client.call("/session/password", { json: { currentPassword, newPassword: "a new long password" } });
    expectProblem(await change("not the password"), "sign_in_failed");
    const next = consoleClientOf(urlOf(), await change(PASSWORD));
    expect((await next.call("/session")).status).toBe(200);
    await waitFor(async () => (await client.call("/session")).status === 401, { what: "the older session to end" });
    const json = { email: client.email, password: "a new long password" };
    expect((await callApi(`${urlOf()}/session`, { json, headers: elsewhere() })).status).toBe(200);
  });
});

test("a public profile belongs to its operator, is trimmed and bounded, and is never an email address", async () => {
  const [ann, bob] = [await signedIn([]), await signedIn([])];
  const put = (profile: object) => ann.call("/session/profile", { method: "PUT", json: profile });
  const kept = { signature: "Ann\n**Shop** team", publicName: "Anna", picture: "/team/anna.jpg" };
  expect(await put({ ...kept, signature: " Ann\n**Shop** team " })).toMatchObject({
    status: 200,
    body: { operator: kept },
  });
  expect(await put({ publicName: "Anna" })).toMatchObject({ status: 200 });
  expect((await ann.call("/session")).body).toMatchObject({ operator: kept });
  expect((await bob.call("/session")).body).toMatchObject({
    operator: { signature: "", publicName: "", picture: "" },
  });
  const wrong = [
    ...["x".repeat(1_001), "\0", 7].map((signature) => ({ signature })),
    ...["ann@example.com", "x".repeat(61), "An\nna", " "].map((publicName) => ({ publicName })),
    ...["https://example.com/a.png", "//example.com/a.png", "/\\example.com", "javascript:alert(1)", "a.png"].map(
      (picture) => ({ picture }),
    ),
  ];
  for (const profile of wrong) expectProblem(await put(profile), "invalid_request");
  expect(await put({ publicName: "" })).toMatchObject({ status: 200, body: { operator: { publicName: "" } } });
});

test("notification settings belong to their operator, have defaults, and reject invalid times and time zones", async () => {
  const [ann, bob] = [await signedIn([]), await signedIn([])];
  const put = (json: object) => ann.call("/session/notifications", { method: "PUT", json });
  const before = await ann.call("/session/notifications");
  const item = { assigned: true, needsReview: false, quietHours: null };
  expect(before.body).toMatchObject({ item, isStored: false, canSend: false });
  const change = { needsReview: true, quietHours: ["20:00", "07:00"], timeZone: "Europe/Berlin", language: "de" };
  expect(await put(change)).toMatchObject({ status: 200, body: { item: { ...change, assigned: true } } });
  expect((await ann.call("/session/notifications")).body).toMatchObject({ item: change, isStored: true });
  expect((await bob.call("/session/notifications")).body).toEqual(before.body);
  for (const wrong of [{ quietHours: ["20:00", "20:00"] }, { digestAt: "24:00" }, { timeZone: "Mars" }, { other: 1 }]) {
    expectProblem(await put(wrong), "invalid_request");
  }
});

describe("a forged call", () => {
  test("without the token of its session, or with that of another one, changes nothing", async () => {
    const client = await signedIn([{ project: "*", role: "administrator" }]);
    const other = await signedIn([{ project: "*", role: "administrator" }]);
    for (const csrf of ["", "x", other.session.csrf]) {
      const headers = { "x-svc-csrf": csrf };
      const calls: [string, ApiRequest][] = [
        ["/api/v1/admin/kb", { json: { name: "forged" } }],
        ["/session", { method: "DELETE" }],
        ["/sessions", { method: "DELETE" }],
        ["/session/password", { json: {} }],
        ["/session/profile", { method: "PUT", json: { signature: "forged" } }],
        ["/presence", { json: { ticketId: null } }],
        // A plain link, or an image, could make these calls.
        ["/api/v1/admin/models/ollama:forged/pull", {}],
      ];
      for (const [path, request] of calls) {
        expectProblem(await client.call(path, { ...request, headers }), "csrf_refused");
      }
    }
    const { body } = await client.call("/api/v1/admin/kb?q=forged");
    expect(body).toMatchObject({ items: [] });
  });

  test.each<Record<string, string>>([
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
  ])("that a browser sends from another site (%o) is rejected even if every token is right", async (headers) => {
    const client = await signedIn([{ project: "*", role: "administrator" }]);
    expectProblem(await client.call("/api/v1/admin/kb", { json: { name: "forged" }, headers }), "csrf_refused");
    expectProblem(await client.call("/api/v1/admin/kb", { headers }), "csrf_refused");
    expectProblem(await client.call("/events", { headers }), "csrf_refused");
    const json = { email: client.email, password: PASSWORD };
    expectProblem(
      await callApi(`${urlOf()}/session`, { json, headers: { ...elsewhere(), ...headers } }),
      "csrf_refused",
    );
  });

  test("is not assumed if the browser reports that the request comes from the console", async () => {
    const client = await signedIn([{ project: "*", role: "viewer" }]);
    const headers = { Origin: urlOf(), "Sec-Fetch-Site": "same-origin" };
    expect((await client.call("/presence", { json: { ticketId: null }, headers })).status).toBe(204);
  });
});

describe("roles", () => {
  const ROLES = Object.keys(ROLE_SCOPES) as OperatorRole[];
  const CALLS = Object.entries(ADMIN_ENDPOINTS) as [AdminOperation, Endpoint][];
  const clients = new Map<string, ConsoleClient>();

  beforeAll(async () => {
    for (const role of ROLES) {
      for (const project of ["north", "*"]) {
        clients.set(`${project}:${role}`, await signedIn([{ project, role }]));
      }
    }
    clients.set("none", await signedIn([]));
  });

  /** Calls an endpoint with unknown ids and an invalid body: only authorized calls get as far as those errors. */
  function ask(client: ConsoleClient, { path, method, body }: Endpoint, project: string) {
    const address = path.replaceAll(/\{\w+\}/g, () => newId());
    const sent = method === "GET" || body === undefined ? {} : { body: "no JSON" };
    return client.call(address, { method, project, ...sent });
  }

  function scopesOf(name: string, asked: string): Scope[] {
    const [project = "", role] = name.split(":");
    return scopesOfRoles(role === undefined ? [] : [{ project, role: role as OperatorRole }], asked);
  }

  /** Each includes the previous one, as packages/auth/src/authenticate.test.ts checks. */
  const LADDER = ["none", "north:viewer", "north:operator", "north:administrator", "*:administrator"];

  /**
   * Cases of operators and projects: the lowest role with these scopes, the highest role without them, and operators
   * without a role in the project. A soak test uses every role.
   */
  function casesOf(needed: readonly RequiredScope[]): [name: string, project: string][] {
    if (isSoak) {
      return [...clients.keys()].flatMap((name) =>
        ["north", "south"].map((project): [string, string] => [name, project]),
      );
    }
    const least = LADDER.findIndex((name) => needed.every((scope) => grantsScope(scopesOf(name, "north"), scope)));
    const around = LADDER.slice(Math.max(least - 1, 0), least + 1);
    return [
      ...around.map((name): [string, string] => [name, "north"]),
      ["north:administrator", "south"],
      ["none", "north"],
    ];
  }

  test.each(CALLS)("%s is open only to roles with its scopes in their project", async (_name, endpoint) => {
    const needed = [endpoint.scope, endpoint.alsoScope].filter((scope) => scope != null);
    for (const [name, asked] of casesOf(needed)) {
      const client = clients.get(name);
      if (client === undefined) throw new Error(`nobody is signed in as ${name}`);
      const scopes = scopesOf(name, asked);
      const answer = await ask(client, endpoint, asked);
      const message = { name, asked, code: answer.body.code };
      if (scopes.length === 0) expect(message).toEqual({ name, asked, code: "project_mismatch" });
      else if (needed.every((scope) => grantsScope(scopes, scope))) {
        expect(["insufficient_scope", "project_mismatch", "not_signed_in", "internal"]).not.toContain(message.code);
      } else {
        expect(message).toEqual({ name, asked, code: "insufficient_scope" });
        expect(answer.body.detail).not.toMatch(/\bkey\b/i);
        expect(answer.headers.get("www-authenticate")).toBeNull();
      }
    }
  });

  test.each(CALLS)("%s is closed without a session", async (_name, endpoint) => {
    const answer = await callApi(`${urlOf()}${endpoint.path.replaceAll(/\{\w+\}/g, () => newId())}`, {
      method: endpoint.method,
    });
    expectProblem(answer, "not_signed_in");
  });

  test("the session lists the projects of the operator, and the permissions in each", async () => {
    const { session } = clients.get("north:operator") ?? {};
    expect(session?.projects).toEqual([{ name: "north", scopes: [...ROLE_SCOPES.operator] }]);
    expect(clients.get("*:viewer")?.session.projects.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["default", "north", "south"]),
    );
    expect(clients.get("none")?.session.projects).toEqual([]);
  });

  test("of one project do not reveal whether another one exists", async () => {
    const client = clients.get("north:operator");
    const answers = await Promise.all(
      ["south", "nowhere"].map(async (project) => client?.call("/api/v1/admin/tickets", { project })),
    );
    const words = answers.map((answer) => ({ ...answer?.body, requestId: "" }));
    expect(words[0]).toEqual(words[1]);
    expect(words[0]).toMatchObject({ code: "project_mismatch" });
  });

  test("actions of an operator are in the audit log under their own name", async () => {
    const client = await signedIn([{ project: "north", role: "operator" }]);
    await client.call("/api/v1/admin/kb", { json: { name: `kb ${newId()}` }, project: "north" });
    await client.call("/api/v1/admin/keys", { json: {}, project: "north" });
    const rows = await waitFor(
      async () => {
        const found = await queryDatabase<{ action: string; result: string }>(
          product.databaseUrl,
          "SELECT action, result FROM audit_events WHERE actor = $1 ORDER BY day, number",
          [`operator:${client.id}`],
        );
        return found.length >= 3 ? found : null;
      },
      { what: "the rows of the audit trail" },
    );
    expect(rows).toEqual([
      { action: "session.sign_in", result: "ok" },
      { action: "kb.create", result: "ok" },
      { action: "http.denied", result: "insufficient_scope" },
    ]);
  });
});

describe("data for pages", () => {
  test("views have their number of tickets, by the filters of the list, in the operator's project", async () => {
    const client = await signedIn([{ project: "north", role: "viewer" }]);
    const userId = newId();
    const count = async (query: string, project = "north") =>
      (await client.call(`/api/v1/admin/tickets/count?${query}`, { project })).body;
    for (let made = 0; made < 3; made++) {
      const json = { text: "hi", chatId: newId(), userId, mode: "async" };
      await callApi(`${product.composition.apiUrls[0]}/api/v1/messages`, {
        key: product.adminKey,
        project: "north",
        json,
      });
    }
    await waitFor(
      async () => JSON.stringify(await count(`userId=${userId}`)) === '{"ok":true,"item":{"count":3,"isMore":false}}',
      { what: "three tickets to be counted" },
    );
    expect(await count(`userId=${userId}&status=spam`)).toMatchObject({ item: { count: 0, isMore: false } });
    expectProblem(await client.call("/api/v1/admin/tickets/count?status=x&q=word"), "invalid_request", [
      "/q",
      "/status",
    ]);
  });

  test("tickets of all projects include only those that the operator's roles may read, each with the permitted fields", async () => {
    const userId = newId();
    for (const project of ["north", "south"]) {
      const json = { text: "hi", chatId: newId(), userId };
      const key = product.adminKey;
      await callApi(`${product.composition.apiUrls[0]}/api/v1/messages`, { key, project, json });
    }
    const projectsOf = async (roles: Roles) => {
      const client = await signedIn(roles);
      const { status, body } = await client.call(`/api/v1/admin/tickets?allProjects=1&userId=${userId}`);
      expect(status).toBe(200);
      const counted = await client.call(`/api/v1/admin/tickets/count?allProjects=1&userId=${userId}`);
      const { items } = body as unknown as { items: { project: string }[] };
      expect(counted.body).toMatchObject({ item: { count: items.length } });
      return items.map(({ project }) => project).toSorted();
    };
    expect(await projectsOf([{ project: "north", role: "viewer" }])).toEqual(["north"]);
    expect(
      await projectsOf([
        { project: "north", role: "operator" },
        { project: "south", role: "viewer" },
      ]),
    ).toEqual(["north", "south"]);
    expect(await projectsOf([{ project: "*", role: "viewer" }])).toEqual(["north", "south"]);
    expect(await projectsOf([{ project: "*", role: "administrator" }])).toEqual(["north", "south"]);
  });

  test("saved views belong to each operator, for projects with a role, fifty at most, and bounded", async () => {
    const client = await signedIn([{ project: "north", role: "viewer" }]);
    const other = await signedIn([{ project: "*", role: "viewer" }]);
    const view = {
      name: "  VIP first ",
      project: "north",
      view: "all",
      filters: { tag: "<b>vip</b>", sort: "priority" },
    };
    const kept = { ...view, name: "VIP first" };
    const put = (json: object, by = client) => by.call("/session/views", { method: "PUT", json });
    const list = async (by = client) => (await by.call("/session/views")).body as unknown as { items: object[] };
    expect((await put(view)).body).toEqual({ ok: true, items: [kept] });
    const ofAll = { ...kept, project: null, filters: { userId: "u 1" } };
    expect((await put(ofAll)).body).toEqual({ ok: true, items: [ofAll] });
    expect(await list()).toEqual({ ok: true, items: [ofAll] });
    expect(await list(other)).toEqual({ ok: true, items: [] });
    expectProblem(await put({ ...kept, project: "south" }), "project_mismatch");
    expectProblem(await put({ ...kept, project: "none" }, other), "not_found");
    expectProblem(
      await put({
        name: "a\nb",
        project: "North",
        view: "../x",
        filters: { tag: "x".repeat(501), evil: "1" },
        more: 1,
      }),
      "invalid_request",
      ["/filters/evil", "/filters/tag", "/more", "/name", "/project", "/view"],
    );
    expectProblem(
      await callApi(`${urlOf()}/session/views`, { method: "PUT", json: kept, headers: { Cookie: client.cookie } }),
      "csrf_refused",
    );
    expectProblem(await callApi(`${urlOf()}/session/views`), "not_signed_in");
    await Promise.all(Array.from({ length: 55 }, (_, index) => put({ ...kept, name: `view ${index}` })));
    expect((await list()).items).toHaveLength(50);
    expectProblem(await put({ ...kept, name: "one more" }), "invalid_request");
    expect((await put(kept)).status).toBe(200);
    const remove = (name: string) =>
      client.call(`/session/views?name=${encodeURIComponent(name)}`, { method: "DELETE" });
    expect((await remove("VIP first")).body).toMatchObject({ items: expect.not.arrayContaining([kept]) });
    expectProblem(await remove("VIP first"), "not_found");
    // After the role in a project is removed, its views are hidden.
    await product.store.operators.update(client.id, { roles: [{ project: south.id, role: "viewer" }] }, null);
    await waitFor(async () => (await list()).items.length === 0, { what: "the role to be gone" });
  });

  test("the names of a project's operators are visible only to those who work in it", async () => {
    const client = await signedIn([{ project: "north", role: "viewer" }]);
    const elsewhereOnly = await signedIn([{ project: "south", role: "operator" }]);
    const everywhere = await signedIn([{ project: "*", role: "operator" }]);
    const shutOut = await addOperator([{ project: "north", role: "operator" }]);
    await product.store.operators.update(shutOut.id, { disabled: true }, null);
    const { status, body, text } = await client.call("/session/colleagues", { project: "north" });
    expect(status).toBe(200);
    const found = (body as unknown as { items: { id: string; name: string }[] }).items.map(({ id }) => id);
    expect(body).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ id: client.id, mayWrite: false }),
        expect.objectContaining({ id: everywhere.id, mayWrite: true }),
      ]),
    });
    expect(found).toEqual(expect.arrayContaining([client.id, everywhere.id]));
    expect(found).not.toContain(elsewhereOnly.id);
    expect(found).not.toContain(shutOut.id);
    expect(text).not.toContain("@example.com");
    expectProblem(await elsewhereOnly.call("/session/colleagues", { project: "north" }), "project_mismatch");
    expectProblem(await callApi(`${urlOf()}/session/colleagues`, {}), "not_signed_in");
  });

  test("notes that mention an operator are listed for that operator, if they may read the tickets of the project", async () => {
    const author = await signedIn([{ project: "*", role: "operator" }]);
    const ofBoth = await signedIn([
      { project: "north", role: "operator" },
      { project: "south", role: "viewer" },
    ]);
    const ofNorth = await signedIn([{ project: "north", role: "viewer" }]);
    for (const project of ["north", "south"]) {
      const made = await callApi(`${product.composition.apiUrls[0]}/api/v1/messages`, {
        key: product.adminKey,
        project,
        json: { text: "hi", chatId: newId() },
      });
      const path = `/api/v1/admin/tickets/${String(made.body["ticketId"])}/note`;
      const json = { text: `Look at this of ${project}`, mentions: [ofBoth.id, ofNorth.id] };
      expect((await author.call(path, { project, json })).status).toBe(200);
    }
    const message = async (client: ConsoleClient) => {
      const { body } = await client.call("/session/mentions");
      const { items } = body as unknown as { items: { project: string; author: string; text: string }[] };
      return items.map(({ project, author: name, text }) => [project, name, text]);
    };
    const inNorth = ["north", "Ann", "Look at this of north"];
    expect(await message(ofBoth)).toEqual([["south", "Ann", "Look at this of south"], inNorth]);
    expect(await message(ofNorth)).toEqual([inNorth]);
    expect(await message(author)).toEqual([]);
    expectProblem(await callApi(`${urlOf()}/session/mentions`, {}), "not_signed_in");
  });

  test("the URLs of the service's public parts, and whether they respond, are visible to signed-in operators", async () => {
    const client = await signedIn([{ project: "north", role: "viewer" }]);
    const { status, body } = await client.call("/session/places");
    expect(status).toBe(200);
    const [api] = (body as { items: { id: string; port: number; isReachable: boolean }[] }).items;
    expect(api).toMatchObject({ id: "api", port: expect.any(Number) });
    expect((body as { items: object[] }).items).toHaveLength(3);
    expectProblem(await callApi(`${urlOf()}/session/places`, {}), "not_signed_in");
  });

  test("a source of an answer is found in its document, with the surrounding text", async () => {
    const client = await signedIn([{ project: "north", role: "operator" }]);
    const made = await client.call("/api/v1/admin/kb", { json: { name: `kb ${newId()}` } });
    const { item } = made.body as unknown as { item: { id: string } };
    const text =
      "# Parcels\n\n## Iceland\n\nWe ship parcels to Iceland on Mondays.\n\n## Norway\n\nWe ship to Norway on Fridays.";
    await client.call(`/api/v1/admin/kb/${item.id}/documents`, {
      json: { text, title: "Shipping", mime: "text/markdown" },
    });
    const hit = await waitFor(
      async () => {
        const found = await client.call(`/api/v1/admin/kb/${item.id}/search?q=Iceland`);
        const [first] = (found.body as unknown as { items?: { chunkId: string; documentId: string }[] }).items ?? [];
        return first ?? null;
      },
      { what: "the document to be found" },
    );
    const { body } = await client.call(`/api/v1/admin/passages/${hit.chunkId}`);
    const passage = (body as unknown as { item: { passages: { id: string; text: string }[] } }).item;
    expect(passage).toMatchObject({ id: hit.chunkId, kbId: item.id, documentId: hit.documentId, title: "Shipping" });
    expect(passage.passages.find(({ id }) => id === hit.chunkId)?.text).toContain("to Iceland on Mondays");
    const stranger = await signedIn([{ project: "south", role: "operator" }]);
    expectProblem(await stranger.call(`/api/v1/admin/passages/${hit.chunkId}`), "not_found");
  });
});

describe("every response", () => {
  test("of the console forbids pages to load resources of other sites, and to be framed", async () => {
    for (const path of ["/", "/inbox", "/session", "/api/v1/admin/tickets", "/assets/none.js"]) {
      const { headers } = await callApi(`${urlOf()}${path}`);
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
      );
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("to an unknown path is 404, with a page for browsers", async () => {
    const get = (path: string, accept: string) => callApi(`${urlOf()}${path}`, { headers: { Accept: accept } });
    for (const path of ["/metrics", "/north/nothing", "/north/inbox/a/b/c", "/a/b/c/d/e"]) {
      expectProblem(await get(path, "*/*"), "not_found");
    }
    const opened = await get("/north/nothing", "text/html,*/*;q=0.8");
    expect(opened.headers.get("content-type")).toMatch(/^text\/html/);
    expect([404, 503]).toContain(opened.status);
    expect((await get("/north/inbox/review", "*/*")).headers.get("content-type")).toMatch(/^text\/html/);
  });

  test("to a path outside the pages' folder is 404", async () => {
    const paths = [
      "/../package.json",
      "/%2e%2e/package.json",
      "/..%2fpackage.json",
      "/assets/..%5cx.js",
      "/.env",
      "/package.json",
    ];
    for (const path of paths) expectProblem(await callApi(`${urlOf()}${path}`), "not_found");
    expectProblem(await callApi(`${urlOf()}/api/v1/messages`), "not_signed_in");
    const client = await signedIn([{ project: "*", role: "administrator" }]);
    expectProblem(await client.call("/api/v1/messages", { json: { text: "hi" } }), "not_found");
  });

  test("of the readiness check is ready", async () => {
    for (const url of urls) {
      expect((await callApi(`${url}/healthz`)).status).toBe(200);
      expect((await callApi(`${url}/readyz`)).status).toBe(200);
    }
  });
});
