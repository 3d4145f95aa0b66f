import { Client } from "pg";

const LOCKS = { everyone: "ACCESS EXCLUSIVE", writers: "SHARE" } as const;

/**
 * Lets everyone who reads or writes a table, or those who write alone, wait until the answered function is called: work
 * on it stands still for as long as a test likes, and then goes on. The function may be called again; killing the
 * database ends the hold too.
 */
export async function holdTable(
  databaseUrl: string,
  table: "agents" | "kbs" | "tickets" | "replies",
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
    // The end of the connection ends the hold, also when the database goes away in this moment.
    await client.end();
  };
}
