import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { migrateStore, readSchemaState } from "@svc/store";
import { createTestDatabase, repositoryPath, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { Client } from "pg";
import { migrateFromNothing } from "../../journeys/support/plant-first-schema.ts";

const FOLDER = repositoryPath("packages/store/migrations");

/**
 * A table that becomes the first partition of a new one of its name, with the same columns: the version before finds its rows
 * under that name. Ids are then given out by the new table.
 */
const MOVED_TO_PARTITIONS =
  /ALTER TABLE (\w+) RENAME TO \1_first;(?=\s*CREATE TABLE \1 \(LIKE \1_first INCLUDING [^;]*PARTITION BY RANGE \(\w+\);[^]*ALTER TABLE \1 ATTACH PARTITION \1_first FOR VALUES FROM \(MINVALUE\) TO \(MAXVALUE\);)/g;

/** The statements of every migration, without their comments; `kept` without moves that the version before bears. */
const migrations = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".sql"))
  .sort()
  .map((name) => {
    const text = readFileSync(join(FOLDER, name), "utf8");
    const sql = text.replaceAll(/--[^\n]*/g, "");
    return { name, text, sql, kept: sql.replaceAll(MOVED_TO_PARTITIONS, "") };
  });

/**
 * What processes of the version before do not bear: they read and write all that they know, and write nothing that they do
 * not know.
 */
const FORBIDDEN: [string, RegExp][] = [
  ["takes a table, a column or a constraint away", /\bDROP\s+(?:TABLE|COLUMN|CONSTRAINT|DEFAULT|FUNCTION|TRIGGER)\b/i],
  ["gives something another name", /\bRENAME\b/i],
  ["changes a type", /\bALTER\s+COLUMN\s+\w+\s+(?:SET\s+DATA\s+)?TYPE\b/i],
  ["wants a value where there was none", /\bSET\s+NOT\s+NULL\b/i],
  [
    "wants a value that the version before does not write",
    /\bADD\s+COLUMN\s+\w+\s(?![^;]*\b(?:DEFAULT|IDENTITY)\b)[^;]*\bNOT\s+NULL\b/i,
  ],
  ["constrains what is there", /\bADD\s+(?:CONSTRAINT|CHECK|UNIQUE|FOREIGN|PRIMARY)\b/i],
  // A migration is one transaction, where these cannot be.
  ["cannot be undone when it fails", /\bCONCURRENTLY\b|\bVACUUM\b|^\s*(?:BEGIN|COMMIT)\s*;/im],
];

describe("a migration", () => {
  test.each(migrations)("$name goes forward only, and the version before works on with it", ({ text, kept }) => {
    expect(text.startsWith("-- Up Migration\n")).toBe(true);
    expect(text).not.toMatch(/Down Migration/i);
    expect(FORBIDDEN.filter(([, pattern]) => pattern.test(kept)).map(([what]) => what)).toEqual([]);
  });

  test("makes no rows unique in a table that was there before", () => {
    const known = new Set<string>();
    for (const { name, sql } of migrations) {
      for (const [, table = ""] of sql.matchAll(/CREATE UNIQUE INDEX \w+\s+ON (\w+)/g)) {
        expect([name, table, known.has(table)]).toEqual([name, table, false]);
      }
      for (const [, table = ""] of sql.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+)/g)) known.add(table);
    }
  });
});

describe("the schema", () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database.drop());

  async function describeSchema(): Promise<unknown[]> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(
        `SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity
         FROM information_schema.columns WHERE table_schema = 'public'
         UNION ALL SELECT tablename, indexname, indexdef, NULL, NULL, NULL FROM pg_indexes WHERE schemaname = 'public'
         ORDER BY 1, 2`,
      );
      return rows;
    } finally {
      await client.end();
    }
  }

  test("is the same from whatever version it is upgraded", async () => {
    const newest = await describeSchema();
    for (const count of [0, 2, Math.floor(migrations.length / 2), migrations.length - 1]) {
      await migrateFromNothing(database.url, count);
      expect(await readSchemaState(database.url)).toBe("older");
      await migrateStore(database.url, testLog());
      expect(await describeSchema()).toEqual(newest);
    }
  });

  test("keeps the webhook secret for every project, and recounts pending callbacks by their failures", async () => {
    await migrateFromNothing(
      database.url,
      migrations.findIndex(({ name }) => name.startsWith("0031")),
    );
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const id = (digit: number) => `00000000-0000-7000-8000-00000000000${digit}`;
    try {
      await client.query(
        `UPDATE channels_config SET api = jsonb_set(api, '{config}', '{"webhookSecret": {"sealed": "x"}, "previousWebhookSecret": null}')`,
      );
      await client.query("INSERT INTO projects (id, name, handoff_text) VALUES ($1, 'default', ''), ($2, 'shop', '')", [
        id(1),
        id(2),
      ]);
      // Claimed six times, sent once.
      await client.query(
        `INSERT INTO deliveries (id, project_id, ticket_id, message_id, type, url, reply_ids, tries, due_at)
         VALUES ($1, $1, $1, $1, 'message.completed', 'http://127.0.0.1:1/', '{}', 6, now())`,
        [id(3)],
      );
      await client.query(
        "INSERT INTO delivery_attempts (delivery_id, number) SELECT $1, * FROM generate_series(1, 5)",
        [id(3)],
      );
      await client.query(
        "INSERT INTO delivery_attempts (delivery_id, number, duration_ms, status) VALUES ($1, 6, 12, 500)",
        [id(3)],
      );
      await migrateStore(database.url, testLog());
      const projects = await client.query(
        "SELECT name, webhook_secret AS secret, previous_webhook_secret AS previous FROM projects ORDER BY name",
      );
      expect(projects.rows).toEqual([
        { name: "default", secret: null, previous: null },
        { name: "shop", secret: { sealed: "x" }, previous: null },
      ]);
      expect((await client.query("SELECT tries, lapses FROM deliveries")).rows).toEqual([{ tries: 1, lapses: 0 }]);
    } finally {
      await client.end();
    }
  });
});
