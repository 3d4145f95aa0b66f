import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { keyItemSchema } from "@svc/contracts";
import { waitFor } from "@svc/testing";
import fc from "fast-check";
import { addProject } from "./support/add-project.ts";
import { keyOf, keysOf } from "./support/admin-body.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectDecent } from "./support/expect-decent.ts";
import { expectHealthy } from "./support/expect-healthy.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const UNKNOWN = "0190b5a0-9e8f-7c1d-8000-0123456789ab";
const GENERATED = /^svc_[0-9A-Za-z]{38}$/;
const RUNS = process.env["SVC_SOAK"] === "1" ? 300 : 25;

let product: Product;
let api: ApiClient;
/** An administrator's key without a rate limit. */
let admin: string;
/** Every key of this test file, to search the log for them. */
const secrets = new Set<string>();

beforeAll(async () => {
  product = await startProduct({ env: { SVC_LOG_LEVEL: "debug" } });
  api = createApiClient(product);
  await addProject(product.store, "north", { fixedReply: "answered in the north" });
  const { key } = await issueKey(product.store, {
    name: "journey",
    scopes: ["admin:*"],
    project: null,
    createdBy: "test",
    rateLimit: null,
  });
  admin = key;
  secrets.add(admin);
});

afterAll(() => product.stop());

interface KeysRequest extends ApiRequest {
  replica?: number;
}

/** Calls `/api/v1/admin/keys`, as an administrator unless another key is given. */
async function keys(path = "", { replica, ...request }: KeysRequest = {}): Promise<ApiAnswer> {
  const answer = await callApi(`${api.baseUrl(replica)}/api/v1/admin/keys${path}`, { key: admin, ...request });
  expect(answer.headers.get("cache-control")).toBe("no-store");
  return answer;
}

const create = (json: unknown, request: KeysRequest = {}) => keys("", { json, ...request });
const NEW = { name: "shop", scopes: ["messages:*"], project: "north", rateLimit: null };

/** Creates a valid key. */
async function make(change: object = {}): Promise<{ id: string; key: string; expiresAt: string | null }> {
  const answer = await create({ ...NEW, ...change });
  expect(answer.status).toBe(201);
  const { id, key = "", expiresAt } = keyOf(answer);
  secrets.add(key);
  return { id, key, expiresAt };
}

/** Sends the cheapest request that needs a key. */
const use = (key: string, replica = 0, project?: string) =>
  callApi(`${api.baseUrl(replica)}/api/v1/messages/keys`, { key, ...(project === undefined ? {} : { project }) });
const replicas = () => product.composition.apiUrls.map((_, index) => index);

/** Waits until every replica rejects a key. */
async function expectEnded(key: string): Promise<void> {
  for (const replica of replicas()) {
    const answer = await waitFor(
      async () => {
        const answered = await use(key, replica);
        return answered.status === 200 ? null : answered;
      },
      { what: `replica ${replica} to refuse the key` },
    );
    expectProblem(answer, "invalid_key");
  }
}

describe("a new key", () => {
  test("is shown once, works immediately on every replica, and is listed without its value", async () => {
    const expiresAt = "2099-01-31T12:00:00+01:00";
    const made = await create({ ...NEW, name: "Kasse <b>2</b> 🛒", rateLimit: 600, expiresAt });
    const { key = "", ...item } = keyOf(made);
    secrets.add(key);
    expect(made.status).toBe(201);
    expect(key).toMatch(GENERATED);
    expect(made.headers.get("location")).toBe(`/api/v1/admin/keys/${item.id}`);
    expect(item).toEqual({
      id: expect.any(String),
      name: "Kasse <b>2</b> 🛒",
      prefix: key.slice(0, 8),
      scopes: ["messages:*"],
      project: "north",
      createdAt: expect.any(String),
      createdBy: expect.stringMatching(/^key:[0-9a-f-]{36}$/),
      expiresAt: "2099-01-31T11:00:00.000Z",
      lastUsedAt: null,
      revokedAt: null,
      rateLimit: 600,
    });
    for (const replica of replicas()) {
      const used = await use(key, replica);
      expect([used.status, used.headers.get("x-svc-project")]).toEqual([200, "north"]);
      const read = await keys(`/${item.id}`, { replica });
      expect(read.body).toEqual({ ok: true, item: { ...item, lastUsedAt: keyOf(read).lastUsedAt } });
      const listed = await keys("?limit=1", { replica });
      expect(listed.body).toEqual({
        ok: true,
        items: [{ ...item, lastUsedAt: keysOf(listed).items[0]?.lastUsedAt }],
        nextCursor: expect.any(String),
      });
      for (const answer of [read, listed]) expect(answer.text).not.toContain(key);
    }
  });

  test("has a complete record, whatever its kind", async () => {
    await make({ expiresAt: "2099-01-31T12:00:00Z" });
    await make({ scopes: ["admin:*"], project: undefined, rateLimit: undefined });
    const { items } = keysOf(await keys("?limit=200"));
    expect(items.length).toBeGreaterThan(3);
    for (const item of items) expect(keyItemSchema.strict().parse(item)).toEqual(item);
  });

  test("is bound to its project: `default` by default, none with admin:*", async () => {
    const projectOf = async (json: object) => keyOf(await create({ name: "a", ...json })).project;
    expect(await projectOf({ scopes: ["kb:read"] })).toBe("default");
    expect(await projectOf({ scopes: ["kb:read"], project: "north" })).toBe("north");
    expect(await projectOf({ scopes: ["kb:read", "admin:*"] })).toBeNull();
    expect(keyOf(await create({ name: "a", scopes: ["kb:read"] }, { project: "north" })).project).toBe("default");
  });

  test("has its own rate limit, or none", async () => {
    const { key } = await make({ rateLimit: 2 });
    await waitFor(async () => (await use(key)).status === 429, { what: "the limit of the key" });
    expect((await use(key)).headers.get("ratelimit-policy")).toBe('"default";q=2;w=60');
    const { key: free } = await make();
    expect((await use(free)).headers.get("ratelimit-policy")).toBeNull();
  });

  test("has its last use recorded", async () => {
    const { id, key } = await make();
    expect(keyOf(await keys(`/${id}`)).lastUsedAt).toBeNull();
    await use(key);
    const lastUsedAt = await waitFor(async () => keyOf(await keys(`/${id}`)).lastUsedAt, {
      what: "the use to be noted",
      timeoutMs: 30_000,
    });
    expect(Date.parse(lastUsedAt)).not.toBeNaN();
  });

  test("is rejected after its expiry, on every replica", async () => {
    let lifeMs = 1_000;
    const key = await waitFor(
      async () => {
        // On a machine that is too slow to use a key in time, the lifetime is doubled.
        lifeMs *= 2;
        const made = await make({ expiresAt: new Date(Date.now() + lifeMs).toISOString() });
        const uses = await Promise.all(replicas().map((replica) => use(made.key, replica)));
        return uses.every(({ status }) => status === 200) && made.key;
      },
      { what: "a key that is used before it expires" },
    );
    await expectEnded(key);
  });
});

describe("an imported key", () => {
  test("works on every replica, and no response contains it", async () => {
    const key = "legacy/key+of=16 & more";
    secrets.add(key);
    const imported = await create({ ...NEW, key });
    expect([imported.status, keyOf(imported).key]).toEqual([201, undefined]);
    expect(imported.text).not.toContain(key);
    for (const replica of replicas()) expect((await use(key, replica)).status).toBe(200);
    const again = await create({ ...NEW, name: "again", key });
    expectProblem(again, "invalid_request", ["/key"]);
    expect(again.body.errors).toMatchObject([{ code: "taken" }]);
    for (const message of [key, keyOf(imported).id, "shop"]) expect(again.text).not.toContain(message);
  });

  test("and revoked may be imported again", async () => {
    const key = "legacy-key-that-comes-back";
    secrets.add(key);
    const { id } = keyOf(await create({ ...NEW, key }));
    await keys(`/${id}`, { method: "DELETE" });
    expect((await create({ ...NEW, key })).status).toBe(201);
    await waitFor(async () => (await use(key)).status === 200, { what: "the key to work again" });
  });
});

describe("a revoked key", () => {
  test("is rejected on every replica; revoking it again has the same response, and it stays in the list", async () => {
    const { id, key } = await make();
    for (const replica of replicas()) expect((await use(key, replica)).status).toBe(200);
    const revoked = await keys(`/${id}`, { method: "DELETE" });
    expect(revoked.status).toBe(200);
    expect(keyOf(revoked)).toMatchObject({ id, revokedAt: expect.any(String) });
    await expectEnded(key);
    const again = await keys(`/${id}`, { method: "DELETE", replica: 1 });
    expect([again.status, keyOf(again).revokedAt]).toEqual([200, keyOf(revoked).revokedAt]);
    expect(keyOf(await keys(`/${id}`)).revokedAt).toBe(keyOf(revoked).revokedAt);
  });

  test("may have revoked itself", async () => {
    const { id, key } = await make({ scopes: ["admin:*"], project: undefined });
    expect((await keys(`/${id}`, { method: "DELETE", key })).status).toBe(200);
    await expectEnded(key);
  });
});

describe("a rotated key", () => {
  test("still works beside its successor, which has the same properties", async () => {
    const old = await make({ expiresAt: "2099-01-31T12:00:00Z" });
    const rotated = await keys(`/${old.id}/rotate`, { method: "POST", replica: 1 });
    const { key = "", ...item } = keyOf(rotated);
    secrets.add(key);
    expect(rotated.status).toBe(201);
    expect(rotated.headers.get("location")).toBe(`/api/v1/admin/keys/${item.id}`);
    expect(key).toMatch(GENERATED);
    expect(item).toMatchObject({ ...NEW, expiresAt: old.expiresAt, revokedAt: null });
    for (const replica of replicas()) {
      for (const live of [old.key, key]) expect((await use(live, replica)).status).toBe(200);
    }
    const { expiresAt, revokedAt } = keyOf(await keys(`/${old.id}`));
    expect([Date.parse(expiresAt ?? "") < Date.now() + 86_400_000, revokedAt]).toEqual([true, null]);
  });

  test.each([0, 1])("expires after %i seconds on every replica, unlike its successor", async (overlapSeconds) => {
    const old = await make();
    for (const replica of replicas()) expect((await use(old.key, replica)).status).toBe(200);
    const rotated = keyOf(await keys(`/${old.id}/rotate`, { json: { overlapSeconds } }));
    secrets.add(rotated.key ?? "");
    expect(rotated.expiresAt).toBeNull();
    await expectEnded(old.key);
    for (const replica of replicas()) expect((await use(rotated.key ?? "", replica)).status).toBe(200);
    expectProblem(await keys(`/${old.id}/rotate`, { method: "POST" }), "invalid_request");
  });
});

describe("the list", () => {
  test("is paged over replicas, with each key once, unaffected by new keys", async () => {
    const mark = "paging";
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.unshift((await make({ name: `${mark} ${index}` })).id);
    const seen: string[] = [];
    let cursor: string | null = "";
    for (let page = 0; cursor !== null; page++) {
      const answer: ApiAnswer = await keys(`?limit=2&cursor=${cursor}&q=${mark}`, { replica: page % 2 });
      seen.push(...keysOf(answer).items.map(({ id }) => id));
      cursor = keysOf(answer).nextCursor;
      await make({ name: `${mark} later` });
    }
    expect(seen).toEqual(ids);
  });

  test("is searched by literal text, without wildcards, SQL or markup", async () => {
    const name = "100% <i>Söhne</i> & 'Töchter'; --";
    const { id } = await make({ name });
    const idsFor = async (q: string) =>
      keysOf(await keys(`?limit=200&q=${encodeURIComponent(q)}`)).items.map((item) => item.id);
    for (const q of [name, name.toUpperCase(), "söhne</I>", "100% <"]) expect(await idsFor(q)).toEqual([id]);
    for (const q of ["1_0%", "%Söhne%", "' OR 1=1; --", "\\", "Sohne"]) expect(await idsFor(q)).toEqual([]);
  });

  test.each<[query: string, pointers: string[]]>([
    ["limit=0", ["/limit"]],
    ["limit=201", ["/limit"]],
    ["limit=-1", ["/limit"]],
    ["limit=1.5", ["/limit"]],
    ["limit=1e2", ["/limit"]],
    ["limit=", ["/limit"]],
    ["limit=NaN", ["/limit"]],
    ["limit=99999999999999999999", ["/limit"]],
    ["limit=5&limit=6", ["/limit"]],
    ["cursor=nonsense", ["/cursor"]],
    ["cursor=0", ["/cursor"]],
    [`cursor=${UNKNOWN}`, ["/cursor"]],
    ["cursor=%00", ["/cursor"]],
    ["cursor=%F0%9F%98%80", ["/cursor"]],
    ["cursor=a&cursor=b", ["/cursor"]],
    ["q=%00", ["/q"]],
    ["q=a&q=b", ["/q"]],
    ["limit=x&cursor=x&q=%00", ["/limit", "/cursor", "/q"]],
  ])("is rejected for ?%s", async (query, pointers) => {
    expectProblem(await keys(`?${query}`), "invalid_request", pointers);
  });

  test("is rejected for a cursor or search of excessive length", async () => {
    const query = `cursor=${"A".repeat(5_000)}&q=${"x".repeat(201)}`;
    expectProblem(await keys(`?${query}`), "invalid_request", ["/cursor", "/q"]);
  });

  test("is rejected for a cursor with any changed character, and for one of another list", async () => {
    const cursor = keysOf(await keys("?limit=1")).nextCursor ?? "";
    expect((await keys(`?cursor=${cursor}`)).status).toBe(200);
    for (let index = 0; index < cursor.length; index += 3) {
      const other = cursor[index] === "A" ? "B" : "A";
      const changed = cursor.slice(0, index) + other + cursor.slice(index + 1);
      expectProblem(await keys(`?cursor=${changed}`), "invalid_request", ["/cursor"]);
    }
    const projects = await callApi(`${api.baseUrl()}/api/v1/projects?cursor=${cursor}`, { key: admin });
    expectProblem(projects, "invalid_request", ["/cursor"]);
  });

  test("ignores unknown and empty parameters", async () => {
    for (const query of ["?", "?limit=50&cursor=&q=", "?__proto__=1&order=asc&limit=007", "?q=%E0%A4%A"]) {
      expect((await keys(query)).status).toBe(200);
    }
  });
});

describe("400 names the field:", () => {
  const wrong = { string: "x", number: 5, boolean: true, null: null, array: [], object: {} };
  const allBut = (...types: (keyof typeof wrong)[]) =>
    Object.entries(wrong).flatMap(([type, value]) => (types.some((right) => right === type) ? [] : [value]));
  const FIELDS: [field: string, values: unknown[]][] = [
    ["name", [undefined, ...allBut("string"), "", "  ", "a\nb", "a\u0000", "\ud800", "n".repeat(101)]],
    ["scopes", [undefined, ...allBut("array"), [], Array.from({ length: 10_000 }, () => "kb:nonsense")]],
    ["project", [...allBut("string"), "nowhere", "North", "x'; DROP TABLE projects", "a\u0000", "n".repeat(100_000)]],
    ["expiresAt", [...allBut("string"), "2020-01-01T00:00:00Z", "2099-01-01", "tomorrow"]],
    ["rateLimit", [...allBut("number", "null"), 0, -1, 1.5, 1_000_001, "60"]],
    ["key", [...allBut("string"), "planted-15-char", "k".repeat(513), "planted key\nof two lines"]],
  ];

  test.each(FIELDS)("%s", async (field, values) => {
    for (const value of values) {
      const answer = await create({ name: "a", scopes: ["kb:read"], [field]: value });
      expectProblem(answer, "invalid_request", [`/${field}`]);
      expect(answer.text.length).toBeLessThan(2_000);
      if (field === "key") expect(answer.text).not.toContain("planted");
    }
  });

  test("each unknown scope by its index", async () => {
    for (const scope of ["admin", "kb", "kb:all", "*:*", "", 1, null, ["kb:read"]]) {
      const answer = await create({ name: "a", scopes: ["kb:read", scope] });
      expectProblem(answer, "invalid_request", ["/scopes/1"]);
    }
    expectProblem(await create({ name: "a", scopes: ["nonsense"] }), "invalid_request", ["/scopes/0"]);
  });

  test("a project together with admin:*, whether it exists or not", async () => {
    for (const project of ["north", "nowhere"]) {
      const answer = await create({ name: "a", scopes: ["admin:*"], project });
      expectProblem(answer, "invalid_request", ["/project"]);
    }
  });

  test("all errors at once, including unknown fields", async () => {
    const body =
      '{"name":1,"scopes":["kb:all"],"rateLimit":0,"createdBy":"me","__proto__":{"scopes":["admin:*"]},"constructor":{},"a/b~c":1}';
    expectProblem(await keys("", { body }), "invalid_request", [
      "/name",
      "/scopes/0",
      "/rateLimit",
      "/createdBy",
      "/__proto__",
      "/constructor",
      "/a~1b~0c",
    ]);
  });

  test("a body that is not an object", async () => {
    const { id } = await make();
    for (const json of [null, [], [NEW], "text", 5, true]) {
      expectProblem(await create(json), "invalid_request", [""]);
      expectProblem(await keys(`/${id}/rotate`, { json }), "invalid_request", [""]);
    }
  });

  test("the overlap of a rotation, without rotating the key", async () => {
    const { id, key } = await make();
    for (const overlapSeconds of [-1, 604_801, 1.5, "0", null, [], {}]) {
      expectProblem(await keys(`/${id}/rotate`, { json: { overlapSeconds } }), "invalid_request", ["/overlapSeconds"]);
    }
    expectProblem(await keys(`/${id}/rotate`, { json: { overlap: 0 } }), "invalid_request", ["/overlap"]);
    expect((await use(key)).status).toBe(200);
    expect(keyOf(await keys(`/${id}`)).expiresAt).toBeNull();
  });
});

describe("any other request", () => {
  test("is 400 invalid_json, 413 or 415, as everywhere", async () => {
    expectProblem(await keys("", { body: '{"name":' }), "invalid_json");
    expectProblem(await keys("", { body: "", method: "POST" }), "invalid_json");
    expectProblem(await keys("", { body: JSON.stringify({ name: "x".repeat(1_100_000) }) }), "payload_too_large");
    const plain = { "Content-Type": "text/plain" };
    expectProblem(await keys("", { body: JSON.stringify(NEW), headers: plain }), "unsupported_media_type");
    const zipped = new Uint8Array(gzipSync(JSON.stringify(NEW)));
    expectProblem(await keys("", { body: zipped, headers: { "Content-Encoding": "gzip" } }), "unsupported_media_type");
    const { id } = await make();
    expectProblem(await keys(`/${id}/rotate`, { body: "{" }), "invalid_json");
    expectProblem(await keys(`/${id}/rotate`, { body: "{}", headers: plain }), "unsupported_media_type");
  });

  test("is 400 for JSON of any depth and with duplicate keys", async () => {
    const deep = `${'{"name":'.repeat(10_000)}1${"}".repeat(10_000)}`;
    expectProblem(await keys("", { body: deep }), "invalid_request", ["/name", "/scopes"]);
    const twice = '{"name":"a","name":1,"scopes":["kb:read"]}';
    expectProblem(await keys("", { body: twice }), "invalid_request", ["/name"]);
  });

  test.each(["x", "1", UNKNOWN, `${UNKNOWN}0`, "%00", "..%2Fkeys", "'%20OR%201=1", "%F0%9F%98%80"])(
    "is 404 for the key %s",
    async (id) => {
      expectProblem(await keys(`/${id}`), "not_found");
      expectProblem(await keys(`/${id}`, { method: "DELETE" }), "not_found");
      expectProblem(await keys(`/${id}/rotate`, { method: "POST" }), "not_found");
    },
  );

  test("is 405 with the allowed methods for other methods", async () => {
    const { id } = await make();
    for (const [path, allow, methods] of [
      ["", "GET, HEAD, POST", ["PUT", "PATCH", "DELETE", "OPTIONS"]],
      [`/${id}`, "GET, HEAD, DELETE", ["POST", "PUT", "PATCH", "OPTIONS"]],
      [`/${id}/rotate`, "POST", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"]],
    ] as const) {
      for (const method of methods) {
        const answer = await keys(path, { method });
        expectProblem(answer, "method_not_allowed");
        expect(answer.headers.get("allow")).toBe(allow);
      }
    }
  });

  test("is 404 for unknown paths below", async () => {
    expectProblem(await keys(`/${UNKNOWN}/rotate/now`, { method: "POST" }), "not_found");
    expectProblem(await keys(`/${UNKNOWN}/renew`, { method: "POST" }), "not_found");
  });
});

describe("any input", () => {
  test("as a body is accepted or rejected, and never an error of the service", async () => {
    const { id } = await make();
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          fc
            .record({
              name: fc.oneof(fc.string({ unit: "binary", maxLength: 110 }), fc.jsonValue()),
              scopes: fc.oneof(fc.array(fc.constantFrom("kb:read", "admin:*", "kb:all")), fc.jsonValue()),
              rateLimit: fc.oneof(fc.integer(), fc.jsonValue()),
              key: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue()),
            })
            .map((body) => JSON.stringify(body)),
          fc.string({ unit: "binary" }),
        ),
        async (body) => {
          expectDecent(await keys("", { body, method: "POST" }));
          expectDecent(await keys(`/${id}/rotate`, { body, method: "POST" }));
        },
      ),
      { numRuns: RUNS },
    );
  });

  test("as a path or query is accepted or rejected, and never an error of the service", async () => {
    const part = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
      fc.stringMatching(/^[!-~]{0,20}$/).map((text) => text.replaceAll(/[?#]/g, "%")),
    );
    await fc.assert(
      fc.asyncProperty(part, part, part, async (path, q, cursor) => {
        for (const url of [`/api/v1/admin/keys/${path}`, `/api/v1/admin/keys?q=${q}&cursor=${cursor}&limit=${q}`]) {
          expectDecent(await callApi(api.baseUrl() + url, { key: admin }));
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("leaves no key in any line of the log, and every process healthy", async () => {
    expect(secrets.size).toBeGreaterThan(15);
    for (const { name, output } of product.composition.processes) {
      const lines = output().split("\n");
      const isTelling = (line: string) =>
        [...secrets].some(
          (secret) => secret !== "" && (line.includes(secret) || line.includes(encodeURIComponent(secret))),
        );
      expect({ name, message: lines.filter(isTelling) }).toEqual({ name, message: [] });
    }
    await expectHealthy(product);
  });
});
