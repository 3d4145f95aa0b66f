import type { OutgoingAttachment } from "@svc/contracts";
import type { Sending } from "./create-chat-caller.ts";

/** What bots may upload (https://core.telegram.org/bots/api#sending-files), in bytes, less what goes around a file. */
const DOCUMENT_LIMIT_BYTES = 49_990_000;
const PHOTO_LIMIT_BYTES = 10_000_000;

/** What Telegram shows as a picture. It keeps the others as files. */
const PHOTO_TYPES = new Set(["image/jpeg", "image/png", "image/webp"]);

/** 50 MB over a slow line. */
const UPLOAD_TIMEOUT_MS = 180_000;

/**
 * The ways to send a file, the best one first: a picture as a picture, all as a document. None for a file that Telegram
 * does not take; `explainRefusedFile` says why then.
 */
export function fileSendings({ filename, mime, content }: OutgoingAttachment): Sending[] {
  if (content.length === 0 || content.length > DOCUMENT_LIMIT_BYTES) return [];
  const file = { source: content, filename: headerSafe(filename) };
  const document: Sending = { method: "sendDocument", payload: { document: file }, timeoutMs: UPLOAD_TIMEOUT_MS };
  if (!PHOTO_TYPES.has(mime.toLowerCase()) || content.length > PHOTO_LIMIT_BYTES) return [document];
  return [{ method: "sendPhoto", payload: { photo: file }, timeoutMs: UPLOAD_TIMEOUT_MS }, document];
}

/** What the chat is told in place of a file that Telegram does not take. */
export function explainRefusedFile({ filename, content }: OutgoingAttachment): string {
  if (content.length === 0) return `The file “${filename}” is empty.`;
  const megabytes = (content.length / 1_000_000).toFixed(1);
  return `The file “${filename}” (${megabytes} MB) is too large: Telegram takes files of up to 50 MB.`;
}

/** The name stands in a quoted field of a form's header, which nothing in it may end. */
function headerSafe(filename: string): string {
  const safe = filename
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll('"', "'")
    .replaceAll(/[\\/]/g, "_")
    .trim();
  return safe === "" ? "file" : safe;
}
