// A load generator that costs little CPU: raw keep-alive connections, one request at a time on each.
import net from "node:net";

/** Returns the body that begins at `start` and the offset after it; null if it is incomplete. */
function readBody(buffer: Buffer, head: string, start: number): { body: string; end: number } | null {
  if (!/transfer-encoding: chunked/i.test(head)) {
    const end = start + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    return buffer.length < end ? null : { body: buffer.toString("utf8", start, end), end };
  }
  const parts: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = buffer.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const length = Number.parseInt(buffer.toString("latin1", at, lineEnd), 16);
    const end = lineEnd + 2 + length + 2;
    if (buffer.length < end) return null;
    if (length === 0) return { body: Buffer.concat(parts).toString(), end };
    parts.push(buffer.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}

interface Response {
  status: number;
  body: string;
}

/** One keep-alive connection to the server of a URL. */
export class Connection {
  readonly #waiting: { resolve: (response: Response) => void; reject: (error: Error) => void }[] = [];
  #buffer: Buffer = Buffer.alloc(0);
  readonly #host: string;
  readonly #socket: net.Socket;

  constructor(url: string) {
    const { hostname: host, port } = new URL(url);
    // A tool server answers only requests with its own name.
    this.#host = `${host}:${port}`;
    this.#socket = net.connect({ host, port: Number(port), noDelay: true });
    this.#socket.on("data", (part: Buffer) => {
      this.#buffer = this.#buffer.length === 0 ? part : Buffer.concat([this.#buffer, part]);
      this.#read();
    });
    const fail = (error?: Error) => {
      for (const { reject } of this.#waiting.splice(0)) reject(error ?? new Error("the connection was closed"));
    };
    this.#socket.on("error", fail);
    this.#socket.on("close", () => fail());
  }

  #read() {
    for (;;) {
      const end = this.#buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = this.#buffer.toString("latin1", 0, end);
      const read = readBody(this.#buffer, head, end + 4);
      if (read === null) return;
      this.#buffer = this.#buffer.subarray(read.end);
      this.#waiting.shift()?.resolve({ status: Number(head.slice(9, 12)), body: read.body });
    }
  }

  // oxlint-disable-next-line max-params -- Called for each request of a load: an additional object would cost time.
  send(method: string, path: string, headers: Record<string, string>, body = ""): Promise<Response> {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = body === "" ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#socket.write(`${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${lines.join("")}${length}\r\n${body}`);
    });
  }

  /** True once the server has closed it, for example because it was idle for too long. */
  get isClosed() {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  end() {
    this.#socket.destroy();
  }
}

/** The value below which a share of the sorted values lies. */
export const percentile = (sorted: Float64Array, share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

/** What is sent over each connection; `path` and `body` may be made for each request. */
export interface LoadRequest {
  url?: string;
  /** Instead of `url`: the connections are spread over these. */
  urls?: readonly string[];
  /** A function gets the number of its connection. */
  path: string | ((connection: number) => string);
  method?: string;
  headers: Record<string, string>;
  body: string | (() => string);
  connections: number;
  expect?: number;
}

/** Result of a load: times in milliseconds, and the number of unexpected events. */
export interface Load {
  requests: number;
  perSecond: number;
  p50: number;
  p99: number;
  bad: Record<string, number>;
}

/** Summarizes the times of requests that took this many milliseconds in total. */
export function summarize(times: readonly number[], tookMs: number, bad: Record<string, number>): Load {
  const sorted = Float64Array.from(times).sort();
  return {
    requests: times.length,
    perSecond: (times.length * 1_000) / tookMs,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    bad,
  };
}

/** Sends requests for some seconds, on each connection one after the other. */
export async function load(request: LoadRequest, seconds: number): Promise<Load> {
  const { url = "", urls = [url], path, method = "POST", headers, body, connections, expect = 200 } = request;
  const all = Array.from({ length: connections }, (_, number) => new Connection(urls[number % urls.length] ?? url));
  const times: number[] = [];
  const bad: Record<string, number> = {};
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  await Promise.all(
    all.map(async (connection, number) => {
      while (performance.now() < until) {
        const sentAt = performance.now();
        const ownPath = typeof path === "string" ? path : path(number);
        const { status } = await connection.send(method, ownPath, headers, typeof body === "string" ? body : body());
        times.push(performance.now() - sentAt);
        if (status !== expect) bad[status] = (bad[status] ?? 0) + 1;
      }
    }),
  );
  const tookMs = performance.now() - startedAt;
  for (const connection of all) connection.end();
  return summarize(times, tookMs, bad);
}
