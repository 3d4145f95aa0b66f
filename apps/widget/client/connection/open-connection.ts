import type { ServerFrame, VisitorFrameData, VisitorFrameType, WidgetFrame } from "@svc/contracts";
import type { Socket } from "socket.io-client";
import { newId } from "../storage.ts";
import type { OpenSocket } from "./open-socket.ts";

/** Delays between connection attempts. */
export interface Backoff {
  /**
   * Returns the milliseconds until the next attempt: random between 0 and a bound that doubles with each attempt ("full
   * jitter").
   */
  nextMs: () => number;
  /** Called when the connection is up; if it drops immediately, the bound is not reset completely. */
  noteUp: () => void;
  /** Called when the connection is stable: resets the bound. */
  reset: () => void;
}

const LEAST_BOUND_MS = 500;
const MOST_BOUND_MS = 30_000;
const DOUBLINGS_AFTER_UP = 2;

/**
 * Exponential backoff with full jitter: after an outage the reconnects of visitors are spread over time instead of
 * arriving in waves. Connections that are accepted and dropped immediately are not retried too often either.
 */
export function createBackoff(random: () => number): Backoff {
  let tries = 0;
  return {
    nextMs: () => random() * Math.min(MOST_BOUND_MS, LEAST_BOUND_MS * 2 ** tries++),
    noteUp: () => {
      tries = Math.min(tries, DOUBLINGS_AFTER_UP);
    },
    reset: () => {
      tries = 0;
    },
  };
}

/** Settings and callbacks of the connection. */
export interface ConnectionOptions {
  /** URL of the widget's server, with a trailing slash. */
  base: string;
  apiKey: string;
  /**
   * Returns the visitor and the sequence number after which replies are missing. Sent in the socket's first message,
   * never in its URL.
   */
  auth: () => object;
  onFrame: (frame: ServerFrame) => void;
  onState: (state: "connecting" | "online" | "offline") => void;
  /** The server rejects this key, site or visitor permanently: the connection stays closed. Gets the code. */
  onRefused: (code: string) => void;
  /** A frame could not be processed; the connection stays open. */
  onError: (error: unknown) => void;
  /** Creates a WebSocket. */
  openSocket: OpenSocket;
  /**
   * Loads the socket over HTTP long polling, for networks that block WebSockets; resolves to null if it cannot be
   * loaded.
   */
  loadHttp: () => Promise<{ openSocket: OpenSocket } | null>;
  /** Returns a number from 0 up to 1, like `Math.random`. */
  random?: () => number;
}

/** The connection to the server, which is restored automatically when it drops. */
export interface ServerConnection {
  /** Connects, and stays connected until `stop`. */
  start: () => void;
  stop: () => void;
  /** Reconnects immediately instead of after the backoff: the visitor or the network is back. */
  retryNow: () => void;
  /** Closes the connection and opens it again: for another visitor, or because nothing is received. */
  restart: () => void;
  isOnline: () => boolean;
  /** Sends a frame; false without a connection. An `ack` confirms that it was stored. */
  send: <Type extends VisitorFrameType>(type: Type, data: Partial<VisitorFrameData<Type>>) => boolean;
}

/** Codes of the server for which retrying does not help. */
const REFUSALS: readonly unknown[] = [
  "missing_key",
  "invalid_key",
  "not_found",
  "origin_not_allowed",
  "invalid_identity",
];

/** Milliseconds from the start of an attempt to the first frame, after which it has failed. */
const READY_TIMEOUT_MS = 10_000;
/** Milliseconds after which a connection counts as stable. */
const STABLE_MS = 5_000;
/** After this many failed WebSockets HTTP is attempted as well: some proxies block WebSockets without an error. */
const FAILURES_BEFORE_HTTP = 2;

/**
 * Opens the connection to the widget's server over socket.io: a WebSocket, or HTTP if that is blocked. Reconnects with
 * exponential backoff and full jitter. Never throws.
 */
// oxlint-disable-next-line max-lines-per-function -- Shared names stay local, so that they minify (size budget).
export function openConnection(options: ConnectionOptions): ServerConnection {
  const { base, apiKey, onState, onError } = options;
  const backoff = createBackoff(options.random ?? Math.random);
  let socket: Socket | null = null;
  let http: OpenSocket | null = null;
  let isOverHttp = false;
  let isWanted = false;
  let isReady = false;
  /** Attempts since the connection was last up. */
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function later(work: () => void, ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(work, ms);
  }

  function hangUp(): void {
    clearTimeout(timer);
    isReady = false;
    const old = socket;
    socket = null;
    if (old === null) return;
    old.off().offAny().disconnect();
  }

  function refuse(code: string): void {
    stop();
    options.onRefused(code);
  }

  function connect(): void {
    if (!isWanted || socket !== null) return;
    onState("connecting");
    // Once HTTP is available, attempts alternate between the transports: either may work.
    isOverHttp = failures >= FAILURES_BEFORE_HTTP && http !== null && !isOverHttp;
    const open = isOverHttp && http !== null ? http : options.openSocket;
    const opened = open({ base, apiKey, auth: options.auth() });
    socket = opened;
    opened.onAny(receive);
    opened.on("connect_error", fail);
    opened.on("disconnect", fail);
    opened.connect();
    later(fail, READY_TIMEOUT_MS);
  }

  function receive(type: string, frame: ServerFrame): void {
    // Other versions of the server may send events that are not frames.
    if (frame?.type !== type) return;
    if (frame.type === "ready") {
      isReady = true;
      failures = 0;
      backoff.noteUp();
      later(backoff.reset, STABLE_MS);
    }
    // `not_found` on an open connection refers to the object of a frame, never to the key.
    if (frame.type === "error" && frame.data.code !== "not_found" && REFUSALS.includes(frame.data.code))
      return refuse(frame.data.code);
    try {
      options.onFrame(frame);
      if (frame.type === "ready") onState("online");
    } catch (error) {
      onError(error);
    }
  }

  /** Called if the connection drops or cannot be opened: retries, unless the server reports a permanent reason. */
  function fail(): void {
    const wasReady = isReady;
    hangUp();
    if (!isWanted) return;
    onState("offline");
    failures++;
    later(connect, backoff.nextMs());
    // Browsers do not report why a WebSocket was rejected; a request for the settings is rejected for the same reasons,
    // and reports the code.
    if (wasReady || failures < FAILURES_BEFORE_HTTP) return;
    void probe();
    void learnHttp();
  }

  async function learnHttp(): Promise<void> {
    http ??= (await options.loadHttp())?.openSocket ?? null;
  }

  async function probe(): Promise<void> {
    const address = `${base}api/widget/config/${encodeURIComponent(apiKey)}`;
    const code = await fetch(address, { cache: "no-store", credentials: "omit" })
      // Only responses of the widget's server count: a hotel's sign-in page may return anything.
      .then(async (response) => (response.ok ? undefined : ((await response.json()) as { code: string }).code))
      .catch(() => undefined);
    if (code !== undefined && REFUSALS.includes(code) && isWanted && !isReady) refuse(code);
  }

  function start(): void {
    isWanted = true;
    connect();
  }

  function stop(): void {
    isWanted = false;
    hangUp();
  }

  return {
    start,
    stop,
    retryNow() {
      if (socket !== null) return;
      clearTimeout(timer);
      connect();
    },
    restart() {
      if (!isWanted) return;
      hangUp();
      connect();
    },
    isOnline: () => isReady,
    send(type, data) {
      if (!isReady || socket === null) return false;
      const ts = new Date().toISOString();
      socket.emit(type, { v: 1, type, id: newId(), seq: 0, ts, data } satisfies WidgetFrame<string, object>);
      return true;
    },
  };
}
