import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createAuthenticator, ensureConfiguredAdminKey, hashApiKey, localAdministrator } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { keyItemSchema } from "@svc/contracts";
import type { KeyInput, KeyItem, ListInput, Scope } from "@svc/contracts";
import { newId, openStore } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import {
  createKey,
  ensureLocalKey,
  ensureLocalSecretKey,
  getKey,
  listKeys,
  localKeyFile,
  readLocalKey,
  readLocalSecretKey,
  revokeKey,
  revokeLocalKeys,
  rotateKey,
} from "./keys.ts";

describe("keys", () => {
  const UNKNOWN = "0190b5a0-9e8f-7c1d-8000-0123456789ab";
  const NO_IDS = ["", "1", "no-id", "'; DROP TABLE api_keys", UNKNOWN, UNKNOWN.toUpperCase(), `${UNKNOWN} `, "\u0000"];

  let database: TestDatabase;
  let stores: Store[];
  let store: Store;
  let standard: Project;
  let north: Project;
  /** A part of every name of one test, so that its list is its own. */
  let mark: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    stores = [1, 2].map(() => openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() }));
    [store] = stores as [Store];
    standard = (await store.projects.ensure("default")).project;
    north = (await store.projects.ensure("north")).project;
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
    project: north.id,
    projectName: north.name,
  });

  const create = (input: Partial<KeyInput> = {}, who = principal(), on = store) =>
    createKey({ store: on }, who, { name: mark, scopes: ["messages:write"], ...input });
  const list = (input: ListInput = {}, who = principal()) => listKeys({ store }, who, { q: mark, ...input });
  const get = (id: string, who = principal()) => getKey({ store }, who, id);
  const revoke = (id: string, who = principal()) => revokeKey({ store }, who, id);
  const rotate = (id: string, input: { overlapSeconds?: number } = {}, who = principal(), on = store) =>
    rotateKey({ store: on }, who, id, input);

  /** Who a key lets in right now, as on a replica that has never seen it. */
  const check = (key: string) =>
    createAuthenticator({ store, log: testLog() })({ authorization: undefined, apiKey: key, project: undefined });
  const isLive = async (key: string) => (await store.apiKeys.findLiveByHash(hashApiKey(key))) !== null;

  /** An item without the key that was shown with it. */
  function withoutKey({ key: _key, ...item }: KeyItem & { key?: string }): KeyItem {
    return item;
  }

  /** A faulty request's places. */
  const errors = (...pointers: string[]) => ({
    code: "invalid_request",
    errors: pointers.map((pointer) => expect.objectContaining({ pointer })),
  });

  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000);

  describe("a key that is made", () => {
    test("is shown once, works at once, and its record has all but the key", async () => {
      const expiresAt = inSeconds(3_600);
      const made = await create({
        scopes: ["messages:write", "kb:*", "messages:write"],
        project: "north",
        expiresAt: expiresAt.toISOString(),
        rateLimit: 600,
      });
      expect(made).toEqual({
        id: expect.any(String),
        name: mark,
        prefix: made.key?.slice(0, 8),
        scopes: ["messages:write", "kb:*"],
        project: "north",
        createdAt: expect.any(String),
        createdBy: "key:test",
        expiresAt: expiresAt.toISOString(),
        lastUsedAt: null,
        revokedAt: null,
        rateLimit: 600,
        key: expect.stringMatching(/^svc_[0-9A-Za-z]{38}$/),
      });
      expect(await check(made.key ?? "")).toMatchObject({
        actor: `key:${made.id}`,
        scopes: ["messages:write", "kb:*"],
        projectName: "north",
        rateLimit: 600,
      });
      const item = withoutKey(made);
      expect(await get(made.id)).toEqual(item);
      expect((await list()).items).toEqual([item]);
      expect(keyItemSchema.parse(item)).toEqual(item);
      expect(await revoke(made.id)).toEqual({ ...item, revokedAt: expect.any(String) });
    });

    test.each<[rateLimit: number | null | undefined, shown: object]>([
      [undefined, {}],
      [null, { rateLimit: null }],
      [1, { rateLimit: 1 }],
      [1_000_000, { rateLimit: 1_000_000 }],
    ])("with the rate limit %p shows it so, then and later", async (rateLimit, shown) => {
      const { id, ...made } = await create(rateLimit === undefined ? {} : { rateLimit });
      const limitOf = (item: object) =>
        Object.fromEntries(Object.entries(item).filter(([name]) => name === "rateLimit"));
      expect(limitOf(made)).toEqual(shown);
      expect(limitOf(await get(id))).toEqual(shown);
    });

    test("is bound to `default` unless it names a project, whatever project its maker works on", async () => {
      expect((await create()).project).toBe("default");
      expect((await create({ project: "north" })).project).toBe("north");
    });

    test("with admin:* is bound to no project, with or without further scopes", async () => {
      for (const scopes of [["admin:*"], ["kb:read", "admin:*"]]) {
        const { project, key } = await create({ scopes });
        expect(project).toBeNull();
        expect(await check(key ?? "")).toMatchObject({ projectName: "default" });
      }
    });

    test("without admin:* is never free to choose its project", async () => {
      for (const input of [{}, { project: "north" }, { scopes: ["tickets:*", "kb:*"] }]) {
        const { id } = await create(input);
        expect((await store.apiKeys.find(id))?.project).not.toBeNull();
      }
    });

    test("with admin:* and a project is refused, whether that project exists or not", async () => {
      for (const project of ["north", "nowhere"]) {
        await expect(create({ scopes: ["admin:*"], project })).rejects.toMatchObject(errors("/project"));
      }
    });

    test.each(["nowhere", "North", "", "'; DROP TABLE projects", "a\u0000"])(
      "for the project %j, which does not exist, is refused",
      async (project) => {
        await expect(create({ project })).rejects.toMatchObject(errors("/project"));
      },
    );

    test("with faults is refused with all of them, and nothing is made", async () => {
      const input = { name: `${mark}\n`, scopes: ["kb:all"], rateLimit: "5", colour: "red" };
      await expect(create(input as unknown as KeyInput)).rejects.toMatchObject(
        errors("/name", "/scopes/0", "/rateLimit", "/colour"),
      );
      await expect(create({ scopes: [] })).rejects.toMatchObject(errors("/scopes"));
      await expect(create({ expiresAt: inSeconds(-1).toISOString() })).rejects.toMatchObject(errors("/expiresAt"));
      expect((await list()).items).toEqual([]);
    });
  });

  describe("a key that is imported", () => {
    test("works as it is, and its answer does not repeat it", async () => {
      const key = `legacy/key+${mark}`;
      const item = await create({ key });
      expect(item).not.toHaveProperty("key");
      expect(JSON.stringify(item)).not.toContain(key);
      expect(item.prefix).toBe(key.slice(0, 5));
      expect(await check(key)).toMatchObject({ actor: `key:${item.id}` });
    });

    test("and is live already is refused, without a word about whose it is", async () => {
      const key = `imported ${mark}`;
      const { id, name } = await create({ key, project: "north" });
      const error: unknown = await create({ key, name: "again" }).catch((problem: unknown) => problem);
      expect(error).toMatchObject({
        code: "invalid_request",
        errors: [{ pointer: "/key", code: "taken", detail: expect.any(String) }],
      });
      const message = `${String(error)}${JSON.stringify(error)}`;
      for (const secret of [key, id, name, "north"]) expect(message).not.toContain(secret);
    });

    test("is there once, however many import it at once on several replicas", async () => {
      const key = `imported ${mark}`;
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) => create({ key }, principal(), stores[index % 2])),
      );
      const made = outcomes.filter(({ status }) => status === "fulfilled");
      expect(made).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(errors("/key"));
      }
    });

    test("may be imported again after it was revoked", async () => {
      const key = `imported ${mark}`;
      const first = await create({ key });
      await revoke(first.id);
      const second = await create({ key });
      expect(second.id).not.toBe(first.id);
      expect(await isLive(key)).toBe(true);
    });
  });

  describe("the list of keys", () => {
    test("has the live, the revoked and the expired of all projects, newest first", async () => {
      const first = await create({ project: "north" });
      const second = await create({ scopes: ["admin:*"] });
      await revoke(first.id);
      expect((await list()).items.map(({ id, project, revokedAt }) => [id, project, revokedAt !== null])).toEqual([
        [second.id, null, false],
        [first.id, "north", true],
      ]);
    });

    test("comes page by page, each key once, whatever is made and revoked meanwhile", async () => {
      const ids: string[] = [];
      for (let index = 0; index < 7; index++) ids.unshift((await create()).id);
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await list({ limit: 3, ...(cursor === null ? {} : { cursor }) });
        seen.push(...page.items.map(({ id }) => id));
        cursor = page.nextCursor;
        await create();
        await revoke(seen.at(-1) ?? "");
      } while (cursor !== null);
      expect(seen).toEqual(ids);
    });

    test("is searched by a part of the name in any case, or by the beginning of the key", async () => {
      const { prefix, name, id } = await create({ name: `Käse & <b>${mark}</b> 100%` });
      const idsFor = async (q: string) => (await list({ q, limit: 200 })).items.map((item) => item.id);
      for (const q of [name, `KÄSE & <B>${mark}`, `${mark}</b> 100%`]) expect(await idsFor(q)).toEqual([id]);
      expect(await idsFor(prefix)).toContain(id);
      for (const q of [`%${mark}`, `k_se & <b>${mark}`, `${mark}' OR '1'='1`, prefix.slice(1)]) {
        expect(await idsFor(q)).not.toContain(id);
      }
    });

    test("has faults for a bad limit, cursor and search, all at once", async () => {
      await expect(list({ limit: 201, cursor: "nonsense", q: "\ud800" })).rejects.toMatchObject(
        errors("/limit", "/cursor", "/q"),
      );
    });
  });

  describe("a key that is revoked", () => {
    test("stops, and says since when; once more changes nothing", async () => {
      const { id, key } = await create();
      const revoked = await revoke(id);
      expect(Date.parse(revoked.revokedAt ?? "")).not.toBeNaN();
      expect(await isLive(key ?? "")).toBe(false);
      expect(await revoke(id)).toEqual(revoked);
      expect(await get(id)).toEqual(revoked);
    });
  });

  describe("a key that is rotated", () => {
    test("has a successor with the same name, scopes, project, limit and expiry, and works on for a day", async () => {
      const expiresAt = inSeconds(30 * 86_400).toISOString();
      const old = await create({ project: "north", scopes: ["kb:read", "kb:write"], rateLimit: null, expiresAt });
      const before = Date.now();
      const next = await rotate(old.id);
      expect(next).toEqual({
        ...old,
        id: expect.any(String),
        prefix: next.key.slice(0, 8),
        createdAt: expect.any(String),
        key: expect.stringMatching(/^svc_[0-9A-Za-z]{38}$/),
      });
      expect([next.id === old.id, next.key === old.key]).toEqual([false, false]);
      expect(await check(next.key)).toMatchObject({ actor: `key:${next.id}`, projectName: "north", rateLimit: null });
      expect(await check(old.key ?? "")).toMatchObject({ actor: `key:${old.id}` });
      const { expiresAt: end, ...rest } = await get(old.id);
      expect(rest).toEqual({ ...withoutKey(old), lastUsedAt: rest.lastUsedAt, expiresAt: undefined });
      const overlapMs = Date.parse(end ?? "") - before;
      expect(Math.round(overlapMs / 60_000)).toBe(24 * 60);
    });

    test("ends at once with an overlap of 0", async () => {
      const old = await create();
      const next = await rotate(old.id, { overlapSeconds: 0 });
      expect([await isLive(old.key ?? ""), await isLive(next.key)]).toEqual([false, true]);
      expect((await get(old.id)).revokedAt).not.toBeNull();
      expect(next).toMatchObject({ revokedAt: null, expiresAt: null });
    });

    test("does not live longer than it would have", async () => {
      const expiresAt = inSeconds(600).toISOString();
      const old = await create({ expiresAt });
      await rotate(old.id, { overlapSeconds: 604_800 });
      expect((await get(old.id)).expiresAt).toBe(expiresAt);
    });

    test("can be rotated again while it works, when its new key was lost: each new key has the expiry of the first", async () => {
      const expiresAt = inSeconds(30 * 86_400).toISOString();
      const old = await create({ expiresAt });
      const lost = await rotate(old.id);
      const next = await rotate(old.id, { overlapSeconds: 600 });
      expect([lost.expiresAt, next.expiresAt]).toEqual([expiresAt, expiresAt]);
      const endless = await create();
      await rotate(endless.id);
      expect((await rotate(endless.id)).expiresAt).toBeNull();
    });

    test("may have been imported: its successor is a generated one", async () => {
      const old = await create({ key: `imported ${mark}` });
      expect((await rotate(old.id)).key).toMatch(/^svc_/);
      expect(await isLive(`imported ${mark}`)).toBe(true);
    });

    test("is not one that is revoked or has expired: nothing is made", async () => {
      const revoked = await create();
      await revoke(revoked.id);
      const expired = await store.apiKeys.insert({
        name: mark,
        prefix: "svc_",
        hash: hashApiKey(mark),
        scopes: ["kb:read"],
        project: north.id,
        createdBy: "test",
        expiresAt: inSeconds(-1),
      });
      const count = (await list()).items.length;
      for (const id of [revoked.id, expired?.id ?? ""]) {
        await expect(rotate(id)).rejects.toMatchObject({
          code: "invalid_request",
          message: expect.stringContaining("new"),
        });
      }
      expect((await list()).items).toHaveLength(count);
    });

    test("and revoked at the same moment leaves no key without an end and fails nobody with a fault of ours", async () => {
      const old = await create();
      const outcomes = await Promise.allSettled([
        ...Array.from({ length: 6 }, (_, index) =>
          rotate(old.id, { overlapSeconds: 0 }, principal(), stores[index % 2]),
        ),
        revoke(old.id),
      ]);
      expect(await isLive(old.key ?? "")).toBe(false);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "invalid_request" });
      }
      expect((await list()).items.filter(({ revokedAt }) => revokedAt === null).length).toBeLessThanOrEqual(1);
    });

    test("for a time that cannot be is refused, and stays as it is", async () => {
      const old = await create();
      for (const overlapSeconds of [-1, 604_801, 0.5, "0", null]) {
        await expect(rotate(old.id, { overlapSeconds } as { overlapSeconds: number })).rejects.toMatchObject(
          errors("/overlapSeconds"),
        );
      }
      expect(await get(old.id)).toEqual(withoutKey(old));
    });
  });

  test.each(NO_IDS)("a key with the id %j is not found, revoked or rotated", async (id) => {
    for (const operation of [get, revoke, rotate]) {
      await expect(operation(id)).rejects.toMatchObject({ code: "not_found" });
    }
  });

  test.each<[Scope[]]>([[[]], [["messages:*", "kb:*", "tickets:*", "channels:*", "audit:*", "privacy:*"]]])(
    "admin:* is needed for each of it: %j is not enough",
    async (scopes) => {
      const { id, key } = await create();
      const who = principal(scopes);
      const refused = { code: "insufficient_scope" };
      await expect(list({}, who)).rejects.toMatchObject(refused);
      await expect(get(id, who)).rejects.toMatchObject(refused);
      await expect(create({}, who)).rejects.toMatchObject(refused);
      await expect(revoke(id, who)).rejects.toMatchObject(refused);
      await expect(rotate(id, {}, who)).rejects.toMatchObject(refused);
      await expect(rotate("no-id", { overlapSeconds: -1 }, who)).rejects.toMatchObject(refused);
      expect(await isLive(key ?? "")).toBe(true);
      expect((await list()).items).toHaveLength(1);
    },
  );

  describe("a key that somebody makes with the command line", () => {
    test("stays when the credentials that the command line has made for itself are revoked", async () => {
      const dataDir = await mkdtemp(join(tmpdir(), "svc-keys-"));
      try {
        const own = await ensureLocalKey(store, dataDir);
        const who = localAdministrator(standard);
        const made = await create({ scopes: ["admin:*"] }, who);
        const rotated = await rotate(made.id, {}, who);
        await revokeLocalKeys(store);
        expect(await isLive(own)).toBe(false);
        for (const { key, createdBy } of [made, rotated]) {
          expect([await isLive(key ?? ""), createdBy]).toEqual([true, "svc keys"]);
        }
      } finally {
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  });
});

describe("localKey", () => {
  let database: TestDatabase;
  let store: Store;
  let dataDir: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
  });

  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "svc-data-"));
  });

  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const findKey = (key: string) => store.apiKeys.findLiveByHash(hashApiKey(key));
  const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

  describe("the command line's credential", () => {
    test("is an administrator's key in a file that only its owner can read", async () => {
      expect(await readLocalKey(dataDir)).toBeNull();
      const key = await ensureLocalKey(store, dataDir);
      expect(await findKey(key)).toMatchObject({ scopes: ["admin:*"], project: null, createdBy: "command-line" });
      expect(await readFile(localKeyFile(dataDir), "utf8")).toBe(`${key}\n`);
      expect(await readLocalKey(dataDir)).toBe(key);
      expect(await modeOf(localKeyFile(dataDir))).toBe("600");
    });

    test("stays the same as long as it is live", async () => {
      const key = await ensureLocalKey(store, dataDir);
      const live = await store.apiKeys.listLiveCreatedBy("command-line");
      expect(await ensureLocalKey(store, dataDir)).toBe(key);
      expect(await store.apiKeys.listLiveCreatedBy("command-line")).toEqual(live);
    });

    test("is made again when it was revoked, in a file that is still its owner's alone", async () => {
      const key = await ensureLocalKey(store, dataDir);
      await store.apiKeys.revoke((await findKey(key))?.id ?? "");
      await chmod(localKeyFile(dataDir), 0o644);
      const again = await ensureLocalKey(store, dataDir);
      expect(again).not.toBe(key);
      expect(await findKey(again)).not.toBeNull();
      expect(await readLocalKey(dataDir)).toBe(again);
      expect(await modeOf(localKeyFile(dataDir))).toBe("600");
    });

    test.each(["", "\n", "svc_from_another_database\n"])("is made again where its file holds %j", async (content) => {
      await writeFile(localKeyFile(dataDir), content);
      const key = await ensureLocalKey(store, dataDir);
      expect(await findKey(key)).not.toBeNull();
      expect(await readLocalKey(dataDir)).toBe(key);
    });

    test("is another one in each data folder, and both are live", async () => {
      const other = join(dataDir, "other");
      await mkdir(other);
      const keys = [await ensureLocalKey(store, dataDir), await ensureLocalKey(store, other)];
      expect(new Set(keys).size).toBe(2);
      for (const key of keys) expect(await findKey(key)).not.toBeNull();
    });

    test("that cannot be read is an error, not a reason to make another", async () => {
      await mkdir(localKeyFile(dataDir));
      await expect(ensureLocalKey(store, dataDir)).rejects.toMatchObject({ code: "EISDIR" });
    });

    test("ends in every folder where the configuration names the only administrator's key, and that one stays", async () => {
      const key = await ensureLocalKey(store, dataDir);
      const configured = "the configured administrator's key";
      await ensureConfiguredAdminKey(store, configured);
      await revokeLocalKeys(store);
      expect(await findKey(key)).toBeNull();
      expect(await store.apiKeys.listLiveCreatedBy("command-line")).toEqual([]);
      expect(await findKey(configured)).not.toBeNull();
      await revokeLocalKeys(store);
    });
  });

  describe("the secret key of a data folder", () => {
    const NEW = { hasData: false };
    const file = () => join(dataDir, "secret-key");

    test("is made once, long enough, in a file that only its owner can read", async () => {
      expect(await readLocalSecretKey(dataDir)).toBeNull();
      const key = await ensureLocalSecretKey(dataDir, NEW);
      expect(key).toMatch(/^[\w-]{64}$/);
      expect(await modeOf(file())).toBe("600");
      expect(await ensureLocalSecretKey(dataDir, NEW)).toBe(key);
      expect(await readLocalSecretKey(dataDir)).toBe(key);
    });

    test("is another one in each folder", async () => {
      const other = join(dataDir, "other");
      await mkdir(other);
      expect(await ensureLocalSecretKey(other, NEW)).not.toBe(await ensureLocalSecretKey(dataDir, NEW));
    });

    test("is not replaced when it is missing from the folder of a database", async () => {
      const file = join(dataDir, "secret-key");
      await expect(ensureLocalSecretKey(dataDir, { hasData: true })).rejects.toThrow(
        `There is no secret key in ${file}, and this database was set up with one.`,
      );
      expect(await readdir(dataDir)).toEqual([]);
      const key = await ensureLocalSecretKey(dataDir, NEW);
      expect(await ensureLocalSecretKey(dataDir, { hasData: true })).toBe(key);
    });

    test("that cannot be read is an error: another one would open nothing that was sealed", async () => {
      await mkdir(file());
      await expect(ensureLocalSecretKey(dataDir, NEW)).rejects.toMatchObject({ code: "EISDIR" });
    });
  });
});
