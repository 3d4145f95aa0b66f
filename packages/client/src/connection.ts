import { ServiceFault } from "./service-fault.ts";

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Which service is called, as whom, and how patiently. */
export interface ClientOptions {
  /** Address of the HTTP API, such as `https://chat.example.com`; it may have a path that a proxy adds. */
  url: string;
  /** An API key. */
  key: string;
  /** Which project an administrator's key works on; `default` where absent. A scoped key is bound to its own. */
  project?: string | undefined;
  /** Used in place of the global `fetch`. */
  fetch?: Fetch | undefined;
  /** How much longer than it was asked to wait the service may take for an answer. 10,000 where absent. */
  timeoutMs?: number | undefined;
  /** How often a call is made again that failed in passing; 5 where absent, 0 for never. */
  maxRetries?: number | undefined;
  /** Is told of each failure that is made good by another try. */
  onRetry?: ((fault: ServiceFault, delayMs: number) => void) | undefined;
}

/** Options that were checked, with their defaults. */
export interface Connection {
  /** Without a slash at its end. */
  baseUrl: string;
  headers: Readonly<Record<string, string>>;
  fetch: Fetch;
  timeoutMs: number;
  maxRetries: number;
  onRetry: (fault: ServiceFault, delayMs: number) => void;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_RETRIES = 5;

/** Header values are bytes (RFC 9110, section 5.5). */
const UNSENDABLE = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/** Whether a header can carry the value, such as a key: nothing but bytes, and no white space at its ends. */
export function isSendable(value: string): boolean {
  return value !== "" && value === value.trim() && !UNSENDABLE.test(value);
}

/** The value, where a header can carry it. `what` names it in the fault; the value is not in it. */
export function sendable(value: string, what: string): string {
  if (isSendable(value)) return value;
  const why = value === "" ? "is empty" : "has characters that cannot be sent in a header, or white space at its ends";
  throw new ServiceFault("invalid_options", `${what} ${why}. Check where it comes from.`);
}

function baseUrlOf(text: string): string {
  // What is wrong with an address is not shown: it may hold a password.
  const refuse = (cause?: unknown) =>
    new ServiceFault("invalid_options", "url must be an http or https address without user, query or fragment.", {
      cause,
    });
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refuse();
  }
  const { protocol, username, password, search, hash, origin, pathname } = url;
  const isPlain = username === "" && password === "" && search === "" && hash === "";
  if (!isPlain || (protocol !== "http:" && protocol !== "https:")) throw refuse();
  return origin + pathname.replace(/\/+$/, "");
}

/** Checks options. Throws ServiceFault `invalid_options`, which does not show what it is about. */
export function connectionOf(options: ClientOptions): Connection {
  const { project } = options;
  return {
    baseUrl: baseUrlOf(options.url),
    headers: {
      "X-Api-Key": sendable(options.key, "The key"),
      ...(project === undefined ? {} : { "x-svc-project": sendable(project, "The name of the project") }),
    },
    // Browsers refuse a fetch that is called as a part of something else.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
    onRetry: options.onRetry ?? (() => undefined),
  };
}
