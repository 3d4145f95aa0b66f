import { createHash } from "node:crypto";
import type { Principal } from "@svc/auth";
import type { Queues } from "@svc/queue";

/** Topic of the wake-ups that say which calls were cancelled. */
const TOPIC = "cancelled-tool-calls";
/** What a client may send as the label of its session: visible ASCII (MCP 2025-11-25, Streamable HTTP). */
const SESSION = /^[\u0021-\u007e]{1,128}$/;

/** Who calls: a key, and which of the clients that use it. */
export interface Caller {
  principal: Principal;
  /** The label that the client was given when it began; null for one that sends none. */
  session: string | null;
}

/** Calls that go on, and the notices that end them. */
export interface Cancellations {
  /** Calls `abort` when the call with this id is cancelled, until the answer is called. */
  follow(caller: Caller, requestId: string | number, abort: () => void): () => void;
  /** Ends the call of this caller with this id, on whichever replica it goes on. */
  cancel(caller: Caller, requestId: string | number): void;
  close(): void;
}

/** The label of a session in a header; null where there is none that may be one. */
export function readSession(header: string | undefined): string | null {
  return header !== undefined && SESSION.test(header) ? header : null;
}

/**
 * Clients of the revisions before 2026-07-28 cancel a call by a request of its own, which any replica may get. They number
 * their calls from 0, so a notice is believed only with the session's label, which is drawn for each client and kept by
 * nobody: one client cannot end another's call, not even by the same key.
 */
export function createCancellations(queues: Pick<Queues, "wakeUps">): Cancellations {
  const aborts = new Map<string, () => void>();
  const nameOf = ({ principal, session }: Caller, requestId: string | number) =>
    createHash("sha256")
      .update(JSON.stringify([principal.actor, session, requestId]))
      .digest("base64url");
  const silence = queues.wakeUps.listen(TOPIC, (names) => {
    for (const name of names) aborts.get(name)?.();
  });

  return {
    follow(caller, requestId, abort) {
      if (caller.session === null) return () => undefined;
      const name = nameOf(caller, requestId);
      aborts.set(name, abort);
      return () => {
        if (aborts.get(name) === abort) aborts.delete(name);
      };
    },

    cancel(caller, requestId) {
      if (caller.session === null) return;
      const name = nameOf(caller, requestId);
      const abort = aborts.get(name);
      if (abort === undefined) queues.wakeUps.send(TOPIC, [name]);
      else abort();
    },

    close: silence,
  };
}
