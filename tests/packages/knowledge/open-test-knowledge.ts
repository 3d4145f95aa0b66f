import { addDocument, ensureKb, searchKnowledge } from "@svc/knowledge";
import type { AddedDocument, DocumentInput, SearchResult } from "@svc/knowledge";
import { openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";

/** A project with one knowledge base, and functions for tests. */
export interface TestKnowledge {
  store: Store;
  url: string;
  project: ProjectId;
  kbId: string;
  /** Adds a Markdown document to the knowledge base. */
  add(key: string, text: string, more?: Partial<DocumentInput>): Promise<AddedDocument>;
  /** Searches the knowledge base; returns at most five passages by default. */
  search(query: string, limit?: number): Promise<SearchResult>;
  close(): Promise<void>;
}

/** Opens a separate database with an empty knowledge base. */
export async function openTestKnowledge(): Promise<TestKnowledge> {
  const database = await createTestDatabase();
  const log = testLog();
  const store = openStore({ url: database.url, secretKey: "a key of a test that seals nothing", log });
  const { project } = await store.projects.ensure("default");
  const { kb } = await ensureKb({ store }, project.id, "manual");
  return {
    store,
    url: database.url,
    project: project.id,
    kbId: kb.id,
    add: (key, text, more) =>
      addDocument({ store, log }, project.id, kb.id, { key, text, mime: "text/markdown", ...more }),
    search: (query, limit = 5) => searchKnowledge({ store }, project.id, { query, kbIds: [kb.id], limit }),
    async close() {
      await store.close();
      await database.drop();
    },
  };
}
