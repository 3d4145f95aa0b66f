import {
  LIMITS,
  ServiceError,
  checkInput,
  noBodySchema,
  pathParameters,
  queryParameters,
  takesTarget,
} from "@svc/contracts";
import type { Endpoint, EndpointBody } from "@svc/contracts";
import { readJsonBody } from "../json-body.ts";
import type { ExpectedVersions } from "@svc/operations";
import type { Request, Response } from "express";

const WHOLE_NUMBER = /^\d{1,6}$/;
const TAGS = /^\s*(?:W\/)?"[^"]*"\s*(?:,\s*(?:W\/)?"[^"]*"\s*)*$/;

/** Lists without a search reject this parameter; others ignore it. */
const SEARCH = { name: "q", isInteger: false, isOptional: true };

/**
 * Returns the query parameters that the endpoint has. An empty optional parameter counts as absent. The operation checks
 * the values: a repeated parameter is a list, and a page size that is not a number stays a string.
 */
function readQuery(endpoint: Endpoint, { query }: Request): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, isInteger, isOptional } of [SEARCH, ...queryParameters(endpoint)]) {
    const value = query[name];
    if (value === undefined || (value === "" && isOptional && !isInteger)) continue;
    values[name] = isInteger && typeof value === "string" && WHOLE_NUMBER.test(value) ? Number(value) : value;
  }
  return values;
}

/** Returns the JSON body of a request; an empty object if it can be omitted and is. Throws as `readJsonBody`. */
async function readBody(body: Pick<EndpointBody, "maxBytes" | "isOptional">, request: Request): Promise<unknown> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  const isEmpty = encoding === undefined && (length === undefined || Number(length) === 0);
  if (isEmpty && body.isOptional === true) return {};
  return readJsonBody(request, body.maxBytes ?? LIMITS.bodyMaxBytes);
}

/** Throws invalid_request for fields in the body of an endpoint that takes none. */
export async function rejectBody(request: Request): Promise<void> {
  checkInput(noBodySchema, await readBody({ isOptional: true }, request), "The body");
}

/**
 * Returns the versions in `If-Match` (RFC 9110, section 13.1.1): null without the header and for `*`. A weak tag, or a tag
 * that is not a version number, matches nothing. Throws invalid_request if the header is not a list of tags.
 */
function readIfMatch({ headers }: Request): ExpectedVersions {
  const text = headers["if-match"];
  if (text === undefined || text.trim() === "*") return null;
  if (!TAGS.test(text)) {
    throw new ServiceError(
      "invalid_request",
      'If-Match must be an ETag exactly as it was returned, including the quotes, such as "3".',
    );
  }
  const strong = [...text.matchAll(/(W\/)?"([^"]*)"/g)].filter(([, weak]) => weak === undefined);
  return strong.flatMap(([, , tag = ""]) => (/^\d{1,9}$/.test(tag) ? [Number(tag)] : []));
}

/** Returns a signal that is aborted when the client disconnects. */
function disconnectSignal(response: Response): AbortSignal {
  const disconnect = new AbortController();
  response.once("close", () => disconnect.abort());
  return disconnect.signal;
}

/**
 * Returns the arguments of an endpoint's operation, as in `OperationArguments`: path parameters or target, then body or
 * query. Throws invalid_request, invalid_json, payload_too_large and unsupported_media_type.
 */
export async function readArguments(endpoint: Endpoint, request: Request, response: Response): Promise<unknown[]> {
  const ids = pathParameters(endpoint).map((name) => request.params[name]);
  const target = {
    id: ids[0],
    ...(endpoint.ifMatch !== undefined && { versions: readIfMatch(request) }),
    ...(endpoint.isCancellable === true && { signal: disconnectSignal(response) }),
  };
  const args: unknown[] = takesTarget(endpoint) ? [target] : ids;
  if (endpoint.body !== undefined) args.push(await readBody(endpoint.body, request));
  else if (endpoint.query !== undefined) args.push(readQuery(endpoint, request));
  return args;
}
