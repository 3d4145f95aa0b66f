import { errorCode } from "@svc/primitives";
import type { ErrorCode } from "@svc/contracts";

/** A model could not be pulled: `message` says why and what to do. */
export class PullError extends Error {
  readonly code: ErrorCode;
  /** True when another try would end the same. */
  readonly isFinal: boolean;

  constructor(code: ErrorCode, message: string, options: { isFinal: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "PullError";
    this.code = code;
    this.isFinal = options.isFinal;
  }
}

/** A provider did not return what it was asked for: `message` continues after its name and holds none of its words. */
export class ProviderError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "ProviderError";
  }
}

/** What a provider has sent, as far as it is an object. */
type Fields = Readonly<Record<string, unknown>>;

const NAME = /^[^\s\p{C}]{1,250}$/u;

/** Models of one provider that are read at most. */
export const MAX_MODELS = 2_000;

/** An answer is at most this long: the list of the largest provider is a tenth of it. */
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
  /** Posted as JSON where there is one. */
  body?: object;
  signal: AbortSignal;
}

/** The code of the system where a request could not be made at all. */
function problemCode(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = errorCode(cause);
  return code !== undefined && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : "";
}

/** The error that a failed request means; what ends by `signal` has taken too long. */
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
 * Asks a provider for JSON. The operator chose its address, so it need not be public; redirects are not followed, since
 * the key would go with them. Rejects with a `ProviderError`.
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

/** An object's fields; of anything else there are none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** A list's entries, at most `max`; of anything else there are none. */
export function entriesOf(value: unknown, max: number): Fields[] {
  return Array.isArray(value) ? value.slice(0, max).map(fieldsOf) : [];
}

/** The first of these that is a count of something; null where none is. */
export function countOf(...values: unknown[]): number | null {
  const found = values.find((value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0);
  return typeof found === "number" ? found : null;
}

/** A model's name; null for what can be none, such as a text with spaces or controls in it. */
export function nameOf(value: unknown): string | null {
  return typeof value === "string" && NAME.test(value) ? value : null;
}
