import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { invalidForm, parseForm } from "./parse-form.ts";

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
const LIMITS = {
  files: KB_LIMITS.filesMaxCount,
  fileSize: KB_LIMITS.fileMaxBytes,
  fields: MAX_FIELDS,
  fieldSize: FIELD_MAX_BYTES,
  parts: KB_LIMITS.filesMaxCount + MAX_FIELDS + 1,
};

/**
 * Reads a body of `multipart/form-data` (RFC 7578) that is there as a whole. Throws invalid_request for what is no form
 * or has too many parts, payload_too_large for a file beyond the limit.
 */
export async function readForm(body: Buffer, contentType: string): Promise<Form> {
  const form: Form = { fields: new Map(), files: [] };
  await parseForm(body, contentType, LIMITS, (parser, fail) => {
    parser.on("file", (_field, stream, name, _encoding, mime) => {
      const parts: Buffer[] = [];
      // A part without a file name, as an empty field for files makes it, has its place all the same.
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
