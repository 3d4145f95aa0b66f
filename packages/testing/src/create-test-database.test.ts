import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "pg";
import { createTestDatabase } from "./create-test-database.ts";
import type { TestDatabase } from "./create-test-database.ts";

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
