// Documents of a set in a knowledge base, by the way that every document takes.
import { forEachShown } from "./show-progress.mjs";

/**
 * Adds documents `{id, title?, text}` to a new knowledge base and answers it with the id of each document by the id that
 * the store gave it. An id that ends in .md is a Markdown document, as a file of that name would be.
 */
export async function ingest(documents, { store, log }, project) {
  const { addDocument, ensureKb } = await import("../../packages/knowledge/dist/index.js");
  const { kb } = await ensureKb({ store }, project.id, "evaluation");
  const startedAt = performance.now();
  const add = ({ id, title, text }) =>
    addDocument({ store, log }, project.id, kb.id, {
      key: String(id),
      ...(title === undefined ? {} : { title }),
      text,
      mime: String(id).endsWith(".md") ? "text/markdown" : "text/plain",
    });
  const added = await forEachShown("added", documents, add, { atOnce: 4 });
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    kb,
    idOf: new Map(added.map(({ documentId }, index) => [documentId, String(documents[index].id)])),
    ingested: { documents: documents.length, chunks: added.reduce((sum, { chunks }) => sum + chunks, 0), seconds },
  };
}

/** The documents of these hits, each once, best first, as the set names them. */
export function rankDocuments(hits, idOf) {
  return [...new Set(hits.map(({ documentId }) => idOf.get(documentId)))];
}
