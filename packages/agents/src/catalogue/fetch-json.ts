import { errorCode } from "@svc/primitives";
import type { ErrorCode } from "@svc/contracts";

/** A model could not be pulled: `message` says why and what to do. */
export class PullError extends Error {
  readonly code: ErrorCode;
  /** True when a retry would fail in the same way. */
  readonly isFinal: boolean;

  constructor(code: ErrorCode, message: string, options: { isFinal: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "PullError";
    this.code = code;
    this.isFinal = options.isFinal;
  }
}

/**
 * A provider did not return what was requested: `message` continues after its name and contains no text of the
 * provider.
 */
export class ProviderError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "ProviderError";
  }
}

/** An object that a provider has sent. */
type Fields = Readonly<Record<string, unknown>>;

const NAME = /^[^\s\p{C}]{1,250}$/u;

/** Maximum number of models read per provider. */
export const MAX_MODELS = 2_000;

/** Maximum size of a response: ten times the list of the largest provider. */
const MAX_BYTES = 8 * 1024 * 1024;

const STATUS_WORDS: Readonly<Record<number, string>> = {
  401: "rejected the API key",
  403: "rejected the API key",
  404: "returned 404 for the requested URL",
  429: "rate-limited the request",
};

/** What is sent. */
interface JsonRequest {
  headers?: Readonly<Record<string, string>>;
  /** Posted as JSON if present. */
  body?: object;
  signal: AbortSignal;
}

/** Returns the system's error code for a request that could not be made. */
function problemCode(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = errorCode(cause);
  return code !== undefined && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : "";
}

/** Returns the error for a failed request; an aborted `signal` is reported as a timeout. */
export function asProviderError(error: unknown, signal: AbortSignal): ProviderError {
  if (error instanceof ProviderError) return error;
  if (signal.aborted) return new ProviderError("did not respond in time", { cause: error });
  return new ProviderError(`is unreachable${problemCode(error)}`, { cause: error });
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of response.body ?? []) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > MAX_BYTES) throw new ProviderError(`returned more than ${MAX_BYTES / 1024 / 1024} MB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Requests JSON from a provider. The operator chose its address, so it need not be public. Redirects are not followed,
 * because the key would be sent with them. Rejects with a `ProviderError`.
 */
export async function fetchJson(url: string, { headers = {}, body, signal }: JsonRequest): Promise<unknown> {
  try {
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: { Accept: "application/json", ...(body === undefined ? {} : JSON_TYPE), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "error",
      signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new ProviderError(STATUS_WORDS[response.status] ?? `returned status ${response.status}`);
    }
    return parse(await readText(response));
  } catch (error) {
    throw asProviderError(error, signal);
  }
}

const JSON_TYPE = { "Content-Type": "application/json" };

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ProviderError("did not return JSON", { cause: error });
  }
}

/** Returns an object's fields; an empty object for any other value. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** Returns at most `max` entries of a list; none for any other value. */
export function entriesOf(value: unknown, max: number): Fields[] {
  return Array.isArray(value) ? value.slice(0, max).map(fieldsOf) : [];
}

/** Returns the first value that is a count; null if there is none. */
export function countOf(...values: unknown[]): number | null {
  const found = values.find((value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0);
  return typeof found === "number" ? found : null;
}

/** Returns a model's name; null for an invalid one, such as a text with spaces or control characters. */
export function nameOf(value: unknown): string | null {
  return typeof value === "string" && NAME.test(value) ? value : null;
}
