import { Client } from "pg";

const LOCKS = { everyone: "ACCESS EXCLUSIVE", writers: "SHARE" } as const;

/**
 * Blocks all readers and writers of a table, or only its writers, until the returned function is called. The function
 * may be called again; killing the database ends the hold too.
 */
export async function holdTable(
  databaseUrl: string,
  table: "agents" | "kb_postings" | "tickets" | "replies",
  who: keyof typeof LOCKS = "everyone",
): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: databaseUrl });
  let isGone = false;
  client.on("error", () => {
    isGone = true;
  });
  await client.connect();
  await client.query("BEGIN");
  await client.query(`LOCK TABLE ${table} IN ${LOCKS[who]} MODE`);
  return async () => {
    if (isGone) return;
    isGone = true;
    // Closing the connection ends the hold, even if the database stops at this moment.
    await client.end();
  };
}
