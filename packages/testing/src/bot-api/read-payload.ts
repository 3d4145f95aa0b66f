import type { IncomingMessage } from "node:http";

/** Parameters of an error response (https://core.telegram.org/bots/api#responseparameters). */
export interface RefusalParameters {
  retry_after?: number;
  migrate_to_chat_id?: number;
}

/** A call that the fake Bot API rejects, with the message of the real one. */
export class BotApiRefusal extends Error {
  /** HTTP status and `error_code`. */
  readonly code: number;
  readonly parameters: RefusalParameters | undefined;

  constructor(code: number, description: string, parameters?: RefusalParameters) {
    super(description);
    this.name = "BotApiRefusal";
    this.code = code;
    this.parameters = parameters;
  }
}

/** Returns the 400 of an invalid call. */
export const badRequest = (what: string): BotApiRefusal => new BotApiRefusal(400, `Bad Request: ${what}`);

/** Returns the 429 of too many messages, with the seconds to wait. */
export const tooManyRequests = (retryAfterS: number): BotApiRefusal =>
  new BotApiRefusal(429, `Too Many Requests: retry after ${retryAfterS}`, { retry_after: retryAfterS });

/** A file in a call. */
export interface UploadedFile {
  name: string;
  /** Its bytes as sent. */
  bytes: Buffer;
}

/** Data of a call: its fields, and the files of a form by part name. */
export interface BotPayload {
  fields: Record<string, unknown>;
  files: ReadonlyMap<string, UploadedFile>;
}

/** Maximum size of an upload (https://core.telegram.org/bots/api#sending-files). */
const UPLOAD_MAX_BYTES = 50_000_000;

/**
 * Reads a call in all ways that the Bot API takes it: query string, urlencoded, JSON, a form with files.
 *
 * @throws BotApiRefusal for a body that cannot be read or is too large.
 */
export async function readPayload(request: IncomingMessage, query: URLSearchParams): Promise<BotPayload> {
  const body = await readBody(request);
  const type = request.headers["content-type"] ?? "";
  const fromQuery = Object.fromEntries(query);
  if (body.length === 0) return { fields: fromQuery, files: new Map() };
  if (/^application\/json\b/i.test(type)) {
    return { fields: { ...fromQuery, ...parseObject(body.toString("utf8")) }, files: new Map() };
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
    return { fields: { ...fromQuery, ...Object.fromEntries(new URLSearchParams(body.toString())) }, files: new Map() };
  }
  if (/^multipart\/form-data\b/i.test(type)) {
    const { fields, files } = await readForm(body, type);
    return { fields: { ...fromQuery, ...fields }, files };
  }
  return { fields: fromQuery, files: new Map() };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    sizeBytes += bytes.length;
    // The rest is read all the same, because a caller that is still writing would not read the response.
    if (sizeBytes <= UPLOAD_MAX_BYTES) chunks.push(bytes);
  }
  if (sizeBytes > UPLOAD_MAX_BYTES) throw new BotApiRefusal(413, "Request Entity Too Large");
  return Buffer.concat(chunks);
}

function parseObject(text: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw badRequest("can't parse JSON object");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw badRequest("expected an Object");
  }
  return { ...parsed };
}

async function readForm(body: Buffer, type: string): Promise<BotPayload> {
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  } catch {
    throw badRequest("can't parse the form");
  }
  const fields: Record<string, unknown> = {};
  const files = new Map<string, UploadedFile>();
  for (const [name, value] of form) {
    if (typeof value === "string") fields[name] = value;
    else files.set(name, { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) });
  }
  return { fields, files };
}
