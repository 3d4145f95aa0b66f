import { ServiceError } from "@svc/contracts";

/** Error codes of a file of a supported format: `errors[0].code` of an `invalid_request`. */
type FileErrorCode =
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

/** Default titles of programs. */
const NO_TITLE =
  /^(?:untitled|document|dokument|book|workbook|presentation|microsoft (?:word|excel)|powerpoint)[\s\d-]*$|^microsoft \w+ - |\.(?:docx?|xlsx?|dotx?|rtf|indd|tex|qxd|pmd)$/i;

/** A file to read. */
export interface FileToRead {
  /** File name or path of a URL; its extension is only a hint, the content decides. */
  name: string;
  bytes: Uint8Array;
  /** As declared by a server or client; a hint. */
  mime?: string;
  /** URL that it was fetched from, to make links absolute. */
  url?: string;
  /** Its format if known, for example of a text in JSON, in UTF-8: then it is not detected. */
  format?: "plain" | "markdown" | "html" | "csv";
}

/** Text of a file, ready to be split into passages. */
export interface FileText {
  text: string;
  /** Media type of `text`. */
  mime: "text/markdown" | "text/plain";
  /** Title in the file's metadata, or null. */
  title: string | null;
  /** Media type of the file, for example application/pdf. */
  sourceMime: string;
  /** Start of each page of a paged document in `text`, in UTF-16 units. */
  pageStarts?: number[];
  /** Absolute URLs that an HTML page links to, each once, without those that robots should not follow. */
  links?: string[];
}

/** Returns a title from metadata, or null if it says nothing about the document. */
export function sensibleTitle(title: string): string | null {
  const line = title.replace(/\s+/g, " ").trim();
  return line === "" || NO_TITLE.test(line) || !/\p{L}{2}/u.test(line) ? null : line;
}
