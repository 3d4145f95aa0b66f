import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { migrateStore, openStore, readSchemaState } from "@svc/store";
import { collectLog, createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { Pool } from "pg";
import { SECRET_KEY, newMessage } from "./open-test-store.ts";

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new Pool({ connectionString: database.url, max: 2 });
  // `end` does not wait for the server: dropping the database may still find and terminate its connections.
  pool.on("error", (error) => {
    if (!pool.ending) throw error;
  });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Removes all tables of the product from the database. */
async function empty(): Promise<void> {
  await pool.query("DROP SCHEMA public CASCADE");
  await pool.query("CREATE SCHEMA public");
}

async function columns(): Promise<unknown[]> {
  const { rows } = await pool.query<Record<string, unknown>>(
    `SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
     WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`,
  );
  return rows;
}

test("an empty database is migrated, and a process can use it", async () => {
  await empty();
  expect(await readSchemaState(database.url)).toBe("older");
  await migrateStore(database.url, testLog());
  expect(await readSchemaState(database.url)).toBe("current");
  const store = openStore({ url: database.url, secretKey: SECRET_KEY, log: testLog() });
  try {
    const { project } = await store.projects.ensure("default");
    expect(await store.messages.accept(project.id, newMessage())).toMatchObject({ seq: 1 });
  } finally {
    await store.close();
  }
});

test("migrating again changes nothing", async () => {
  await empty();
  await migrateStore(database.url, testLog());
  await pool.query("INSERT INTO projects (id, name, handoff_text) VALUES (gen_random_uuid(), 'kept', '')");
  const before = await columns();
  const { rows } = await pool.query<{ id: string }>("SELECT id FROM projects");
  const { log, lines } = collectLog();
  await migrateStore(database.url, log);
  await migrateStore(database.url, log);
  expect(lines()).toEqual([]);
  expect(await columns()).toEqual(before);
  expect((await pool.query<{ id: string }>("SELECT id FROM projects")).rows).toEqual(rows);
});

test("concurrent processes that migrate an empty database all succeed, and it is migrated once", async () => {
  await empty();
  await migrateStore(database.url, testLog());
  const before = await columns();
  for (let round = 0; round < 3; round++) {
    await empty();
    const migrations = Array.from({ length: 5 }, () => migrateStore(database.url, testLog()));
    const failures = (await Promise.allSettled(migrations)).filter(({ status }) => status === "rejected");
    expect(failures).toEqual([]);
    expect(await readSchemaState(database.url)).toBe("current");
    expect(await columns()).toEqual(before);
    const { rows } = await pool.query("SELECT name, count(*) FROM schema_migrations GROUP BY name HAVING count(*) > 1");
    expect(rows).toEqual([]);
  }
});

test("a database of a newer version is detected, and not changed", async () => {
  await empty();
  await migrateStore(database.url, testLog());
  await pool.query("INSERT INTO schema_migrations (name, run_on) VALUES ('9999_from_the_future', now())");
  expect(await readSchemaState(database.url)).toBe("newer");
  const before = await columns();
  await migrateStore(database.url, testLog());
  expect(await readSchemaState(database.url)).toBe("newer");
  expect(await columns()).toEqual(before);
});
