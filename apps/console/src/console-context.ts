import type { SessionCheck } from "@svc/auth";
import type { Log } from "@svc/log";
import type { RateLimit } from "@svc/http";
import type { Queues } from "@svc/queue";
import type { Store } from "@svc/store";
import type { EventHub } from "./events/create-event-hub.ts";
import type { DeviceCookie, SessionCookie } from "./session/cookies.ts";
import type { SignInLimit } from "./session/create-sign-in-limit.ts";
import type { OidcClient } from "./session/open-oidc.ts";

/** Dependencies of the console's own routes. */
export interface ConsoleContext {
  store: Store;
  queues: Queues;
  log: Log;
  sessions: SessionCheck;
  cookie: SessionCookie;
  devices: DeviceCookie;
  rateLimit: RateLimit;
  signInLimit: SignInLimit;
  hub: EventHub;
  /** Single sign-on; null if none is configured. */
  oidc: OidcClient | null;
  /** True if a mail server is configured. */
  sendsEmails: boolean;
  /** Aborted when the process shuts down. */
  closing: AbortSignal;
}
