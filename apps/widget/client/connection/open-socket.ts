import { Socket } from "socket.io-client";
import type { Manager } from "socket.io-client";

/** Where a socket goes, and what it says first. */
export interface SocketAddress {
  /** Address of the widget's server, with a slash at its end. */
  base: string;
  apiKey: string;
  /** Goes in the socket's first message, never in its address. */
  auth: object;
}

/** Makes a socket of socket.io that is not connected yet. */
export type OpenSocket = (address: SocketAddress) => Socket;

/** Numbers of the packets of Engine.IO (protocol 4), which stand before each text on the WebSocket. */
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
 * A socket of socket.io-client over one WebSocket. What the library's own manager does besides (other transports, many
 * namespaces, binary data, tries to connect again) is not needed here and half of the library; this is what its `Socket`
 * asks of a manager, and speaks the same protocols: Engine.IO 4 and Socket.IO 5, as their documents have it.
 */
// oxlint-disable-next-line max-lines-per-function -- One protocol state; its names stay local, so that they minify (size budget).
export function openSocket(
  { base, apiKey, auth }: SocketAddress,
  create = (url: string) => new WebSocket(url),
): Socket {
  const listeners: Record<string, Listener> = {};
  let socket: WebSocket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Milliseconds without a word after which the server is gone: it pings more often. */
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
        // A page's policy may forbid the address, which some browsers say at once.
        queueMicrotask(() => listeners["error"]?.(error));
        return;
      }
      socket.addEventListener("message", ({ data }) => {
        try {
          if (socket !== null) receive(String(data));
        } catch {
          // What is between us and the server has spoken, or a server of another kind.
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
