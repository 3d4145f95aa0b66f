import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { holdResource } from "./held-resources.ts";
import { listenOnLoopback } from "./listen-on-loopback.ts";

/** State of half-open connections after the proxy recovers. */
export type SilenceEnd = "forgotten" | "resumed";

/** A proxy whose connections can become half-open: no data passes, and neither side gets an error. */
export interface SilencingProxy {
  /** The server's URL through the proxy. */
  readonly url: string;
  /** Number of connections opened while nothing passes, which are waiting. */
  readonly waiting: number;
  /**
   * Stops forwarding in both directions. Connections stay open; new ones get no data, and the server does not see them.
   */
  silence(): void;
  /**
   * Resumes forwarding of new connections. Existing ones stay silent forever (`forgotten`, like behind a firewall that
   * has dropped their state), or receive everything sent meanwhile (`resumed`, like a TCP retransmission); connections
   * opened meanwhile reach the server only then.
   */
  restore(end: SilenceEnd): void;
  /** Cuts open connections and frees the port. Idempotent. */
  close(): Promise<void>;
}

/** One direction of a connection. */
interface Lane {
  to: Socket;
  held: Buffer[];
  isForgotten: boolean;
}

/** Starts a silencing proxy on a free port of 127.0.0.1 in front of the TCP server of a URL. */
export async function startSilencingProxy(serverUrl: string): Promise<SilencingProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const lanes = new Set<Lane>();
  /** Connections opened while nothing passes. */
  const unheard = new Set<Socket>();
  let isSilent = false;

  function tie(from: Socket, to: Socket): void {
    const lane: Lane = { to, held: [], isForgotten: false };
    sockets.add(from);
    lanes.add(lane);
    from.on("data", (chunk: Buffer) => {
      if (lane.isForgotten) return;
      if (isSilent) lane.held.push(chunk);
      else to.write(chunk);
    });
    // The end of a connection is only forwarded while data passes.
    const end = () => {
      sockets.delete(from);
      lanes.delete(lane);
      if (!isSilent && !lane.isForgotten) to.destroy();
    };
    from.on("error", end).on("close", end);
  }

  function pass(client: Socket): void {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    tie(client, upstream);
    tie(upstream, client);
  }

  const server = createServer((client) => {
    if (!isSilent) {
      pass(client);
      return;
    }
    sockets.add(client);
    unheard.add(client);
    const forget = () => {
      sockets.delete(client);
      unheard.delete(client);
    };
    client.on("error", forget).on("close", forget);
  });
  const port = await listenOnLoopback(server);
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String(port);

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
    return closing;
  };
  const release = holdResource(`silencing proxy on port ${port}`, close);

  return {
    url: url.href,
    get waiting() {
      return unheard.size;
    },
    silence() {
      isSilent = true;
    },
    restore(end) {
      isSilent = false;
      for (const lane of lanes) {
        lane.isForgotten ||= end === "forgotten";
        const held = lane.held.splice(0);
        if (!lane.isForgotten) for (const chunk of held) lane.to.write(chunk);
      }
      for (const client of unheard) if (end === "resumed" && !client.destroyed) pass(client);
      unheard.clear();
    },
    async close() {
      await close();
      release();
    },
  };
}
