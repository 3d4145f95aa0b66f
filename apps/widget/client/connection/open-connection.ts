import type { ServerFrame, VisitorFrameData, VisitorFrameType, WidgetFrame } from "@svc/contracts";
import type { Socket } from "socket.io-client";
import { newId } from "./new-id.ts";
import type { OpenSocket } from "./open-socket.ts";

/** How long to wait between tries to connect. */
export interface Backoff {
  /** Milliseconds until the next try: anything from 0 to a bound that doubles with each try ("full jitter"). */
  nextMs: () => number;
  /** The line came up; when it goes down again at once, the bound is not at its least. */
  noteUp: () => void;
  /** The line has held: begin from the least bound again. */
  reset: () => void;
}

const LEAST_BOUND_MS = 500;
const MOST_BOUND_MS = 30_000;
const DOUBLINGS_AFTER_UP = 2;

/**
 * Exponential backoff with full jitter: after an outage of the server its visitors come back spread over time rather
 * than in waves. A server that takes lines and drops them at once is not tried twice a second either.
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
  /** Address of the widget's server, with a slash at its end. */
  base: string;
  apiKey: string;
  /**
   * Who asks, and from which place on replies are missing. Goes in the socket's first message, never in its address.
   */
  auth: () => object;
  onFrame: (frame: ServerFrame) => void;
  onState: (state: "connecting" | "online" | "offline") => void;
  /** The server does not take this key, site or visitor: the line stays down. Gets its code. */
  onRefused: (code: string) => void;
  /** A frame could not be understood; the line goes on. */
  onError: (error: unknown) => void;
  /** Makes a WebSocket. */
  openSocket: OpenSocket;
  /** Loads what makes a socket over HTTP, for where WebSockets do not get through; null where it cannot be loaded. */
  loadHttp: () => Promise<{ openSocket: OpenSocket } | null>;
  /** 0 up to 1, as `Math.random`. */
  random?: () => number;
}

/** The line to the server, which comes back by itself when it is cut. */
export interface ServerConnection {
  /** Connects, and stays connected until `stop`. */
  start: () => void;
  stop: () => void;
  /** Tries at once where it waits to try again: somebody is there, or the network is back. */
  retryNow: () => void;
  /** Takes the line down and up again: with another visitor, or because nothing comes through. */
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

/** Milliseconds from the first byte to the first frame, after which a try has failed. */
const READY_TIMEOUT_MS = 10_000;
/** Milliseconds after which a line is taken to hold. */
const STABLE_MS = 5_000;
/** After so many failed WebSockets HTTP is tried as well: some proxies swallow WebSockets without a word. */
const FAILURES_BEFORE_HTTP = 2;

/**
 * The line to the widget's server over socket.io: a WebSocket, or HTTP where that does not get through. Reconnects with
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
  /** Tries since the line was up. */
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
    // Once HTTP is there, the tries take turns: what is in the way of one may let the other through.
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
    // What is not found over a line is what a frame was about, never the key.
    if (frame.type === "error" && frame.data.code !== "not_found" && REFUSALS.includes(frame.data.code))
      return refuse(frame.data.code);
    try {
      options.onFrame(frame);
      if (frame.type === "ready") onState("online");
    } catch (error) {
      onError(error);
    }
  }

  /** The line is down, or did not come up: tries again, unless the server says that there is no use in it. */
  function fail(): void {
    const wasReady = isReady;
    hangUp();
    if (!isWanted) return;
    onState("offline");
    failures++;
    later(connect, backoff.nextMs());
    // A browser does not tell why a WebSocket was refused; the settings are refused for the same reasons, and tell.
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
      // Only our server's word counts: a hotel's sign-in page may answer anything.
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
