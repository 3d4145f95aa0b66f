import { queryDatabase } from "@svc/testing";

/** An error that was planted in a database. */
export interface Poison {
  /** Returns how often the error has occurred. */
  countTries(): Promise<number>;
  /** Removes the error. */
  cure(): Promise<void>;
}

/** Makes Postgres reject every row of a table with this text in a column, and no other. */
async function plantRefusal(
  databaseUrl: string,
  { table, column }: { table: "tickets" | "messages"; column: "subject" | "text" },
  text: string,
): Promise<Poison> {
  const name = `test_poison_of_${table}`;
  // A sequence also counts statements that are rolled back.
  await queryDatabase(
    databaseUrl,
    `CREATE TABLE IF NOT EXISTS ${name} (text text PRIMARY KEY);
     CREATE SEQUENCE IF NOT EXISTS ${name}_tries;
     CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF EXISTS (SELECT 1 FROM ${name} p WHERE p.text = NEW.${column}) THEN
         PERFORM nextval('${name}_tries');
         RAISE EXCEPTION 'planted fault';
       END IF;
       RETURN NEW;
     END $$;
     CREATE OR REPLACE TRIGGER ${name} BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}();
     SELECT setval('${name}_tries', 1, false)`,
  );
  await queryDatabase(databaseUrl, `INSERT INTO ${name} VALUES ($1) ON CONFLICT DO NOTHING`, [text]);
  return {
    async countTries() {
      const rows = await queryDatabase<{ tries: number }>(
        databaseUrl,
        `SELECT CASE WHEN is_called THEN last_value ELSE 0 END::integer AS tries FROM ${name}_tries`,
      );
      return rows[0]?.tries ?? 0;
    },
    async cure() {
      await queryDatabase(databaseUrl, `DELETE FROM ${name} WHERE text = $1`, [text]);
    },
  };
}

/**
 * Makes the first stage of the pipeline fail for every message with this text, and for no other: Postgres rejects its
 * ticket.
 */
export function plantPoison(databaseUrl: string, text: string): Promise<Poison> {
  return plantRefusal(databaseUrl, { table: "tickets", column: "subject" }, text);
}

/** Makes Postgres reject every message with this text, and no other: no channel can commit it. */
export function plantMessagePoison(databaseUrl: string, text: string): Promise<Poison> {
  return plantRefusal(databaseUrl, { table: "messages", column: "text" }, text);
}
