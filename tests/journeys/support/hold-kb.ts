import { Client } from "pg";

/**
 * Keeps everyone from putting a document into a knowledge base until the answered function is called; documents are
 * accepted and read meanwhile. Killing the database ends the hold too.
 */
export async function holdKb(databaseUrl: string, kbId: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: databaseUrl });
  let isGone = false;
  client.on("error", () => {
    isGone = true;
  });
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM kbs WHERE id = $1 FOR NO KEY UPDATE", [kbId]);
  return async () => {
    if (isGone) return;
    isGone = true;
    // The end of the connection ends the hold, also when the database goes away in this moment.
    await client.end();
  };
}
