import { LIMITS, OPERATOR_FILE_LIMITS, checkInput, operatorFileInputSchema } from "@svc/contracts";
import { createOpenLimit, principalOf, readBodyBytes, readJsonBody } from "@svc/http";
import type { BodyMeter } from "@svc/http";
import { addDocuments, addFiles, addReplyFile, requireUploadTarget } from "@svc/operations";
import type { ExecuteDeps, HandedInFile, IngestDeps, ModelDeps, QueuedDocument, TakeHookBody } from "@svc/operations";
import type { AddressGuard } from "@svc/outbound";
import type { Request, Response } from "express";
import { followPull } from "./follow-pull.ts";
import { invalidForm, readForm } from "./read-form.ts";
import { UPLOAD_MAX_BYTES, createUploadGate, withUpload } from "./read-upload.ts";
import { sendItem, sendJson } from "./send-result.ts";

/** Dependencies of the administration endpoints. */
export interface AdminContext extends IngestDeps, ModelDeps, Required<ExecuteDeps> {
  /** Aborted when the process stops: long responses end then, and the client asks another replica. */
  closing: AbortSignal;
  /** Maximum of concurrent calls that follow the pull of a model. */
  maxOpenCalls: number;
  /** Decides which callback URLs are allowed. */
  guard: AddressGuard;
  /** Creates a message from a hook's body. */
  takeHookBody: TakeHookBody;
}

/** Handles a call of an endpoint by a principal that has its scope. */
export type Handler = (context: AdminContext, request: Request, response: Response) => Promise<void>;

const idOf = ({ params }: Request) => String(params["id"]);

/**
 * What one process reads concurrently: two of the largest bodies, of two keys. Each costs up to three times its size of
 * memory. A body as small as any other request does not count.
 */
const uploadGate = () =>
  createUploadGate({
    maxBytes: 2 * UPLOAD_MAX_BYTES,
    callerMaxBytes: UPLOAD_MAX_BYTES,
    freeBytes: LIMITS.bodyMaxBytes,
  });

/** What one process reads concurrently: a few of the largest bodies, not all from one operator. */
const replyFileGate = () =>
  createUploadGate({
    maxBytes: 6 * OPERATOR_FILE_LIMITS.bodyMaxBytes,
    callerMaxBytes: 2 * OPERATOR_FILE_LIMITS.bodyMaxBytes,
    freeBytes: 256 * 1024,
  });

/** Sends one document, or several in their order: 201 if any of them is new, else 200. */
function sendDocuments(response: Response, path: string, queued: readonly QueuedDocument[]): void {
  const [first] = queued;
  const isNew = queued.some((document) => document.isNew);
  const status = isNew ? 201 : 200;
  if (queued.length === 1 && first !== undefined) {
    sendItem(response, { item: first.item, status, location: isNew ? `${path}/${first.item.id}` : undefined });
    return;
  }
  if (isNew) response.setHeader("Location", path);
  sendJson(response, status, { items: queued.map(({ item }) => item), nextCursor: null });
}

function documentsHandler(): Handler {
  const gate = uploadGate();
  return async (context, request, response) => {
    const principal = principalOf(response);
    const kbId = idOf(request);
    const kb = `/api/v1/admin/kb/${kbId}`;
    // Checked before up to 50 MB are read.
    await requireUploadTarget(context, principal, kbId);
    await withUpload(request, { gate, caller: principal.keyId ?? principal.actor }, async (upload) => {
      if ("files" in upload) {
        sendDocuments(response, `${kb}/documents`, await addFiles(context, principal, kbId, upload.files));
        return;
      }
      const added = await addDocuments(context, principal, kbId, upload.json);
      if (!("import" in added)) sendDocuments(response, `${kb}/documents`, [added]);
      else sendItem(response, { item: added.import, status: 201, location: `${kb}/imports/${added.import.id}` });
    });
  };
}

const isForm = (request: Request) => /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "");

async function readFormFile(request: Request, meter: BodyMeter): Promise<HandedInFile> {
  const body = await readBodyBytes(request, OPERATOR_FILE_LIMITS.bodyMaxBytes, meter);
  const { files } = await readForm(body, request.headers["content-type"] ?? "");
  const [file] = files;
  if (file === undefined || files.length > 1) throw invalidForm("it must contain exactly one file");
  return file;
}

async function readJsonFile(request: Request, meter: BodyMeter): Promise<HandedInFile> {
  const body = await readJsonBody(request, OPERATOR_FILE_LIMITS.bodyMaxBytes, meter);
  const { filename, content } = checkInput(operatorFileInputSchema, body, "The file");
  return { name: filename, bytes: Buffer.from(content, "base64") };
}

function replyFileHandler(): Handler {
  const gate = replyFileGate();
  return async (context, request, response) => {
    const principal = principalOf(response);
    const ticketId = idOf(request);
    await gate.admit(principal.keyId ?? principal.actor, async (meter) => {
      const file = await (isForm(request) ? readFormFile : readJsonFile)(request, meter);
      const item = await addReplyFile(context, principal, ticketId, file);
      sendItem(response, { item, status: 201, location: `/api/v1/admin/tickets/${ticketId}/files/${item.fileId}` });
    });
  };
}

function pullHandler(maxOpenCalls: number): Handler {
  const limitOpen = createOpenLimit(maxOpenCalls, "model pull requests");
  return async (context, request, response) => {
    limitOpen(request, response);
    await followPull(context, request, response);
  };
}

/** Creates the handlers of the endpoints that take uploads or send events. */
export function createHandlers({ maxOpenCalls }: Pick<AdminContext, "maxOpenCalls">) {
  const pull = pullHandler(maxOpenCalls);
  return {
    addDocuments: documentsHandler(),
    addReplyFile: replyFileHandler(),
    followPull: pull,
    pullModel: pull,
  } as const satisfies Record<string, Handler>;
}
