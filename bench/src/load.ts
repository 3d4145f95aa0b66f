// A load generator that costs little CPU: raw keep-alive connections, one request at a time on each.
import net from "node:net";

/** The body that begins at `start` and the place after it; null when it is not there as a whole. */
function readBody(buffer, head, start) {
  if (!/transfer-encoding: chunked/i.test(head)) {
    const end = start + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    return buffer.length < end ? null : { body: buffer.utf8Slice(start, end), end };
  }
  const parts = [];
  for (let at = start; ;) {
    const lineEnd = buffer.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const length = Number.parseInt(buffer.latin1Slice(at, lineEnd), 16);
    const end = lineEnd + 2 + length + 2;
    if (buffer.length < end) return null;
    if (length === 0) return { body: Buffer.concat(parts).toString(), end };
    parts.push(buffer.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}

/** One keep-alive connection. `send` answers status and body. */
export class Connection {
  constructor({ host, port }) {
    this.waiting = [];
    this.buffer = Buffer.alloc(0);
    // A tool server answers only those who name it as it is.
    this.host = `${host}:${port}`;
    this.socket = net.connect({ host, port, noDelay: true });
    this.socket.on("data", (part) => {
      this.buffer = this.buffer.length === 0 ? part : Buffer.concat([this.buffer, part]);
      this.read();
    });
    const fail = (error) => {
      for (const { reject } of this.waiting.splice(0)) reject(error ?? new Error("the connection was closed"));
    };
    this.socket.on("error", fail);
    this.socket.on("close", () => fail());
  }

  read() {
    for (;;) {
      const end = this.buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = this.buffer.latin1Slice(0, end);
      const read = readBody(this.buffer, head, end + 4);
      if (read === null) return;
      this.buffer = this.buffer.subarray(read.end);
      this.waiting.shift().resolve({ status: Number(head.slice(9, 12)), body: read.body });
    }
  }

  send(method, path, headers, body = "") {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = body === "" ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.socket.write(`${method} ${path} HTTP/1.1\r\nhost: ${this.host}\r\n${lines.join("")}${length}\r\n${body}`);
    });
  }

  end() {
    this.socket.destroy();
  }
}

/** The value below which a share of the sorted values lies. */
export const percentile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

const valueOf = (given, ...args) => (typeof given === "function" ? given(...args) : given);

/**
 * Sends requests over `connections` for `seconds`, spread over `urls` where there are several; answers requests a second, p50 and p99 in ms, and what went wrong.
 * `path` and `body` may be functions: `path` gets the number of its connection.
 */
export async function load({
  url,
  urls = [url],
  path,
  method = "POST",
  headers,
  body,
  connections,
  seconds,
  expect = 200,
}) {
  const all = Array.from({ length: connections }, (_, number) => {
    const { hostname: host, port } = new URL(urls[number % urls.length]);
    return new Connection({ host, port: Number(port) });
  });
  const times = [];
  const bad = new Map();
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  await Promise.all(
    all.map(async (connection, number) => {
      while (performance.now() < until) {
        const sentAt = performance.now();
        const { status } = await connection.send(method, valueOf(path, number), headers, valueOf(body));
        times.push(performance.now() - sentAt);
        if (status !== expect) bad.set(status, (bad.get(status) ?? 0) + 1);
      }
    }),
  );
  const took = (performance.now() - startedAt) / 1_000;
  for (const connection of all) connection.end();
  const sorted = Float64Array.from(times).sort();
  return {
    requests: times.length,
    perSecond: times.length / took,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    bad: Object.fromEntries(bad),
  };
}
