import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { addDocument, ensureKb } from "@svc/knowledge";
import type { AddedDocument, DocumentInput } from "@svc/knowledge";
import type { Log } from "@svc/log";
import type { Store } from "@svc/store";

/** What became of a document, and whether anybody answers from the knowledge base that it is in. */
export interface AddedKnowledge extends AddedDocument {
  /** False while no agent that is switched on has this knowledge base. */
  isUsed: boolean;
}

/**
 * Adds a document to the knowledge base of this name in the principal's project, which is made when there is none; a
 * document with the same key is replaced, one that has not changed is left alone. Scope kb:write. Throws ServiceError
 * `invalid_request`, `payload_too_large` or `unsupported_media_type` for a document or name that cannot be taken.
 */
export async function addKnowledge(
  { store, log }: { store: Store; log: Log },
  principal: Principal,
  kbName: string,
  document: DocumentInput,
): Promise<AddedKnowledge> {
  requireScope(principal, "kb:write");
  const { kb } = await ensureKb({ store }, principal.project, kbName);
  const added = await addDocument({ store, log }, principal.project, kb.id, document);
  const agents = await store.agents.list(principal.project);
  return { ...added, isUsed: agents.some((agent) => agent.enabled && agent.kbIds.includes(kb.id)) };
}
