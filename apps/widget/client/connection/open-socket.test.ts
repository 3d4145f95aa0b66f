import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import { Server } from "socket.io";
import { WebSocket, WebSocketServer } from "ws";
import { openSocket } from "./open-socket.ts";

const PATH = "/api/widget/ws";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const until = (what: string, check: () => boolean) => waitFor(check, { what });

function open(port: number, auth: object = {}) {
  const address = { base: `http://127.0.0.1:${port}/`, apiKey: "a key&more", auth };
  const socket = openSocket(address, (url) => new WebSocket(url) as unknown as globalThis.WebSocket);
  endings.push(() => socket.disconnect());
  const ends: string[] = [];
  socket.on("disconnect", (reason) => ends.push(reason));
  socket.on("connect_error", (error) => ends.push(error.message));
  socket.connect();
  return { socket, ends };
}

async function startSocketIo(options: object) {
  const http = createServer();
  const io = new Server(http, { path: PATH, addTrailingSlash: false, serveClient: false, ...options });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  endings.push(() => io.close());
  return { io, port: (http.address() as AddressInfo).port };
}

/** Starts a server that sends the given frames, whatever it receives. */
async function startRaw(...texts: string[]) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  server.on("connection", (socket) => texts.forEach((text) => socket.send(text)));
  endings.push(async () => {
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const HANDSHAKE = `0${JSON.stringify({ sid: "s", upgrades: [], pingInterval: 20, pingTimeout: 20, maxPayload: 1000 })}`;

describe("a socket over one WebSocket", () => {
  test("sends the key in its URL and the rest in its first message, and transfers events in both directions", async () => {
    const { io, port } = await startSocketIo({});
    const heard: unknown[] = [];
    io.on("connection", (socket) => {
      heard.push(socket.handshake.query["apiKey"], socket.handshake.auth, socket.handshake.url.includes("secret"));
      socket.on("message", (...values) => {
        heard.push(values);
        socket.emit("reply", { text: "Ünïcode 😀\u2028" }, 2);
      });
    });
    const { socket } = open(port, { visitorId: "secret" });
    const replies: unknown[] = [];
    socket.on("reply", (...values) => replies.push(values));
    socket.emit("message", { text: "Hello" });
    await until("the reply", () => replies.length > 0);
    expect(heard).toEqual(["a key&more", { visitorId: "secret" }, false, [{ text: "Hello" }]]);
    expect(replies).toEqual([[{ text: "Ünïcode 😀\u2028" }, 2]]);
  });

  test("responds to the server's pings, without which the server would close it", async () => {
    const { io, port } = await startSocketIo({ pingInterval: 10, pingTimeout: 60_000 });
    let pongs = 0;
    io.on("connection", (socket) => void socket.conn.on("heartbeat", () => pongs++));
    const { ends } = open(port);
    await until("pongs", () => pongs > 4);
    expect(ends).toEqual([]);
  });

  test("closes if the server stops responding, and notifies a server when it is closed", async () => {
    const { ends } = open(await startRaw(HANDSHAKE));
    await until("the end", () => ends.length > 0);
    expect(ends).toEqual(["ping timeout"]);

    const { io, port } = await startSocketIo({});
    const reasons: string[] = [];
    io.on("connection", (socket) => void socket.on("disconnect", (reason) => reasons.push(reason)));
    const { socket } = open(port);
    await until("the connection", () => socket.connected);
    socket.disconnect();
    await until("the server to hear of it", () => reasons.length > 0);
    expect(reasons).toEqual(["client namespace disconnect"]);
  });

  test.each([
    ["no JSON", "0{"],
    ["a page", "<html>"],
    ["a packet that is no JSON", HANDSHAKE, "42["],
    ["another protocol", "4", "40", '42{"a":1}'],
  ])("is closed without an error by %s", async (_what, ...texts) => {
    const port = await startRaw(...texts, "1");
    const { ends } = open(port);
    await until("the end", () => ends.length > 0);
    expect(ends[0]).toMatch(/^(parse error|transport close|.*not compatible.*)$/);
  });

  test("reports that there is no server", async () => {
    const { io, port } = await startSocketIo({});
    await io.close();
    const { ends } = open(port);
    await until("an error", () => ends.length > 0);
    expect(ends[0]).toBe("websocket error");
  });

  test("is rejected by a server without such sockets", async () => {
    const { io, port } = await startSocketIo({});
    io.use((_socket, next) => next(new Error("Not you.")));
    const { ends } = open(port);
    await until("the refusal", () => ends.length > 0);
    expect(ends).toEqual(["Not you."]);
  });
});
