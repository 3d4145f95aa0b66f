import type { Poison } from "./plant-poison.ts";
import { queryDatabase } from "./query-database.ts";

/** Lets Postgres refuse every message whose text is this one, and no other: no channel can commit it. */
export async function plantMessagePoison(databaseUrl: string, text: string): Promise<Poison> {
  // A sequence counts also in statements that are rolled back.
  await queryDatabase(
    databaseUrl,
    `CREATE TABLE IF NOT EXISTS test_message_poison (text text PRIMARY KEY);
     CREATE SEQUENCE IF NOT EXISTS test_message_poison_tries;
     CREATE OR REPLACE FUNCTION test_message_poison() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF EXISTS (SELECT 1 FROM test_message_poison p WHERE p.text = NEW.text) THEN
         PERFORM nextval('test_message_poison_tries');
         RAISE EXCEPTION 'planted fault';
       END IF;
       RETURN NEW;
     END $$;
     CREATE OR REPLACE TRIGGER test_message_poison BEFORE INSERT ON messages
       FOR EACH ROW EXECUTE FUNCTION test_message_poison();
     SELECT setval('test_message_poison_tries', 1, false)`,
  );
  await queryDatabase(databaseUrl, "INSERT INTO test_message_poison VALUES ($1) ON CONFLICT DO NOTHING", [text]);
  return {
    async countTries() {
      const rows = await queryDatabase<{ tries: number }>(
        databaseUrl,
        "SELECT CASE WHEN is_called THEN last_value ELSE 0 END::integer AS tries FROM test_message_poison_tries",
      );
      return rows[0]?.tries ?? 0;
    },
    async cure() {
      await queryDatabase(databaseUrl, "DELETE FROM test_message_poison WHERE text = $1", [text]);
    },
  };
}
