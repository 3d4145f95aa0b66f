import { randomBytes } from "node:crypto";
import { createDatabase, dropDatabase, ensureDatabase, urlOfDatabase } from "./admin-database.ts";
import { askSharedServer } from "./ask-shared-server.ts";
import { holdResource } from "./held-resources.ts";

/** A migrated database on the Postgres of this run. */
export interface TestDatabase {
  readonly url: string;
  /** Drops it, and terminates its connections. */
  drop(): Promise<void>;
}

/** Initial rows of many test files: created once per run, then copied. */
export interface DatabaseStart {
  /** Identifies the content: the same name must have the same rows. Letters, digits and underscores. */
  name: string;
  /** Writes them to a migrated database. Must close its connections. */
  fill(url: string): Promise<void>;
}

/** Creates a database with all tables and only the rows of the migrations and of `start`. Drop it in `afterAll`. */
export async function createTestDatabase(start?: DatabaseStart): Promise<TestDatabase> {
  const { adminUrl, template, prefix } = await askSharedServer("postgres");
  const name = `${prefix}${randomBytes(6).toString("hex")}`;
  const original =
    start === undefined
      ? template
      : await ensureDatabase(adminUrl, {
          name: `${template}_${start.name}`,
          template,
          fill: (database) => start.fill(urlOfDatabase(adminUrl, database)),
        });
  await createDatabase(adminUrl, name, original);
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
