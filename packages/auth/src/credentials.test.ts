import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import {
  ensureConfiguredAdminKey,
  generateApiKey,
  hashApiKey,
  hashPassword,
  IMPORTED_KEY_MIN_CHARS,
  issueKey,
  prefixOfApiKey,
  verifyPassword,
} from "./credentials.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function fromBase62(text: string): number {
  return Array.from(text).reduce((value, digit) => value * 62 + BASE62.indexOf(digit), 0);
}

describe("a generated key", () => {
  const keys = Array.from({ length: 2_000 }, () => generateApiKey());

  test("is svc_, 32 random characters and the CRC-32 of these, so that a scanner can tell a real one", () => {
    for (const key of keys) {
      const [, secret = "", checksum = ""] = /^svc_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(key) ?? [];
      expect(fromBase62(checksum)).toBe(crc32(secret));
    }
  });

  test("is made once", () => {
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("has every character at every place of its random part", () => {
    for (let position = 4; position < 36; position++) expect(new Set(keys.map((key) => key[position])).size).toBe(62);
  });

  test("shows svc_ and four of its characters, which keys can be told apart by", () => {
    for (const key of keys) expect(prefixOfApiKey(key)).toBe(key.slice(0, 8));
  });
});

test("what is stored of a key is its SHA-256 as UTF-8", () => {
  expect(hashApiKey("abc").toString("hex")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(hashApiKey("Schlüssel 🔑")).toEqual(createHash("sha256").update(Buffer.from("Schlüssel 🔑")).digest());
  expect(hashApiKey("abc")).not.toEqual(hashApiKey("abC"));
});

test("the prefix of a key begins it, and never shows more than a quarter nor more than eight characters", () => {
  for (let length = 0; length <= 200; length++) {
    const key = BASE62.repeat(4).slice(0, length);
    const prefix = prefixOfApiKey(key);
    expect(key.startsWith(prefix)).toBe(true);
    expect(prefix.length).toBeLessThanOrEqual(Math.min(8, length / 4));
  }
  expect(prefixOfApiKey("x".repeat(IMPORTED_KEY_MIN_CHARS))).toBe("xxxx");
});

describe("a key in the database", () => {
  let database: TestDatabase;
  let stores: Store[];
  let store: Store;
  let lastKey = 0;

  /** A configured key that no other test has. */
  const newValue = () => `configured key number ${++lastKey}`;
  const find = (key: string) => store.apiKeys.findLiveByHash(hashApiKey(key));
  const listConfigured = () => store.apiKeys.listLiveCreatedBy("configuration");

  beforeAll(async () => {
    database = await createTestDatabase();
    // Two processes on one database.
    stores = [1, 2].map(() => openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() }));
    [store] = stores as [Store];
  });

  beforeEach(async () => {
    for (const { id } of await listConfigured()) await store.apiKeys.revoke(id);
  });

  afterAll(async () => {
    await Promise.all(stores.map((open) => open.close()));
    await database.drop();
  });

  test("an issued key is found by its hash with what was asked for, and lies nowhere itself", async () => {
    const { project } = await store.projects.ensure("north");
    const expiresAt = new Date(Date.now() + 60_000);
    const { key, record } = await issueKey(store, {
      name: "shop",
      scopes: ["messages:write"],
      project: project.id,
      createdBy: "test",
      expiresAt,
    });
    expect(await find(key)).toEqual(record);
    expect(record).toMatchObject({
      name: "shop",
      prefix: key.slice(0, 8),
      scopes: ["messages:write"],
      project: project.id,
      createdBy: "test",
      expiresAt,
      revokedAt: null,
    });
    expect(JSON.stringify(record)).not.toContain(key);
  });

  test.each([null, 1, 1_000_000, undefined])(
    "an issued key has the rate limit %p, and so it is found",
    async (rateLimit) => {
      const { key, record } = await issueKey(store, {
        name: "shop",
        scopes: ["admin:*"],
        project: null,
        createdBy: "test",
        rateLimit,
      });
      expect(record.rateLimit).toBe(rateLimit);
      expect((await find(key))?.rateLimit).toBe(rateLimit);
    },
  );

  describe("a key from elsewhere", () => {
    const bring = (key: string) =>
      issueKey(store, { name: "brought", scopes: ["admin:*"], project: null, createdBy: "somebody", key });

    test("is taken as it is, and little of a short one is shown", async () => {
      const { key, record } = await bring("legacy-key-16-ch");
      expect(key).toBe("legacy-key-16-ch");
      expect(await find(key)).toEqual(record);
      expect(record.prefix).toBe("lega");
    });

    test("that is live already is refused, without the key or its owner", async () => {
      const { key, record } = await bring(newValue());
      const error: unknown = await bring(key).catch((problem: unknown) => problem);
      expect(error).toMatchObject({ code: "invalid_request", errors: [{ pointer: "/key", code: "taken" }] });
      const text = `${String(error)} ${JSON.stringify(error)}`;
      for (const secret of [key, record.id, "brought", "somebody"]) expect(text).not.toContain(secret);
      expect(await find(key)).toEqual(record);
    });

    test("that was revoked may be brought again", async () => {
      const { key, record } = await bring(newValue());
      await store.apiKeys.revoke(record.id);
      expect((await bring(key)).record.id).not.toBe(record.id);
    });
  });

  describe("the administrator's key of the configuration", () => {
    test("exists after the first time, and the second time changes nothing", async () => {
      const key = newValue();
      await ensureConfiguredAdminKey(store, key);
      const first = await find(key);
      expect(first).toMatchObject({ name: "SVC_ADMIN_KEY", scopes: ["admin:*"], project: null, expiresAt: null });
      await ensureConfiguredAdminKey(store, key);
      expect(await find(key)).toEqual(first);
      expect(await listConfigured()).toHaveLength(1);
    });

    test("is made once by processes that start at once", async () => {
      const key = newValue();
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => ensureConfiguredAdminKey(stores[index % 2] ?? store, key)),
      );
      expect(await listConfigured()).toHaveLength(1);
      expect(await find(key)).not.toBeNull();
    });

    test("that has changed revokes the former one, and changed back is live again", async () => {
      const [one, other] = [newValue(), newValue()];
      await ensureConfiguredAdminKey(store, one);
      await ensureConfiguredAdminKey(store, other);
      expect([await find(one), await find(other)]).toEqual([null, expect.anything()]);
      await ensureConfiguredAdminKey(store, one);
      expect([await find(one), await find(other)]).toEqual([expect.anything(), null]);
    });

    test("leaves every key alone that somebody else has made, whatever its name", async () => {
      const issue = (name: string, createdBy: string) =>
        issueKey(store, { name, scopes: ["admin:*"], project: null, createdBy });
      const others = [await issue("SVC_ADMIN_KEY", "an operator"), await issue("cli", "command-line")];
      await ensureConfiguredAdminKey(store, newValue());
      await ensureConfiguredAdminKey(store, newValue());
      for (const { key, record } of others) expect(await find(key)).toEqual(record);
    });

    test("is not made again where somebody else made it as an administrator's, and stays theirs", async () => {
      const { key, record } = await issueKey(store, {
        name: "mine",
        scopes: ["admin:*"],
        project: null,
        createdBy: "an operator",
      });
      const former = newValue();
      await ensureConfiguredAdminKey(store, former);
      await ensureConfiguredAdminKey(store, key);
      expect(await find(key)).toEqual(record);
      expect(await find(former)).toBeNull();
    });

    test("that was revoked by hand is live again after the next start", async () => {
      const key = newValue();
      await ensureConfiguredAdminKey(store, key);
      await store.apiKeys.revoke((await find(key))?.id ?? "");
      await ensureConfiguredAdminKey(store, key);
      expect(await find(key)).not.toBeNull();
    });

    test("has 16 characters or more: a shorter one is refused, not shown, and changes nothing", async () => {
      const key = newValue();
      await ensureConfiguredAdminKey(store, key);
      const short = "planted-15-char";
      await expect(ensureConfiguredAdminKey(store, short)).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.not.stringContaining(short),
      });
      expect(await find(key)).not.toBeNull();
      await ensureConfiguredAdminKey(store, `${short}s`);
      expect(await find(`${short}s`)).not.toBeNull();
    });
  });
});

describe("a password", () => {
  test("is known again by its hash, in every form of Unicode, and no other one is", async () => {
    const password = "correct horsé ﬁne 🐎";
    const hash = await hashPassword(password);
    expect(hash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/);
    expect(await verifyPassword(password.normalize("NFD"), hash)).toBe(true);
    expect(await verifyPassword(`${password} `, hash)).toBe(false);
  });

  test("has another hash each time", async () => {
    expect(await hashPassword("the same twice")).not.toBe(await hashPassword("the same twice"));
  });

  test.each([
    null,
    "",
    "the password",
    "$scrypt$ln=17,r=8,p=1$$",
    "$scrypt$ln=0,r=8,p=1$AAAA$AAAA",
    "$scrypt$ln=40,r=99,p=99$AAAA$AAAA",
    "$scrypt$ln=17,r=8,p=1$AAAA$AAAA",
  ])("is not matched by what is no hash of it: %s", async (hash) => {
    expect(await verifyPassword("the password", hash)).toBe(false);
  });
});
