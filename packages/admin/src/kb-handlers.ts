import { LIMITS } from "@svc/contracts";
import type { KbChange, KbInput, KbSearchInput, kbEndpoints } from "@svc/contracts";
import {
  addDocuments,
  addFiles,
  createKb,
  deleteDocument,
  deleteKb,
  getDocument,
  getImport,
  getKb,
  getPassage,
  listDocuments,
  listImports,
  listKbs,
  requireUploadTarget,
  searchKb,
  updateKb,
} from "@svc/operations";
import type { DocumentListInput, QueuedDocument } from "@svc/operations";
import type { AdminAnswer, AdminHandlers } from "./admin-handler.ts";
import { UPLOAD_MAX_BYTES, withUpload } from "./read-upload.ts";
import { createUploadGate } from "./upload-gate.ts";
import type { UploadRoom } from "./upload-gate.ts";

const PATH = "/api/v1/admin/kb";

/**
 * What one process reads at a time: two of the largest bodies, of two keys; each costs up to three times its size of
 * memory. What is as small as any other request is read as that.
 */
const UPLOAD_ROOM: UploadRoom = {
  maxBytes: 2 * UPLOAD_MAX_BYTES,
  callerMaxBytes: UPLOAD_MAX_BYTES,
  freeBytes: LIMITS.bodyMaxBytes,
};

/** One document, or several in their order: 201 when any of them is new, else 200. */
function documentsAnswer(kbId: string, queued: readonly QueuedDocument[]): AdminAnswer {
  const [first] = queued;
  const documents = `${PATH}/${kbId}/documents`;
  const isNew = queued.some((document) => document.isNew);
  if (queued.length === 1 && first !== undefined) {
    return { item: first.item, ...(isNew ? { location: `${documents}/${first.item.id}` } : {}) };
  }
  const list = { items: queued.map(({ item }) => item), nextCursor: null };
  return isNew ? { list, location: documents } : { list };
}

/** Makes the handlers of knowledge bases and their documents (service document, section 4.4). */
export function kbHandlers(): AdminHandlers<typeof kbEndpoints> {
  const gate = createUploadGate(UPLOAD_ROOM);
  return {
    listKbs: async (context, { principal, listQuery }) => ({ list: await listKbs(context, principal, listQuery()) }),
    async createKb(context, { principal, body }) {
      const item = await createKb(context, principal, (await body()) as KbInput);
      return { item, location: `${PATH}/${item.id}`, version: item.version };
    },
    getPassage: async (context, { principal, param }) => ({ item: await getPassage(context, principal, param()) }),
    async getKb(context, { principal, param }) {
      const item = await getKb(context, principal, param());
      return { item, version: item.version };
    },
    async updateKb(context, { principal, param, body, ifMatch }) {
      const item = await updateKb(context, principal, param(), (await body()) as KbChange, ifMatch());
      return { item, version: item.version };
    },
    deleteKb: async (context, { principal, param, ifMatch }) => ({
      item: await deleteKb(context, principal, param(), ifMatch()),
    }),
    async searchKb(context, { principal, param, listQuery, request }) {
      const input = { q: request.query["q"], limit: listQuery().limit } as KbSearchInput;
      return { list: { items: await searchKb(context, principal, param(), input), nextCursor: null } };
    },
    async listDocuments(context, { principal, param, listQuery, query }) {
      const input = { ...listQuery(), status: query("status") } as DocumentListInput;
      return { list: await listDocuments(context, principal, param(), input) };
    },
    async addDocuments(context, { principal, param, request }) {
      const kbId = param();
      // Before up to 50 MB are read in vain.
      await requireUploadTarget(context, principal, kbId);
      const caller = principal.keyId ?? principal.actor;
      return withUpload(request, { gate, caller }, async (upload): Promise<AdminAnswer> => {
        if ("files" in upload) return documentsAnswer(kbId, await addFiles(context, principal, kbId, upload.files));
        const added = await addDocuments(context, principal, kbId, upload.json);
        if (!("import" in added)) return documentsAnswer(kbId, [added]);
        return { item: added.import, location: `${PATH}/${kbId}/imports/${added.import.id}` };
      });
    },
    getDocument: async (context, { principal, param }) => ({
      item: await getDocument(context, principal, param(), param("docId")),
    }),
    deleteDocument: async (context, { principal, param }) => ({
      item: await deleteDocument(context, principal, param(), param("docId")),
    }),
    listImports: async (context, { principal, param, listQuery }) => ({
      list: await listImports(context, principal, param(), listQuery()),
    }),
    getImport: async (context, { principal, param }) => ({
      item: await getImport(context, principal, param(), param("importId")),
    }),
  };
}
