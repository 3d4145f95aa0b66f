import {
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
  createAddressGuard,
  excerptOf,
  guardedRequest,
} from "@svc/outbound";
import type { AddressGuard, OutboundResponse } from "@svc/outbound";
import { errorMessage } from "@svc/primitives";
import { EmbeddingError } from "./embedding-error.ts";
import { readEmbeddings } from "./read-embeddings.ts";

/** A server that makes embeddings, as it is configured. */
export interface EmbeddingEndpoint {
  /** As in `http://localhost:11434/v1`. */
  baseUrl: string;
  model: string;
  /** Sent as a bearer token where there is one. */
  apiKey?: string;
}

/** Asks for embeddings: of a server (`createEmbeddingRequest`), or of a model in this process (`runLocalModel`). */
export type EmbeddingRequest = (
  texts: readonly string[],
  /** Somebody waits for a query; passages have time. */
  options: { timeoutMs: number; signal: AbortSignal; isQuery?: boolean },
) => Promise<(Float32Array | null)[]>;

/** An answer is at most this long, and so much longer for each text. */
const ANSWER_BYTES = 65_536;
const ANSWER_BYTES_PER_TEXT = 262_144;

const EXCERPT_CHARS = 200;

/** Statuses by which servers say that they do not take a text. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

/** What servers that answer 500 to a text that is too long say of it (llama.cpp, some versions of Ollama). */
const TOO_LONG = /too (?:large|long)|exceed|maximum|context/i;

const HINTS: Readonly<Record<number, string>> = {
  401: "; check SVC_EMBEDDINGS_API_KEY",
  403: "; check SVC_EMBEDDINGS_API_KEY",
  404: "; check SVC_EMBEDDINGS_BASE_URL and that the server has the model of SVC_EMBEDDINGS_MODEL",
};

/**
 * Makes the function that asks an OpenAI-compatible server for embeddings (`POST {base}/embeddings` with model and
 * input): one for each text in their order, of length 1, null for one that means nothing. It follows no redirects,
 * reads answers up to a bound, and ends with `timeoutMs`, however slowly the response arrives. The operator chose the
 * address, so it need not be public. Rejects with an `EmbeddingError`, or with the reason of `signal`.
 */
export function createEmbeddingRequest(endpoint: EmbeddingEndpoint): EmbeddingRequest {
  const url = urlOf(endpoint.baseUrl);
  const guard = guardFor(url);
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...(endpoint.apiKey === undefined ? {} : { authorization: `Bearer ${endpoint.apiKey}` }),
  };

  return async (texts, { timeoutMs, signal }) => {
    const body = JSON.stringify({ model: endpoint.model, input: texts });
    const maxResponseBytes = ANSWER_BYTES + texts.length * ANSWER_BYTES_PER_TEXT;
    let response: OutboundResponse;
    try {
      response = await guardedRequest(guard, {
        method: "POST",
        url,
        headers,
        body,
        timeoutMs,
        maxResponseBytes,
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new EmbeddingError(describeFault(error), { cause: error });
    }
    if (response.status < 200 || response.status > 299) throw errorOf(response, endpoint);
    return readEmbeddings(response.body, texts.length);
  };
}

function urlOf(baseUrl: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/embeddings`;
  return url;
}

/** Lets requests to this host through, wherever it is. */
function guardFor(url: URL): AddressGuard {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return createAddressGuard({ allow: [host], allowLoopback: true, ownPorts: [] });
}

function describeFault(error: unknown): string {
  if (error instanceof OutboundTimeoutError) return `no response within ${error.timeoutMs} ms`;
  if (error instanceof OutboundConnectionError) return `it is unreachable (${error.errorCode})`;
  if (error instanceof ResponseTooLargeError) return `its response is longer than ${error.maxResponseBytes} bytes`;
  return errorMessage(error);
}

function errorOf({ status, headers, body }: OutboundResponse, { apiKey }: EmbeddingEndpoint): EmbeddingError {
  if (status >= 300 && status < 400) {
    return new EmbeddingError("it redirects to another URL; set that one as SVC_EMBEDDINGS_BASE_URL");
  }
  const said = excerptOf(body.toString("utf8"), { secret: apiKey, maxChars: EXCERPT_CHARS });
  const retryAfterS = Number(headers["retry-after"] ?? Number.NaN);
  return new EmbeddingError(`it returned ${status}${said === "" ? "" : ` (${said})`}${HINTS[status] ?? ""}`, {
    isRefusal: REFUSALS.has(status) || (status >= 500 && TOO_LONG.test(said)),
    retryAfterMs: Number.isFinite(retryAfterS) && retryAfterS >= 0 ? retryAfterS * 1_000 : null,
  });
}
