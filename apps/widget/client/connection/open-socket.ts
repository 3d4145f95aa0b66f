import { Socket } from "socket.io-client";
import type { Manager } from "socket.io-client";

/** URL, key and first message of a socket. */
export interface SocketAddress {
  /** URL of the widget's server, with a trailing slash. */
  base: string;
  apiKey: string;
  /** Sent in the socket's first message, never in its URL. */
  auth: object;
}

/** Creates a socket of socket.io that is not connected yet. */
export type OpenSocket = (address: SocketAddress) => Socket;

/** Packet types of Engine.IO (protocol 4), the first character of each text on the WebSocket. */
const OPEN = "0";
const CLOSE = "1";
const PING = "2";
const PONG = "3";
const MESSAGE = "4";

/** `WebSocket.OPEN` */
const OPEN_STATE = 1;

type Listener = (detail?: unknown) => void;

interface Packet {
  type: number;
  data?: unknown;
}

/**
 * Creates a socket of socket.io-client over one WebSocket. The library's own manager also supports other transports,
 * many namespaces, binary data and reconnects, which are not needed and are half of the library. This is what its
 * `Socket` needs of a manager, with the same protocols: Engine.IO 4 and Socket.IO 5, as documented.
 */
// oxlint-disable-next-line max-lines-per-function -- One protocol state; its names stay local, so that they minify (size budget).
export function openSocket(
  { base, apiKey, auth }: SocketAddress,
  create = (url: string) => new WebSocket(url),
): Socket {
  const listeners: Record<string, Listener> = {};
  let socket: WebSocket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Milliseconds without data after which the server counts as unreachable: it pings more often. */
  let mostSilenceMs = 0;

  function close(reason: string): void {
    clearTimeout(timer);
    if (socket === null) return;
    const old = socket;
    socket = null;
    old.close();
    manager._readyState = "closed";
    listeners["close"]?.(reason);
  }

  function awaitPing(): void {
    clearTimeout(timer);
    timer = setTimeout(() => close("ping timeout"), mostSilenceMs);
  }

  function receive(text: string): void {
    const kind = text[0];
    if (kind === OPEN) {
      const { pingInterval, pingTimeout } = JSON.parse(text.slice(1)) as { pingInterval: number; pingTimeout: number };
      mostSilenceMs = pingInterval + pingTimeout;
      manager._readyState = "open";
      awaitPing();
      listeners["open"]?.();
    } else if (kind === PING) {
      socket?.send(PONG);
      awaitPing();
    } else if (kind === MESSAGE) {
      const json = text.slice(2);
      const data: unknown = json === "" ? undefined : JSON.parse(json);
      listeners["packet"]?.({ type: Number(text[1]), nsp: "/", data });
    } else if (kind === CLOSE) close("transport close");
  }

  const manager = {
    _readyState: "closed",
    on(name: string, listener: Listener) {
      listeners[name] = listener;
    },
    off(name: string) {
      delete listeners[name];
    },
    open() {
      const query = new URLSearchParams({ apiKey, EIO: "4", transport: "websocket" });
      try {
        socket = create(`${base.replace(/^http/, "ws")}api/widget/ws?${query}`);
      } catch (error) {
        // The page's policy may forbid the URL, which some browsers report immediately.
        queueMicrotask(() => listeners["error"]?.(error));
        return;
      }
      socket.addEventListener("message", ({ data }) => {
        try {
          if (socket !== null) receive(String(data));
        } catch {
          // An intermediary or another kind of server has responded.
          close("parse error");
        }
      });
      socket.addEventListener("error", () => listeners["error"]?.(new Error("websocket error")));
      socket.addEventListener("close", () => close("transport close"));
    },
    _packet({ type, data }: Packet) {
      if (socket?.readyState !== OPEN_STATE) return;
      socket.send(MESSAGE + type + (data === undefined ? "" : JSON.stringify(data)));
    },
    _destroy: () => close("forced close"),
  };
  return new Socket(manager as unknown as Manager, "/", { auth: auth as Record<string, unknown> });
}
