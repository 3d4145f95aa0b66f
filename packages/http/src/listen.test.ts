import { Agent, get } from "node:http";
import type { ServerResponse } from "node:http";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import { monitorListener } from "./health-routes.ts";
import { CannotListenError, PortTakenError, checkPortsFree, listen } from "./listen.ts";
import type { Listening } from "./listen.ts";

describe("listen", () => {
  /** Longer than any test: a test that waits for it fails. */
  const NEVER_MS = 600_000;

  const opened: Listening[] = [];
  const agents: Agent[] = [];
  const sockets: Socket[] = [];

  afterEach(async () => {
    for (const agent of agents.splice(0)) agent.destroy();
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(opened.splice(0).map((server) => server.close(0)));
  });

  async function start(handler: Parameters<typeof listen>[0], port = 0, more: object = {}): Promise<Listening> {
    const server = await listen(handler, { host: "127.0.0.1", port, setting: "SVC_API_PORT", ...more });
    opened.push(server);
    return server;
  }

  /** A client with keep-alive connections. */
  function keepAliveAgent(): Agent {
    const agent = new Agent({ keepAlive: true });
    agents.push(agent);
    return agent;
  }

  function ask(port: number, path: string, agent: Agent): Promise<string> {
    return new Promise((resolve, reject) => {
      get({ host: "127.0.0.1", port, path, agent }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve(text)).on("error", reject);
      }).on("error", reject);
    });
  }

  /** A server that responds at /wait when the test says so. */
  async function startWaiting() {
    const waiting: ServerResponse[] = [];
    const server = await start((request, response) => {
      if (request.url === "/wait") waiting.push(response);
      else response.end("at once");
    });
    return { server, waiting };
  }

  describe("a port", () => {
    test("that is taken is an error that names it and the setting that chooses it", async () => {
      const { port } = await start((_request, response) => response.end());
      const error: unknown = await start(() => undefined, port).catch((problem: unknown) => problem);
      expect(error).toBeInstanceOf(PortTakenError);
      expect((error as PortTakenError).message).toMatch(new RegExp(`^Port ${port} is already in use.*SVC_API_PORT`));
    });

    test("is free again after close", async () => {
      const first = await start((_request, response) => response.end("first"));
      await first.close(0);
      const second = await start((_request, response) => response.end("second"), first.port);
      expect(await ask(second.port, "/", keepAliveAgent())).toBe("second");
    });

    test("on an address that this machine does not have says which settings choose another", async () => {
      const listening = listen(() => undefined, { host: "203.0.113.1", port: 0, setting: "SVC_API_PORT" });
      await expect(listening).rejects.toThrow(/203\.0\.113\.1:0 .*EADDRNOTAVAIL.*SVC_BIND_HOST.*SVC_API_PORT/);
    });
  });

  describe("a request that never ends", () => {
    test("is answered 408 after the time that the server gives it", async () => {
      const { port } = await start((request) => void request.resume(), 0, { requestTimeoutMs: 100 });
      const socket = connect(port, "127.0.0.1");
      let answer = "";
      socket.setEncoding("utf8").on("data", (part: string) => (answer += part));
      const closed = new Promise((resolve) => {
        socket.once("close", resolve);
      });
      socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
      await closed;
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    });
  });

  /** Opens a connection that sends pipelined requests for these paths, and reads only what the test reads. */
  async function pipeline(port: number, paths: readonly string[]): Promise<Socket> {
    const socket = connect(port, "127.0.0.1").pause();
    sockets.push(socket);
    socket.on("error", () => undefined);
    await new Promise((resolve) => {
      socket.once("connect", resolve);
    });
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
    return socket;
  }

  describe("pipelined requests", () => {
    test("are handled one after the other, and answered in order", async () => {
      const seen: ServerResponse[] = [];
      const { port } = await start((request, response) => {
        response.setHeader("X-Path", request.url ?? "");
        seen.push(response);
      });
      const paths = Array.from({ length: 100 }, (_, index) => `/${index}`);
      const socket = await pipeline(port, paths);
      let text = "";
      socket.setEncoding("utf8").on("data", (part: string) => (text += part));
      socket.resume();
      for (const [index] of paths.entries()) {
        await waitFor(() => seen.length > index, { what: `request ${index}` });
        expect(seen).toHaveLength(index + 1);
        seen[index]?.end();
      }
      await waitFor(() => text.includes("X-Path: /99"), { what: "the last response" });
      expect([...text.matchAll(/X-Path: (\S+)/g)].map(([, path]) => path)).toEqual(paths);
    });

    test("wait while the client does not read a large response", async () => {
      let handled = 0;
      const body = Buffer.alloc(16 * 1024 * 1024);
      const { port } = await start((_request, response) => {
        handled++;
        response.end(body);
      });
      const socket = await pipeline(port, ["/", "/", "/"]);
      await waitFor(() => handled === 1, { what: "the first request" });
      const other = keepAliveAgent();
      await ask(port, "/", other);
      expect(handled).toBe(2);
      socket.resume();
      await waitFor(() => handled === 4, { what: "the other requests" });
    });

    test("are parsed again after reading was paused, with their bodies", async () => {
      const bodies: string[] = [];
      const { port } = await start((request, response) => {
        let body = "";
        request.setEncoding("utf8").on("data", (part: string) => (body += part));
        request.on("end", () => {
          bodies.push(body);
          response.end();
        });
      });
      const socket = (await pipeline(port, [])).resume();
      const sent = Array.from({ length: 300 }, (_, index) => `${index}-${"x".repeat(1_000)}`);
      for (const body of sent) {
        socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      }
      await waitFor(() => bodies.length === sent.length, { what: "every request" });
      expect(bodies).toEqual(sent);
    });

    test("of too many connections are limited for the whole process, and others are answered", async () => {
      const { server, port } = await start((request, response) => {
        if (request.url === "/answer") response.end("answered");
      });
      const accepted: Socket[] = [];
      server.on("connection", (socket) => accepted.push(socket));
      const paths = Array<string>(1_500).fill("/wait");
      await Promise.all(Array.from({ length: 8 }, () => pipeline(port, paths)));
      await waitFor(() => accepted.some(({ destroyed }) => destroyed), { what: "a disconnect" });
      expect(await ask(port, "/answer", keepAliveAgent())).toBe("answered");
    });
  });

  describe("clients that do not read", () => {
    test("are disconnected when the process holds too many unsent bytes, those with the most first", async () => {
      const { server, port } = await start((request, response) => {
        response.end(Buffer.alloc(Number(request.url?.slice(1)) * 1024 * 1024));
      });
      const accepted: Socket[] = [];
      server.on("connection", (socket) => accepted.push(socket));
      for (const megabytes of [1, 60, 50]) await pipeline(port, [`/${megabytes}`]);
      await waitFor(() => accepted.some(({ destroyed }) => destroyed), { what: "a disconnect" });
      expect(accepted.map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
    });
  });

  describe("closing", () => {
    test("does not wait for connections that are kept open but idle", async () => {
      const { server } = await startWaiting();
      const [one, other] = [keepAliveAgent(), keepAliveAgent()];
      await Promise.all([ask(server.port, "/", one), ask(server.port, "/", other)]);
      await server.close(NEVER_MS);
    });

    test("does not wait for connections that were opened in advance and not used", async () => {
      const server = await start((_request, response) => response.end());
      const socket = connect({ host: "127.0.0.1", port: server.port });
      const accepted = new Promise((resolve) => {
        server.server.once("connection", resolve);
      });
      await accepted;
      await server.close(NEVER_MS);
      socket.destroy();
    });

    test("waits for the answers that are being given, and not for the connections that are kept after them", async () => {
      const { server, waiting } = await startWaiting();
      const agent = keepAliveAgent();
      await ask(server.port, "/", agent);
      const answers = [ask(server.port, "/wait", agent), ask(server.port, "/wait", agent)];
      await waitFor(() => waiting.length === 2, { what: "both requests to arrive" });
      let isClosed = false;
      const closing = server.close(NEVER_MS).then(() => (isClosed = true));
      waiting[0]?.end("first");
      expect(await answers[0]).toBe("first");
      expect(isClosed).toBe(false);
      waiting[1]?.end("second");
      expect(await answers[1]).toBe("second");
      await closing;
    });

    test("takes no further connection", async () => {
      const { server, waiting } = await startWaiting();
      const agent = keepAliveAgent();
      const answer = ask(server.port, "/wait", agent);
      await waitFor(() => waiting.length === 1, { what: "the request to arrive" });
      const closing = server.close(NEVER_MS);
      await waitFor(() => !server.server.listening, { what: "the listener to close" });
      await expect(ask(server.port, "/", keepAliveAgent())).rejects.toMatchObject({ code: "ECONNREFUSED" });
      waiting[0]?.end("done");
      expect(await answer).toBe("done");
      await closing;
    });

    test("answers the connections that waited to be accepted", async () => {
      const { server } = await startWaiting();
      // The system connects at once; the server accepts one connection per turn of the event loop.
      const answers = Array.from({ length: 50 }, () => ask(server.port, "/", new Agent()));
      await new Promise<void>((resolve) => process.nextTick(resolve));
      const closed = server.close(NEVER_MS);
      expect(new Set(await Promise.all(answers))).toEqual(new Set(["at once"]));
      await closed;
    });

    test("answers the connections that are made while it is busy in the turn that brought no other", async () => {
      const { server } = await startWaiting();
      // Data written to this connection is received in the next turn, after the listener was checked.
      const busy = await start((_request, response) => response.end());
      const accepted = new Promise<Socket>((resolve) => busy.server.once("connection", resolve));
      const writer = connect(busy.port, "127.0.0.1");
      sockets.push(writer);
      const reader = await accepted;
      const answer = new Promise<string>((resolve, reject) => {
        reader.prependOnceListener("data", () => {
          ask(server.port, "/", new Agent()).then(resolve, reject);
          process.nextTick(() => {
            for (const until = performance.now() + 20; performance.now() < until;);
          });
        });
      });
      const closed = server.close(NEVER_MS);
      setImmediate(() => writer.write("GET"));
      expect(await answer).toBe("at once");
      await closed;
    });

    test("cuts what is not answered at the deadline", async () => {
      const { server, waiting } = await startWaiting();
      const answer = ask(server.port, "/wait", keepAliveAgent()).catch((error: unknown) => error);
      await waitFor(() => waiting.length === 1, { what: "the request to arrive" });
      await server.close(50);
      expect(await answer).toMatchObject({ code: "ECONNRESET" });
    });

    test("comes to its end with clients that never send a whole request", async () => {
      const { server } = await startWaiting();
      const sockets: Socket[] = [];
      for (const text of ["", "GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab"]) {
        const socket = connect(server.port, "127.0.0.1");
        socket.on("error", () => undefined).resume();
        socket.write(text);
        sockets.push(socket);
      }
      await waitFor(
        () => new Promise<boolean>((resolve) => server.server.getConnections((_error, count) => resolve(count === 3))),
        { what: "the server to have all connections" },
      );
      await server.close(50);
      await waitFor(() => sockets.every((socket) => socket.destroyed), { what: "every client to be cut" });
    });
  });

  describe("the health of a process", () => {
    let error: () => Promise<string | null> = () => Promise.resolve(null);
    const source = { findProblem: () => error() };

    const ERRORS = {
      "it can work": { find: () => Promise.resolve(null), status: 200, body: { ok: true } },
      "something keeps it from its work": {
        find: () => Promise.resolve("stopping"),
        status: 503,
        body: { ok: false, detail: "stopping" },
      },
      "the check itself fails": {
        find: () => Promise.reject(new Error("password of the store")),
        status: 503,
        body: { ok: false, detail: "health check failed unexpectedly; see the log" },
      },
    };

    test.each(Object.entries(ERRORS))("is told when %s", async (_what, { find, status, body }) => {
      error = find;
      const { port } = await start(monitorListener(source));
      const ready = await fetch(`http://127.0.0.1:${port}/readyz?x=1`);
      expect({ status: ready.status, body: await ready.json() }).toEqual({ status, body });
      expect(ready.headers.get("content-type")).toBe("application/json");
      expect(ready.headers.get("cache-control")).toBe("no-store");
      const alive = await fetch(`http://127.0.0.1:${port}/healthz`);
      expect({ status: alive.status, body: await alive.json() }).toEqual({ status: 200, body: { ok: true } });
    });

    test.each(["/", "/healthz/", "/metrics/", "/readyzz"])("is not at %s", async (path) => {
      const { port } = await start(monitorListener(source));
      expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(404);
    });
  });

  describe("a server that listens at another host", () => {
    const askAt = (host: string, port: number) =>
      fetch(`http://${host}:${port}/`).then(
        (response) => response.text(),
        () => null,
      );

    test("answers the calls that it was at, on the same port", async () => {
      const { server, waiting } = await startWaiting();
      const asked = ask(server.port, "/wait", keepAliveAgent());
      await waitFor(() => waiting.length === 1, { what: "the call to arrive" });
      expect(await askAt("127.0.0.2", server.port)).toBeNull();
      await server.rebind("0.0.0.0");
      waiting[0]?.end("later");
      expect(await asked).toBe("later");
      expect(await askAt("127.0.0.2", server.port)).toBe("at once");
    });

    test("takes nothing more from connections that it would not have accepted", async () => {
      const { server } = await startWaiting();
      await server.rebind("0.0.0.0");
      await askAt("127.0.0.2", server.port);
      await server.rebind("127.0.0.1");
      expect(await askAt("127.0.0.2", server.port)).toBeNull();
      expect(await askAt("127.0.0.1", server.port)).toBe("at once");
    });

    test("keeps the former host where the new one cannot be had", async () => {
      const { server } = await startWaiting();
      const other = await listen((_request, response) => response.end("other"), {
        host: "127.0.0.2",
        port: server.port,
        setting: "SVC_API_PORT",
      });
      opened.push(other);
      await expect(server.rebind("0.0.0.0")).rejects.toThrow(PortTakenError);
      expect(await askAt("127.0.0.1", server.port)).toBe("at once");
    });
  });
});

describe("checkPortsFree", () => {
  const HOST = "127.0.0.1";
  const servers: Server[] = [];

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });

  async function takePort(): Promise<number> {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
    return (server.address() as AddressInfo).port;
  }

  test("free ports can be listened on afterwards", async () => {
    const port = await takePort();
    await new Promise((resolve) => servers.pop()?.close(resolve));
    await checkPortsFree([{ host: HOST, port, setting: "SVC_API_PORT" }]);
    await checkPortsFree([{ host: HOST, port, setting: "SVC_API_PORT" }]);
  });

  test("names every port that is taken, and the settings that choose others", async () => {
    const [first, second] = [await takePort(), await takePort()];
    const checking = checkPortsFree([
      { host: HOST, port: first, setting: "SVC_API_PORT" },
      { host: HOST, port: 0, setting: "SVC_TOOLS_PORT" },
      { host: HOST, port: second, setting: "SVC_CONSOLE_PORT" },
    ]);
    await expect(checking).rejects.toThrow(PortTakenError);
    await expect(checking).rejects.toThrow(
      `Ports ${first}, ${second} are already in use, possibly by another installation of this product. ` +
        "Stop that program, or choose other ports with SVC_API_PORT, SVC_CONSOLE_PORT.",
    );
  });

  test("an address that this machine does not have is named with its settings", async () => {
    const checking = checkPortsFree([{ host: "203.0.113.1", port: 0, setting: "SVC_API_PORT" }]);
    await expect(checking).rejects.toThrow(CannotListenError);
  });
});
