import { KB_LIMITS, ServiceError, isMalformedText, parseUrl } from "@svc/contracts";
import type { FieldFault } from "@svc/contracts";
import { looksBinary } from "./looks-binary.ts";

/** A document as it is handed in. */
export interface DocumentInput {
  /** What its source calls it (path, URL, a chosen name): the same key replaces the document. At most 2,000 bytes. */
  key: string;
  /** Defaults to the first heading, else to the key. At most 4,000 bytes; shown up to 300 characters. */
  title?: string;
  /** At most 10 MB in UTF-8. */
  text: string;
  /** `text/markdown` or `text/plain`; parameters are ignored. */
  mime: string;
  /** Where people can read it; http or https. */
  url?: string;
  /** Where each page of a paged document begins in `text` (UTF-16 units), ascending. */
  pageStarts?: number[];
}

/** Most bytes of a document's text in UTF-8. */
export const DOCUMENT_MAX_BYTES = 10 * 1024 * 1024;

// A key has to fit into an entry of the index that makes it unique.
const { keyMaxBytes: KEY_MAX_BYTES, titleMaxBytes: TITLE_MAX_BYTES, urlMaxChars: URL_MAX_CHARS } = KB_LIMITS;

const MIMES: Readonly<Record<string, "text/markdown" | "text/plain">> = {
  "text/markdown": "text/markdown",
  "text/x-markdown": "text/markdown",
  "text/plain": "text/plain",
};

/**
 * Checks a document before it is read. Throws a `ServiceError` that says how to fix it: `invalid_request` with all
 * problems, `payload_too_large`, or `unsupported_media_type`. Returns its plain media type and its size in bytes.
 */
export function checkDocument(input: DocumentInput): { mime: "text/markdown" | "text/plain"; sizeBytes: number } {
  const mime = MIMES[input.mime.split(";", 1)[0]?.trim().toLowerCase() ?? ""];
  if (mime === undefined) {
    throw new ServiceError(
      "unsupported_media_type",
      "Only text/markdown and text/plain documents are supported. Convert the document first.",
    );
  }
  const sizeBytes = Buffer.byteLength(input.text);
  if (sizeBytes > DOCUMENT_MAX_BYTES) {
    throw new ServiceError(
      "payload_too_large",
      `A document can have at most 10 MB of text, but this one has ${(sizeBytes / 1024 / 1024).toFixed(1)} MB. Split it.`,
    );
  }
  const errors = [
    ...faultsOfText(input.text),
    ...faultsOfString("/key", input.key, KEY_MAX_BYTES),
    ...(input.title === undefined ? [] : faultsOfString("/title", input.title, TITLE_MAX_BYTES)),
    ...(input.url === undefined ? [] : faultsOfUrl(input.url)),
  ];
  if (errors.length > 0) {
    const detail = errors.map((fault) => `${fault.pointer}: ${fault.detail}`).join("; ");
    throw new ServiceError("invalid_request", `The document cannot be added. ${detail}.`, { errors });
  }
  return { mime, sizeBytes };
}

function faultsOfText(text: string): FieldFault[] {
  const fault = (code: string, detail: string): FieldFault[] => [{ pointer: "/text", code, detail }];
  if (looksBinary(text)) return fault("binary", "is binary data, not UTF-8 text; convert it to text first");
  if (isMalformedText(text))
    return fault("malformed_text", "must not contain NUL characters or unpaired surrogates; save it as UTF-8");
  if (text.trim() === "") return fault("too_short", "the document is empty");
  return [];
}

function faultsOfString(pointer: string, value: string, maxBytes: number): FieldFault[] {
  const fault = (code: string, detail: string): FieldFault[] => [{ pointer, code, detail }];
  if (isMalformedText(value)) return fault("malformed_text", "must not contain NUL characters or unpaired surrogates");
  if (value.trim() === "") return fault("too_short", "must not be empty or only whitespace");
  if (Buffer.byteLength(value) > maxBytes) return fault("too_long", `must have at most ${maxBytes} bytes in UTF-8`);
  return [];
}

function faultsOfUrl(url: string): FieldFault[] {
  const isWeb = ["http:", "https:"].includes(parseUrl(url)?.protocol ?? "") && !isMalformedText(url);
  return isWeb && url.length <= URL_MAX_CHARS
    ? []
    : [
        {
          pointer: "/url",
          code: "invalid_url",
          detail: `must be an http or https URL of at most ${URL_MAX_CHARS} characters`,
        },
      ];
}
