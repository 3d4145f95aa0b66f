import { ServiceError } from "@svc/contracts";

/** Error codes of a file of a supported format: `errors[0].code` of an `invalid_request`. */
export type FileErrorCode =
  | "empty"
  | "binary"
  | "encrypted"
  | "truncated"
  | "damaged"
  | "no_text"
  | "too_many_pages"
  | "too_deep"
  | "too_slow"
  | "too_complex";

/**
 * Creates the error for a file that cannot be read. `detail` is a sentence about the file, without its name, as in `is
 * protected by a password; remove the password first`.
 */
export function fileError(name: string, code: FileErrorCode, detail: string, cause?: unknown): ServiceError {
  const message = `${quoteName(name)} ${detail}.`;
  return new ServiceError("invalid_request", message, { errors: [{ pointer: "/file", code, detail: message }], cause });
}

/** Creates the error for a file that needs too much memory. */
export function tooComplex(name: string): ServiceError {
  return fileError(name, "too_complex", "requires too much memory; split it into smaller files");
}

/** Creates the error for a file beyond the limit in `detail`. */
export function fileTooLarge(name: string, detail: string): ServiceError {
  return new ServiceError("payload_too_large", `${quoteName(name)} ${detail}.`);
}

/** Creates the error for an unsupported format; `detail` names it and the format to convert it to. */
export function fileUnsupported(name: string, detail: string): ServiceError {
  return new ServiceError("unsupported_media_type", `${quoteName(name)} ${detail}.`);
}

const NAME_CHARS = 200;

/** Returns an untrusted name on one line, with limited length. */
function quoteName(name: string): string {
  const line = name.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ").trim();
  return `"${line.length > NAME_CHARS ? `…${line.slice(-NAME_CHARS)}` : line}"`;
}

/** Formats a number of bytes. */
export function formatMb(bytes: number): string {
  const mb = bytes / 1024 / 1024;
  return `${Number.isInteger(mb) ? mb : mb.toFixed(1)} MB`;
}
