import { ServiceError } from "@svc/contracts";
import type { IncomingMessage } from "node:http";
import type { Request } from "express";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/gi;
/** Charsets that JSON may declare (RFC 8259, section 8.1); ASCII is a subset of UTF-8. */
const UTF8_NAMES = new Set(["utf-8", "utf8", "us-ascii"]);

/**
 * A too large body is read and discarded up to this multiple of the limit, since a client whose connection closes while
 * it writes may not read the response. Beyond that, the connection is closed.
 */
const DISCARD_FACTOR = 8;
const CUT = "The connection was closed before the body was complete.";

/** Called for every received part of a body with its size in bytes; throws to reject the rest. */
export type BodyMeter = (sizeBytes: number) => void;

/** Collects a body up to a limit; rejects a larger one as soon as that is known. */
async function readBytes(request: IncomingMessage, maxBytes: number, meter?: BodyMeter): Promise<Buffer> {
  const tooLarge = (headers: Record<string, string> = {}) =>
    new ServiceError("payload_too_large", `The body must not exceed ${maxBytes} bytes.`, { headers });
  const announced = Number(request.headers["content-length"]);
  if (announced > maxBytes * DISCARD_FACTOR) throw tooLarge({ Connection: "close" });
  // Node.js discards the unread rest of a request after its response.
  if (announced > maxBytes) throw tooLarge();
  // A connection that was closed earlier emits no more events.
  if (request.destroyed) throw new ServiceError("invalid_request", CUT);
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let sizeBytes = 0;
    const stop = () => {
      request.off("data", take);
      request.off("end", finish);
      request.off("error", fail);
      request.off("close", cut);
    };
    const discard = (part: Buffer) => {
      sizeBytes += part.length;
      if (sizeBytes > maxBytes * DISCARD_FACTOR) request.destroy();
    };
    const take = (part: Buffer) => {
      sizeBytes += part.length;
      try {
        if (sizeBytes > maxBytes) throw tooLarge();
        meter?.(part.length);
        parts.push(part);
      } catch (error) {
        stop();
        request.on("data", discard);
        reject(error);
      }
    };
    const finish = () => {
      stop();
      resolve(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts));
    };
    const fail = (error: Error) => {
      stop();
      reject(new ServiceError("invalid_request", CUT, { cause: error }));
    };
    const cut = () => fail(new Error("closed"));
    request.on("data", take);
    request.on("end", finish);
    request.on("error", fail);
    request.on("close", cut);
  });
}

/** Throws unsupported_media_type for an encoded body. */
function refuseCodings(request: Request): void {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new ServiceError(
      "unsupported_media_type",
      "Compressed bodies are not supported. Send the body without Content-Encoding.",
    );
  }
  // Node.js decodes chunks and ignores every other transfer coding.
  const coding = request.headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    throw new ServiceError("unsupported_media_type", "Unsupported Transfer-Encoding. Only `chunked` is allowed.");
  }
}

/**
 * Reads the bytes of a body of any media type, without Content-Encoding, at most `maxBytes`. Throws
 * unsupported_media_type, payload_too_large, invalid_request if the connection drops before the end, and errors of the
 * meter.
 */
export async function readBodyBytes(request: Request, maxBytes: number, meter?: BodyMeter): Promise<Buffer> {
  refuseCodings(request);
  return readBytes(request, maxBytes, meter);
}

/**
 * Reads the bytes of a JSON body: media type `application/json` with no charset but UTF-8, no Content-Encoding, at most
 * `maxBytes`. Throws unsupported_media_type, payload_too_large, and errors of the meter.
 */
export async function readJsonBytes(request: Request, maxBytes: number, meter?: BodyMeter): Promise<Buffer> {
  refuseCodings(request);
  // For a repeated header Node.js uses the first value, and a proxy may have used the other one.
  const types = request.headersDistinct["content-type"] ?? [];
  const [type] = types;
  if (type === undefined || types.length > 1 || !JSON_TYPE.test(type)) {
    throw new ServiceError("unsupported_media_type", "Send the body as JSON with Content-Type: application/json.");
  }
  const charsets = Array.from(type.matchAll(CHARSET), ([, name = ""]) => name.toLowerCase());
  if (!charsets.every((name) => UTF8_NAMES.has(name))) {
    throw new ServiceError(
      "unsupported_media_type",
      "Send the body in UTF-8, without a charset parameter or with charset=utf-8.",
    );
  }
  return readBytes(request, maxBytes, meter);
}

/** Describes where a body is not valid JSON, without quoting it. */
function notJson(bytes: Buffer, error: SyntaxError): string {
  if (bytes.length === 0) return "The body is empty. Send a JSON object.";
  const position = /position (\d+)/.exec(error.message)?.[1];
  return position === undefined
    ? "The body is not valid JSON."
    : `The body is not valid JSON: error at character ${Number(position) + 1}.`;
}

/** Parses JSON in UTF-8. Throws invalid_json. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes)) as unknown;
  } catch (error) {
    const why = error instanceof SyntaxError ? notJson(bytes, error) : "The body is not valid UTF-8.";
    throw new ServiceError("invalid_json", why, { cause: error });
  }
}

/** Reads the JSON body of a request like `readJsonBytes` and `parseJson`, with their errors. */
export async function readJsonBody(request: Request, maxBytes: number, meter?: BodyMeter): Promise<unknown> {
  return parseJson(await readJsonBytes(request, maxBytes, meter));
}
