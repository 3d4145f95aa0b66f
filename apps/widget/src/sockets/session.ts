import type { IncomingMessage } from "node:http";
import { ServiceError } from "@svc/contracts";
import type { ServerFrameData } from "@svc/contracts";
import { checkKey, checkOrigin } from "../find-visitor.ts";
import type { Visitor } from "../find-visitor.ts";
import { countFailure, countUse, limitExceeded } from "../count-use.ts";
import type { WidgetContext } from "../widget-context.ts";
import type { VisitorConnection } from "./connection.ts";

/** An admitted caller, before the visitor is known. */
export interface Admission {
  address: string;
  key: string;
  origin: string | undefined;
}

/** The last state that a visitor was sent, so that only changes are sent. */
export interface Shown {
  status: string | null;
  /** Null: not sent yet. */
  typing: ServerFrameData<"typing"> | null;
  partial: { messageId: string; text: string } | null;
}

/** An open connection of a visitor. */
export interface Session {
  readonly line: VisitorConnection;
  readonly admission: Admission;
  /** Time of its opening, in milliseconds of the process's clock. */
  readonly openedAt: number;
  /** Null until the client has identified the visitor. */
  visitor: Visitor | null;
  /** Last sequence number sent to the client; each hello sets it again. */
  sentSeq: number;
  /**
   * Sequence number after which a hello requests missed entries; Infinity for new ones only. Null once it is answered.
   */
  helloSeq: number | null;
  /** True once a read that answers the hello has started: an earlier one may not consider what the client has. */
  isReadPending: boolean;
  /** The client's IDs of its messages that an `ack` confirms, so that no other frame reports them. */
  readonly own: Set<string>;
  /** Sent entries after this sequence number, up to `unconfirmedSeq`, are not yet recorded as delivered. */
  confirmedSeq: number;
  /** 0 if there is nothing to record. */
  unconfirmedSeq: number;
  /** When the client stopped reading; null while it reads. */
  slowSince: number | null;
  shown: Shown;
  /** Time until which typing need not be announced again, in milliseconds of the process's clock. */
  typingSentUntil: number;
  /** Number of frames in the current window. */
  frames: number;
  windowEndsAt: number;
  /** Processing of its frames, one after the other, and how many wait. */
  work: Promise<void>;
  waitingFrames: number;
}

/** Returns the state before anything was sent. */
const nothingShown = (): Shown => ({ status: null, typing: null, partial: null });

/** Creates a session for a new connection. */
export function createSession(line: VisitorConnection, admission: Admission): Session {
  return {
    line,
    admission,
    openedAt: performance.now(),
    visitor: null,
    sentSeq: 0,
    helloSeq: null,
    isReadPending: false,
    own: new Set(),
    confirmedSeq: 0,
    unconfirmedSeq: 0,
    slowSince: null,
    shown: nothingShown(),
    typingSentUntil: 0,
    frames: 0,
    windowEndsAt: 0,
    work: Promise.resolve(),
    waitingFrames: 0,
  };
}

/** Returns the query string of a request's URL. */
export function queryOf(request: IncomingMessage): URLSearchParams {
  return new URLSearchParams((request.url ?? "").split("?").slice(1).join("?"));
}

/**
 * Checks key, site and rate limit of a new socket, before anything else is done for it. Throws missing_key,
 * invalid_key, origin_not_allowed, rate_limited, unavailable.
 */
export async function admitSocket(
  { queues, readSite }: Pick<WidgetContext, "queues" | "readSite">,
  request: IncomingMessage,
  address: string,
): Promise<Admission> {
  const { settings } = await readSite();
  const { origin } = request.headers;
  const key = queryOf(request).get("apiKey") ?? undefined;
  checkOrigin(settings, origin);
  try {
    checkKey(settings, key);
  } catch (error) {
    throw error instanceof ServiceError ? await countFailure(queues.counters, address, error) : error;
  }
  const admission = { address, key: key ?? "", origin };
  const counted = await countUse(queues.counters, "sockets", { address, key: admission.key, settings });
  if (counted.isOver) throw limitExceeded("sockets", counted);
  return admission;
}
