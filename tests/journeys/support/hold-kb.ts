import { Client } from "pg";

/**
 * Prevents documents from being stored in a knowledge base until the returned function is called; documents are
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
    // Closing the connection ends the hold, even if the database stops at this moment.
    await client.end();
  };
}
