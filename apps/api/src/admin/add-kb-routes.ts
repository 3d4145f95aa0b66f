import { LIMITS } from "@svc/contracts";
import type { KbChange, KbInput, KbSearchInput } from "@svc/contracts";
import { methodNotAllowed, readJsonBody } from "@svc/http";
import {
  addDocuments,
  addFiles,
  createKb,
  deleteDocument,
  deleteKb,
  getDocument,
  getImport,
  getKb,
  listDocuments,
  listImports,
  listKbs,
  requireKb,
  searchKb,
  updateKb,
} from "@svc/operations";
import type { DocumentListInput, IngestDeps, QueuedDocument } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import type { IRouter, Request, Response } from "express";
import { sendItem, sendList } from "./admin-answers.ts";
import { forScope } from "./for-scope.ts";
import { readIfMatch } from "./read-if-match.ts";
import { readListQuery } from "./read-list-query.ts";
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

const param = ({ params }: Request, name: string) => String(params[name]);

/** Answers with one document, or several in their order: 201 when any of them is new, else 200. */
function sendDocuments(response: Response, kbId: string, queued: readonly QueuedDocument[]): void {
  const [first] = queued;
  const documents = `${PATH}/${kbId}/documents`;
  const isNew = queued.some((document) => document.isNew);
  if (queued.length === 1 && first !== undefined) {
    sendItem(response, first.item, isNew ? { location: `${documents}/${first.item.id}` } : {});
    return;
  }
  if (isNew) response.status(201).setHeader("Location", documents);
  sendList(response, { items: queued.map(({ item }) => item), nextCursor: null });
}

/**
 * Knowledge bases and their documents (service document, section 4.4). Scopes kb:read and kb:write. The operations check
 * what bodies and queries say.
 */
export function addKbRoutes(routes: IRouter, context: IngestDeps & Pick<Resources, "embeddings">): void {
  const gate = createUploadGate(UPLOAD_ROOM);

  routes
    .route(PATH)
    .get(
      forScope("kb:read", async (principal, request, response) => {
        sendList(response, await listKbs(context, principal, readListQuery(request)));
      }),
    )
    .post(
      forScope("kb:write", async (principal, request, response) => {
        const body = (await readJsonBody(request, LIMITS.bodyMaxBytes)) as KbInput;
        const item = await createKb(context, principal, body);
        sendItem(response, item, { location: `${PATH}/${item.id}`, version: item.version });
      }),
    )
    .all(methodNotAllowed("GET", "HEAD", "POST"));

  routes
    .route(`${PATH}/:id`)
    .get(
      forScope("kb:read", async (principal, request, response) => {
        const item = await getKb(context, principal, param(request, "id"));
        sendItem(response, item, { version: item.version });
      }),
    )
    .patch(
      forScope("kb:write", async (principal, request, response) => {
        const body = (await readJsonBody(request, LIMITS.bodyMaxBytes)) as KbChange;
        const item = await updateKb(context, principal, param(request, "id"), body, readIfMatch(request));
        sendItem(response, item, { version: item.version });
      }),
    )
    .delete(
      forScope("kb:write", async (principal, request, response) => {
        sendItem(response, await deleteKb(context, principal, param(request, "id"), readIfMatch(request)));
      }),
    )
    .all(methodNotAllowed("GET", "HEAD", "PATCH", "DELETE"));

  routes
    .route(`${PATH}/:id/search`)
    .get(
      forScope("kb:read", async (principal, request, response) => {
        const { limit } = readListQuery(request);
        const input = { q: request.query["q"], limit } as KbSearchInput;
        const items = await searchKb(context, principal, param(request, "id"), input);
        sendList(response, { items, nextCursor: null });
      }),
    )
    .all(methodNotAllowed("GET", "HEAD"));

  routes
    .route(`${PATH}/:id/documents`)
    .get(
      forScope("kb:read", async (principal, request, response) => {
        const { status } = request.query;
        const input = { ...readListQuery(request), status: status === "" ? undefined : status } as DocumentListInput;
        sendList(response, await listDocuments(context, principal, param(request, "id"), input));
      }),
    )
    .post(
      forScope("kb:write", async (principal, request, response) => {
        const kbId = param(request, "id");
        // Before up to 50 MB are read in vain.
        await requireKb(context.store, principal, kbId);
        const caller = principal.keyId ?? principal.actor;
        await withUpload(request, { gate, caller }, async (upload) => {
          if ("files" in upload) {
            sendDocuments(response, kbId, await addFiles(context, principal, kbId, upload.files));
            return;
          }
          const added = await addDocuments(context, principal, kbId, upload.json);
          if (!("import" in added)) sendDocuments(response, kbId, [added]);
          else sendItem(response, added.import, { location: `${PATH}/${kbId}/imports/${added.import.id}` });
        });
      }),
    )
    .all(methodNotAllowed("GET", "HEAD", "POST"));

  routes
    .route(`${PATH}/:id/documents/:docId`)
    .get(
      forScope("kb:read", async (principal, request, response) => {
        sendItem(response, await getDocument(context, principal, param(request, "id"), param(request, "docId")));
      }),
    )
    .delete(
      forScope("kb:write", async (principal, request, response) => {
        sendItem(response, await deleteDocument(context, principal, param(request, "id"), param(request, "docId")));
      }),
    )
    .all(methodNotAllowed("GET", "HEAD", "DELETE"));

  routes
    .route(`${PATH}/:id/imports`)
    .get(
      forScope("kb:read", async (principal, request, response) => {
        sendList(response, await listImports(context, principal, param(request, "id"), readListQuery(request)));
      }),
    )
    .all(methodNotAllowed("GET", "HEAD"));

  routes
    .route(`${PATH}/:id/imports/:importId`)
    .get(
      forScope("kb:read", async (principal, request, response) => {
        sendItem(response, await getImport(context, principal, param(request, "id"), param(request, "importId")));
      }),
    )
    .all(methodNotAllowed("GET", "HEAD"));
}
