import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { holdResource } from "./held-resources.ts";
import { listenOnLoopback } from "./child-process.ts";

/** Head of the first request of a connection. */
export interface RequestHead {
  method: string;
  /** Path and query as sent. */
  path: string;
  /** By lower-case name; the last value of a repeated header. */
  headers: Record<string, string>;
  /** Number of its connection to the proxy, from 0. */
  connection: number;
}

/**
 * Number of bytes of the response, including its head, after which the connection is cut; null to keep it. With 0 the
 * caller gets nothing of a response that the target has started.
 */
export type CutDecision = (request: RequestHead) => number | null;

/** A proxy that cuts connections. */
export interface CuttingProxy {
  /** Base URL to use instead of the target's, for example http://127.0.0.1:20123. */
  readonly url: string;
  /** Number of accepted connections. */
  readonly connections: number;
  /** Number of connections cut. */
  readonly cuts: number;
  /** Decides about every later connection. */
  cutWhen(decide: CutDecision): void;
  /** Cuts open connections and frees the port. Idempotent. */
  close(): Promise<void>;
}

const END_OF_HEAD = "\r\n\r\n";

/**
 * Starts a TCP proxy on a free port of 127.0.0.1 in front of a base URL (http). It cuts nothing until `cutWhen` is
 * called. The decision is made once per connection, for its first request: callers use one connection per request. A
 * cut closes both sides, so that the target detects it. A test file that does not close it fails.
 */
export async function startCuttingProxy(targetUrl: string): Promise<CuttingProxy> {
  const target = new URL(targetUrl);
  const open = new Set<Socket>();
  let decide: CutDecision = () => null;
  let connections = 0;
  let cuts = 0;

  /** Closes one side when the other one closes. A side that fails closes next, so its error can be ignored. */
  function tie(client: Socket, upstream: Socket): void {
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
    }
    client.on("error", () => undefined).on("close", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  }

  /** Forwards the response until it ends or the limit is reached. */
  async function handOn(upstream: Socket, client: Socket, share: () => number): Promise<void> {
    let given = 0;
    for await (const chunk of upstream as AsyncIterable<Buffer>) {
      const part = chunk.subarray(0, Math.max(0, share() - given));
      given += part.length;
      if (part.length > 0) await written(client, part);
      if (given < share()) continue;
      cuts++;
      client.destroy();
      upstream.destroy();
      return;
    }
    client.end();
  }

  const server = createServer((client) => {
    const connection = connections++;
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    tie(client, upstream);
    let share = Infinity;
    let head = "";
    const readHead = (chunk: Buffer) => {
      head += chunk.toString("latin1");
      const end = head.indexOf(END_OF_HEAD);
      if (end < 0) return;
      client.off("data", readHead);
      share = decide({ ...parseHead(head.slice(0, end)), connection }) ?? Infinity;
    };
    client.on("data", readHead);
    client.pipe(upstream);
    handOn(upstream, client, () => share).catch(() => client.destroy());
  });
  const port = await listenOnLoopback(server);

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
    return closing;
  };
  const release = holdResource(`cutting proxy on port ${port}`, close);

  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    get cuts() {
      return cuts;
    },
    cutWhen(chosen) {
      decide = chosen;
    },
    async close() {
      await close();
      release();
    },
  };
}

/** Resolves when the bytes are written, or the socket is closed. */
function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    socket.write(bytes, () => resolve());
  });
}

function parseHead(head: string): Omit<RequestHead, "connection"> {
  const [requestLine = "", ...lines] = head.split("\r\n");
  const [method = "", path = ""] = requestLine.split(" ");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { method, path, headers: Object.fromEntries(headers) as Record<string, string> };
}

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
