import { queryDatabase } from "./query-database.ts";

/** A fault that was planted in a database. */
export interface Poison {
  /** How often the fault was met. */
  countTries(): Promise<number>;
  /** Takes the fault away. */
  cure(): Promise<void>;
}

/**
 * Lets the first stage of the pipeline fail for every message whose text is this one, and for no other: Postgres
 * refuses to open its ticket.
 */
export async function plantPoison(databaseUrl: string, text: string): Promise<Poison> {
  // A sequence counts also in statements that are rolled back.
  await queryDatabase(
    databaseUrl,
    `CREATE TABLE IF NOT EXISTS test_poison (subject text PRIMARY KEY);
     CREATE SEQUENCE IF NOT EXISTS test_poison_tries;
     CREATE OR REPLACE FUNCTION test_poison() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF EXISTS (SELECT 1 FROM test_poison p WHERE p.subject = NEW.subject) THEN
         PERFORM nextval('test_poison_tries');
         RAISE EXCEPTION 'planted fault';
       END IF;
       RETURN NEW;
     END $$;
     CREATE OR REPLACE TRIGGER test_poison BEFORE INSERT ON tickets FOR EACH ROW EXECUTE FUNCTION test_poison();
     SELECT setval('test_poison_tries', 1, false)`,
  );
  await queryDatabase(databaseUrl, "INSERT INTO test_poison VALUES ($1) ON CONFLICT DO NOTHING", [text]);
  return {
    async countTries() {
      const rows = await queryDatabase<{ tries: number }>(
        databaseUrl,
        "SELECT CASE WHEN is_called THEN last_value ELSE 0 END::integer AS tries FROM test_poison_tries",
      );
      return rows[0]?.tries ?? 0;
    },
    async cure() {
      await queryDatabase(databaseUrl, "DELETE FROM test_poison WHERE subject = $1", [text]);
    },
  };
}
