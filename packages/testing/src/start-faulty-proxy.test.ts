import { once } from "node:events";
import { createServer, request } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { startCuttingProxy } from "./start-faulty-proxy.ts";
import type { CuttingProxy, RequestHead } from "./start-faulty-proxy.ts";
import { waitFor } from "./wait-for.ts";

/** More than sockets take on their own. */
const LARGE = "0123456789abcdef".repeat((8 * 1024 * 1024) / 16);

let server: Server;
let proxy: CuttingProxy;
let arrived: string[];
let closed: string[];

beforeEach(async () => {
  arrived = [];
  closed = [];
  server = createServer((incoming, response) => {
    arrived.push(incoming.url ?? "");
    response.once("close", () => closed.push(incoming.url ?? ""));
    if (incoming.url === "/wait") return;
    if (incoming.url === "/large") response.end(LARGE);
    else incoming.pipe(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy = await startCuttingProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(async () => {
  await proxy.close();
  server.closeAllConnections();
  server.close();
});

/** A request on a connection of its own. */
async function ask(path: string, body = "", url = proxy.url): Promise<string> {
  const { hostname, port } = new URL(url);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ hostname, port, path, method: "POST", agent: false, headers: { "X-Chat": path } }, resolve)
      .once("error", reject)
      .end(body);
  });
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** Every byte that comes back on a connection until it is closed. */
async function readAll(path: string): Promise<Buffer> {
  const socket: Socket = connect({ host: "127.0.0.1", port: Number(new URL(proxy.url).port) });
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part)).on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  await once(socket, "close");
  return Buffer.concat(parts);
}

describe("a connection that is not cut", () => {
  test("carries requests and answers unchanged, large ones too", async () => {
    expect(await ask("/echo", "hello")).toBe("hello");
    const large = await ask("/large");
    // Compared as a condition: a difference of megabytes is no use in a failure.
    expect(large === LARGE).toBe(true);
    expect([proxy.connections, proxy.cuts]).toEqual([2, 0]);
  });

  test("ends at the target when the caller hangs up", async () => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(proxy.url).port) });
    socket.write("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    await waitFor(() => arrived.includes("/wait"), { what: "the request to arrive" });
    socket.destroy();
    await waitFor(() => closed.includes("/wait"), { what: "the target to see the end" });
  });

  test("is refused when the target is not there", async () => {
    const lost = await startCuttingProxy("http://127.0.0.1:1");
    // Not by fetch, which repeats a request for ever if the connection ends before it is sent.
    await expect(ask("/echo", "hello", lost.url)).rejects.toMatchObject({ code: "ECONNRESET" });
    await lost.close();
  });
});

describe("a connection that is cut", () => {
  test.each([0, 1, 10, 200, 100_000])("gives exactly %i bytes of the answer", async (share) => {
    const whole = await readAll("/large");
    proxy.cutWhen(() => share);
    const part = await readAll("/large");
    expect(part.length).toBe(share);
    // But for the date, which may be another one by now, the beginning is that of the whole answer.
    const prefix = whole.indexOf("Date:");
    expect(part.subarray(0, prefix).equals(whole.subarray(0, Math.min(prefix, share)))).toBe(true);
    expect(proxy.cuts).toBe(1);
  });

  test("is a failure for its caller, and the next one goes through", async () => {
    proxy.cutWhen(({ connection }) => (connection === 0 ? 20 : null));
    await expect(ask("/echo", "hello")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await ask("/echo", "hello again")).toBe("hello again");
    expect([proxy.connections, proxy.cuts]).toEqual([2, 1]);
  });

  test("ends at the target too", async () => {
    proxy.cutWhen(() => 1_000);
    await expect(ask("/large")).rejects.toThrow();
    await waitFor(() => closed.includes("/large"), { what: "the target to see the cut" });
  });
});

test("whoever decides sees the head of the first request and the number of the connection", async () => {
  const seen: RequestHead[] = [];
  proxy.cutWhen((head) => {
    seen.push(head);
    return null;
  });
  await ask("/one?a=1", "x");
  await ask("/two", "x");
  expect(seen).toEqual([
    expect.objectContaining({ method: "POST", path: "/one?a=1", connection: 0 }),
    expect.objectContaining({ method: "POST", path: "/two", connection: 1 }),
  ]);
  expect(seen[0]?.headers).toMatchObject({ "x-chat": "/one?a=1" });
});

test("close cuts what is still open", async () => {
  const waiting = ask("/wait").catch(() => "cut");
  await waitFor(() => proxy.connections === 1, { what: "the connection" });
  await proxy.close();
  expect(await waiting).toBe("cut");
  await proxy.close();
});
