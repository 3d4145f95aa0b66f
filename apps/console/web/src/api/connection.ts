import { infiniteQueryOptions } from "@tanstack/react-query";
import { OPERATIONS, ServiceError } from "@svc/client";
import type { CallArguments, CallOutput, OperationName } from "@svc/client";
import type { ConsoleEvents } from "@svc/contracts";

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page, or an empty body: the status is sufficient.
    return null;
  }
}

/** Parses the JSON of a response. Throws ServiceError if it is invalid, such as the sign-in page of a proxy. */
function readAnswer(status: number, text: string, headers: Headers): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError("unexpected_answer", "What answered is not the console's server.", {
      status,
      requestId: headers.get("x-request-id"),
      cause,
    });
  }
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/**
 * Returns the error for a response with this status and body: a problem (RFC 9457), or the response of another server.
 */
export function readError(status: number, text: string, headers: Headers): ServiceError {
  const body = parse(text);
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(seconds) ? seconds : null;
  const requestId = headers.get("x-request-id");
  if (!isRecord(body) || typeof body["code"] !== "string") {
    return new ServiceError("unexpected_answer", `The server answered with status ${status}.`, {
      status,
      requestId,
      retryAfterSeconds,
    });
  }
  const errors = (Array.isArray(body["errors"]) ? body["errors"] : []).filter(isRecord).map((error) => ({
    pointer: textOf(error["pointer"]),
    code: textOf(error["code"]),
    detail: textOf(error["detail"]),
  }));
  const detail = textOf(body["detail"]) || textOf(body["title"]);
  return new ServiceError(body["code"], detail, { status, errors, requestId, retryAfterSeconds });
}

/** Options of a request besides method and path. */
interface Request {
  project?: string | null;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  form?: FormData;
  /** The version that the change is based on. */
  ifMatch?: number | string;
  signal?: AbortSignal;
  /** Timeout of the response, if longer than the default. */
  timeoutMs?: number;
}

/** Common supertype of the operations' inputs. */
interface LooseInput extends Omit<Request, "project"> {
  params?: Readonly<Record<string, string>>;
}

/** Whether the server responds. */
export type Reach = "reached" | "away";

/** The connection to the console's server. All calls throw ServiceError, and the signal's reason when that aborts. */
export interface Connection {
  /** Calls an operation of the HTTP API by its name, for a project; null if it needs none. */
  call: <Name extends OperationName>(
    name: Name,
    project: string | null,
    ...input: CallArguments<Name>
  ) => Promise<CallOutput<Name>>;
  /** Makes any call of the console's server and returns its JSON; null if there is none. */
  send: (method: string, path: string, request?: Request) => Promise<unknown>;
  /** Returns the bytes of a file of the server. */
  fetchFile: (path: string, project: string) => Promise<ArrayBuffer>;
  /** Sets the CSRF token, which proves that changes are made by this page; null when signed out. */
  setCsrf: (csrf: string | null) => void;
}

interface ConnectionOptions {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Called after each response of the server, and after each failed request. */
  onReach: (reach: Reach) => void;
  /** Called when the session has ended. */
  onSignedOut: () => void;
}

/** Time after which the server counts as unavailable. Trying an agent may take long. */
const TIMEOUT_MS = 90_000;
/** Statuses of a proxy whose server is unavailable. */
const AWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

const fill = (path: string, params: Readonly<Record<string, string>>) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));

function urlOf(path: string, query: Request["query"] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? path : `${path}?${search}`;
}

/** Creates the connection; it keeps nothing open. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function createConnection({ fetch, onReach, onSignedOut }: ConnectionOptions): Connection {
  let csrf: string | null = null;

  async function ask(method: string, path: string, request: Request): Promise<Response> {
    const { project = null, query, body, form, ifMatch, signal, timeoutMs = TIMEOUT_MS } = request;
    const headers: Record<string, string> = {
      Accept: "application/json, */*;q=0.5",
      ...(project === null ? {} : { "x-svc-project": project }),
      ...(method === "GET" || csrf === null ? {} : { "x-svc-csrf": csrf }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(ifMatch === undefined ? {} : { "If-Match": typeof ifMatch === "number" ? `"${ifMatch}"` : ifMatch }),
    };
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return await fetch(urlOf(path, query), {
        method,
        headers,
        credentials: "same-origin",
        redirect: "error",
        cache: "no-store",
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        ...(form === undefined ? {} : { body: form }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      if (signal?.aborted === true) throw signal.reason;
      onReach("away");
      throw new ServiceError("unreachable", "The server cannot be reached.", { cause });
    }
  }

  /** Returns the text of a response; a truncated one counts as no response. */
  async function readBody(answer: Response, { signal }: Request): Promise<string> {
    try {
      return await answer.text();
    } catch (cause) {
      if (signal?.aborted === true) throw signal.reason;
      onReach("away");
      throw new ServiceError("unreachable", "The answer of the server was cut off.", { cause });
    }
  }

  async function send(method: string, path: string, request: Request = {}): Promise<unknown> {
    const answer = await ask(method, path, request);
    const text = await readBody(answer, request);
    onReach(AWAY_STATUSES.has(answer.status) && text === "" ? "away" : "reached");
    if (answer.ok) return text === "" ? null : readAnswer(answer.status, text, answer.headers);
    const error = readError(answer.status, text, answer.headers);
    if (answer.status === 401 && !(method === "POST" && path === "/session")) onSignedOut();
    throw error;
  }

  return {
    send,
    async fetchFile(path, project) {
      const answer = await ask("GET", path, { project });
      onReach("reached");
      if (answer.ok) return answer.arrayBuffer();
      if (answer.status === 401) onSignedOut();
      throw readError(answer.status, await answer.text(), answer.headers);
    },
    async call<Name extends OperationName>(name: Name, project: string | null, ...[input]: CallArguments<Name>) {
      const { params = {}, ...rest }: LooseInput = input ?? {};
      const [method = "", path = ""] = OPERATIONS[name].split(" ");
      // The server and these types are generated from the same table of endpoints.
      return (await send(method, fill(path, params), { ...rest, project })) as CallOutput<Name>;
    },
    setCsrf(next) {
      csrf = next;
    },
  };
}

/** Resolves after this time; for polling. */
export const pauseMs = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** One page of a list, and the cursor of the next one. */
export interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** Parameters of the request for a page of a list. */
interface PageRequest {
  query: { limit: number; cursor?: string };
  signal: AbortSignal;
}

const PAGE_LIMIT = 50;

/** Returns a query that reads a list in pages. */
export const pagesQuery = <Result extends Page<unknown>>(
  queryKey: readonly unknown[],
  readPage: (request: PageRequest) => Promise<Result>,
  limit = PAGE_LIMIT,
) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: Result) => nextCursor,
    queryFn: ({ signal, pageParam }) => readPage({ query: { limit, ...definedParams({ cursor: pageParam }) }, signal }),
  });

/** Returns the parameters with a value: neither null nor an empty text. */
export function definedParams<Params extends Record<string, string | null>>(params: Params) {
  const entries = Object.entries(params).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(entries) as { [Name in keyof Params]?: NonNullable<Params[Name]> };
}

/** The maximum number of items that the server returns at once. */
export const LIST_LIMIT = 200;

/** Events of the server; `hello` when the connection is open, so that missed changes can be fetched. */
type LiveEvents = ConsoleEvents;
export type TicketEventData = LiveEvents["ticket"];
export type PresenceEventData = LiveEvents["presence"];
type LiveName = keyof LiveEvents;

/** The event stream of the server, with the events of all replicas. */
export interface Live {
  on: <Name extends LiveName>(name: Name, listener: (event: LiveEvents[Name]) => void) => () => void;
  /** Opens the connection, and reopens it whenever it drops, until `close`. */
  open: () => void;
  close: () => void;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

/** Parses the data of an event; returns null if it is invalid JSON, and therefore not from the server. */
function read(data: unknown): unknown {
  if (typeof data !== "string") return null;
  try {
    return JSON.parse(data);
  } catch {
    // Sent by an intermediary.
    return null;
  }
}

/** Creates the connection to `url`, closed. `onCut` is called when it drops. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function createLive(url: string, onCut: () => void): Live {
  const listeners: { [Name in LiveName]: Set<(event: LiveEvents[Name]) => void> } = {
    hello: new Set(),
    ticket: new Set(),
    gone: new Set(),
    presence: new Set(),
    customerTyping: new Set(),
  };
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;

  function follow<Name extends LiveName>(
    opened: EventSource,
    name: Name,
    listeners: ReadonlySet<(event: LiveEvents[Name]) => void>,
  ) {
    opened.addEventListener(name, ({ data }: MessageEvent) => {
      failures = 0;
      const event = read(data);
      if (event === null) return;
      // The server's events match the contracts.
      for (const listener of listeners) {
        try {
          listener(event as LiveEvents[Name]);
        } catch (error) {
          // The other listeners are still called; the error is reported in the browser's console.
          reportError(error);
        }
      }
    });
  }

  function connect() {
    const opened = new EventSource(url);
    source = opened;
    follow(opened, "hello", listeners.hello);
    follow(opened, "ticket", listeners.ticket);
    follow(opened, "gone", listeners.gone);
    follow(opened, "presence", listeners.presence);
    follow(opened, "customerTyping", listeners.customerTyping);
    opened.addEventListener("error", () => {
      // The browser's own reconnect stops permanently at the first response that is not a stream.
      opened.close();
      if (source !== opened) return;
      source = null;
      onCut();
      const longestMs = Math.min(FIRST_DELAY_MS * 2 ** failures, LONGEST_DELAY_MS);
      failures += 1;
      timer = setTimeout(connect, longestMs * (0.5 + Math.random() / 2));
    });
  }

  return {
    on(name, listener) {
      listeners[name].add(listener);
      return () => listeners[name].delete(listener);
    },
    open() {
      if (source !== null) return;
      clearTimeout(timer);
      connect();
    },
    close() {
      clearTimeout(timer);
      source?.close();
      source = null;
      failures = 0;
    },
  };
}

/** Returns all items of a list, page by page. */
export async function readAll<Item>(readPage: (query: PageRequest["query"]) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await readPage({ limit: LIST_LIMIT, ...definedParams({ cursor }) });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}
