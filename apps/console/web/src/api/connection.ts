import { ServiceError, OPERATIONS } from "@svc/client";
import type { CallArguments, CallOutput, OperationName } from "@svc/client";

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page, or nothing: the status says enough.
    return null;
  }
}

/**
 * The JSON of an answer. Throws ServiceError for what is none, such as the page of a proxy that asks for a sign-in of
 * its own.
 */
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

/** The error that an answer with this status and body stands for: a problem (RFC 9457), or whatever else answers. */
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

/** What is sent beside method and path. */
export interface Request {
  project?: string | null;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  form?: FormData;
  /** The version that the change is made for. */
  ifMatch?: number | string;
  signal?: AbortSignal;
  /** How long the answer may take, where that is longer than usual. */
  timeoutMs?: number;
}

/** What the types of an operation's input come down to. */
interface LooseInput extends Omit<Request, "project"> {
  params?: Readonly<Record<string, string>>;
}

/** Whether the server answers. */
export type Reach = "reached" | "away";

/** The way to the console's server. All calls throw ServiceError, and the signal's reason when that aborts. */
export interface Connection {
  /** Calls an operation of the HTTP API by its name, for a project; null where it is about none. */
  call: <Name extends OperationName>(
    name: Name,
    project: string | null,
    ...input: CallArguments<Name>
  ) => Promise<CallOutput<Name>>;
  /** Makes any call of the console's server and answers its JSON; null where it has none. */
  send: (method: string, path: string, request?: Request) => Promise<unknown>;
  /** The bytes of a file of the server's. */
  fetchFile: (path: string, project: string) => Promise<ArrayBuffer>;
  /** What calls that change something prove by that this page makes them; null when signed out. */
  setCsrf: (csrf: string | null) => void;
}

interface ConnectionOptions {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Called after each response of the server, and after each failed request. */
  onReach: (reach: Reach) => void;
  /** Called when the session has ended. */
  onSignedOut: () => void;
}

/** How long an answer may take before the server counts as away. An agent that is tried out may think for long. */
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

/** Makes the connection; it keeps nothing open. */
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

  /** The text of an answer; one that is cut off in the middle is no answer. */
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
      // The server and these types are made from the same table of endpoints.
      return (await send(method, fill(path, params), { ...rest, project })) as CallOutput<Name>;
    },
    setCsrf(next) {
      csrf = next;
    },
  };
}
