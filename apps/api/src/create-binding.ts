import type { Listening } from "@svc/http";
import type { Log } from "@svc/log";
import { errorMessage } from "@svc/primitives";

/** Wait after a failed change of the host: each attempt closes the port for a moment. */
const RETRY_MS = 10_000;

/** The host that the HTTP API listens on, which can be changed while it runs. */
export interface Binding {
  /** Returns the current host; null before the server listens. */
  host(): string | null;
  /** Sets the server, which listens on this host. */
  attach(listening: Listening, host: string): void;
  /** Makes the server listen on this host. If that fails, it keeps the previous one, and later calls retry. */
  follow(host: string): Promise<void>;
  /** Returns why the server does not listen on the configured host, as a sentence; null if it does. */
  findProblem(): string | null;
}

/** Creates a binding without a server. */
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
    findProblem: () => failed?.text ?? null,
  };
}
