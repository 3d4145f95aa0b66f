import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findPooler } from "@svc/store";
import { createTestDatabase, findPgBouncer, startPgBouncer } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";

const pgbouncer = await findPgBouncer();

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

test("a direct connection has no pooler", async () => {
  expect(await findPooler(database.url)).toBeNull();
});

(pgbouncer === null ? describe.skip : describe)("PgBouncer is recognized", () => {
  test.each([
    ["in session mode", { pool_mode: "session" }, "session"],
    ["in transaction mode", { pool_mode: "transaction" }, "transaction"],
    ["in transaction mode with one connection", { pool_mode: "transaction", default_pool_size: "1" }, "transaction"],
    ["in transaction mode, round robin", { pool_mode: "transaction", server_round_robin: "1" }, "transaction"],
  ])("%s", async (_, settings, mode) => {
    const pooler = await startPgBouncer(database.url, settings);
    try {
      expect(await findPooler(pooler.url)).toBe(mode);
    } finally {
      await pooler.stop();
    }
  });
});
