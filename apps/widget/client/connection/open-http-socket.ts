import { Manager } from "socket.io-client";
import type { Socket } from "socket.io-client";
import type { SocketAddress } from "./open-socket.ts";

/**
 * A socket of socket.io-client over HTTP long polling, which becomes a WebSocket where one gets through after all. It is
 * a file of its own, which only visitors load whose network refuses WebSockets.
 */
export function openSocket({ base, apiKey, auth }: SocketAddress): Socket {
  const { origin, pathname } = new URL(base);
  const manager = new Manager(origin, {
    path: `${pathname}api/widget/ws`,
    addTrailingSlash: false,
    autoConnect: false,
    // The line connects again by itself: socket.io's jitter is not over the whole delay.
    reconnection: false,
    transports: ["polling", "websocket"],
    query: { apiKey },
  });
  return manager.socket("/", { auth: auth as Record<string, unknown> });
}
