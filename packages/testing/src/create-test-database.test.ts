import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "pg";
import { createTestDatabase } from "./create-test-database.ts";
import type { TestDatabase } from "./create-test-database.ts";
import { readTestSettings } from "./test-settings.ts";
import { waitFor } from "./wait-for.ts";

let databases: TestDatabase[];

beforeAll(async () => {
  databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
});

afterAll(async () => {
  for (const database of databases) await database.drop();
});

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

test("a test database has the product's tables and those of the queues", async () => {
  for (const { url } of databases) {
    const rows = await query(
      url,
      "SELECT to_regclass('public.messages') IS NOT NULL AS ours, to_regnamespace('bullmq') IS NOT NULL AS queues",
    );
    expect(rows).toEqual([{ ours: true, queues: true }]);
  }
});

test("test databases do not see each other's rows", async () => {
  const [first, second] = databases.map(({ url }) => url);
  await query(first ?? "", "INSERT INTO projects (id, name, handoff_text) VALUES (gen_random_uuid(), 'only here', '')");
  expect(await query(first ?? "", "SELECT name FROM projects")).toEqual([{ name: "only here" }]);
  expect(await query(second ?? "", "SELECT name FROM projects")).toEqual([]);
});

test("dropping a database cuts the connections to it", async () => {
  const { url, drop } = await createTestDatabase();
  const client = new Client({ connectionString: url });
  const cut = new Promise((resolve) => {
    client.on("error", resolve);
  });
  await client.connect();
  await drop();
  await cut;
  await expect(query(url, "SELECT 1")).rejects.toThrow(/does not exist/);
});

test("what many test files begin with is written once, whoever asks for it at once, and copied", async () => {
  const written: string[] = [];
  const start = {
    name: `start_${process.pid}`,
    async fill(url: string) {
      written.push(url);
      await query(
        url,
        "INSERT INTO projects (id, name, handoff_text) VALUES (gen_random_uuid(), 'in all of them', '')",
      );
    },
  };
  const copies = await Promise.all([createTestDatabase(start), createTestDatabase(start)]);
  copies.push(await createTestDatabase(start));
  try {
    for (const { url } of copies)
      expect(await query(url, "SELECT name FROM projects")).toEqual([{ name: "in all of them" }]);
    expect(written).toHaveLength(1);
  } finally {
    await Promise.all(copies.map((copy) => copy.drop()));
  }
});

test("what could not be written is not copied: the next one who asks writes it anew", async () => {
  const name = `failing_${process.pid}`;
  await expect(createTestDatabase({ name, fill: () => Promise.reject(new Error("It failed.")) })).rejects.toThrow(
    "It failed.",
  );
  const { url, drop } = await createTestDatabase({ name, fill: () => Promise.resolve() });
  expect(await query(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await drop();
});

// The process of a connection can be stopped only on this machine.
const testOwnServer = readTestSettings().databaseUrl === undefined ? test : test.skip;

testOwnServer(
  "a test database is dropped also when a connection to it takes longer to end than PostgreSQL waits",
  async () => {
    const database = await createTestDatabase();
    const { pathname } = new URL(database.url);
    const admin = databases[0]?.url ?? "";
    const client = new Client({ connectionString: database.url });
    client.on("error", () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const pid = rows[0]?.pid ?? 0;
    const attempts = new Set<string>();
    const hasTriedTwice = async () => {
      const found = await query(
        admin,
        `SELECT query_start::text AS start FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DROP DATABASE%${pathname.slice(1)}%'
       AND pid <> pg_backend_pid()`,
      );
      for (const row of found as { start: string }[]) attempts.add(row.start);
      return attempts.size > 1;
    };
    process.kill(pid, "SIGSTOP");
    const dropping = database.drop();
    try {
      await waitFor(hasTriedTwice, { what: "a second attempt to drop the database" });
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await dropping;
    await expect(query(database.url, "SELECT 1")).rejects.toMatchObject({ code: "3D000" });
  },
);
