import { Manager } from "socket.io-client";
import type { Socket } from "socket.io-client";
import type { SocketAddress } from "./open-socket.ts";

/**
 * Creates a socket of socket.io-client over HTTP long polling, which upgrades to a WebSocket if one works after all. In
 * a separate file, which only visitors load whose network blocks WebSockets.
 */
export function openSocket({ base, apiKey, auth }: SocketAddress): Socket {
  const { origin, pathname } = new URL(base);
  const manager = new Manager(origin, {
    path: `${pathname}api/widget/ws`,
    addTrailingSlash: false,
    autoConnect: false,
    // `openConnection` reconnects by itself: socket.io's jitter does not cover the whole delay.
    reconnection: false,
    transports: ["polling", "websocket"],
    query: { apiKey },
  });
  return manager.socket("/", { auth: auth as Record<string, unknown> });
}
