import type { ErrorCode, Model } from "@svc/contracts";
import { errorCode } from "@svc/primitives";
import type { ModelProviderConfig } from "../models/language-model.ts";

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

/** A model of Ollama's library that can be installed. */
interface InstallableModel {
  /** As in `llama3.2:3b`. */
  name: string;
  /** Approximate size on disk. The library rounds it, and a name may refer to another file by now. */
  sizeBytes: number;
  /** In tokens. */
  contextWindow: number;
}

const MB = 1_000_000;

/**
 * Well-known models of Ollama's library (https://ollama.com/library), by family, that are fast enough on an ordinary
 * machine. Any other one can be pulled by name.
 */
const INSTALLABLE_MODELS: readonly InstallableModel[] = [
  { name: "gemma3:1b", sizeBytes: 815 * MB, contextWindow: 32_768 },
  { name: "gemma3:4b", sizeBytes: 3_300 * MB, contextWindow: 131_072 },
  { name: "llama3.2:1b", sizeBytes: 1_300 * MB, contextWindow: 131_072 },
  { name: "llama3.2:3b", sizeBytes: 2_000 * MB, contextWindow: 131_072 },
  { name: "mistral:7b", sizeBytes: 4_400 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:0.5b", sizeBytes: 398 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:1.5b", sizeBytes: 986 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:3b", sizeBytes: 1_900 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:7b", sizeBytes: 4_700 * MB, contextWindow: 32_768 },
  { name: "qwen3:1.7b", sizeBytes: 1_400 * MB, contextWindow: 40_960 },
  { name: "qwen3:8b", sizeBytes: 5_200 * MB, contextWindow: 40_960 },
];

/** A model that an Ollama has. */
interface InstalledModel {
  name: string;
  digest: string;
  sizeBytes: number | null;
  /** True if Ollama forwards requests for it to another server. */
  isRemote: boolean;
}

/** Address of Ollama's own API. */
export interface OllamaTarget {
  /** Its address, without `/api`. */
  rootUrl: string;
  /** For a proxy in front of Ollama that requires one. */
  apiKey?: string;
}

/** An Ollama server. All methods but `isThere` reject with a `ProviderError`. */
export interface Ollama {
  /** Target for pulls. */
  readonly target: OllamaTarget;
  /** Returns true if an Ollama responds there. Never rejects. */
  isThere(signal: AbortSignal): Promise<boolean>;
  listInstalled(signal: AbortSignal): Promise<InstalledModel[]>;
  /** The models that it has, and those that could be installed on it. */
  listModels(signal: AbortSignal): Promise<CatalogueModel[]>;
}

/** Number of models whose details are fetched concurrently. */
const SHOWN_AT_ONCE = 8;
/** Maximum number of cached context sizes; the context of a model with a given digest never changes. */
const MAX_REMEMBERED = 5_000;

/** Returns the root of Ollama's own API: the provider's URL without `/v1`. */
const rootOf = (baseUrl: string) => baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");

/** Returns the headers of every request. */
export const authorizationOf = ({ apiKey }: OllamaTarget): Record<string, string> =>
  apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };

/** Opens Ollama's own API at a provider, which may be another server that does not support it. */
export function createOllama({ name: provider, baseUrl, apiKey }: ModelProviderConfig): Ollama {
  const rootUrl = rootOf(baseUrl);
  const target: OllamaTarget = { rootUrl, ...(apiKey === undefined ? {} : { apiKey }) };
  const headers = authorizationOf(target);
  const contexts = new Map<string, number | null>();

  async function listInstalled(signal: AbortSignal): Promise<InstalledModel[]> {
    const answer = await fetchJson(`${rootUrl}/api/tags`, { headers, signal });
    return entriesOf(fieldsOf(answer)["models"], MAX_MODELS).flatMap((entry): InstalledModel[] => {
      const name = nameOf(entry["name"]);
      if (name === null) return [];
      const digest = typeof entry["digest"] === "string" ? entry["digest"] : "";
      const isRemote = typeof entry["remote_host"] === "string";
      return [{ name, digest, sizeBytes: countOf(entry["size"]), isRemote }];
    });
  }

  /** Returns a model's context window in tokens; null if the server does not report it in time. */
  async function contextOf({ name, digest }: InstalledModel, signal: AbortSignal): Promise<number | null> {
    const known = contexts.get(`${name} ${digest}`);
    if (known !== undefined) return known;
    let info: Readonly<Record<string, unknown>>;
    try {
      const answer = await fetchJson(`${rootUrl}/api/show`, { headers, body: { model: name }, signal });
      info = fieldsOf(fieldsOf(answer)["model_info"]);
    } catch {
      // One missing context size must not fail the list; it is fetched again next time.
      return null;
    }
    const [, context] = Object.entries(info).find(([key]) => key.endsWith(".context_length")) ?? [];
    if (contexts.size >= MAX_REMEMBERED) contexts.clear();
    contexts.set(`${name} ${digest}`, countOf(context));
    return countOf(context);
  }

  return {
    target,
    async isThere(signal) {
      try {
        return typeof fieldsOf(await fetchJson(`${rootUrl}/api/version`, { headers, signal }))["version"] === "string";
      } catch {
        // Any other response means that this is not an Ollama server, or that it is unavailable.
        return false;
      }
    },
    listInstalled,
    async listModels(signal) {
      const installed = await listInstalled(signal);
      const found: CatalogueModel[] = [];
      for (let start = 0; start < installed.length; start += SHOWN_AT_ONCE) {
        const some = installed.slice(start, start + SHOWN_AT_ONCE);
        const windows = await Promise.all(some.map((model) => contextOf(model, signal)));
        for (const [index, { name, sizeBytes, isRemote }] of some.entries()) {
          const catalogId = `${provider}:${name}`;
          const contextWindow = windows[index] ?? null;
          found.push({ catalogId, name, provider, local: !isRemote, sizeBytes, installed: true, contextWindow });
        }
      }
      return [...found, ...installableOn(provider, new Set(installed.map(({ name }) => name)))];
    },
  };
}

/** Returns the models that can be installed on an Ollama server with these installed names. */
function installableOn(provider: string, installed: ReadonlySet<string>): CatalogueModel[] {
  return INSTALLABLE_MODELS.filter(({ name }) => !installed.has(name)).map(({ name, sizeBytes, contextWindow }) => ({
    catalogId: `${provider}:${name}`,
    name,
    provider,
    local: true,
    sizeBytes,
    installed: false,
    contextWindow,
  }));
}

/** A model of the catalogue, without the state of its pull. */
export type CatalogueModel = Omit<Model, "pull">;
