import type { ProjectId, Store } from "@svc/store";

/**
 * Removes a document with its passages, and what waits to be read for it. Nothing of it is found once this resolves.
 * False when the knowledge base of this project has no document with this id.
 */
export async function removeDocument(
  deps: { store: Store },
  project: ProjectId,
  kbId: string,
  documentId: string,
): Promise<boolean> {
  return deps.store.documents.remove(project, kbId, documentId);
}
