// Statements of the benchmark itself.
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../prepare.mjs";

/** Runs one statement on a connection of its own. */
export async function query(databaseUrl, sql, params) {
  // Found when it is needed: before the checkout is prepared it is not there.
  const { Client } = createRequire(join(ROOT, "packages", "store", "package.json"))("pg");
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(sql, params)).rows;
  } finally {
    await client.end();
  }
}
