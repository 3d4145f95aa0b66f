import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Principal } from "@svc/auth";
import { projectItemSchema } from "@svc/contracts";
import type { BusinessHours, ListInput, ProjectChange, ProjectInput, Scope, SlaTarget } from "@svc/contracts";
import { asProjectId, newId, openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { Client } from "pg";
import { createProject, deleteProject, getProject, listProjects, updateProject } from "./projects.ts";

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

test("a changed retention period wakes up the sweeps that erase, another change does not", async () => {
  const { id } = await create({ name: `r-${mark}` });
  const wokenFor: string[][] = [];
  const wakeUps = {
    maxIdChars: 100,
    send: (_topic: string, ids: string[]) => wokenFor.push(ids),
    listen: () => () => {},
  };
  const change = (input: ProjectChange) =>
    updateProject({ store, queues: { wakeUps } }, principal(), { id, versions: null }, input);
  await change({ greeting: "Hello" });
  expect(wokenFor).toEqual([]);
  await change({ retentionDays: 30 });
  await change({ fileRetentionDays: null });
  expect(wokenFor).toEqual([[id], [id]]);
});

describe("the webhook secret of a project", () => {
  const SECRET = "a project secret";
  const NEXT = "the secret after it, longer";
  const change = (id: string, input: ProjectChange, versions: number[] | null = null) =>
    updateProject({ store }, principal(), { id, versions }, input);

  async function live(id: string): Promise<(string | null)[]> {
    const secrets = await store.projects.findWebhookSecrets(asProjectId(id));
    const sealed = [secrets?.webhookSecret ?? null, secrets?.previousWebhookSecret ?? null];
    return sealed.map((one) => (one === null ? null : store.sealer.open(one)));
  }

  test("is shown masked, stays with its mask, rotates with an overlap, and ends with null", async () => {
    const { id } = await create({ name: `a-${mark}` });
    expect(await change(id, { webhookSecret: SECRET })).toMatchObject({
      webhookSecret: "********",
      previousWebhookSecretUntil: null,
    });
    expect(await live(id)).toEqual([SECRET, null]);
    await change(id, { webhookSecret: "********", tablesAsXlsx: false });
    expect(await live(id)).toEqual([SECRET, null]);
    const rotated = await change(id, { webhookSecret: NEXT, overlapSeconds: 3_600 });
    expect(rotated).toMatchObject({ webhookSecret: "********", previousWebhookSecretUntil: expect.any(String) });
    expect(await get(id)).toEqual(rotated);
    expect(await live(id)).toEqual([NEXT, SECRET]);
    expect(await change(id, { webhookSecret: null })).toMatchObject({ webhookSecret: null });
    expect(await live(id)).toEqual([null, null]);
  });

  test("is no other project's, and that of default is the secret of the channel api", async () => {
    const [one, other] = [await create({ name: `a-${mark}` }), await create({ name: `b-${mark}` })];
    const { id } = (await store.projects.ensure("default")).project;
    await change(id, { webhookSecret: SECRET });
    await change(one.id, { webhookSecret: NEXT });
    expect([await live(id), await live(one.id), await live(other.id)]).toEqual([
      [SECRET, null],
      [NEXT, null],
      [null, null],
    ]);
    const { api } = await store.channelsConfig.read();
    expect(api.config.webhookSecret && store.sealer.open(api.config.webhookSecret)).toBe(SECRET);
    await change(id, { webhookSecret: null });
  });

  test("is refused with its pointer when it is unfit, or when only an overlap is named, and then nothing changes", async () => {
    const { id } = await create({ name: `a-${mark}` });
    await expect(change(id, { webhookSecret: "short", tablesAsXlsx: false })).rejects.toMatchObject({
      code: "invalid_request",
      errors: [expect.objectContaining({ pointer: "/webhookSecret" })],
    });
    await expect(change(id, { overlapSeconds: 60 })).rejects.toMatchObject({
      errors: [expect.objectContaining({ pointer: "/overlapSeconds" })],
    });
    await expect(change(id, { webhookSecret: SECRET }, [99])).rejects.toMatchObject({ code: "version_conflict" });
    expect(await get(id)).toMatchObject({ tablesAsXlsx: true, webhookSecret: null, version: 1 });
  });

  test("is erased with the project", async () => {
    const { id, name } = await create({ name: `a-${mark}` });
    await change(id, { webhookSecret: SECRET });
    await change(id, { webhookSecret: NEXT });
    await deleteProject({ store }, principal(), { id }, { confirm: name });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query("SELECT webhook_secret, previous_webhook_secret FROM projects WHERE id = $1", [
      id,
    ]);
    await client.end();
    expect(rows).toEqual([{ webhook_secret: null, previous_webhook_secret: null }]);
  });
});

describe("a project that is made", () => {
  test("has the service's settings where nothing is said", async () => {
    const item = await create({ name: `a-${mark}` });
    expect(item).toEqual({
      id: expect.any(String),
      name: `a-${mark}`,
      handoffText: expect.stringMatching(/\S/),
      handoffTexts: {},
      greeting: "",
      tablesAsXlsx: true,
      retentionDays: null,
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
    });
    expect(projectItemSchema.parse(item)).toEqual(item);
    expect(await get(item.id)).toEqual(item);
    expect(await store.projects.findByName(item.name)).toMatchObject({ id: item.id });
  });

  test("has the settings that were said, also where they say no", async () => {
    const modelLimits = { concurrency: null, tokensPerDay: 5_000 };
    const handoffTexts = { de: "Gleich.", fr: "Bientôt." };
    const settings = {
      handoffText: "",
      handoffTexts,
      greeting: "Hi.",
      tablesAsXlsx: false,
      retentionDays: 30,
      modelLimits,
      businessHours: {
        timeZone: "Europe/Berlin",
        week: { monday: [["09:00", "17:00"]] },
        holidays: [{ date: "2026-12-25", name: "Christmas" }],
      } satisfies BusinessHours,
      replyTimeMinutes: 120,
      slaTargets: [{ priority: "urgent", firstReplyMinutes: 30 }, { resolutionMinutes: 480 }] satisfies SlaTarget[],
    };
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
