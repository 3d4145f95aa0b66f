import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, LookupFunction, Server, Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createAddressGuard } from "./address-guard.ts";
import type { AddressPolicy } from "./address-guard.ts";
import { guardedRequest, nextHop } from "./guarded-request.ts";
import type { OutboundRequest } from "./guarded-request.ts";
import {
  BlockedAddressError,
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
  TooManyRedirectsError,
} from "./outbound-errors.ts";

const LOOPBACK: AddressPolicy = { allow: [], allowLoopback: true, ownPorts: [] };
const GENEROUS = { timeoutMs: 20_000, maxResponseBytes: 1_000_000 };

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function listen(server: Server, onClose: () => void = () => undefined): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        onClose();
      }),
  );
  return (server.address() as AddressInfo).port;
}

async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  return `http://127.0.0.1:${await listen(server, () => server.closeAllConnections())}`;
}

/** A server that does not speak HTTP: it sends the given data after the first bytes of each connection. */
async function startRawServer(onData: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => sockets.delete(socket));
    socket.once("data", () => onData(socket));
  });
  return `http://127.0.0.1:${await listen(server, () => sockets.forEach((socket) => socket.destroy()))}`;
}

/** A resolver that returns the first answer once, then the second, and so on; the last one repeats. */
function changingLookup(...answers: string[]): { readonly lookup: LookupFunction; readonly names: string[] } {
  const names: string[] = [];
  return {
    names,
    lookup(name, _options, callback) {
      const address = answers[Math.min(names.length, answers.length - 1)] ?? "";
      names.push(name);
      callback(null, [{ address, family: address.includes(":") ? 6 : 4 }]);
    },
  };
}

function get(url: string, more: Partial<OutboundRequest> = {}) {
  return guardedRequest(createAddressGuard(LOOPBACK), { method: "GET", url, ...GENEROUS, ...more });
}

describe("the request", () => {
  test("sends method, path, headers and body, and returns status, headers and body", async () => {
    const url = await startServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        response.writeHead(418, { "x-answer": "yes" });
        response.end(
          JSON.stringify({
            ...request.headers,
            seen: `${request.method} ${request.url}`,
            body: String(Buffer.concat(chunks)),
          }),
        );
      });
    });
    const response = await get(`${url}/path?q=1#fragment`, {
      method: "POST",
      headers: { "X-Custom": "1", "Content-Type": "text/plain" },
      body: "grüße",
    });
    expect(response.status).toBe(418);
    expect(response.headers["x-answer"]).toBe("yes");
    expect(JSON.parse(String(response.body))).toMatchObject({
      seen: "POST /path?q=1",
      body: "grüße",
      "x-custom": "1",
      "content-type": "text/plain",
      "content-length": "7",
      "accept-encoding": "identity",
      host: new URL(url).host,
    });
  });

  test("does not let the caller's headers change the host or the framing", async () => {
    const url = await startServer((request, response) => response.end(JSON.stringify(request.headers)));
    const headers = {
      Host: "internal",
      "Content-Length": "1",
      "Transfer-Encoding": "chunked",
      Connection: "keep-alive",
    };
    const response = await get(url, { method: "POST", headers, body: "four" });
    expect(JSON.parse(String(response.body))).toMatchObject({
      host: new URL(url).host,
      "content-length": "4",
      connection: "close",
    });
  });

  test("returns an empty body for HEAD, whatever length is announced", async () => {
    const url = await startServer((_request, response) =>
      response.writeHead(200, { "content-length": "5000000" }).end(),
    );
    const response = await get(url, { method: "HEAD" });
    expect(response.body).toHaveLength(0);
  });
});

describe("the guard holds at the connection", () => {
  test("a forbidden URL is refused before anything is looked up or sent", async () => {
    const { lookup, names } = changingLookup("1.1.1.1");
    const guard = createAddressGuard({ ...LOOPBACK, allowLoopback: false }, { lookup });
    for (const url of ["http://127.0.0.1/", "http://localhost/", "ftp://example.com/", "no url"]) {
      await expect(guardedRequest(guard, { method: "GET", url, ...GENEROUS })).rejects.toThrow(BlockedAddressError);
    }
    expect(names).toEqual([]);
  });

  test("a name that resolves to a forbidden address is refused and the server sees no connection", async () => {
    let connections = 0;
    const server = createServer((_request, response) => response.end());
    server.on("connection", () => (connections += 1));
    const port = await listen(server);
    const { lookup } = changingLookup("127.0.0.1");
    const guard = createAddressGuard({ ...LOOPBACK, allowLoopback: false }, { lookup });
    const request = guardedRequest(guard, { method: "GET", url: `http://hook.example.com:${port}/`, ...GENEROUS });
    await expect(request).rejects.toThrow(BlockedAddressError);
    await expect(request).rejects.not.toThrow("127.0.0.1");
    expect(connections).toBe(0);
  });

  test("a name that changes after the check gains nothing: it is resolved once, and that address is used", async () => {
    const url = await startServer((request, response) => response.end(request.socket.localAddress));
    const { lookup, names } = changingLookup("127.0.0.1", "169.254.169.254");
    const guard = createAddressGuard({ ...LOOPBACK, allow: ["127.0.0.1"], allowLoopback: false }, { lookup });
    const target = `http://hook.example.com:${new URL(url).port}/`;
    const first = await guardedRequest(guard, { method: "GET", url: target, ...GENEROUS });
    expect(String(first.body)).toBe("127.0.0.1");
    expect(names).toEqual(["hook.example.com"]);
    await expect(guardedRequest(guard, { method: "GET", url: target, ...GENEROUS })).rejects.toThrow(
      BlockedAddressError,
    );
  });

  test("the own ports are refused on loopback", async () => {
    const url = await startServer((_request, response) => response.end());
    const guard = createAddressGuard({ ...LOOPBACK, ownPorts: [Number(new URL(url).port)] });
    await expect(guardedRequest(guard, { method: "GET", url, ...GENEROUS })).rejects.toThrow(BlockedAddressError);
  });
});

describe("redirects", () => {
  test("are not followed unless asked for", async () => {
    const url = await startServer((_request, response) => response.writeHead(302, { location: "/next" }).end());
    const response = await get(url);
    expect(response.status).toBe(302);
    expect(response.headers.location).toBe("/next");
  });

  test("are followed up to the limit, relative ones too", async () => {
    const url = await startServer((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: String(left - 1) }).end("ignored");
      else response.end("arrived");
    });
    const response = await get(`${url}/5`, { maxRedirects: 5 });
    expect(String(response.body)).toBe("arrived");
    expect(response.url).toBe(`${url}/0`);
    await expect(get(`${url}/6`, { maxRedirects: 5 })).rejects.toThrow(TooManyRedirectsError);
  });

  test.each([
    "http://169.254.169.254/",
    "http://10.0.0.1/",
    "file:///etc/passwd",
    "http://u:p@127.0.0.1/",
    "//0/",
    "http://[",
  ])("to %s are refused", async (location) => {
    const url = await startServer((_request, response) => response.writeHead(302, { location }).end());
    await expect(get(url, { maxRedirects: 3 })).rejects.toThrow(BlockedAddressError);
  });

  test("to a name that resolves to a forbidden address are refused", async () => {
    const { lookup } = changingLookup("127.0.0.1", "10.0.0.1");
    const guard = createAddressGuard(LOOPBACK, { lookup });
    const url = await startServer((request, response) =>
      response.writeHead(302, { location: `http://second.example.com:${request.socket.localPort}/` }).end(),
    );
    const first = `http://first.example.com:${new URL(url).port}/`;
    await expect(guardedRequest(guard, { method: "GET", url: first, ...GENEROUS, maxRedirects: 3 })).rejects.toThrow(
      BlockedAddressError,
    );
  });

  async function redirectedRequest(status: number, location: (port: number) => string) {
    const url = await startServer((request, response) => {
      if (request.url === "/") {
        response.writeHead(status, { location: location(request.socket.localPort ?? 0) }).end();
        return;
      }
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () =>
        response.end(
          JSON.stringify({ ...request.headers, method: request.method, body: String(Buffer.concat(chunks)) }),
        ),
      );
    });
    const headers = { Authorization: "Bearer s", "X-Api-Key": "s", Cookie: "s", "Content-Type": "text/plain" };
    const response = await get(url, { method: "POST", headers, body: "payload", maxRedirects: 1 });
    return JSON.parse(String(response.body)) as Record<string, string>;
  }

  test("to another origin carry no header that may be a secret", async () => {
    const seen = await redirectedRequest(307, (port) => `http://localhost:${port}/x`);
    expect(seen).toMatchObject({ method: "POST", body: "payload", "content-type": "text/plain" });
    for (const name of ["authorization", "x-api-key", "cookie"]) expect(seen[name]).toBeUndefined();
  });

  test("within the origin keep headers, method and body on 307 and 308", async () => {
    for (const status of [307, 308]) {
      expect(await redirectedRequest(status, () => "/x")).toMatchObject({
        method: "POST",
        body: "payload",
        "x-api-key": "s",
      });
    }
  });

  test("turn POST into GET without a body on 301, 302 and 303", async () => {
    for (const status of [301, 302, 303]) {
      const seen = await redirectedRequest(status, () => "/x");
      expect(seen).toMatchObject({ method: "GET", body: "" });
      expect(seen["content-type"]).toBeUndefined();
    }
  });
});

describe("limits", () => {
  test("a server that never answers ends in OutboundTimeoutError", async () => {
    const url = await startRawServer(() => undefined);
    await expect(get(url, { timeoutMs: 50 })).rejects.toThrow(OutboundTimeoutError);
  });

  test("so does a body that never ends, though bytes keep coming", async () => {
    const url = await startServer((_request, response) => {
      const timer = setInterval(() => response.write("."), 5);
      response.on("close", () => clearInterval(timer));
    });
    await expect(get(url, { timeoutMs: 100 })).rejects.toThrow(OutboundTimeoutError);
  });

  test("so do redirects that take too long together", async () => {
    const url = await startServer((_request, response) => {
      const timer = setTimeout(() => response.writeHead(302, { location: "/" }).end(), 20);
      response.on("close", () => clearTimeout(timer));
    });
    await expect(get(url, { timeoutMs: 100, maxRedirects: 1_000_000 })).rejects.toThrow(OutboundTimeoutError);
  });

  test("so does a name service that never answers", async () => {
    const guard = createAddressGuard(LOOPBACK, { lookup: () => undefined });
    await expect(
      guardedRequest(guard, { method: "GET", url: "http://slow.example.com/", ...GENEROUS, timeoutMs: 50 }),
    ).rejects.toThrow(OutboundTimeoutError);
  });

  test("a body of exactly the limit is returned, one byte more is ResponseTooLargeError with the status", async () => {
    const url = await startServer((_request, response) => response.writeHead(201).end("12345"));
    expect(String((await get(url, { maxResponseBytes: 5 })).body)).toBe("12345");
    const error: unknown = await get(url, { maxResponseBytes: 4 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(error).toMatchObject({ status: 201, maxResponseBytes: 4 });
  });

  test("an endless body is cut at the limit and the connection is closed", async () => {
    const server = createServer((_request, response) => {
      const chunk = Buffer.alloc(65_536);
      const pump = (): void => {
        while (response.write(chunk));
      };
      response.on("drain", pump);
      pump();
    });
    const closed = new Promise<void>((resolve) => {
      server.on("connection", (socket) => socket.on("close", () => resolve()));
    });
    const port = await listen(server);
    await expect(get(`http://127.0.0.1:${port}/`)).rejects.toThrow(ResponseTooLargeError);
    await closed;
  });

  test("the caller's signal ends the request with its reason, before and while it runs", async () => {
    const reason = new Error("shutting down");
    await expect(get("http://127.0.0.1:9/", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const url = await startRawServer(() => controller.abort(reason));
    await expect(get(url, { signal: controller.signal })).rejects.toBe(reason);
  });
});

describe("an answer whose body says nothing is complete with its head", () => {
  const head = async (url: string) => get(url, { maxResponseBytes: null });

  test.each([
    ["is there", "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"],
    ["ends too soon", "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nshort"],
  ])("when the body %s", async (_title, text) => {
    const url = await startRawServer((socket) => socket.end(text));
    expect(await head(url)).toMatchObject({ status: 201, body: Buffer.alloc(0) });
  });

  test("when the body never comes, or never ends; its connection is closed a moment later", async () => {
    for (const rest of ["", "x".repeat(1_000)]) {
      const closed: Promise<unknown>[] = [];
      const url = await startRawServer((socket) => {
        closed.push(new Promise((resolve) => socket.once("close", resolve)));
        socket.write(`HTTP/1.1 201 Created\r\nContent-Length: 1000000\r\n\r\n${rest}`);
      });
      expect((await head(url)).status).toBe(201);
      await Promise.all(closed);
      expect(closed).toHaveLength(1);
    }
  });

  test("but a server that still writes a small one is not cut off", async () => {
    const ends: Promise<boolean>[] = [];
    const url = await startServer((_request, response) => {
      ends.push(new Promise((resolve) => response.once("close", () => resolve(response.writableFinished))));
      response.writeHead(200).flushHeaders();
      setTimeout(() => response.end("the rest"), 100);
    });
    expect((await head(url)).status).toBe(200);
    expect(await Promise.all(ends)).toEqual([true]);
  });

  test("also that of a redirect that is not followed, and after one that is", async () => {
    const url = await startServer((request, response) => {
      if (request.url === "/end") response.writeHead(204).end();
      else response.writeHead(302, { location: "/end" }).end();
    });
    expect((await head(url)).status).toBe(302);
    expect((await get(url, { maxResponseBytes: null, maxRedirects: 1 })).status).toBe(204);
  });

  test("and one that does not come is a fault as ever", async () => {
    await expect(head(await startRawServer((socket) => socket.destroy()))).rejects.toThrow(OutboundConnectionError);
  });
});

describe("a broken connection is OutboundConnectionError", () => {
  test("when nobody listens, and the message names the host as the URL does, not its address", async () => {
    const server = createTcpServer();
    const port = await listen(server);
    await cleanups.pop()?.();
    const error: unknown = await get(`http://localhost:${port}/`).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OutboundConnectionError);
    expect(error).toMatchObject({ errorCode: "ECONNREFUSED", code: "connection_failed" });
    expect(String(error)).toContain("localhost");
    expect(String(error)).not.toMatch(/127\.0\.0\.1|::1/);
  });

  test.each([
    ["closes without an answer", ""],
    ["speaks no HTTP", "SSH-2.0-OpenSSH\r\n"],
    ["switches protocols unasked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"],
    ["ends within the body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"],
    ["sends endless headers", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}`],
  ])("when the server %s", async (_title, text) => {
    const url = await startRawServer((socket) => socket.end(text));
    await expect(get(url)).rejects.toThrow(OutboundConnectionError);
  });
});

test("a header that cannot be sent is the caller's mistake and stays Node's error", async () => {
  const request = get("http://127.0.0.1:9/", { headers: { "x-bad": "a\r\nb: c" } });
  await expect(request).rejects.toMatchObject({ name: "TypeError", code: "ERR_INVALID_CHAR" });
});

test("a redirect from https to http, and those after it, lead to public addresses only", () => {
  const first = { method: "GET", headers: {}, body: undefined, isDowngraded: false } as const;
  const secure = { ...first, url: new URL("https://wiki.internal/a") };
  expect(nextHop(secure, 302, "/b").isDowngraded).toBe(false);
  expect(nextHop({ ...first, url: new URL("http://wiki.internal/a") }, 302, "http://10.0.0.1/").isDowngraded).toBe(
    false,
  );
  const downgraded = nextHop(secure, 302, "http://wiki.internal/b");
  expect(downgraded.isDowngraded).toBe(true);
  expect(nextHop(downgraded, 302, "https://wiki.internal/c").isDowngraded).toBe(true);
});
