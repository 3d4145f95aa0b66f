import { randomBytes } from "node:crypto";
import { createDatabase, dropDatabase, urlOfDatabase } from "./admin-database.ts";
import { askSharedServer } from "./ask-shared-server.ts";
import { holdResource } from "./held-resources.ts";

/** A migrated database of one's own on the Postgres of this run. */
export interface TestDatabase {
  readonly url: string;
  /** Removes it, together with the connections to it. */
  drop(): Promise<void>;
}

/** Makes a database with all tables and no rows but those of the migrations. Drop it in `afterAll`. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { adminUrl, template, prefix } = await askSharedServer("postgres");
  const name = `${prefix}${randomBytes(6).toString("hex")}`;
  await createDatabase(adminUrl, name, template);
  const drop = () => dropDatabase(adminUrl, name);
  const release = holdResource(`test database ${name}`, drop);
  return {
    url: urlOfDatabase(adminUrl, name),
    async drop() {
      await drop();
      release();
    },
  };
}
