import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  ServiceError,
  checkInput,
  kbChangeSchema,
  kbInputSchema,
  kbSearchSchema,
  kbsSearchSchema,
} from "@svc/contracts";
import type { KbHit, KbItem, KbsSearchInput } from "@svc/contracts";
import { searchKnowledge } from "@svc/knowledge";
import type { Embeddings, SearchHit } from "@svc/knowledge";
import { isUuid } from "@svc/primitives";
import { announceRemoval } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { KbState, Store } from "@svc/store";
import { nameTaken, readPage, staleVersion, operation, objectReader, notInProject } from "./operation.ts";

function asItem(kb: KbState, { projectName }: Principal): KbItem {
  return {
    id: kb.id,
    name: kb.name,
    project: projectName,
    documents: kb.documentCount,
    chunks: kb.chunkCount,
    queued: kb.queuedCount,
    failed: kb.failedCount,
    status: kb.queuedCount > 0 ? "ingesting" : "ready",
    createdAt: kb.createdAt.toISOString(),
    updatedAt: kb.updatedAt.toISOString(),
    version: kb.version,
  };
}

const readKb = objectReader("knowledge base", ({ kbs }) => kbs.findState);

/** Throws not_found unless this knowledge base is in the principal's project. */
export async function requireKb(store: Store, { project }: Principal, id: string): Promise<void> {
  const kbs = isUuid(id) ? await store.kbs.findAll(project, [id]) : [];
  if (kbs.length === 0) throw notInProject("knowledge base");
}

/** Returns a page of the knowledge bases of the principal's project, newest first. */
export const listKbs = operation("listKbs", async ({ store }, principal, input) => {
  return readPage("kbs", input, {
    read: (query) => store.kbs.listPage(principal.project, query),
    asItem: (kb) => asItem(kb, principal),
  });
});

/** Returns the knowledge base with this id in the principal's project. */
export const getKb = operation("getKb", async ({ store }, principal, id) => {
  return asItem(await readKb(store, principal, id), principal);
});

/**
 * Creates an empty knowledge base in the principal's project. Throws invalid_request if the project has one of this
 * name.
 */
export const createKb = operation(
  "createKb",
  async ({ store }, principal, input) => {
    const { name } = checkInput(kbInputSchema, input, "The knowledge base");
    const kb = await store.kbs.insert(principal.project, name);
    if (kb === null) throw nameTaken("knowledge base", name);
    return asItem(kb, principal);
  },
  { audit: "kb.create" },
);

/** Changes the given fields if the knowledge base has one of the expected versions. */
export const updateKb = operation(
  "updateKb",
  async ({ store }, principal, { id, versions = null }, input) => {
    const change = checkInput(kbChangeSchema, input, "The knowledge base");
    const before = await readKb(store, principal, id);
    const { result, state } = await store.kbs.update(principal.project, { id: before.id, versions }, change);
    if (state === null) throw notInProject("knowledge base");
    if (result === "taken") throw nameTaken("knowledge base", change.name ?? "");
    if (result === "stale") throw staleVersion("The knowledge base", state.version);
    return asItem(state, principal);
  },
  { audit: "kb.update" },
);

/**
 * Deletes a knowledge base with all its documents if it has one of the expected versions, removes it from its agents,
 * and returns it. It can no longer be found or searched; the space is freed in the background.
 */
export const deleteKb = operation(
  "deleteKb",
  async ({ store, queues }: { store: Store; queues?: Queues }, principal, { id, versions = null }) => {
    const kb = await readKb(store, principal, id);
    if (!(await store.kbs.remove(principal.project, { id: kb.id, versions }))) {
      throw staleVersion("The knowledge base", (await readKb(store, principal, id)).version);
    }
    if (queues !== undefined) announceRemoval(queues, kb.id);
    return asItem(kb, principal);
  },
  { audit: "kb.delete" },
);

function asHit({ documentId, chunkId, title, url, headingPath, text, score, ...rest }: SearchHit): KbHit {
  const page = "page" in rest && typeof rest.page === "number" ? { page: rest.page } : {};
  return { documentId, chunkId, title, ...(url === undefined ? {} : { url }), headingPath, text, score, ...page };
}

/**
 * Returns the passages of a knowledge base that match a query best. Any query is valid, whatever its length and
 * content; one without words finds nothing.
 */
export const searchKb = operation(
  "searchKb",
  async ({ store, embeddings }: { store: Store; embeddings: Embeddings | null }, principal, id, input) => {
    const { q, limit } = checkInput(kbSearchSchema, input, "The query");
    await requireKb(store, principal, id);
    const query = { query: q, kbIds: [id], limit };
    const { hits } = await searchKnowledge({ store, embeddings }, principal.project, query);
    return hits.map(asHit);
  },
);

/** Returns the ids of the knowledge bases to search: all of the project by default. Throws not_found. */
async function searchedKbs(store: Store, { project }: Principal, kbIds: readonly string[] | undefined) {
  if (kbIds === undefined) return (await store.kbs.list(project)).map(({ id }) => id);
  const ids = kbIds.map((id) => id.toLowerCase());
  const found = new Set((await store.kbs.findAll(project, ids.filter(isUuid))).map(({ id }) => id));
  const errors = ids.flatMap((id, index) =>
    found.has(id) ? [] : [{ pointer: `/kbIds/${index}`, code: "not_found", detail: "does not exist in this project" }],
  );
  if (errors.length === 0) return ids;
  throw new ServiceError("not_found", "No knowledge base with this ID exists in this project.", { errors: errors });
}

/**
 * Returns the passages of some knowledge bases of the principal's project that match a query best, of all by default.
 * An aborted signal ends the search between two steps, with its reason. Scope kb:read. Throws not_found with each id
 * that is not in the project, and invalid_request with every error of the input.
 */
export async function searchKbs(
  { store, embeddings }: { store: Store; embeddings: Embeddings | null },
  principal: Principal,
  input: KbsSearchInput,
  { signal }: { signal?: AbortSignal } = {},
): Promise<KbHit[]> {
  requireScope(principal, "kb:read");
  const { query, kbIds: wanted, limit } = checkInput(kbsSearchSchema, input, "The query");
  const kbIds = await searchedKbs(store, principal, wanted);
  signal?.throwIfAborted();
  const { hits } = await searchKnowledge({ store, embeddings }, principal.project, { query, kbIds, limit });
  return hits.map(asHit);
}
