import { LIMITS } from "@svc/contracts";
import { parseJson, readJsonBytes } from "@svc/http";
import { isDeeperThan } from "@svc/primitives";
import type { Request, Response } from "express";

/** Error of a body that cannot be attributed to a message: a JSON-RPC code, and what to do. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RpcError";
    this.code = code;
  }
}

/** Sends 400 with a JSON-RPC error, which clients of the protocol understand. */
export function sendRpcError(response: Response, { code, message }: RpcError): void {
  response.status(400).json({ jsonrpc: "2.0", id: null, error: { code, message } });
}

/** Maximum nesting of a body, more than any tool accepts. */
const MAX_DEPTH = 64;
/** Maximum number of messages in a batch. */
const BATCH_MAX_COUNT = 20;
/** The revisions that support batches; later ones forbid them. */
const BATCH_VERSIONS = ["2024-11-05", "2025-03-26"];

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** The messages of a body, and the original body. */
export interface Messages {
  body: unknown;
  messages: readonly unknown[];
}

/** Returns a field of a value that may be an object. */
export function fieldOf(message: unknown, name: string): unknown {
  return typeof message === "object" && message !== null && Object.hasOwn(message, name)
    ? Reflect.get(message, name)
    : undefined;
}

function refuseBatch(request: Request, messages: readonly unknown[]): void {
  const version = request.headers["mcp-protocol-version"];
  if (version !== undefined && !BATCH_VERSIONS.includes(String(version))) {
    throw new RpcError(
      INVALID_REQUEST,
      "This protocol version does not support batches. Send one message per request.",
    );
  }
  if (messages.length === 0) throw new RpcError(INVALID_REQUEST, "The batch is empty. Send one message per request.");
  if (messages.length > BATCH_MAX_COUNT) {
    throw new RpcError(INVALID_REQUEST, `A batch must have at most ${BATCH_MAX_COUNT} messages.`);
  }
}

/**
 * Returns the JSON-RPC messages of a request's body: one message, or a batch if its revision supports batches. Throws
 * RpcError for invalid JSON or any other body, and unsupported_media_type and payload_too_large like every HTTP
 * endpoint.
 */
export async function readMessages(request: Request): Promise<Messages> {
  const bytes = await readJsonBytes(request, LIMITS.bodyMaxBytes);
  let body: unknown;
  try {
    body = parseJson(bytes);
  } catch (error) {
    throw new RpcError(PARSE_ERROR, error instanceof Error ? error.message : "The body is not valid JSON.", {
      cause: error,
    });
  }
  if (isDeeperThan(body, MAX_DEPTH)) {
    throw new RpcError(INVALID_REQUEST, `The body must be at most ${MAX_DEPTH} levels deep.`);
  }
  if (!Array.isArray(body)) return { body, messages: [body] };
  const messages: readonly unknown[] = body;
  refuseBatch(request, messages);
  return { body, messages };
}
