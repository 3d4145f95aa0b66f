import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { hasField } from "@svc/contracts";
import type { Endpoint } from "@svc/contracts";
import type { Request, Response } from "express";

/** An item of a response, and what its headers say. */
interface ItemResponse {
  item: object;
  status: number;
  location?: string | undefined;
  /** Version for the `ETag`. */
  version?: number | undefined;
}

/** Sends `{"ok":true,"item":{…}}`. */
export function sendItem(response: Response, { item, status, location, version }: ItemResponse): void {
  response.status(status).setHeader("Cache-Control", "no-store");
  if (location !== undefined) response.setHeader("Location", location);
  if (version !== undefined) response.setHeader("ETag", `"${version}"`);
  response.json({ ok: true, item });
}

/** Sends `{"ok":true,…}` with these fields. */
export function sendJson(response: Response, status: number, fields: object): void {
  response.status(status).setHeader("Cache-Control", "no-store");
  response.json({ ok: true, ...fields });
}

/** Returns the value at a dotted path, such as `article.kbId`; undefined if there is none. */
function valueAt(item: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (value, name) =>
        typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined,
      item,
    );
}

/** Fills a template of a path from the fields of an item, and from path parameters for names it does not have. */
const fillPath = (template: string, item: object, params: Request["params"]) =>
  template.replaceAll(/\{([\w.]+)\}/g, (_, name: string) => {
    const value = valueAt(item, name) ?? params[name];
    if (typeof value !== "string") throw new Error(`the created object has no ${name}`);
    return value;
  });

/** A file that an operation returns. */
interface File {
  filename: string;
  content: Buffer;
}

/** Sends a file as a download: its name and its content come from outside, so no browser may display or run them. */
function sendFile(response: Response, { filename, content }: File, mediaType = "application/octet-stream"): void {
  response.attachment(filename).set({
    "Content-Type": mediaType,
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
  });
  response.status(200).end(content);
}

async function* wrapItem(itemJson: AsyncIterable<string>): AsyncGenerator<string> {
  yield '{"ok":true,"item":';
  yield* itemJson;
  yield "}";
}

/** Returns true if the client disconnected before the end of the response. */
function isDisconnect(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE";
}

/** Sends an item of any length at the client's speed, while it is read. */
async function sendItemJson(response: Response, itemJson: AsyncIterable<string>): Promise<void> {
  response.status(200).setHeader("Content-Type", "application/json; charset=utf-8");
  response.setHeader("Cache-Control", "no-store");
  try {
    // An error in the middle closes the connection: a partial response must not look complete.
    await pipeline(Readable.from(wrapItem(itemJson)), response);
  } catch (error) {
    if (!isDisconnect(error)) throw error;
  }
}

/** What an operation may say about an item besides its fields, as `ItemResult`. */
interface ItemFacts {
  item: object;
  version?: number;
  isNew?: boolean;
}

/** Sends an item with its version as `ETag`, and with its `Location` if it was created. */
function sendItemResult(endpoint: Endpoint, request: Request, response: Response, facts: ItemFacts): void {
  const { item, isNew = true } = facts;
  const answer = endpoint.answers.find(({ status }) => isNew || status !== 201);
  const { status = 200, location = `${endpoint.path}/{id}` } = answer ?? {};
  const version = facts.version ?? valueAt(item, "version");
  sendItem(response, {
    item,
    status,
    location: status === 201 ? fillPath(location, item, request.params) : undefined,
    // A deleted object has no current version.
    version: typeof version === "number" && endpoint.method !== "DELETE" ? version : undefined,
  });
}

/** What operations return: an item, an item with facts, its JSON in pieces, a list, a file, or other fields. */
type Result = object | ItemFacts | { itemJson: AsyncIterable<string> } | object[] | File;

/** Sends the result of an endpoint's operation in the form that its first response describes. */
export async function sendResult(endpoint: Endpoint, request: Request, response: Response, result: Result) {
  const [answer] = endpoint.answers;
  if (answer === undefined) throw new Error(`${endpoint.path} has no response`);
  if ("itemJson" in result) await sendItemJson(response, result.itemJson);
  else if ("filename" in result && answer.schema === null) sendFile(response, result, answer.mediaType);
  else if (hasField(answer, "item")) {
    sendItemResult(endpoint, request, response, "item" in result ? result : { item: result });
  } else if (!Array.isArray(result)) sendJson(response, answer.status, result);
  else
    sendJson(response, answer.status, { items: result, ...(hasField(answer, "nextCursor") && { nextCursor: null }) });
}
