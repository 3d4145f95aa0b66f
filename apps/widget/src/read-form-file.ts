import { Busboy } from "@fastify/busboy";
import { ServiceError, WIDGET_LIMITS } from "@svc/contracts";
import type { Request } from "express";

/** A file as it was sent. */
export interface FormFile {
  name: string;
  content: Buffer;
}

const MAX_BYTES = WIDGET_LIMITS.fileMaxBytes;
/** What a form has around its file. */
const FORM_OVERHEAD_BYTES = 64 * 1024;
/** Of a body that is too large, so many times the limit is read and thrown away, so that its sender reads the answer. */
const DISCARD_FACTOR = 4;
/** What has to come of a body in each window of time, so that nobody holds a place with next to nothing: 1 KB a second. */
const LEAST_PACE = { windowMs: 30_000, bytes: 30 * 1024 };
const HEADER_LIMITS = { headerPairs: 20, headerSize: 8 * 1024 };

const invalidForm = (detail: string) =>
  new ServiceError("invalid_request", `The form is not valid: ${detail}.`, {
    errors: [{ pointer: "", code: "invalid_form", detail }],
  });

const tooLarge = () => new ServiceError("payload_too_large", `A file can be at most ${MAX_BYTES / 1024 / 1024} MB.`);

/**
 * The first file of a body of `multipart/form-data` (RFC 7578), as it comes: no more than the limit is held at any time.
 * Throws unsupported_media_type, payload_too_large, and invalid_request for what is no form, has no file, was cut or comes
 * more slowly than `pace`.
 */
export async function readFormFile(request: Request, pace = LEAST_PACE): Promise<FormFile> {
  const type = request.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    throw new ServiceError("unsupported_media_type", "Send the file as multipart/form-data, in the field file.");
  }
  const announced = Number(request.headers["content-length"]);
  if (announced > MAX_BYTES + FORM_OVERHEAD_BYTES) throw tooLarge();
  return new Promise((resolve, reject) => {
    let parser: InstanceType<typeof Busboy>;
    try {
      parser = new Busboy({
        headers: { ...request.headers, "content-type": type },
        limits: { files: 1, fileSize: MAX_BYTES, fields: 10, fieldSize: 1024, parts: 12, ...HEADER_LIMITS },
      });
    } catch (error) {
      reject(invalidForm(error instanceof Error ? error.message : "it cannot be parsed"));
      return;
    }
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
      // What still comes is thrown away, up to a limit, so that its sender hears why.
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
    parser.on("error", (error) => fail(invalidForm(error instanceof Error ? error.message : "it cannot be parsed")));
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
