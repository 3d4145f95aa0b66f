import { Busboy } from "@fastify/busboy";
import { KB_LIMITS, ServiceError } from "@svc/contracts";

/** A file of a form. */
export interface FormFile {
  /** As the client named it, without folders; empty where it had no name. */
  name: string;
  mime: string;
  bytes: Buffer;
}

/** What a form holds. */
export interface Form {
  fields: Map<string, string>;
  files: FormFile[];
}

const MAX_FIELDS = 10;
/** Longer than the longest value that is taken, so that it is refused for its length and not cut. */
const FIELD_MAX_BYTES = 64 * 1024;
/** All of the body is there when it is read, so this is long. */
const DEADLINE_MS = 10_000;

const invalid = (detail: string) =>
  new ServiceError("invalid_request", `The form is not valid: ${detail}.`, {
    errors: [{ pointer: "", code: "invalid_form", detail }],
  });

/**
 * Reads a body of `multipart/form-data` (RFC 7578) that is there as a whole. Throws invalid_request for what is no form
 * or has too many parts, payload_too_large for a file beyond the limit.
 */
export async function readForm(body: Buffer, contentType: string): Promise<Form> {
  const boundary = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw invalid("Content-Type has no boundary; let your HTTP client set it");
  // Of a body that ends in the middle of a part, parsers make what they like.
  if (!body.includes(`--${mark}--`))
    throw invalid("it does not end with its boundary; it was cut, or the boundary is wrong");
  const form: Form = { fields: new Map(), files: [] };
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(invalid("its parts do not end")), DEADLINE_MS);
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      finish();
    };
    const fail = (error: Error) => settle(() => reject(error));
    const parser = new Busboy({
      headers: { "content-type": contentType },
      limits: {
        files: KB_LIMITS.filesMaxCount,
        fileSize: KB_LIMITS.fileMaxBytes,
        fields: MAX_FIELDS,
        fieldSize: FIELD_MAX_BYTES,
        parts: KB_LIMITS.filesMaxCount + MAX_FIELDS + 1,
        headerPairs: 20,
        headerSize: 8 * 1024,
      },
    });
    parser.on("file", (_field, stream, name, _encoding, mime) => {
      const parts: Buffer[] = [];
      // A part without a file name, as an empty field for files makes it, has its place all the same.
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("limit", () => fail(tooLarge(name)));
      stream.on("error", (error: Error) => fail(invalid(error.message)));
      const file: FormFile = { name: name ?? "", mime, bytes: Buffer.alloc(0) };
      form.files.push(file);
      stream.on("end", () => {
        file.bytes = Buffer.concat(parts);
      });
    });
    parser.on("field", (name, value, _nameTruncated, isCut) => {
      if (isCut) fail(invalid(`the field ${name.slice(0, 100)} is too long`));
      else if (form.fields.has(name)) fail(invalid(`the field ${name.slice(0, 100)} comes twice`));
      else form.fields.set(name, value);
    });
    parser.on("filesLimit", () => fail(invalid(`it has more than ${KB_LIMITS.filesMaxCount} files`)));
    parser.on("fieldsLimit", () => fail(invalid(`it has more than ${MAX_FIELDS} fields`)));
    parser.on("partsLimit", () => fail(invalid("it has too many parts")));
    parser.on("error", (error) => fail(invalid(error instanceof Error ? error.message : "it cannot be read")));
    parser.on("finish", () => settle(resolve));
    parser.end(body);
  });
  return form;
}

function tooLarge(name: string | undefined): ServiceError {
  const maxMb = KB_LIMITS.fileMaxBytes / 1024 / 1024;
  return new ServiceError(
    "payload_too_large",
    `The file ${JSON.stringify((name ?? "").slice(0, 100))} is larger than ${maxMb} MB; split it.`,
  );
}
