import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findInstalledPostgres, migrateTestDatabase, startInstalledPostgres, waitFor } from "@svc/testing";
import type { InstalledPostgres } from "@svc/testing";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { queryDatabase } from "./support/query-database.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const binDir = await findInstalledPostgres();

/** With this setting each statement is compiled, whatever its estimated cost, on a connection that has JIT on. */
const COMPILE_EVERYTHING = { jit_above_cost: "0", shared_preload_libraries: "pg_stat_statements" };

const COMPILED = "SELECT query FROM pg_stat_statements WHERE jit_functions > 0 ORDER BY query";

/** A statement of this test, on a connection of the server's defaults. */
const COMPARISON = "SELECT count(*) AS comparison FROM messages WHERE length(text) > 3";

(binDir === null ? describe.skip : describe)("on a PostgreSQL that users install, with JIT on as by default", () => {
  let server: InstalledPostgres;
  let product: Product;
  let api: ApiClient;

  beforeAll(async () => {
    server = await startInstalledPostgres(binDir ?? "", COMPILE_EVERYTHING);
    await migrateTestDatabase(server.url);
    await queryDatabase(server.url, "CREATE EXTENSION pg_stat_statements");
    const ground = { databaseUrl: server.url, prefix: "svc-installed", remove: () => server.stop() };
    product = await startProduct({ composition: "standalone", ground });
    api = createApiClient(product);
    // Migrations run once, on connections of their own.
    await queryDatabase(server.url, "SELECT pg_stat_statements_reset()");
  });

  afterAll(() => product.stop());

  test("compiles no statement that the product runs while it answers messages", async () => {
    const sync = await api.send("default", { text: "What is a drain?", chatId: "compiled-sync" });
    expect([200, 202]).toContain(sync.status);
    const accepted = await api.send("default", { text: "What is a drain?", chatId: "compiled-async", mode: "async" });
    expect(accepted.status).toBe(202);
    await waitFor(async () => (await api.drain("default", "compiled-async", "?wait=10000")).replies.length > 0, {
      what: "the reply to the async message",
    });
    // Shows that the check would notice: the same server compiles what comes by a connection with its defaults.
    await queryDatabase(server.url, COMPARISON);
    const compiled = await queryDatabase<{ query: string }>(server.url, COMPILED);
    const ofProduct = compiled.map(({ query }) => query).filter((query) => !query.includes("pg_stat_statements"));
    expect(ofProduct).toEqual([expect.stringContaining("AS comparison")]);
  });
});
