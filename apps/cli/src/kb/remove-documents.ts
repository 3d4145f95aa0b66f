import type { Principal } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import type { DocumentItem } from "@svc/contracts";
import { deleteDocument } from "@svc/operations";
import type { Store } from "@svc/store";

/** A document that was removed. */
export interface RemovedDocument {
  documentId: string;
  key: string;
}

/** Removes documents, one after the other. One that somebody else has just removed is left out of the answer. */
export async function removeDocuments(
  store: Store,
  principal: Principal,
  documents: Iterable<DocumentItem>,
): Promise<RemovedDocument[]> {
  const removed: RemovedDocument[] = [];
  for (const { id, kbId, key } of documents) {
    try {
      await deleteDocument({ store }, principal, kbId, id);
      removed.push({ documentId: id, key });
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === "not_found")) throw error;
    }
  }
  return removed;
}
