import { ServiceError } from "@svc/contracts";

/** Kinds of fault that a file of a supported format can have: `errors[0].code` of an `invalid_request`. */
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
 * What is wrong with this very file, for the person who added it. `detail` is a sentence about the file, without its
 * name, as in `is protected by a password; remove the password first`.
 */
export function fileError(name: string, code: FileErrorCode, detail: string, cause?: unknown): ServiceError {
  const message = `${quoteName(name)} ${detail}.`;
  return new ServiceError("invalid_request", message, { errors: [{ pointer: "/file", code, detail: message }], cause });
}

/** The file needs more memory than one may take. */
export function tooComplex(name: string): ServiceError {
  return fileError(name, "too_complex", "requires too much memory; split it into smaller files");
}

/** The file is beyond a limit that `detail` names. */
export function fileTooLarge(name: string, detail: string): ServiceError {
  return new ServiceError("payload_too_large", `${quoteName(name)} ${detail}.`);
}

/** The file has a format that cannot be read; `detail` says which and what to convert it to. */
export function fileUnsupported(name: string, detail: string): ServiceError {
  return new ServiceError("unsupported_media_type", `${quoteName(name)} ${detail}.`);
}

const NAME_CHARS = 200;

/** Names come from outside: one line of bounded length, whatever they hold. */
function quoteName(name: string): string {
  const line = name.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ").trim();
  return `"${line.length > NAME_CHARS ? `…${line.slice(-NAME_CHARS)}` : line}"`;
}

/** A number of bytes as people write it. */
export function formatMb(bytes: number): string {
  const mb = bytes / 1024 / 1024;
  return `${Number.isInteger(mb) ? mb : mb.toFixed(1)} MB`;
}
