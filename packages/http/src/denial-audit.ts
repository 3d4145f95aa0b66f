import type { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { NewAuditEvent, Store } from "@svc/store";
import type { Request, Response } from "express";
import { callerOf } from "./authenticated.ts";
import { clientNetwork } from "./client-address.ts";

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
