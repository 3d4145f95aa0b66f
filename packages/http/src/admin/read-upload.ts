import { Busboy } from "@fastify/busboy";
import type { BusboyConfig } from "@fastify/busboy";
import type { Request } from "express";
import { KB_LIMITS, ServiceError } from "@svc/contracts";
import type { DocumentRequest, FileFacts } from "@svc/contracts";
import type { UploadedFile } from "@svc/operations";
import { readBodyBytes, readJsonBody } from "../json-body.ts";
import type { BodyMeter } from "../json-body.ts";

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
interface FormFile {
  /** File name from the client, without folders; empty if absent. */
  name: string;
  mime: string;
  bytes: Buffer;
}

/** Content of a form. */
interface Form {
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

/** Limits the memory of concurrent bodies. */
interface UploadGate {
  /**
   * Runs `work`, which reads a body of this caller and reports every received part to the meter. The received bytes
   * count towards the gate's limit until `work` has ended. The meter throws rate_limited if a part exceeds the limit.
   */
  admit<Result>(caller: string, work: (meter: BodyMeter) => Promise<Result>): Promise<Result>;
}

/** Limits of a gate, in received bytes. */
interface UploadRoom {
  /** For all bodies together. */
  maxBytes: number;
  /** Maximum of one caller, so that one caller cannot use all of it. */
  callerMaxBytes: number;
  /** Bodies up to this size do not count and are always accepted, like any other request. */
  freeBytes: number;
}

const noRoom = (detail: string) => new ServiceError("rate_limited", detail, { headers: { "Retry-After": "2" } });

/**
 * Creates a gate for large bodies. It counts received and not announced bytes: a connection that announces much and
 * sends nothing uses up no room.
 */
export function createUploadGate({ maxBytes, callerMaxBytes, freeBytes }: UploadRoom): UploadGate {
  const usedBytesOf = new Map<string, number>();
  let usedBytes = 0;

  function use(caller: string, sizeBytes: number): void {
    const ofCaller = (usedBytesOf.get(caller) ?? 0) + sizeBytes;
    usedBytes += sizeBytes;
    if (ofCaller > 0) usedBytesOf.set(caller, ofCaller);
    else usedBytesOf.delete(caller);
  }

  return {
    async admit(caller, work) {
      let receivedBytes = 0;
      let countedBytes = 0;
      const meter: BodyMeter = (sizeBytes) => {
        receivedBytes += sizeBytes;
        if (receivedBytes <= freeBytes) return;
        const moreBytes = receivedBytes - countedBytes;
        if ((usedBytesOf.get(caller) ?? 0) + moreBytes > callerMaxBytes) {
          throw noRoom("Too many concurrent uploads with this key. Upload one file at a time.");
        }
        if (usedBytes + moreBytes > maxBytes) throw noRoom("Too many concurrent uploads. Retry later.");
        use(caller, moreBytes);
        countedBytes = receivedBytes;
      };
      try {
        return await work(meter);
      } finally {
        use(caller, -countedBytes);
      }
    },
  };
}

/** An upload: a document described in JSON, or files. */
type Upload = { json: DocumentRequest } | { files: UploadedFile[] };

/** Size of a form besides its files. */
const FORM_OVERHEAD_BYTES = 1024 * 1024;

/** Maximum size of a body. */
export const UPLOAD_MAX_BYTES = KB_LIMITS.fileMaxBytes + FORM_OVERHEAD_BYTES;

const DECLARED_MAX_CHARS = 200;

/** Returns the media type of a body, in lower case and without parameters. Throws unsupported_media_type. */
function mediaTypeOf(request: Request): string {
  const types = request.headersDistinct["content-type"] ?? [];
  const type = types[0]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  // The default of curl's --data-binary, which does not describe the content.
  if (types.length !== 1 || type === "" || type === "application/x-www-form-urlencoded") {
    throw new ServiceError(
      "unsupported_media_type",
      "Set Content-Type to application/json, multipart/form-data, or the media type of the file, such as application/pdf. Use application/octet-stream if the type is unknown.",
    );
  }
  return type;
}

/** Drops empty values. */
function filled(values: Iterable<[string, unknown]>): FileFacts {
  return Object.fromEntries([...values].filter(([, value]) => value !== ""));
}

async function readFormFiles(request: Request, meter: BodyMeter): Promise<UploadedFile[]> {
  const body = await readBodyBytes(request, UPLOAD_MAX_BYTES, meter);
  const { fields, files } = await readForm(body, request.headers["content-type"] ?? "");
  const facts = filled(fields);
  if (files.length > 1 && Object.keys(facts).length > 0) {
    const detail = "is only allowed with a single file; several files are identified by their names";
    const errors = Object.keys(facts).map((name) => ({ pointer: `/${name}`, code: "not_allowed", detail }));
    throw new ServiceError("invalid_request", "Send several files without name, title, url and key.", { errors });
  }
  return files.map(({ name, mime, bytes }) => ({
    facts: { ...(name === "" ? {} : { name }), ...facts },
    // Clients that do not know the type of a part omit it, and busboy then reports text/plain.
    mime: mime === "text/plain" ? null : mime.slice(0, DECLARED_MAX_CHARS),
    bytes,
  }));
}

async function readRawFile(request: Request, meter: BodyMeter): Promise<UploadedFile[]> {
  const bytes = await readBodyBytes(request, KB_LIMITS.fileMaxBytes, meter);
  const mime = request.headers["content-type"]?.slice(0, DECLARED_MAX_CHARS) ?? null;
  return [{ facts: filled(Object.entries(request.query)), mime, bytes }];
}

type ReadUpload = (request: Request, meter: BodyMeter) => Promise<Upload>;

/** Readers of bodies that are not files. */
const READERS: Readonly<Record<string, ReadUpload>> = {
  "application/json": async (request, meter) => ({
    json: (await readJsonBody(request, KB_LIMITS.jsonMaxBytes, meter)) as DocumentRequest,
  }),
  "multipart/form-data": async (request, meter) => ({ files: await readFormFiles(request, meter) }),
};
const readRaw: ReadUpload = async (request, meter) => ({ files: await readRawFile(request, meter) });

/**
 * Reads an upload and runs `work` with it, while the gate has room for it: JSON, a form with files, or the bytes of one
 * file described in the query. Throws unsupported_media_type, payload_too_large, rate_limited, invalid_json, and
 * invalid_request with every error, also if the connection drops: then nothing is done.
 */
export async function withUpload<Result>(
  request: Request,
  { gate, caller }: { gate: UploadGate; caller: string },
  work: (upload: Upload) => Promise<Result>,
): Promise<Result> {
  const read = READERS[mediaTypeOf(request)] ?? readRaw;
  return gate.admit(caller, async (meter) => work(await read(request, meter)));
}
