import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Principal } from "@svc/auth";
import { projectItemSchema } from "@svc/contracts";
import type { ListInput, ProjectInput, Scope } from "@svc/contracts";
import { asProjectId, newId, openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { createProject, getProject, listProjects } from "./projects.ts";

const UNKNOWN = "0190b5a0-9e8f-7c1d-8000-0123456789ab";

let database: TestDatabase;
let stores: Store[];
let store: Store;
/** A part of every name of one test, so that its list is its own. */
let mark: string;

beforeAll(async () => {
  database = await createTestDatabase();
  stores = [1, 2].map(() => openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() }));
  [store] = stores as [Store];
});

beforeEach(() => {
  mark = newId().slice(-12);
});

afterAll(async () => {
  await Promise.all(stores.map((open) => open.close()));
  await database.drop();
});

const principal = (scopes: Scope[] = ["admin:*"]): Principal => ({
  actor: "key:test",
  keyId: "test",
  rateLimit: null,
  scopes,
  project: asProjectId(UNKNOWN),
  projectName: "default",
});

const create = (input: ProjectInput, who = principal(), on = store) => createProject({ store: on }, who, input);
const list = (input: ListInput = {}, who = principal()) => listProjects({ store }, who, { q: mark, ...input });
const get = (id: string, who = principal()) => getProject({ store }, who, id);

describe("a project that is made", () => {
  test("has the service's settings where nothing is said", async () => {
    const item = await create({ name: `a-${mark}` });
    expect(item).toEqual({
      id: expect.any(String),
      name: `a-${mark}`,
      handoffText: expect.stringMatching(/\S/),
      greeting: "",
      tablesAsXlsx: true,
      retentionDays: null,
      fileRetentionDays: 90,
      modelLimits: { concurrency: 8, tokensPerDay: null },
      createdAt: expect.any(String),
      version: 1,
    });
    expect(projectItemSchema.parse(item)).toEqual(item);
    expect(await get(item.id)).toEqual(item);
    expect(await store.projects.findByName(item.name)).toMatchObject({ id: item.id });
  });

  test("has the settings that were said, also where they say no", async () => {
    const modelLimits = { concurrency: null, tokensPerDay: 5_000 };
    const settings = { handoffText: "", greeting: "Hi.", tablesAsXlsx: false, retentionDays: 30, modelLimits };
    expect(await create({ name: `a-${mark}`, ...settings })).toMatchObject(settings);
  });

  test("is made once, however many make it at once on several replicas, and the others are told of the name", async () => {
    const name = `a-${mark}`;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => create({ name }, principal(), stores[index % 2])),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") continue;
      expect(outcome.reason).toMatchObject({
        code: "invalid_request",
        errors: [{ pointer: "/name", code: "taken", detail: expect.any(String) }],
      });
    }
    expect((await list()).items).toHaveLength(1);
  });

  test("with faults is refused with all of them, and nothing is made", async () => {
    const input = { name: `A ${mark}`, handoffText: 1, tablesAsXlsx: "no", extra: true } as unknown as ProjectInput;
    await expect(create(input)).rejects.toMatchObject({
      code: "invalid_request",
      errors: ["/name", "/handoffText", "/tablesAsXlsx", "/extra"].map((pointer) =>
        expect.objectContaining({ pointer }),
      ),
    });
    expect((await list()).items).toEqual([]);
  });
});

describe("the list of projects", () => {
  test("is newest first, page by page, each once, whatever is made meanwhile", async () => {
    const names = [1, 2, 3, 4, 5].map((number) => `${number}-${mark}`);
    for (const name of names) await create({ name });
    const first = await list({ limit: 2 });
    expect(first.items.map(({ name }) => name)).toEqual([names[4], names[3]]);
    await create({ name: `6-${mark}` });
    const second = await list({ limit: 2, cursor: first.nextCursor ?? "" });
    expect(second.items.map(({ name }) => name)).toEqual([names[2], names[1]]);
    const third = await list({ limit: 2, cursor: second.nextCursor ?? "" });
    expect([third.items.map(({ name }) => name), third.nextCursor]).toEqual([[names[0]], null]);
  });

  test("ends without a cursor when the last page is full", async () => {
    await create({ name: `1-${mark}` });
    expect(await list({ limit: 1 })).toMatchObject({ items: [{ name: `1-${mark}` }], nextCursor: null });
  });

  test("is searched by a part of the name, as it is written", async () => {
    await create({ name: `north-${mark}` });
    const namesFor = async (q: string) => (await list({ q })).items.map(({ name }) => name);
    expect(await namesFor(`NORTH-${mark}`)).toEqual([`north-${mark}`]);
    for (const q of [`%${mark}`, `_orth-${mark}`, `${mark}'; DROP TABLE projects; --`, "<b>", "\\"]) {
      expect(await namesFor(q)).toEqual([]);
    }
  });

  test("has faults for a bad limit, cursor and search, all at once", async () => {
    const input = { limit: 0, cursor: "nonsense", q: "\u0000" };
    await expect(list(input)).rejects.toMatchObject({
      code: "invalid_request",
      errors: ["/limit", "/cursor", "/q"].map((pointer) => expect.objectContaining({ pointer })),
    });
  });
});

test.each(["", "1", "default", "'; DROP TABLE projects", UNKNOWN, UNKNOWN.toUpperCase(), `${UNKNOWN} `, "\u0000"])(
  "a project with the id %j is not found",
  async (id) => {
    await expect(get(id)).rejects.toMatchObject({ code: "not_found" });
  },
);

test.each<[Scope[]]>([[[]], [["messages:*", "kb:*", "tickets:*", "channels:*", "audit:*", "privacy:*"]]])(
  "admin:* is needed for each of it: %j is not enough",
  async (scopes) => {
    const who = principal(scopes);
    const error = { code: "insufficient_scope" };
    await expect(list({}, who)).rejects.toMatchObject(error);
    await expect(get(UNKNOWN, who)).rejects.toMatchObject(error);
    await expect(create({ name: `a-${mark}` }, who)).rejects.toMatchObject(error);
    await expect(create({} as ProjectInput, who)).rejects.toMatchObject(error);
    expect(await store.projects.findByName(`a-${mark}`)).toBeNull();
  },
);
