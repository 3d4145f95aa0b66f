import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { grantsScope, SCOPE_ACTIONS, SCOPE_RESOURCES, ServiceError } from "@svc/contracts";
import type { RequiredScope, Scope } from "@svc/contracts";
import { asProjectId, openStore } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { collectLog, createTestDatabase, freePort, testLog, waitFor } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { hashApiKey, issueKey, prefixOfApiKey } from "./credentials.ts";
import {
  createAuthenticator,
  isAdministrator,
  localAdministrator,
  requireScope,
  ROLE_SCOPES,
  scopesOfRoles,
} from "./authenticate.ts";
import type { Authenticate, Credentials, KnownKey, Principal } from "./authenticate.ts";

const project = { id: asProjectId("0190"), name: "north" } as Project;

describe("a scope that is required", () => {
  test.each<[Scope[], RequiredScope]>([
    [["messages:write"], "messages:write"],
    [["messages:*"], "messages:read"],
    [["admin:*"], "tickets:write"],
    [["admin:*"], "admin:*"],
  ])("is there with %j: %s", (scopes, required) => {
    expect(() => requireScope({ scopes }, required)).not.toThrow();
  });

  test.each<[Scope[], RequiredScope]>([
    [["messages:write"], "messages:read"],
    [["messages:*", "kb:*"], "admin:*"],
    [[], "kb:read"],
  ])("is missing with %j: %s is named in the text and in the challenge (RFC 6750)", (scopes, required) => {
    let error: unknown;
    try {
      requireScope({ scopes }, required);
    } catch (problem) {
      error = problem;
    }
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: "insufficient_scope",
      message: expect.stringContaining(`does not have the scope ${required}.`),
      headers: { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${required}"` },
    });
  });
});

test("who works on the machine itself is an administrator of the given project", () => {
  const principal = localAdministrator(project);
  expect(principal).toEqual({
    actor: "command-line",
    keyId: null,
    rateLimit: null,
    scopes: ["admin:*"],
    project: project.id,
    projectName: "north",
  });
  expect(isAdministrator(principal)).toBe(true);
  expect(isAdministrator({ ...principal, scopes: ["messages:*", "tickets:*"] })).toBe(false);
});

const ALL = SCOPE_RESOURCES.flatMap((resource) => SCOPE_ACTIONS.map((action) => `${resource}:${action}` as const));

describe("the scopes of roles", () => {
  test("are everything in the project for its administrator, but nothing of the installation", () => {
    const scopes = scopesOfRoles([{ project: "shop", role: "administrator" }], "shop");
    expect(ALL.filter((scope) => !grantsScope(scopes, scope))).toEqual([]);
    expect(grantsScope(scopes, "admin:*")).toBe(false);
  });

  test("are admin:* for the administrator of all projects, in each of them", () => {
    expect(scopesOfRoles([{ project: "*", role: "administrator" }], "anything")).toEqual(["admin:*"]);
  });

  test("let a viewer read and change nothing, and grow from viewer to operator to administrator", () => {
    expect(ROLE_SCOPES.viewer.filter((scope) => !scope.endsWith(":read"))).toEqual([]);
    expect(ROLE_SCOPES.viewer.filter((scope) => !ROLE_SCOPES.operator.includes(scope))).toEqual([]);
    const further = ALL.filter((scope) => grantsScope(ROLE_SCOPES.operator, scope));
    expect(further.filter((scope) => !grantsScope(ROLE_SCOPES.administrator, scope))).toEqual([]);
  });

  test("are none in a project without a role, and those of both where there is one for all and one for it", () => {
    expect(scopesOfRoles([{ project: "shop", role: "operator" }], "clinic")).toEqual([]);
    const roles = [
      { project: "*", role: "viewer" },
      { project: "shop", role: "operator" },
    ] as const;
    expect(scopesOfRoles(roles, "clinic")).toEqual([...ROLE_SCOPES.viewer]);
    expect(grantsScope(scopesOfRoles(roles, "shop"), "tickets:write")).toBe(true);
  });
});

const SECRET_KEY = "0123456789abcdef0123456789abcdef";
const INVALID = { "WWW-Authenticate": 'Bearer realm="svc", error="invalid_token"' };

let database: TestDatabase;
let store: Store;
let authenticate: Authenticate;
const projects: Record<string, Project> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: SECRET_KEY, log: testLog() });
  authenticate = createAuthenticator({ store, log: testLog() });
  for (const name of ["default", "north", "south"]) projects[name] = (await store.projects.ensure(name)).project;
});

afterEach(() => {
  jest.restoreAllMocks();
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

/** Creates a key, bound to a project or an administrator's. */
function makeKey(
  project: string | null,
  options: { scopes?: Scope[]; expiresAt?: Date; rateLimit?: number | null | undefined } = {},
) {
  const { scopes = project === null ? ["admin:*"] : ["messages:*"], expiresAt } = options;
  return issueKey(store, {
    name: "test",
    scopes,
    project: project === null ? null : (projects[project]?.id ?? null),
    createdBy: "test",
    ...(expiresAt === undefined ? {} : { expiresAt }),
    rateLimit: options.rateLimit,
  });
}

/** Stores an imported key. */
async function importKey(key: string): Promise<void> {
  await store.apiKeys.insert({
    name: "imported",
    prefix: prefixOfApiKey(key),
    hash: hashApiKey(key),
    scopes: ["admin:*"],
    project: null,
    createdBy: "test",
    expiresAt: null,
  });
}

function ask(credentials: Partial<Credentials>, check = authenticate): Promise<Principal> {
  return check({ authorization: undefined, apiKey: undefined, project: undefined, ...credentials });
}

/** Returns the error of a rejected caller. */
async function refusal(credentials: Partial<Credentials>, check = authenticate) {
  const error: unknown = await ask(credentials, check).catch((problem: unknown) => problem);
  if (!(error instanceof ServiceError)) throw new Error("there was no refusal", { cause: error });
  const { code, message, headers } = error;
  return { code, message, headers };
}

/** Advances all clocks of this process. */
function passTime(ms: number): void {
  const { now } = Date;
  const monotonic = performance.now.bind(performance);
  jest.spyOn(Date, "now").mockImplementation(() => now() + ms);
  jest.spyOn(performance, "now").mockImplementation(() => monotonic() + ms);
}

describe("a key", () => {
  test.each<[string, (key: string) => Partial<Credentials>]>([
    ["in Authorization", (key) => ({ authorization: `Bearer ${key}` })],
    ["in Authorization, in any case and with more spaces", (key) => ({ authorization: `bEARER   ${key}  ` })],
    ["in X-Api-Key", (key) => ({ apiKey: key })],
    ["in both, when they agree", (key) => ({ authorization: `Bearer ${key}`, apiKey: key })],
  ])("%s says who asks, what they may do and where", async (_where, carry) => {
    const { key, record } = await makeKey("north", { scopes: ["messages:write", "kb:*"] });
    expect(await ask(carry(key))).toEqual({
      actor: `key:${record.id}`,
      keyId: record.id,
      rateLimit: 120,
      scopes: ["messages:write", "kb:*"],
      project: projects["north"]?.id,
      projectName: "north",
    });
  });

  test.each(["legacy key of 16 and more", "a,b;c=d\"e'f\\g/h+16", "Schlüssel-für-alle-🔑", "latin1-é-only-16"])(
    "of another form is taken as it was sent: %j",
    async (key) => {
      await importKey(key);
      // Node.js decodes headers byte by byte.
      const sent = Buffer.from(key, "utf8").toString("latin1");
      expect((await ask({ authorization: `Bearer ${sent}` })).projectName).toBe("default");
      expect((await ask({ apiKey: sent })).projectName).toBe("default");
    },
  );

  test("is not taken when any character of it is another, or when it is its own hash", async () => {
    const { key } = await makeKey("north");
    const wrong = [key.slice(0, -1), `${key}x`, key.toLowerCase(), ` ${key}`, hashApiKey(key).toString("hex")];
    for (const apiKey of wrong) expect(await refusal({ apiKey })).toMatchObject({ code: "invalid_key" });
  });
});

describe("a request is refused", () => {
  test.each<[string, Partial<Credentials>]>([
    ["without a key", {}],
    ["with an empty X-Api-Key", { apiKey: "" }],
    ["with a project only", { project: "north" }],
  ])("%s: missing_key, with how to send one", async (_what, credentials) => {
    expect(await refusal(credentials)).toEqual({
      code: "missing_key",
      message: expect.stringMatching(/Authorization: Bearer <api-key>.*X-Api-Key/),
      headers: { "WWW-Authenticate": 'Bearer realm="svc"' },
    });
  });

  test("Authorization of another scheme beside X-Api-Key is ambiguous", async () => {
    await expect(
      authenticate({ authorization: "Basic dXNlcjpwYXNz", apiKey: "svc_abc", project: undefined }),
    ).rejects.toMatchObject({ code: "ambiguous_credentials" });
  });

  test.each(["Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "Bearer    ", "", "svc_abc", "Bearersvc_abc"])(
    "with Authorization %j: invalid_key, with how to send it",
    async (authorization) => {
      expect(await refusal({ authorization })).toEqual({
        code: "invalid_key",
        message: expect.stringContaining("Authorization: Bearer <api-key>"),
        headers: INVALID,
      });
    },
  );

  test("with an unknown, revoked or expired key: the same invalid_key, which does not repeat the key", async () => {
    const revoked = await makeKey("north");
    await store.apiKeys.revoke(revoked.record.id);
    const expired = await makeKey("north", { expiresAt: new Date(Date.now() - 1_000) });
    const unknown = "svc_this_key_was_never_made";
    const refusals = [];
    for (const apiKey of [unknown, revoked.key, expired.key]) refusals.push(await refusal({ apiKey }));
    for (const response of refusals) expect(response).toEqual(refusals[0]);
    expect(refusals[0]).toMatchObject({ code: "invalid_key", headers: INVALID });
    expect(JSON.stringify(refusals)).not.toContain("svc_");
  });

  test("with two different keys: ambiguous_credentials, even when both are valid", async () => {
    const [one, other] = [await makeKey("north"), await makeKey("north")];
    for (const apiKey of [other.key, "", "unknown"]) {
      const response = await refusal({ authorization: `Bearer ${one.key}`, apiKey });
      expect(response).toMatchObject({ code: "ambiguous_credentials", headers: {} });
      expect(response.message).not.toContain("svc_");
    }
  });
});

describe("a key that was used", () => {
  test("stops within a second of its revocation, on every replica", async () => {
    const replicas = [authenticate, createAuthenticator({ store, log: testLog() })];
    const { key, record } = await makeKey("north");
    for (const replica of replicas) await ask({ apiKey: key }, replica);
    await store.apiKeys.revoke(record.id);
    passTime(1_000);
    for (const replica of replicas)
      expect(await refusal({ apiKey: key }, replica)).toMatchObject({ code: "invalid_key" });
  });

  test("stops at the very time at which it expires, though it is remembered", async () => {
    const { key } = await makeKey("north", { expiresAt: new Date(Date.now() + 60_000) });
    await ask({ apiKey: key });
    const later = Date.now() + 60_000;
    jest.spyOn(Date, "now").mockReturnValue(later);
    expect(await refusal({ apiKey: key })).toMatchObject({ code: "invalid_key" });
  });

  test("costs the store one look-up however many ask at once, and an unknown one is looked up again", async () => {
    const { key } = await makeKey("north");
    const find = jest.spyOn(store.apiKeys, "findLiveByHash");
    await Promise.all(Array.from({ length: 50 }, () => ask({ apiKey: key })));
    expect(find).toHaveBeenCalledTimes(1);
    const late = "a key that is imported a moment later";
    await refusal({ apiKey: late });
    await importKey(late);
    expect((await ask({ apiKey: late })).projectName).toBe("default");
  });
});

describe("the limit of a key", () => {
  test.each<[given: number | null | undefined, limit: number | null]>([
    [undefined, 120],
    [7, 7],
    [100_000, 100_000],
    [null, null],
  ])("that was made with %j is %j requests a minute", async (rateLimit, limit) => {
    const { key, record } = await makeKey("north", { rateLimit });
    expect(await ask({ apiKey: key })).toMatchObject({ keyId: record.id, rateLimit: limit });
  });

  test("is applied before the project is refused, and its refusal is what is told", async () => {
    const { key, record } = await makeKey("north");
    const admitted: KnownKey[] = [];
    const admit = (known: KnownKey) => {
      admitted.push(known);
      return Promise.resolve();
    };
    const credentials = { authorization: undefined, apiKey: key };
    await authenticate({ ...credentials, project: "north" }, admit);
    await expect(authenticate({ ...credentials, project: "south" }, admit)).rejects.toMatchObject({
      code: "project_mismatch",
    });
    const known = { keyId: record.id, rateLimit: 120 };
    expect(admitted).toEqual([
      { ...known, projectName: "north" },
      { ...known, projectName: null },
    ]);
    const used = new ServiceError("rate_limited", "used up");
    for (const project of ["north", "south"]) {
      await expect(authenticate({ ...credentials, project }, () => Promise.reject(used))).rejects.toBe(used);
    }
  });

  test("is not asked where no valid key was shown", async () => {
    const admit = jest.fn(() => Promise.resolve());
    for (const apiKey of [undefined, "unknown key of 16+"]) {
      const call = authenticate({ authorization: undefined, apiKey, project: undefined }, admit);
      await expect(call).rejects.toBeInstanceOf(ServiceError);
    }
    expect(admit).not.toHaveBeenCalled();
  });
});

describe("the project of a request", () => {
  test.each<[key: string | null, wanted: string | undefined, project: string]>([
    [null, undefined, "default"],
    [null, "default", "default"],
    [null, "north", "north"],
    [null, "south", "south"],
    ["north", undefined, "north"],
    ["north", "north", "north"],
    ["default", undefined, "default"],
  ])("with a key of %j and x-svc-project %j is %s", async (bound, wanted, project) => {
    const { key } = await makeKey(bound);
    expect(await ask({ apiKey: key, project: wanted })).toMatchObject({
      project: projects[project]?.id,
      projectName: project,
    });
  });

  test.each(["nowhere", "North", "north ", ""])("that is %j is not found by an administrator", async (project) => {
    const { key } = await makeKey(null);
    expect(await refusal({ apiKey: key, project })).toMatchObject({ code: "not_found" });
  });

  test("that is made is found at once, though it was not there a moment before", async () => {
    const { key } = await makeKey(null);
    expect(await refusal({ apiKey: key, project: "late" })).toMatchObject({ code: "not_found" });
    const { project } = await store.projects.ensure("late");
    expect(await ask({ apiKey: key, project: "late" })).toMatchObject({ project: project.id });
  });

  test("that is another than the key's is refused the same whether it exists or not, and whatever the scopes", async () => {
    const refusals = [];
    for (const scopes of [["messages:*"], ["admin:*"]] as Scope[][]) {
      const { key } = await makeKey("north", { scopes });
      for (const project of ["south", "default", "nowhere", "North", ""]) {
        refusals.push(await refusal({ apiKey: key, project }));
      }
    }
    expect(refusals[0]).toMatchObject({ code: "project_mismatch" });
    for (const response of refusals) expect(response).toEqual(refusals[0]);
  });
});

describe("while the store is away", () => {
  test("a request is told unavailable and when to come again, not that its key is bad", async () => {
    const away = openStore({
      url: `postgres://svc@127.0.0.1:${await freePort()}/svc`,
      secretKey: SECRET_KEY,
      log: testLog(),
    });
    try {
      const check = createAuthenticator({ store: away, log: testLog() });
      for (const credentials of [{ apiKey: "some key or other" }, { authorization: "Bearer x", project: "north" }]) {
        expect(await refusal(credentials, check)).toMatchObject({
          code: "unavailable",
          headers: { "Retry-After": expect.stringMatching(/^\d+$/) },
        });
      }
      // Errors that need no store are still returned.
      expect(await refusal({}, check)).toMatchObject({ code: "missing_key" });
    } finally {
      await away.close();
    }
  });

  test("nothing of it is remembered: the next request after it goes through", async () => {
    const { key } = await makeKey("north");
    const error = new ServiceError("unavailable", "away");
    jest.spyOn(store.apiKeys, "findLiveByHash").mockRejectedValueOnce(error);
    expect(await refusal({ apiKey: key })).toMatchObject({ code: "unavailable" });
    jest.spyOn(store.projects, "find").mockRejectedValueOnce(error);
    passTime(1_000);
    expect(await refusal({ apiKey: key })).toMatchObject({ code: "unavailable" });
    expect((await ask({ apiKey: key })).projectName).toBe("north");
  });
});

describe("the use of a key", () => {
  /** Waits for this number of audit rows of a key, oldest first. */
  async function untilAudited(keyId: string, count: number) {
    const check = async () => {
      const rows = await store.audit.listPage({ action: "key.use", object: keyId }, { limit: 9 });
      return rows.length >= count ? rows.toReversed() : null;
    };
    return waitFor(check, { what: `${count} rows about the key` });
  }

  test("is in the audit trail once an hour, with the network that is asked for only then", async () => {
    const check = createAuthenticator({ store, log: testLog() });
    const { key, record } = await makeKey("north");
    const credentials = { authorization: undefined, apiKey: key, project: undefined };
    const findNetwork = jest.fn(() => "203.0.113.0/24");
    // In the middle of an hour, so that none ends during the test.
    const start = Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 1_800_000;
    const clock = jest.spyOn(Date, "now").mockReturnValue(start);
    for (let round = 0; round < 5; round++) await check(credentials, undefined, findNetwork);
    clock.mockReturnValue(start + 1_799_999);
    await check(credentials, undefined, findNetwork);
    expect(findNetwork).toHaveBeenCalledTimes(1);
    clock.mockReturnValue(start + 1_800_000);
    await check(credentials);
    const said = { actor: `key:${record.id}`, object: record.id, project: "north", result: "ok", requestId: null };
    expect(await untilAudited(record.id, 2)).toEqual([
      expect.objectContaining({ ...said, network: "203.0.113.0/24" }),
      expect.objectContaining({ ...said, network: null }),
    ]);
  });

  test("that is refused is none", async () => {
    const { key, record } = await makeKey("north");
    await refusal({ apiKey: key, project: "south" });
    await ask({ apiKey: key });
    expect(await untilAudited(record.id, 1)).toHaveLength(1);
  });

  test("goes on while it cannot be noted, and is not waited for", async () => {
    const { log, lines } = collectLog();
    const check = createAuthenticator({ store, log });
    const { key, record } = await makeKey("north");
    let fail: (error: Error) => void = () => undefined;
    jest.spyOn(store.audit, "append").mockReturnValue(new Promise((_resolve, reject) => (fail = reject)));
    expect(await ask({ apiKey: key }, check)).toMatchObject({ keyId: record.id });
    fail(new Error("service unavailable"));
    await waitFor(() => Promise.resolve(lines().find(({ level }) => level === "warn") ?? null), { what: "a warning" });
    expect(JSON.stringify(lines())).not.toContain(key);
    // The next use is recorded instead.
    jest.restoreAllMocks();
    await ask({ apiKey: key }, check);
    expect(await untilAudited(record.id, 1)).toHaveLength(1);
  });
});
