import { Busboy } from "@fastify/busboy";
import { ServiceError, WIDGET_LIMITS } from "@svc/contracts";
import type { Request, RequestHandler, Response } from "express";
import { pipeline } from "node:stream/promises";
import { cleanFileName, sniffMime } from "@svc/channel-manager";
import { clientAddress } from "@svc/http";
import type { OpenedFile } from "@svc/store";
import { errorCode, isUuid } from "@svc/primitives";
import { countBytes } from "./count-use.ts";
import { countCall, readKey, readVisitor } from "./find-visitor.ts";
import type { WidgetContext } from "./widget-context.ts";

/** An uploaded file. */
export interface FormFile {
  name: string;
  content: Buffer;
}

const MAX_BYTES = WIDGET_LIMITS.fileMaxBytes;
/** Maximum size of a form without its file. */
const FORM_OVERHEAD_BYTES = 64 * 1024;
/**
 * Maximum number of bytes that are read and discarded of a body that is too large, as a multiple of the limit, so
 * that the client reads the response.
 */
const DISCARD_FACTOR = 4;
/** Minimum bytes of a body in each window: 1 KB per second, so that a slow client cannot occupy a slot. */
const LEAST_PACE = { windowMs: 30_000, bytes: 30 * 1024 };
const HEADER_LIMITS = { headerPairs: 20, headerSize: 8 * 1024 };

const invalidForm = (detail: string) =>
  new ServiceError("invalid_request", `The form is not valid: ${detail}.`, {
    errors: [{ pointer: "", code: "invalid_form", detail }],
  });

const tooLarge = () => new ServiceError("payload_too_large", `A file can be at most ${MAX_BYTES / 1024 / 1024} MB.`);

const unparsable = (error: unknown) => invalidForm(error instanceof Error ? error.message : "it cannot be parsed");

/** Returns the parser of a form with one file. Throws invalid_request for headers that describe no form. */
function openParser(request: Request, type: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { ...request.headers, "content-type": type },
      limits: { files: 1, fileSize: MAX_BYTES, fields: 10, fieldSize: 1024, parts: 12, ...HEADER_LIMITS },
    });
  } catch (error) {
    throw unparsable(error);
  }
}

/**
 * Reads the first file of a `multipart/form-data` body (RFC 7578) as a stream: never more than the limit is in memory.
 * Throws unsupported_media_type, payload_too_large, and invalid_request for a body that is not a form, has no file, is
 * truncated or arrives more slowly than `pace`.
 */
export async function readFormFile(request: Request, pace = LEAST_PACE): Promise<FormFile> {
  const type = request.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    throw new ServiceError("unsupported_media_type", "Send the file as multipart/form-data, in the field file.");
  }
  const announced = Number(request.headers["content-length"]);
  if (announced > MAX_BYTES + FORM_OVERHEAD_BYTES) throw tooLarge();
  const parser = openParser(request, type);
  return new Promise((resolve, reject) => {
    let file: FormFile | null = null;
    let sizeBytes = 0;
    let paceBytes = 0;
    const pacer = setInterval(() => {
      if (sizeBytes - paceBytes < pace.bytes) fail(invalidForm("the upload is too slow"));
      paceBytes = sizeBytes;
    }, pace.windowMs);
    pacer.unref();
    const stop = () => {
      clearInterval(pacer);
      request.unpipe(parser);
      request.off("data", meter);
      request.off("aborted", cut);
      request.off("error", cut);
    };
    const fail = (error: ServiceError) => {
      stop();
      // The rest of the body is discarded, up to a limit, so that its sender gets the error.
      request.on("data", (part: Buffer) => {
        sizeBytes += part.length;
        if (sizeBytes > DISCARD_FACTOR * MAX_BYTES) request.destroy();
      });
      reject(error);
    };
    const cut = () => fail(invalidForm("the connection dropped before the upload was complete"));
    const meter = (part: Buffer) => {
      sizeBytes += part.length;
      if (sizeBytes > MAX_BYTES + FORM_OVERHEAD_BYTES) fail(tooLarge());
    };
    parser.on("file", (_field, stream, name) => {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("limit", () => fail(tooLarge()));
      stream.on("error", (error: Error) => fail(invalidForm(error.message)));
      stream.on("end", () => {
        file = { name: name ?? "", content: Buffer.concat(parts) };
      });
    });
    parser.on("filesLimit", () => fail(invalidForm("it has more than one file")));
    parser.on("error", (error) => fail(unparsable(error)));
    parser.on("finish", () => {
      stop();
      if (file === null) reject(invalidForm("it has no file"));
      else resolve(file);
    });
    request.on("data", meter);
    request.on("aborted", cut);
    request.on("error", cut);
    request.pipe(parser);
  });
}

/** Maximum concurrent uploads of a process, and of one address: each file is in memory until it is stored. */
const MAX_UPLOADS = 16;
const MAX_UPLOADS_OF_ADDRESS = 4;

/**
 * Sends a file as a download that browsers never display or run. For a slow visitor only one part of it is in memory.
 * Rejects if it cannot be sent completely.
 */
async function sendDownload(response: Response, { filename, mime, sizeBytes, pieces }: OpenedFile): Promise<void> {
  const isHead = response.req.method === "HEAD";
  // Before anything is sent: an unavailable object store causes an error response, not a truncated download.
  const first = isHead ? null : await pieces.next();
  response.attachment(cleanFileName(filename));
  response.set({
    "Content-Type": mime,
    "Content-Length": String(sizeBytes),
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
  });
  response.status(200);
  if (first === null) {
    response.end();
    return;
  }
  async function* all() {
    if (first?.done === false) yield first.value;
    yield* pieces;
  }
  try {
    await pipeline(all(), response);
  } catch (error) {
    // The visitor has closed the page.
    if (!isPrematureClose(error)) throw error;
  }
}

const isPrematureClose = (error: unknown) => errorCode(error) === "ERR_STREAM_PREMATURE_CLOSE";

/** Counts the current uploads, so that slow or many senders can neither fill the memory nor block all others. */
function createUploadSlots() {
  const slots = new Map<string, number>();
  let total = 0;
  return {
    /** Claims a slot; returns the function that releases it. Throws rate_limited. */
    take(address: string): () => void {
      const before = slots.get(address) ?? 0;
      if (total >= MAX_UPLOADS || before >= MAX_UPLOADS_OF_ADDRESS) {
        throw new ServiceError("rate_limited", "Too many files are being uploaded right now. Try again in 2 s.", {
          headers: { "Retry-After": "2" },
        });
      }
      total++;
      slots.set(address, before + 1);
      return () => {
        total--;
        const left = (slots.get(address) ?? 1) - 1;
        if (left === 0) slots.delete(address);
        else slots.set(address, left);
      };
    },
  };
}

/** `POST /api/widget/files`. */
export function postFile({ store, queues, readSite }: WidgetContext): RequestHandler {
  const uploads = createUploadSlots();
  return async (request, response) => {
    const site = await readSite();
    const key = await readKey(queues, request, site);
    await countCall(queues, "files", { request, response, key, site });
    const { project, ticketId } = readVisitor(request, site);
    if (!site.settings.features.upload) {
      throw new ServiceError("invalid_request", "File uploads are turned off on this website.");
    }
    const release = uploads.take(clientAddress(request));
    try {
      const { name, content } = await readFormFile(request);
      if (content.length === 0) throw new ServiceError("invalid_request", "The file is empty.");
      await countBytes(queues.counters, { address: clientAddress(request), key }, content.length);
      const file = { ticketId, filename: cleanFileName(name), mime: sniffMime(content), content };
      const fileId = await store.widgetFiles.insert(project, file);
      if (fileId === null) {
        throw new ServiceError(
          "too_many_files",
          "Too many uploaded files are waiting to be sent. Send a message with some of them, or try again later.",
        );
      }
      const { filename, mime } = file;
      response.status(201).set("Cache-Control", "no-store").json({
        ok: true,
        fileId,
        filename,
        mime,
        sizeBytes: content.length,
      });
    } finally {
      release();
    }
  };
}

/** `GET /api/widget/files/:fileId`: a visitor's own file, or one in a reply to it. */
export function getFile({ store, queues, readSite }: WidgetContext): RequestHandler {
  return async (request, response) => {
    const site = await readSite();
    const key = await readKey(queues, request, site);
    await countCall(queues, "files", { request, response, key, site });
    const { project, ticketId } = readVisitor(request, site);
    const fileId = String(request.params["fileId"]);
    const file = isUuid(fileId) ? await store.widgetFiles.open(project, ticketId, fileId) : null;
    if (file === null)
      throw new ServiceError("not_found", "There is no such file in this conversation, or it has expired.");
    await sendDownload(response, file);
  };
}
