import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ReplyItem } from "@svc/contracts";
import { createTestDatabase, createTestQueueBackend, waitFor, queryDatabase } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import { FIRST, FIRST_MIGRATIONS, migrateFromNothing, plantFirstSchema } from "./support/plant-first-schema.ts";
import { SECRET_KEY, startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";
import { runWithin } from "./support/svc-within.ts";

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await makeFolder();
  await plantFirstSchema(database.url);
});

afterAll(async () => {
  await database.drop();
  await removeFolders();
});

const envOf = (url: string) => ({ DATABASE_URL: url, SVC_SECRET_KEY: SECRET_KEY });

const svcOn = (url: string, ...words: string[]) => runWithin({ env: envOf(url), folder }, ...words);

async function documentOf(url: string, ...words: string[]): Promise<unknown> {
  const { stdout, stderr, code } = await svcOn(url, ...words, "--json");
  expect([stderr, code]).toEqual([expect.anything(), 0]);
  return JSON.parse(stdout) as unknown;
}

describe("svc upgrade, from the first schema version", () => {
  test("is rejected with another secret key, without changes", async () => {
    const env = { DATABASE_URL: database.url, SVC_SECRET_KEY: `another-${SECRET_KEY}` };
    const { code, stderr } = await runWithin({ env, folder }, "upgrade");
    expect([code, stderr]).toEqual([1, expect.stringContaining("SVC_SECRET_KEY")]);
    expect(await queryDatabase(database.url, "SELECT name FROM schema_migrations")).toHaveLength(FIRST_MIGRATIONS);
  });

  test("makes a backup, migrates, and verifies that nothing is missing", async () => {
    expect(await documentOf(database.url, "upgrade", "--backup", "before.backup.gz")).toEqual({
      ok: true,
      before: "older",
      after: "current",
      backup: "before.backup.gz",
    });
    expect((await stat(join(folder, "before.backup.gz"))).mode & 0o777).toBe(0o600);
    expect(await documentOf(database.url, "backup", "verify", "before.backup.gz")).toMatchObject({
      migrations: ["0001_core", "0002_knowledge"],
      counts: { messages: 2, replies: 1, tickets: 1, chunks: 1 },
    });
  });

  test("does nothing the second time", async () => {
    expect(await documentOf(database.url, "upgrade")).toMatchObject({ before: "current", backup: null });
  });

  test("rejects a database of a newer version", async () => {
    await queryDatabase(database.url, "INSERT INTO schema_migrations (name, run_on) VALUES ('9999_future', now())");
    for (const words of [["upgrade"], ["backup"], ["restore", "before.backup.gz", "--replace", "--yes"]]) {
      expect(await svcOn(database.url, ...words)).toMatchObject({ code: 1, stderr: expect.stringContaining("newer") });
    }
    await queryDatabase(database.url, "DELETE FROM schema_migrations WHERE name = '9999_future'");
  });
});

describe.each([
  ["migrated in place", (): Promise<string> => Promise.resolve(database.url)],
  [
    "restored from the backup of that time, and migrated",
    async (): Promise<string> => {
      await migrateFromNothing(database.url, 0);
      expect(await documentOf(database.url, "restore", "before.backup.gz")).toMatchObject({
        ok: true,
        migrated: expect.arrayContaining(["0003_http_api", "0024_outboxes"]),
      });
      return database.url;
    },
  ],
])("data written by the first version, %s", (_, prepare) => {
  let product: Product;
  let url: string;

  beforeAll(async () => {
    const queues = await createTestQueueBackend();
    product = await startProduct({
      ground: { databaseUrl: await prepare(), ...queues, remove: () => queues.stop() },
    });
    url = product.composition.apiUrls[0] ?? "";
  });

  afterAll(() => product.stop());

  const drain = async (chatId: string): Promise<ReplyItem[]> =>
    (await callApi(`${url}/api/v1/messages/${chatId}`, { key: FIRST.key })).replies;

  test("is complete: its key, an uncollected reply, its secrets", async () => {
    expect(await drain(FIRST.answered.chatId)).toMatchObject([{ type: "message", text: FIRST.answered.reply }]);
    expect(await drain(FIRST.answered.chatId)).toEqual([]);
    const { api } = await product.store.channelsConfig.read();
    const { webhookSecret } = api.config;
    expect(webhookSecret === null ? null : product.store.sealer.open(webhookSecret)).toBe(FIRST.webhookSecret);
  });

  test("continues: waiting messages are answered, answered ones are not answered again", async () => {
    const replies = await waitFor(
      async () => {
        const found = await drain(FIRST.waiting.chatId);
        return found.length > 0 && found;
      },
      { what: "the answer" },
    );
    expect(replies).toMatchObject([{ text: FIRST.fixedReply }]);
    const sent = { chatId: FIRST.answered.chatId, text: "And now?" };
    const answer = await callApi(`${url}/api/v1/messages`, { key: FIRST.key, json: sent });
    expect(answer).toMatchObject({ status: 200, replies: [{ text: FIRST.fixedReply }] });
    const counts = await queryDatabase(product.databaseUrl, "SELECT seq::int FROM replies ORDER BY ticket_id, seq");
    expect(counts).toHaveLength(3);
  });

  test("can be found: tickets in lists, passages in searches, and the audit log is valid", async () => {
    const items = async <Item>(path: string) => {
      const { text } = await callApi(`${url}/api/v1/admin/${path}`, { key: FIRST.key });
      return (JSON.parse(text) as { items: Item[] }).items;
    };
    await waitFor(async () => (await items("tickets")).length === 2, { what: "both tickets" });
    const [kb] = await items<{ id: string }>("kb");
    await waitFor(
      async () => {
        const path = `kb/${kb?.id ?? ""}/search?q=${encodeURIComponent("Who repairs the barometer?")}`;
        const found = await callApi(`${url}/api/v1/admin/${path}`, { key: FIRST.key });
        return found.text.includes(FIRST.passage);
      },
      { what: "the passage of the first version" },
    );
    expect(await documentOf(product.databaseUrl, "audit", "verify")).toMatchObject({ ok: true });
  });
});
