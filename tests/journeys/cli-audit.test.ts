import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { auditCheckSchema, auditItemSchema } from "@svc/contracts";
import { initialize } from "@svc/operations";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, repositoryPath, testLog, queryDatabase } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { SECRET_KEY } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";
import { runWithin } from "./support/svc-within.ts";

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;
let store: Store;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await makeFolder();
  env = { DATABASE_URL: database.url, SVC_SECRET_KEY: SECRET_KEY };
  store = openStore({ url: database.url, secretKey: env["SVC_SECRET_KEY"] ?? "", log: testLog(), app: "test" });
  const guideDir = repositoryPath("docs/guide");
  await initialize({ store, log: testLog() }, { configuredAdminKey: undefined, guideDir, showsKey: true });
  await store.projects.ensure("shop");
  for (const name of ["one", "two"])
    await writeFile(join(folder, `${name}.md`), `# ${name}\n\nSome words on ${name}.\n`);
});

afterAll(async () => {
  await store.close();
  await database.drop();
  await removeFolders();
});

/** Runs a command; `typed` is its standard input. */
const svcWith = (typed: string, ...words: string[]) => runWithin({ env, folder, typed }, ...words);

const svc = (...words: string[]) => svcWith("", ...words);

async function list(...words: string[]) {
  const { stdout, code } = await svc("audit", "list", ...words, "--json");
  expect(code).toBe(0);
  const { items, nextCursor } = JSON.parse(stdout) as { items: unknown[]; nextCursor: string | null };
  return { items: items.map((item) => auditItemSchema.strict().parse(item)), nextCursor };
}

async function verify(...words: string[]) {
  const { stdout, code } = await svc("audit", "verify", ...words, "--json");
  const { ok, item } = JSON.parse(stdout) as { ok: boolean; item: unknown };
  return { code, ok, ...auditCheckSchema.strict().parse(item) };
}

describe("changes of the command line", () => {
  test("are in the audit log, including the first start", async () => {
    expect((await list("--actor", "initialisation")).items.map(({ action }) => action)).toEqual([
      "keys.create",
      "service.initialize",
    ]);
    const secret = `planted${randomBytes(16).toString("hex")}`;
    const made = await svc("keys", "create", "mobile app", "--scope", "kb:read");
    const key = made.stdout.trim();
    await svcWith(secret, "keys", "import", "old app", "--scope", "kb:read");
    const rotated = (await svc("keys", "rotate", key.slice(0, 8), "--overlap", "0")).stdout.trim();
    await svc("keys", "revoke", rotated.slice(0, 8));
    await svc("channels", "disable", "api");
    await svc("channels", "enable", "api");
    await svcWith(`${secret}${secret}`, "webhook", "secret", "--from-stdin");
    await svc("agents", "create", "second", "--fixed-reply", secret, "--project", "shop");
    await svc("kb", "add", "one.md", "two.md", "--kb", "books", "--project", "shop");
    await svc("kb", "add", "one.md", "two.md", "--kb", "books", "--project", "shop");
    await svc("kb", "remove", "two.md", "--kb", "books", "--project", "shop");
    const { items } = await list("--actor", "command-line");
    const message = items.map(({ action, project, result, count }) => `${project} ${action} ${result} ${count}`);
    expect(message.toReversed()).toEqual([
      "null keys.create ok 1",
      "null keys.create ok 1",
      "null keys.rotate ok 1",
      "null keys.revoke ok 1",
      "null channels.update ok 1",
      "null channels.update ok 1",
      "null webhook-secret.set ok 1",
      "shop agents.create ok 1",
      "shop kb.create ok 1",
      // The second time there was nothing to add.
      "shop documents.add ok 2",
      "shop documents.delete ok 1",
    ]);
    const rows = JSON.stringify(await queryDatabase(database.url, "SELECT * FROM audit_events"));
    expect([secret, key, rotated].filter((text) => text === "" || rows.includes(text))).toEqual([]);
  });
});

describe("svc audit list", () => {
  test("filters, and continues after a page", async () => {
    const first = await list("--project", "shop", "--limit", "2");
    expect(first.items.map(({ action }) => action)).toEqual(["documents.delete", "documents.add"]);
    const { items, nextCursor } = await list("--project", "shop", "--limit", "9", "--cursor", first.nextCursor ?? "");
    expect([items.map(({ action }) => action), nextCursor]).toEqual([["kb.create", "agents.create"], null]);
    expect((await list("--action", "keys.rotate", "--result", "ok")).items).toHaveLength(1);
    expect((await list("--object", "api")).items).toHaveLength(2);
    expect((await list("--from", "2999-01-01")).items).toEqual([]);
  });

  test("shows a table, and how to continue", async () => {
    const { stdout, code } = await svc("audit", "list", "--project", "shop", "--limit", "2");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^TIME +PROJECT +RESULT +EVENT\n/);
    expect(stdout).toMatch(/\dZ +shop +ok +documents\.add \(2 times\) by command-line\n +on [0-9a-f-]{36}\n/);
    expect(stdout).toMatch(/Next page: {2}svc audit list --project shop --limit 2 --cursor \S+\n$/);
    expect((await svc("audit", "list", "--project", "nowhere")).stdout).toBe("No matching events.\n");
  });

  test("explains an invalid time, cursor and limit", async () => {
    expect(await svc("audit", "list", "--from", "yesterday")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("/from"),
    });
    expect(await svc("audit", "list", "--cursor", "x")).toMatchObject({ code: 1 });
    expect(await svc("audit", "list", "--limit", "201")).toMatchObject({ code: 2 });
  });
});

describe("svc audit verify", () => {
  test("exits with 0 if the log is unchanged, and prints its head", async () => {
    const { stdout, code } = await svc("audit", "verify");
    expect(code).toBe(0);
    const [, rows, head = ""] = /^intact: (\d+) rows\nHead: (\d{4}-\d\d-\d\d:\d+:[0-9a-f]{64})\n$/.exec(stdout) ?? [];
    expect(Number(rows)).toBeGreaterThan(10);
    await svc("keys", "create", "another", "--scope", "kb:read");
    expect(await verify("--expect", head)).toMatchObject({ code: 0, ok: true, rows: Number(rows) + 1 });
  });

  test("checks any number of days, and lists the invalid ones", async () => {
    expect(await verify("--from", "2001-01-01", "--to", "2999-01-01")).toMatchObject({ code: 0, isIntact: true });
    expect(await svc("audit", "verify", "--from", "2001-02-30")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("/from"),
    });
    expect(await svc("audit", "verify", "--expect", "abc")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("/expect"),
    });
  });

  test("exits with 1 and shows where the chain is broken", async () => {
    const { head } = await verify();
    const { items } = await list("--action", "agents.create");
    const id = items[0]?.id ?? "";
    for (const statement of [
      "ALTER TABLE audit_events DISABLE TRIGGER USER",
      `UPDATE audit_events SET result = 'not_found' WHERE id = '${id}'`,
      "ALTER TABLE audit_events ENABLE TRIGGER USER",
    ]) {
      await queryDatabase(database.url, statement);
    }
    const { stdout, code } = await svc("audit", "verify");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^broken at number \d+ of \d{4}-\d\d-\d\d \(row [0-9a-f-]{36}\): This row/);
    expect(stdout).toContain(id);
    expect(await verify()).toMatchObject({ code: 1, ok: false, isIntact: false, fault: { kind: "changed", id } });
    // The previous head still exists, but proves nothing about the rows before it.
    expect(await verify("--expect", head ?? "")).toMatchObject({ fault: { kind: "changed" } });
  });
});
