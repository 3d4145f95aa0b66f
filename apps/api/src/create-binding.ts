import type { Listening } from "@svc/http";
import type { Log } from "@svc/log";
import { errorMessage } from "@svc/primitives";

/** After a failed change of the host, the next attempt is made after this time: each one closes the port for a moment. */
const RETRY_MS = 10_000;

/** Where the HTTP API listens, changed while it runs. */
export interface Binding {
  /** The host that it listens at; null before it does. */
  host(): string | null;
  /** Takes over a server that listens at this host. */
  attach(listening: Listening, host: string): void;
  /** Has the server listen at this host, if it does not; a failed change keeps the former one and is tried again. */
  follow(host: string): Promise<void>;
  /** Why the server does not listen at the host that the settings name, in words; null while it does. */
  findFault(): string | null;
}

/** Makes a binding that has no server yet. */
export function createBinding(log: Log): Binding {
  let bound: { listening: Listening; host: string } | null = null;
  let failed: { host: string; text: string; retryAt: number } | null = null;
  return {
    host: () => bound?.host ?? null,
    attach(listening, host) {
      bound = { listening, host };
    },
    async follow(host) {
      if (bound === null) return;
      if (bound.host === host) {
        failed = null;
        return;
      }
      if (failed?.host === host && Date.now() < failed.retryAt) return;
      try {
        await bound.listening.rebind(host);
        bound.host = host;
        failed = null;
        log.info({ host, port: bound.listening.port }, "HTTP API now listens on another host");
      } catch (error) {
        const reason = errorMessage(error);
        const text = `Cannot listen on ${host}; still listening on ${bound.host}. ${reason}`;
        failed = { host, text, retryAt: Date.now() + RETRY_MS };
        log.warn({ error, host }, "HTTP API cannot listen on the new host");
      }
    },
    findFault: () => failed?.text ?? null,
  };
}
