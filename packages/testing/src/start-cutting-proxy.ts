import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { holdResource } from "./held-resources.ts";
import { listenOnLoopback } from "./listen-on-loopback.ts";

/** The first request of a connection, as far as the head of it goes. */
export interface RequestHead {
  method: string;
  /** Path and query as they were sent. */
  path: string;
  /** By lower-case name; of a header that came several times the last value. */
  headers: Record<string, string>;
  /** Which connection of the proxy it came on, from 0. */
  connection: number;
}

/**
 * How many bytes of the answer, its head included, the caller gets before its connection is cut; null to let it live.
 * With 0 the caller gets nothing of the answer that the target has begun to give.
 */
export type CutDecision = (request: RequestHead) => number | null;

/** A way to a server on which connections break. */
export interface CuttingProxy {
  /** Base URL to use in place of that of the target, for example http://127.0.0.1:20123. */
  readonly url: string;
  /** Connections that came in so far. */
  readonly connections: number;
  /** Connections that were cut so far. */
  readonly cuts: number;
  /** Decides over every connection that comes from now on. */
  cutWhen(decide: CutDecision): void;
  /** Cuts what is still open and frees the port. Safe to call twice. */
  close(): Promise<void>;
}

const END_OF_HEAD = "\r\n\r\n";

/**
 * Starts a TCP proxy on a free port of 127.0.0.1 in front of a base URL (http). It cuts nothing until `cutWhen` says
 * so. The decision is made once a connection, for its first request: callers use a connection for each request. A cut
 * ends both sides, so that the target learns of it. A test file that does not close it fails.
 */
export async function startCuttingProxy(targetUrl: string): Promise<CuttingProxy> {
  const target = new URL(targetUrl);
  const open = new Set<Socket>();
  let decide: CutDecision = () => null;
  let connections = 0;
  let cuts = 0;

  /** Ends one side when the other one is gone. A side that fails closes next, so that its error says nothing more. */
  function tie(client: Socket, upstream: Socket): void {
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
    }
    client.on("error", () => undefined).on("close", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  }

  /** Hands the answer on until it ends or its share is used up. */
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

/** Resolves when the bytes have been handed to the system, or the socket is gone. */
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
