import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ensureConfiguredAdminKey, hashApiKey } from "@svc/auth";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import {
  ensureLocalKey,
  localKeyFile,
  readLocalKey,
  revokeLocalKeys,
  ensureLocalSecretKey,
  readLocalSecretKey,
} from "./local-key.ts";

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
