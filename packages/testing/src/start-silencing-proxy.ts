import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { holdResource } from "./held-resources.ts";
import { listenOnLoopback } from "./listen-on-loopback.ts";

/** State of the half-open connections after the silence. */
export type SilenceEnd = "forgotten" | "resumed";

/** A proxy whose connections can become half-open: no data passes, and neither side gets an error. */
export interface SilencingProxy {
  /** The server's URL, by way of the proxy. */
  readonly url: string;
  /** Number of connections that were opened in the silence and wait for its end. */
  readonly waiting: number;
  /**
   * From now on nothing passes in either direction. Connections stay open; new ones hear nothing, and the server does not
   * learn of them.
   */
  silence(): void;
  /**
   * New connections pass again. Those that were there in the silence hear nothing for ever (`forgotten`, as behind a
   * firewall that knows them no more), or all that was sent meanwhile (`resumed`, as TCP sends again): those that were
   * opened in it reach the server only then.
   */
  restore(end: SilenceEnd): void;
  /** Cuts what is open and frees the port. Safe to call twice. */
  close(): Promise<void>;
}

/** One direction of a connection. */
interface Lane {
  to: Socket;
  held: Buffer[];
  isForgotten: boolean;
}

/** Starts such a proxy on a free port of 127.0.0.1 in front of the TCP server that a URL names. */
export async function startSilencingProxy(serverUrl: string): Promise<SilencingProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const lanes = new Set<Lane>();
  /** Connections that were opened in a silence. */
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
    // The end of a connection is news too: the other side learns of it only where something passes.
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
