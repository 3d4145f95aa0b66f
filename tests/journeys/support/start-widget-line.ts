import { createServer, request as sendRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { holdResource } from "@svc/testing";

/** A reverse proxy between visitors and the widget's servers, whose connections can drop. */
export interface WidgetLine {
  /** Base URL for visitors. */
  readonly url: string;
  /** Number of upgrade requests that have reached a server. */
  readonly sockets: number;
  /** Number of times that all connections were dropped. */
  readonly cuts: number;
  /** Drops all open connections; new ones work. */
  cut(): void;
  /** Drops all open connections after this many more bytes, in either direction. */
  cutAfter(bytes: number): void;
  /** Drops all open connections, and every new one until `comeBack`. */
  goAway(): void;
  /** Rejects WebSockets from now on, like some proxies do, or accepts them again; open ones are not affected. */
  refuseSockets(isRefused: boolean): void;
  /** Ends all failures. */
  comeBack(): void;
  close(): Promise<void>;
}

const answerOf = (status: string) => `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;

/**
 * Starts such a proxy on a free port of 127.0.0.1. It forwards to the first available server. Each request gets another
 * client address in `X-Forwarded-For`, because a test makes more calls than the rate limits of visitors allow: the
 * servers must trust 127.0.0.1. A test file that does not close it fails.
 */
export async function startWidgetLine(servers: () => readonly string[]): Promise<WidgetLine> {
  const open = new Set<Duplex>();
  let isAway = false;
  let hasSockets = true;
  let bytesLeft = Infinity;
  let visitors = 0;
  let sockets = 0;
  let cuts = 0;

  const cut = () => {
    bytesLeft = Infinity;
    cuts++;
    for (const socket of open) socket.destroy();
  };
  const keep = (socket: Duplex) => {
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
  };
  const passOn = (chunk: Buffer) => {
    bytesLeft -= chunk.length;
    if (bytesLeft <= 0) cut();
  };
  const headersOf = ({ headers }: IncomingMessage) => {
    visitors++;
    return { ...headers, "x-forwarded-for": `10.${visitors >> 16}.${(visitors >> 8) & 255}.${visitors & 255}` };
  };

  /** Connects to the first available server. */
  async function connectToServer(): Promise<Socket | null> {
    for (const server of servers()) {
      const { hostname, port } = new URL(server);
      const socket = connect({ host: hostname, port: Number(port) });
      const isConnected = await new Promise<boolean>((resolve) => {
        socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      });
      if (isConnected) return socket;
    }
    return null;
  }

  async function handOnRequest(
    request: IncomingMessage,
  ): Promise<{ upstream: Socket | null; answer: IncomingMessage | null }> {
    const upstream = await connectToServer();
    if (upstream === null) return { upstream, answer: null };
    keep(upstream);
    const { method, url } = request;
    const call = sendRequest({ method, path: url, headers: headersOf(request), createConnection: () => upstream });
    request.on("data", passOn).pipe(call);
    const answer = await new Promise<IncomingMessage | null>((resolve) => {
      call.once("response", resolve).once("error", () => resolve(null));
    });
    return { upstream, answer };
  }

  const server = createServer((request, response) => {
    handOnRequest(request)
      .then(({ upstream, answer }) => {
        if (answer === null) {
          response.writeHead(502).end();
          return;
        }
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.on("data", passOn).on("error", () => response.destroy());
        answer.pipe(response).on("close", () => upstream?.destroy());
      })
      .catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    if (isAway) socket.destroy();
    else keep(socket);
  });
  server.on("upgrade", (request, client, head) => {
    if (!hasSockets) {
      client.end(answerOf("403 Forbidden"));
      return;
    }
    connectToServer()
      .then((upstream) => {
        if (upstream === null) {
          client.end(answerOf("502 Bad Gateway"));
          return;
        }
        sockets++;
        keep(upstream);
        const lines = Object.entries(headersOf(request)).map(([name, value]) => `${name}: ${String(value)}`);
        upstream.write(`${request.method} ${request.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
        upstream.write(head);
        client.on("data", passOn).on("close", () => upstream.destroy());
        upstream.on("data", passOn).on("close", () => client.destroy());
        client.pipe(upstream).pipe(client);
      })
      .catch(() => client.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    cut();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  };
  const release = holdResource(`widget line on port ${port}`, close);
  return {
    url: `http://127.0.0.1:${port}`,
    get sockets() {
      return sockets;
    },
    get cuts() {
      return cuts;
    },
    cut,
    cutAfter(bytes) {
      bytesLeft = bytes;
    },
    goAway() {
      isAway = true;
      cut();
    },
    refuseSockets(isRefused) {
      hasSockets = !isRefused;
    },
    comeBack() {
      isAway = false;
      bytesLeft = Infinity;
    },
    async close() {
      isAway = true;
      await close();
      release();
    },
  };
}
