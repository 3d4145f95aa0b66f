import { pipeline } from "node:stream/promises";
import { cleanFileName, sniffMime } from "@svc/channel-manager";
import { ServiceError } from "@svc/contracts";
import { clientAddress } from "@svc/http";
import { errorCode, isUuid } from "@svc/primitives";
import type { OpenedFile } from "@svc/store";
import type { RequestHandler, Response } from "express";
import { readFormFile } from "./read-form-file.ts";
import { countBytes } from "./count-use.ts";
import { countCall, readKey, readVisitor } from "./read-visitor.ts";
import type { WidgetContext } from "./widget-context.ts";

/** Files that a process takes at once, and from one address: each is held in memory until it is stored. */
const MAX_UPLOADS = 16;
const MAX_UPLOADS_OF_ADDRESS = 4;

/**
 * Sends a file as a download that no browser shows or runs, whatever it is. A visitor who reads slowly holds a piece of it
 * in memory. Rejects if it cannot be sent in full.
 */
async function sendDownload(response: Response, { filename, mime, sizeBytes, pieces }: OpenedFile): Promise<void> {
  response.attachment(cleanFileName(filename));
  response.set({
    "Content-Type": mime,
    "Content-Length": String(sizeBytes),
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
  });
  response.status(200);
  if (response.req.method === "HEAD") {
    response.end();
    return;
  }
  try {
    await pipeline(pieces, response);
  } catch (error) {
    // The visitor has closed the page.
    if (!isPrematureClose(error)) throw error;
  }
}

const isPrematureClose = (error: unknown) => errorCode(error) === "ERR_STREAM_PREMATURE_CLOSE";

/** Counts the files that are being sent, so that neither slow nor many senders fill the memory or keep all others out. */
function createUploadPlaces() {
  const places = new Map<string, number>();
  let total = 0;
  return {
    /** Takes a place; answers the function that gives it back. Throws rate_limited. */
    take(address: string): () => void {
      const before = places.get(address) ?? 0;
      if (total >= MAX_UPLOADS || before >= MAX_UPLOADS_OF_ADDRESS) {
        throw new ServiceError("rate_limited", "Too many files are being uploaded right now. Try again in 2 s.", {
          headers: { "Retry-After": "2" },
        });
      }
      total++;
      places.set(address, before + 1);
      return () => {
        total--;
        const left = (places.get(address) ?? 1) - 1;
        if (left === 0) places.delete(address);
        else places.set(address, left);
      };
    },
  };
}

/** `POST /api/widget/files`. */
export function postFile({ store, queues, readSite }: WidgetContext): RequestHandler {
  const uploads = createUploadPlaces();
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

/** `GET /api/widget/files/:fileId`: a visitor's own file, or one of a reply to it. */
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
