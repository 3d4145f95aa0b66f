import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { NewApiKey } from "@svc/store";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(async () => {
  await db.close();
});

const hashOf = (key: string) => createHash("sha256").update(key).digest();

function newKey(change: Partial<NewApiKey> = {}): NewApiKey {
  return {
    name: "test key",
    prefix: "svc_abc",
    hash: hashOf(newId()),
    scopes: ["messages:write"],
    project: null,
    createdBy: `maker-${newId()}`,
    expiresAt: null,
    ...change,
  };
}

const soon = () => new Date(Date.now() + 3_600_000);
const past = () => new Date(Date.now() - 3_600_000);

test("a valid key is found by its hash, with its scopes and project", async () => {
  const project = await db.newProject();
  const expiresAt = soon();
  const key = newKey({ project, scopes: ["messages:*", "kb:read"], expiresAt });
  const record = await db.store.apiKeys.insert(key);
  expect(record).toEqual({
    id: expect.any(String),
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    project,
    createdAt: expect.any(Date),
    createdBy: key.createdBy,
    expiresAt,
    lastUsedAt: null,
    revokedAt: null,
  });
  expect(await db.store.apiKeys.findLiveByHash(key.hash)).toEqual(record);
  expect(await db.store.apiKeys.findLiveByHash(hashOf("another"))).toBeNull();
});

test("a revoked or expired key is not found", async () => {
  const [revoked, expired] = [newKey(), newKey({ expiresAt: past() })];
  const record = await db.store.apiKeys.insert(revoked);
  await db.store.apiKeys.insert(expired);
  expect(await db.store.apiKeys.revoke(record?.id ?? "")).toBe(true);
  expect(await db.store.apiKeys.revoke(record?.id ?? "")).toBe(false);
  expect(await db.store.apiKeys.findLiveByHash(revoked.hash)).toBeNull();
  expect(await db.store.apiKeys.findLiveByHash(expired.hash)).toBeNull();
});

test("a valid key exists once despite concurrent imports, and can be imported again after it is revoked", async () => {
  const key = newKey();
  const inserted = await Promise.all(Array.from({ length: 10 }, () => db.store.apiKeys.insert(key)));
  const made = inserted.filter((record) => record !== null);
  expect(made.length).toBe(1);
  await db.store.apiKeys.revoke(made[0]?.id ?? "");
  const again = await db.store.apiKeys.insert(key);
  expect(again).not.toBeNull();
  expect(await db.store.apiKeys.findLiveByHash(key.hash)).toEqual(again);
});

test("an expired key can be created again", async () => {
  const key = newKey({ expiresAt: past() });
  await db.store.apiKeys.insert(key);
  const again = await db.store.apiKeys.insert({ ...key, expiresAt: null });
  expect(again).not.toBeNull();
  expect(await db.store.apiKeys.findLiveByHash(key.hash)).toEqual(again);
});

test("revoking all but one of a creator's keys keeps that one and those of others", async () => {
  const createdBy = `maker-${newId()}`;
  const [kept, old, older, other] = [newKey({ createdBy }), newKey({ createdBy }), newKey({ createdBy }), newKey()];
  for (const key of [older, old, kept, other]) await db.store.apiKeys.insert(key);
  expect(await db.store.apiKeys.revokeOthersOf(createdBy, kept.hash)).toBe(2);
  expect(await db.store.apiKeys.revokeOthersOf(createdBy, kept.hash)).toBe(0);
  const live = await Promise.all([kept, old, older, other].map(({ hash }) => db.store.apiKeys.findLiveByHash(hash)));
  expect(live.map((record) => record !== null)).toEqual([true, false, false, true]);
  expect((await db.store.apiKeys.listLiveCreatedBy(createdBy)).map(({ id }) => id)).toEqual([live[0]?.id]);
});

test("a creator's valid keys are listed newest first, without revoked and expired ones", async () => {
  const createdBy = `maker-${newId()}`;
  const names = ["first", "second", "expired", "revoked", "third"];
  for (const name of names) {
    const record = await db.store.apiKeys.insert(
      newKey({ createdBy, name, expiresAt: name === "expired" ? past() : null }),
    );
    if (name === "revoked") await db.store.apiKeys.revoke(record?.id ?? "");
  }
  const listed = await db.store.apiKeys.listLiveCreatedBy(createdBy);
  expect(listed.map(({ name }) => name)).toEqual(["third", "second", "first"]);
});

test("an administrator's key exists only if it is valid and has the scope", async () => {
  await db.sql("UPDATE api_keys SET revoked_at = now() WHERE revoked_at IS NULL");
  await db.store.apiKeys.insert(newKey({ scopes: ["messages:*", "tickets:*"] }));
  await db.store.apiKeys.insert(newKey({ scopes: ["admin:*"], expiresAt: past() }));
  expect(await db.store.apiKeys.hasLiveAdminBeside([])).toBe(false);
  const admin = await db.store.apiKeys.insert(newKey({ scopes: ["admin:*"] }));
  expect(await db.store.apiKeys.hasLiveAdminBeside([])).toBe(true);
  await db.store.apiKeys.revoke(admin?.id ?? "");
  expect(await db.store.apiKeys.hasLiveAdminBeside([])).toBe(false);
});

test("the last use of keys is recorded, at most once a minute", async () => {
  const [used, unused] = [newKey(), newKey()];
  const record = await db.store.apiKeys.insert(used);
  await db.store.apiKeys.insert(unused);
  const id = record?.id ?? "";
  await db.store.apiKeys.touch([]);
  await db.store.apiKeys.touch([id]);
  const first = await db.store.apiKeys.findLiveByHash(used.hash);
  expect(first?.lastUsedAt).toEqual(expect.any(Date));
  await db.store.apiKeys.touch([id]);
  expect((await db.store.apiKeys.findLiveByHash(used.hash))?.lastUsedAt).toEqual(first?.lastUsedAt);
  expect((await db.store.apiKeys.findLiveByHash(unused.hash))?.lastUsedAt).toBeNull();
});

test("a project's keys are deleted with it, and the plain key is never stored", async () => {
  const project = await db.newProject();
  const key = newKey({ project, hash: hashOf("svc_the_key_itself") });
  await db.store.apiKeys.insert(key);
  const rows = await db.sql<{ row: string }>("SELECT k::text AS row FROM api_keys k WHERE project_id = $1", [project]);
  expect(rows[0]?.row).not.toContain("the_key_itself");
  await db.sql("DELETE FROM projects WHERE id = $1", [project]);
  expect(await db.store.apiKeys.findLiveByHash(key.hash)).toBeNull();
});
