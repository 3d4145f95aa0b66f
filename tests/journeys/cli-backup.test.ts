import { chmod, mkdir, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createTestDatabase, createTestQueueBackend, queryDatabase } from "@svc/testing";
import type { ChildProcess, TestDatabase } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import { SVC_MAIN, run, svc, svcJson } from "./support/run-svc.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { makeFolder, newInstance, removeFolders, svcUp } from "./support/svc-instance.ts";
import type { SvcInstance } from "./support/svc-instance.ts";
import { runWithin } from "./support/svc-within.ts";

const ADMIN_KEY = "backup-administrator-0a1b2c3d4e5f";
const NOT_COLLECTED = "How do I send a message over the HTTP API?";
const SECRET = "a webhook secret that is sealed";

let embedded: SvcInstance;
let embeddedEnv: Record<string, string>;
let folder: string;
let file: string;
let target: TestDatabase;
let targetEnv: Record<string, string>;
/** Number of replies of the embedded product when the backup was made. */
let replyCount: number;

const inFolder = (env: Record<string, string>, ...words: string[]) => runWithin({ env, folder }, ...words);

/** The moved data: an embedded product receives messages, and is backed up while it runs. */
beforeAll(async () => {
  [embedded, folder, target] = await Promise.all([newInstance(), makeFolder(), createTestDatabase()]);
  embeddedEnv = { ...embedded.env, SVC_ADMIN_KEY: ADMIN_KEY };
  file = join(folder, "svc.backup.gz");
  let up: ChildProcess | undefined;
  try {
    up = await svcUp({ ...embedded, env: embeddedEnv as SvcInstance["env"] });
    const messages = `${embedded.url}/api/v1/messages`;
    const key = ADMIN_KEY;
    const sync = await callApi(messages, { key, json: { chatId: "collected", text: "What is a drain?" } });
    expect(sync.status).toBe(200);
    await callApi(messages, { key, json: { chatId: "not-collected", text: NOT_COLLECTED, mode: "async" } });
    const { replies: waiting } = await callApi(`${messages}/not-collected?peek=1&wait=30000`, { key });
    expect(waiting.length).toBeGreaterThan(0);
    replyCount = sync.replies.length + waiting.length;
    const secret = await run(process.execPath, [SVC_MAIN, "webhook", "secret", "--from-stdin"], {
      env: embeddedEnv,
      input: SECRET,
    });
    expect(secret.code).toBe(0);
    const made = await svcJson(embeddedEnv, "backup", file);
    expect(made).toMatchObject({ code: 0, document: { ok: true, file } });
  } finally {
    await up?.kill("SIGINT");
  }
  const secretKey = await readFile(join(embedded.env.SVC_DATA_DIR, "secret-key"), "utf8");
  targetEnv = { DATABASE_URL: target.url, SVC_SECRET_KEY: secretKey.trim() };
});

afterAll(async () => {
  await target.drop();
  await removeFolders();
});

describe("svc backup", () => {
  test("writes a file that only its owner can read, which can be inspected without a database", async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { document, code } = await svcJson({}, "backup", "verify", file);
    expect({ document, code }).toMatchObject({ code: 0, document: { ok: true, counts: { replies: replyCount } } });
    const { stdout } = await svc({}, "backup", "verify", file);
    expect(stdout).toContain("complete: ");
    const secretKey = targetEnv["SVC_SECRET_KEY"] ?? "";
    const { stdout: bytes } = await run("/bin/sh", [
      "-c",
      `gzip -dc '${file}' | grep -c -e '${secretKey}' -e '${SECRET}'`,
    ]);
    expect(bytes.trim()).toBe("0");
  });

  test("overwrites no file without --force, and leaves no file after an error", async () => {
    const precious = join(folder, "precious");
    await writeFile(precious, "precious");
    const refused = await inFolder(embeddedEnv, "backup", "precious");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--force") });
    expect(await readFile(precious, "utf8")).toBe("precious");
    expect(await inFolder(embeddedEnv, "backup", "nowhere/svc.backup.gz")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("its folder does not exist"),
    });
    expect(await inFolder(embeddedEnv, "backup", "precious", "--force")).toMatchObject({ code: 0 });
    expect((await readFile(precious)).length).toBeGreaterThan(1_000);
    expect((await stat(precious)).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("works through pipes", async () => {
    const { stdout, code } = await run(
      "/bin/sh",
      ["-c", `"${process.execPath}" "${SVC_MAIN}" backup - | "${process.execPath}" "${SVC_MAIN}" backup verify -`],
      { env: embeddedEnv },
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining("complete: ")]);
  });

  test("reports that there is nothing to back up", async () => {
    const env = { SVC_DATA_DIR: join(folder, "no-data") };
    expect(await inFolder(env, "backup")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("There is no data"),
    });
  });
});

describe("svc restore rejects, without changes,", () => {
  const refusals: [string, string, (bytes: Buffer) => Buffer][] = [
    ["a truncated file", "truncated", (bytes) => bytes.subarray(0, bytes.length - 20)],
    ["half a file", "truncated", (bytes) => bytes.subarray(0, bytes.length / 2)],
    ["a damaged file", "damaged", (bytes) => Buffer.concat([bytes.subarray(0, 20_000), bytes.subarray(20_100)])],
    ["another file", "not a backup", () => Buffer.from("hello")],
    ["an empty file", "truncated", () => Buffer.alloc(0)],
  ];
  test.each(refusals)("%s", async (_, reason, change) => {
    const bad = join(folder, "bad.backup.gz");
    await writeFile(bad, change(await readFile(file)));
    for (const words of [
      ["restore", bad],
      ["backup", "verify", bad],
    ]) {
      expect(await inFolder(targetEnv, ...words)).toMatchObject({ code: 1, stderr: expect.stringContaining(reason) });
    }
    expect(await queryDatabase(target.url, "SELECT 1 FROM projects")).toEqual([]);
  });

  test("a missing or unreadable file", async () => {
    expect(await inFolder(targetEnv, "restore", "none")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no such file"),
    });
  });

  test("another secret key, and a new data folder without one", async () => {
    const env = { ...targetEnv, SVC_SECRET_KEY: `${targetEnv["SVC_SECRET_KEY"] ?? ""}x` };
    expect(await inFolder(env, "restore", file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("secret-key"),
    });
    const fresh = { SVC_DATA_DIR: join(folder, "fresh") };
    expect(await inFolder(fresh, "restore", file)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining("Copy the file secret-key"),
    });
    await expect(stat(join(folder, "fresh"))).rejects.toThrow("ENOENT");
  });
});

describe("moving from the embedded database to that of Docker Compose, with one process per app", () => {
  let product: Product;
  let url: string;

  beforeAll(async () => {
    expect(await svcJson(targetEnv, "restore", file)).toMatchObject({ code: 0, document: { ok: true, migrated: [] } });
    const queues = await createTestQueueBackend();
    product = await startProduct({
      composition: "separate",
      replicas: 1,
      env: { SVC_ADMIN_KEY: ADMIN_KEY, SVC_SECRET_KEY: targetEnv["SVC_SECRET_KEY"] ?? "" },
      ground: { databaseUrl: target.url, ...queues, remove: () => queues.stop() },
    });
    url = `${product.composition.apiUrls[0] ?? ""}/api/v1/messages`;
  });

  afterAll(() => product.stop());

  test("uncollected replies are collected once; nothing is answered again", async () => {
    const key = ADMIN_KEY;
    expect((await callApi(`${url}/collected`, { key })).replies).toEqual([]);
    const { replies } = await callApi(`${url}/not-collected`, { key });
    expect(replies.length).toBeGreaterThan(0);
    expect((await callApi(`${url}/not-collected`, { key })).replies).toEqual([]);
    const answer = await callApi(url, { key, json: { chatId: "collected", text: NOT_COLLECTED } });
    expect(answer).toMatchObject({ status: 200 });
    const [row] = await queryDatabase<{ count: number }>(target.url, "SELECT count(*)::int AS count FROM replies");
    expect(row?.count).toBe(replyCount + answer.replies.length);
  });

  test("secrets are decrypted with the key, and the audit log continues", async () => {
    const setting = await queryDatabase<{ sealed: string }>(
      target.url,
      "SELECT api #>> '{config,webhookSecret,sealed}' AS sealed FROM channels_config",
    );
    expect(setting[0]?.sealed).toMatch(/^v1\./);
    const { document } = await svcJson(targetEnv, "audit", "list", "--actor", "command-line");
    const actions = (document as { items: { action: string }[] }).items.map(({ action }) => action);
    expect(actions).toContain("service.restore");
    expect(await svcJson(targetEnv, "audit", "verify")).toMatchObject({ code: 0, document: { ok: true } });
  });

  test("a restore is rejected while it runs, and if there is data", async () => {
    expect(await inFolder(targetEnv, "restore", file, "--replace", "--yes")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("The service is using this database"),
    });
    expect(await inFolder(targetEnv, "restore", file, "--replace")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes"),
    });
    expect(await inFolder(targetEnv, "restore", file, "--force")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--replace"),
    });
  });
});

test("a backup is restored to a new data folder with the old secret key, and the product starts on it", async () => {
  const fresh = await newInstance();
  const env = { ...fresh.env, SVC_ADMIN_KEY: ADMIN_KEY };
  const dataDir = fresh.env.SVC_DATA_DIR;
  await mkdir(dataDir, { mode: 0o700 });
  await writeFile(join(dataDir, "secret-key"), targetEnv["SVC_SECRET_KEY"] ?? "");
  await chmod(join(dataDir, "secret-key"), 0o600);
  expect(await svc(env, "restore", file)).toMatchObject({ code: 0 });
  expect(await svc(env, "restore", file, "--replace", "--yes")).toMatchObject({ code: 0 });
  const up = await svcUp({ ...fresh, env });
  try {
    const { replies } = await callApi(`${fresh.url}/api/v1/messages/not-collected`, { key: ADMIN_KEY });
    expect(replies.length).toBeGreaterThan(0);
  } finally {
    await up.kill("SIGINT");
  }
});
