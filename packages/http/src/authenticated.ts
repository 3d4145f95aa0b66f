import type { Request, RequestHandler, Response } from "express";
import type { Authenticate, KnownKey, Principal } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { NewAuditEvent, Store } from "@svc/store";
import { clientAddress, clientNetwork } from "./rate-limit.ts";
import type { RateLimit } from "./rate-limit.ts";

const PRINCIPAL = Symbol("principal");
const KEY_ID = Symbol("key id");
const CHECK_AGAIN = Symbol("check again");

interface WithPrincipal {
  [PRINCIPAL]?: Principal;
  /** The valid key of the request, even if the request is rejected. */
  [KEY_ID]?: string;
  [CHECK_AGAIN]?: () => Promise<Principal>;
}

/** Returns the value of a header. Rejects a repeated header, because two readers could use different values. */
function single(request: Request, name: string): string | undefined {
  const values = request.headersDistinct[name];
  if (values === undefined) return undefined;
  if (values.length > 1) {
    throw new ServiceError("ambiguous_credentials", `The header ${name} is repeated. Send it once.`);
  }
  return values[0];
}

/**
 * Allows only requests with a valid key, and returns their project in `x-svc-project`. `principalOf` then returns the
 * principal. With a rate limit, requests are counted as soon as the key is known or rejected, so that every later
 * response has the `RateLimit` fields.
 */
export function authenticated(authenticate: Authenticate, rateLimit?: RateLimit): RequestHandler {
  return async (request, response: Response & WithPrincipal, next) => {
    let isKeyKnown = false;
    async function admit(key: KnownKey): Promise<void> {
      isKeyKnown = true;
      response[KEY_ID] = key.keyId;
      if (key.projectName !== null) response.setHeader("x-svc-project", key.projectName);
      await rateLimit?.admit(request, response, key);
    }

    try {
      const credentials = {
        authorization: single(request, "authorization"),
        apiKey: single(request, "x-api-key"),
        project: single(request, "x-svc-project"),
      };
      const principal = await authenticate(credentials, admit, () => clientNetwork(request));
      response[PRINCIPAL] = { ...principal, requestId: String(response.getHeader("X-Request-Id")) };
      response[CHECK_AGAIN] = () => authenticate(credentials);
    } catch (error) {
      if (isKeyKnown || rateLimit === undefined || !(error instanceof ServiceError)) throw error;
      throw await rateLimit.refuse(request, response, error);
    }
    next();
  };
}

/**
 * Sets the principal of a request that another check than that of keys has authorized, for `principalOf` and `callerOf`.
 * `checkAgain` repeats the check during long responses.
 */
export function setPrincipal(response: Response, principal: Principal, checkAgain: () => Promise<Principal>): void {
  const target = response as Response & WithPrincipal;
  target[PRINCIPAL] = { ...principal, requestId: String(response.getHeader("X-Request-Id")) };
  target[CHECK_AGAIN] = checkAgain;
}

/** The principal of an authenticated request. */
export function principalOf(response: Response): Principal {
  const principal = (response as Response & WithPrincipal)[PRINCIPAL];
  if (principal === undefined) throw new Error("this route has no preceding authentication middleware");
  return principal;
}

/**
 * Checks the key of a request again during a long response, without counting it; returns the current principal. Throws
 * like the first check, for example if the key was revoked.
 */
export async function recheckKey(response: Response): Promise<Principal> {
  const checkAgain = (response as Response & WithPrincipal)[CHECK_AGAIN];
  if (checkAgain === undefined) throw new Error("this route has no preceding authentication middleware");
  return checkAgain();
}

/**
 * Returns the caller of a request if known: the valid key or the signed-in operator, and the project if they may access
 * it.
 */
export function callerOf(response: Response): {
  actor: string | null;
  project: { id: Principal["project"]; name: string } | null;
} {
  const { [PRINCIPAL]: principal, [KEY_ID]: keyId } = response as Response & WithPrincipal;
  const actor = principal?.actor ?? (keyId === undefined ? null : `key:${keyId}`);
  const project = principal === undefined ? null : { id: principal.project, name: principal.projectName };
  return { actor, project };
}

/** Seconds after which a caller with too many open calls may retry. */
const RETRY_SECONDS = 5;

/** Counts open calls in this process, by name. */
interface OpenCount {
  /**
   * Counts another open call under this name. Returns the function that closes it, which is safe to call twice; null if
   * `limit` are open already.
   */
  open(name: string, limit: number): (() => void) | null;
}

/** Creates a counter of open calls, such as long polls by key and address. */
export function createOpenCount(): OpenCount {
  const counts = new Map<string, number>();
  return {
    open(name, limit) {
      const count = counts.get(name) ?? 0;
      if (count >= limit) return null;
      counts.set(name, count + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (counts.get(name) ?? 1) - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      };
    },
  };
}

/** Counts a long call by key and address, until its connection is closed. Throws rate_limited. */
export type OpenLimit = (request: Request, response: Response) => void;

/** Creates the limit of open calls of one kind, per key and address in this process. */
export function createOpenLimit(limit: number, kind: string): OpenLimit {
  const count = createOpenCount();
  return (request, response) => {
    const { keyId, actor } = principalOf(response);
    const close = count.open(`${keyId ?? actor}:${clientAddress(request)}`, limit);
    if (close === null) {
      throw new ServiceError(
        "rate_limited",
        `This key already has ${limit} open ${kind} from one address, which is the maximum. Wait until one of them ends.`,
        { headers: { "Retry-After": String(RETRY_SECONDS) } },
      );
    }
    response.once("close", close);
  };
}

/** Records denied requests in the audit log. */
export interface DenialAudit {
  /** Records a request that was answered with 401 or 403. Returns at once and never throws. */
  note(request: Request, response: Response, error: ServiceError): void;
  /** Stores the counted denials, and waits until everything is stored. */
  close(): Promise<void>;
}

/** Time in which equal denials are counted into one row, in milliseconds. */
const WINDOW_MS = 60_000;
/** Maximum of different denials per window with rows of their own; the others of a kind are counted together. */
const MAX_GROUPS = { anonymous: 100, key: 500 };

interface Group {
  event: NewAuditEvent;
  /** Number of denials after the one with a row. */
  further: number;
}

/** Facts about denials that are counted together. */
const TOGETHER = { object: null, network: null, project: null, requestId: null };

/**
 * Creates the audit of denials. Of equal ones (the same key, or the same network without one; the same code; the same
 * route) the first gets a row at once, and those within the next minute get one row together, so that nobody can flood
 * the audit log. Memory is bounded, and no request waits for a row. `findRoute` returns the route of a path without
 * values from the caller, or null.
 */
export function createDenialAudit({
  store,
  log,
  findRoute,
}: {
  store: Store;
  log: Log;
  findRoute: (path: string) => string | null;
}): DenialAudit {
  const groups = { anonymous: new Map<string, Group>(), key: new Map<string, Group>() };
  const writing = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  function write(event: NewAuditEvent): void {
    const written = store.audit
      .append(event)
      .catch((error: unknown) => log.warn({ error, event }, "failed to record a denied request in the audit log"))
      .finally(() => writing.delete(written));
    writing.add(written);
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const group of [...groups.anonymous.values(), ...groups.key.values()]) {
      // The row stands for many requests, so it names none of them.
      if (group.further > 0) write({ ...group.event, requestId: null, count: group.further });
    }
    groups.anonymous.clear();
    groups.key.clear();
  }

  function count(kind: keyof typeof groups, event: NewAuditEvent, isOneOfMany = false): void {
    const name = JSON.stringify([event.actor, event.network, event.result, event.object]);
    const known = groups[kind].get(name);
    if (known !== undefined) {
      known.further++;
    } else if (groups[kind].size < MAX_GROUPS[kind] || isOneOfMany) {
      groups[kind].set(name, { event, further: 0 });
      write(event);
    } else {
      count(kind, { ...event, ...TOGETHER, actor: kind === "key" ? "keys" : event.actor }, true);
    }
    timer ??= setTimeout(flush, WINDOW_MS).unref();
  }

  return {
    note(request, response, error) {
      const { actor, project } = callerOf(response);
      const route = findRoute(request.path);
      const said = { action: "http.denied", object: route === null ? null : `${request.method} ${route}` };
      const requestId = String(response.getHeader("X-Request-Id"));
      const event = { ...said, project, result: error.code, requestId, count: 1 };
      if (actor === null) count("anonymous", { ...event, actor: "anonymous", network: clientNetwork(request) });
      else count("key", { ...event, actor, network: null });
    },

    async close() {
      flush();
      await Promise.all(writing);
    },
  };
}
