import { Busboy } from "@fastify/busboy";
import type { BusboyConfig } from "@fastify/busboy";
import { KB_LIMITS, ServiceError } from "@svc/contracts";

/** Long, because the whole body is in memory when it is parsed. */
const DEADLINE_MS = 10_000;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
/** Headers of one part. */
const HEADER_LIMITS = { headerPairs: 20, headerSize: 8 * 1024 };

/** Returns the error for an invalid form. */
export const invalidForm = (detail: string) =>
  new ServiceError("invalid_request", `The form is not valid: ${detail}.`, {
    errors: [{ pointer: "", code: "invalid_form", detail }],
  });

/**
 * Parses a complete body of `multipart/form-data` (RFC 7578): `listen` handles the parser's events, and ends the
 * parsing with `fail`. Rejects with invalid_request if it is not a form or is truncated.
 */
export async function parseForm(
  body: Buffer,
  contentType: string,
  limits: NonNullable<BusboyConfig["limits"]>,
  listen: (parser: InstanceType<typeof Busboy>, fail: (error: Error) => void) => void,
): Promise<void> {
  const [, quoted, bare] = BOUNDARY.exec(contentType) ?? [];
  const mark = quoted ?? bare;
  if (mark === undefined) throw invalidForm("Content-Type has no boundary; let your HTTP client set it");
  // Parsers behave differently for a body that ends in the middle of a part.
  if (!body.includes(`--${mark}--`)) {
    throw invalidForm("the closing boundary is missing; the body is truncated or the boundary is wrong");
  }
  await new Promise<void>((resolve, reject) => {
    // For some bodies that are not forms, the parser waits for more data.
    const timer = setTimeout(() => reject(invalidForm("a part is not terminated")), DEADLINE_MS);
    const complete = (finish: () => void) => {
      clearTimeout(timer);
      finish();
    };
    const fail = (error: Error) => complete(() => reject(error));
    const parser = new Busboy({ headers: { "content-type": contentType }, limits: { ...HEADER_LIMITS, ...limits } });
    listen(parser, fail);
    parser.on("error", (error) => fail(invalidForm(error instanceof Error ? error.message : "it cannot be parsed")));
    parser.on("finish", () => complete(resolve));
    parser.end(body);
  });
}

/** A file of a form. */
export interface FormFile {
  /** File name from the client, without folders; empty if absent. */
  name: string;
  mime: string;
  bytes: Buffer;
}

/** Content of a form. */
export interface Form {
  fields: Map<string, string>;
  files: FormFile[];
}

const MAX_FIELDS = 10;
/** More than the longest valid value, so that longer ones are rejected and not truncated. */
const FIELD_MAX_BYTES = 64 * 1024;
const LIMITS = {
  files: KB_LIMITS.filesMaxCount,
  fileSize: KB_LIMITS.fileMaxBytes,
  fields: MAX_FIELDS,
  fieldSize: FIELD_MAX_BYTES,
  parts: KB_LIMITS.filesMaxCount + MAX_FIELDS + 1,
};

/**
 * Parses a complete body of `multipart/form-data` (RFC 7578). Throws invalid_request if it is not a form or has too
 * many parts, payload_too_large for a file beyond the limit.
 */
export async function readForm(body: Buffer, contentType: string): Promise<Form> {
  const form: Form = { fields: new Map(), files: [] };
  await parseForm(body, contentType, LIMITS, (parser, fail) => {
    // oxlint-disable-next-line max-params -- the listener of the parser
    parser.on("file", (_field, stream, name, _encoding, mime) => {
      const parts: Buffer[] = [];
      // A part without a file name, as an empty file field sends it, keeps its position.
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("limit", () => fail(tooLarge(name)));
      stream.on("error", (error: Error) => fail(invalidForm(error.message)));
      const file: FormFile = { name: name ?? "", mime, bytes: Buffer.alloc(0) };
      form.files.push(file);
      stream.on("end", () => {
        file.bytes = Buffer.concat(parts);
      });
    });
    parser.on("field", (name, value, _nameTruncated, isCut) => {
      if (isCut) fail(invalidForm(`the field ${name.slice(0, 100)} is too long`));
      else if (form.fields.has(name)) fail(invalidForm(`the field ${name.slice(0, 100)} is repeated`));
      else form.fields.set(name, value);
    });
    parser.on("filesLimit", () => fail(invalidForm(`it has more than ${KB_LIMITS.filesMaxCount} files`)));
    parser.on("fieldsLimit", () => fail(invalidForm(`it has more than ${MAX_FIELDS} fields`)));
    parser.on("partsLimit", () => fail(invalidForm("it has too many parts")));
  });
  return form;
}

function tooLarge(name: string | undefined): ServiceError {
  const maxMb = KB_LIMITS.fileMaxBytes / 1024 / 1024;
  return new ServiceError(
    "payload_too_large",
    `The file ${JSON.stringify((name ?? "").slice(0, 100))} is larger than ${maxMb} MB. Split it.`,
  );
}
