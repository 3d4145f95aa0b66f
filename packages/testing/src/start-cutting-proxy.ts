import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { holdResource } from "./held-resources.ts";
import { listenOnLoopback } from "./listen-on-loopback.ts";

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
