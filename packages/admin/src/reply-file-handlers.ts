import { OPERATOR_FILE_LIMITS, operatorFileInputSchema } from "@svc/contracts";
import type { OperatorFileInput, replyFileEndpoints } from "@svc/contracts";
import { readBodyBytes, readJsonBody } from "@svc/http";
import type { BodyMeter } from "@svc/http";
import { addReplyFile, checkInput } from "@svc/operations";
import type { HandedInFile } from "@svc/operations";
import type { Request } from "express";
import type { AdminHandlers } from "./admin-handler.ts";
import { invalidForm } from "./parse-form.ts";
import { readForm } from "./read-form.ts";
import { createUploadGate } from "./upload-gate.ts";
import type { UploadRoom } from "./upload-gate.ts";

/** What one process reads at a time: a few of the largest bodies, not all of one operator. */
const ROOM: UploadRoom = {
  maxBytes: 6 * OPERATOR_FILE_LIMITS.bodyMaxBytes,
  callerMaxBytes: 2 * OPERATOR_FILE_LIMITS.bodyMaxBytes,
  freeBytes: 256 * 1024,
};

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
  const { filename, content } = checkInput(operatorFileInputSchema, body as OperatorFileInput, "The file");
  return { name: filename, bytes: Buffer.from(content, "base64") };
}

/** Makes the handlers of the files that operators send. */
export function replyFileHandlers(): AdminHandlers<typeof replyFileEndpoints> {
  const gate = createUploadGate(ROOM);
  return {
    addReplyFile: (context, { principal, param, request }) =>
      gate.admit(principal.keyId ?? principal.actor, async (meter) => {
        const ticketId = param();
        const read = isForm(request) ? readFormFile : readJsonFile;
        const item = await addReplyFile(context, principal, ticketId, await read(request, meter));
        return { item, location: `/api/v1/admin/tickets/${ticketId}/files/${item.fileId}` };
      }),
  };
}
