// Adds the documents of a set to a knowledge base, with the product's own code.
import { addDocuments, ensureKb } from "@svc/knowledge";
import type { Project, Scratch } from "./open-scratch-store.ts";
import type { SetDocument } from "./read-set.ts";
import { forEachShown } from "./show-progress.ts";

/** Number of documents added at once, so that progress can be shown. */
const AT_ONCE = 200;

/**
 * Adds documents `{id, title?, text}` to a new knowledge base and returns it with the set's id of each document by the
 * store's id. An id that ends in .md is a Markdown document, like a file of that name.
 */
export async function ingest(documents: readonly SetDocument[], { store, log }: Scratch, project: Project) {
  const { kb } = await ensureKb({ store }, project.id, "evaluation");
  const startedAt = performance.now();
  const parts = Array.from({ length: Math.ceil(documents.length / AT_ONCE) }, (_, part) =>
    documents.slice(part * AT_ONCE, (part + 1) * AT_ONCE).map(asInput),
  );
  const added = (
    await forEachShown("added", parts, (part) => addDocuments({ store, log }, project.id, kb.id, part))
  ).flat();
  const accepted = added.map((one) => {
    if (one.status === "refused") throw one.error;
    return one;
  });
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    kb,
    idOf: new Map(accepted.map(({ documentId }, index) => [documentId, String(documents[index]?.id)])),
    ingested: { documents: documents.length, chunks: accepted.reduce((sum, { chunks }) => sum + chunks, 0), seconds },
  };
}

function asInput({ id, title, text }: SetDocument) {
  const mime = String(id).endsWith(".md") ? "text/markdown" : "text/plain";
  return { key: String(id), ...(title === undefined ? {} : { title }), text, mime };
}

/** Returns the distinct documents of these hits, best first, by the set's ids. */
export function rankDocuments(hits: readonly { documentId: string }[], idOf: ReadonlyMap<string, string>): string[] {
  return [...new Set(hits.flatMap(({ documentId }) => idOf.get(documentId) ?? []))];
}
