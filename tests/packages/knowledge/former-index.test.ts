import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { addDocument, reindexOutdated, searchKnowledge } from "@svc/knowledge";
import { asProjectId, migrateStore, openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { Client } from "pg";
import { readIndexErrors } from "./read-index-errors.ts";

/** The migrations of the version that stored one row for each word of each passage. */
const FORMER = ["0001_core", "0002_knowledge", "0003_http_api"];
const DIRECTORY = new URL("../../../packages/store/migrations/", import.meta.url);

let database: TestDatabase;
let client: Client;
let store: Store;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query("DROP SCHEMA public CASCADE");
  await client.query("CREATE SCHEMA public");
  await client.query("CREATE TABLE schema_migrations (id serial PRIMARY KEY, name varchar(255), run_on timestamp)");
  for (const name of FORMER) {
    await client.query(await readFile(new URL(`${name}.sql`, DIRECTORY), "utf8"));
    await client.query("INSERT INTO schema_migrations (name, run_on) VALUES ($1, now())", [name]);
  }
  store = openStore({ url: database.url, secretKey: "a key of a test that seals nothing", log: testLog() });
});

afterAll(async () => {
  await store.close();
  await client.end();
  await database.drop();
});

test("documents indexed by a former version are found after the upgrade, without adding them again", async () => {
  const { rows } = await client.query<{ project: string; kb: string; document: string }>(
    `WITH p AS (INSERT INTO projects (id, name, handoff_text) VALUES (gen_random_uuid(), 'former', '') RETURNING id),
       k AS (INSERT INTO kbs (id, project_id, name, document_count, chunk_count, term_total, languages)
         SELECT gen_random_uuid(), id, 'manual', 1, 2, 5, '{en}' FROM p RETURNING id, project_id),
       d AS (INSERT INTO documents (id, project_id, kb_id, key, title, mime, size_bytes, content_hash, language, status,
           chunk_count)
         SELECT gen_random_uuid(), project_id, id, 'a.md', 'Manual', 'text/markdown', 60, '\\x01', 'en', 'ready', 2 FROM k
         RETURNING id, kb_id, project_id),
       c AS (INSERT INTO chunks (id, project_id, kb_id, document_id, ordinal, heading_path, text, start_offset,
           end_offset, term_count)
         SELECT gen_random_uuid(), project_id, kb_id, id, ordinal, '{Manual}', text, 0, length(text), 3
         FROM d CROSS JOIN (VALUES (0, 'Backups are made each night.'), (1, 'Restoring takes minutes.')) AS t (ordinal, text)
         RETURNING id, kb_id),
       t AS (INSERT INTO chunk_terms (kb_id, term, chunk_id, title_count, heading_count, body_count, chunk_term_count)
         SELECT kb_id, 'backup', id, 0, 0, 1, 3 FROM c)
     SELECT project_id AS project, kb_id AS kb, id AS document FROM d`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the rows of the former version were not made");
  await migrateStore(database.url, testLog());

  const project = asProjectId(row.project);
  const deps = { store, log: testLog() };
  const textsOf = async (query: string) =>
    (await searchKnowledge(deps, project, { query, kbIds: [row.kb], limit: 5 })).hits.map(({ text }) => text);
  expect(await textsOf("restore")).toEqual([]);
  expect(await reindexOutdated(deps)).toEqual({ documents: 1 });
  expect(await textsOf("restore")).toEqual(["Restoring takes minutes."]);
  expect(await textsOf("bakcup")).toEqual(["Backups are made each night."]);
  expect(await readIndexErrors(client, row.kb)).toEqual([]);
  expect((await client.query("SELECT FROM chunk_terms")).rowCount).toBe(0);

  const put = await addDocument(deps, project, row.kb, { key: "a.md", text: "Restored.", mime: "text/markdown" });
  expect(put).toEqual({ documentId: row.document, status: "changed", chunks: 1 });
  expect(await textsOf("backup")).toEqual([]);
});
