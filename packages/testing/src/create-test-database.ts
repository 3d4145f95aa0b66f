import { randomBytes } from "node:crypto";
import { createDatabase, dropDatabase, ensureDatabase, urlOfDatabase } from "./admin-database.ts";
import { askSharedServer } from "./ask-shared-server.ts";
import { holdResource } from "./held-resources.ts";

/** A migrated database of one's own on the Postgres of this run. */
export interface TestDatabase {
  readonly url: string;
  /** Removes it, together with the connections to it. */
  drop(): Promise<void>;
}

/** Rows that many test files begin with: they are made once in a run, and copied after that. */
export interface DatabaseStart {
  /** Says what is in it: the same name is the same rows. Letters, digits and underscores. */
  name: string;
  /** Writes them into a migrated database. It leaves no connection behind. */
  fill(url: string): Promise<void>;
}

/** Makes a database with all tables and no rows but those of the migrations, and of `start`. Drop it in `afterAll`. */
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
