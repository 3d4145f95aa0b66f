import { createServer, get } from "node:http";
import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Request, RequestHandler } from "express";
import type { Authenticate, Principal } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import type { ErrorCode } from "@svc/contracts";
import { openQueues } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { collectLog, createTestDatabase, createTestQueueBackend, testLog, waitFor } from "@svc/testing";
import type { TestDatabase, TestQueueBackend } from "@svc/testing";
import { authenticated } from "./authenticated.ts";
import { createApp } from "./create-app.ts";
import { listen } from "./listen.ts";
import type { Listening } from "./listen.ts";
import { methodNotAllowed } from "./problem.ts";
import { clientAddress, clientNetwork, createRateLimit, isLocalRequest, isPrivateAddress } from "./rate-limit.ts";
import type { RateLimit } from "./rate-limit.ts";

describe("clientAddress", () => {
  /** The address of the test's client, as the server sees it. */
  const PEER = "127.0.0.1";

  /** Servers by the proxies that they trust. */
  const TRUST = {
    nobody: [],
    strangers: ["10.0.0.0/8", "127.0.0.2", "2001:db8:ffff::/48"],
    peer: [PEER],
    peerAndNetwork: ["127.0.0.0/8", "10.0.0.0/8", "2001:db8:ffff::/48"],
  };

  let servers: Record<keyof typeof TRUST, Listening>;

  beforeAll(async () => {
    const start = async (trustProxy: readonly string[]) => {
      const addRoutes: Parameters<typeof createApp>[1] = (routes) => {
        routes.get("/", (request, response) => void response.send(clientAddress(request)));
      };
      const app = createApp(collectLog().log, addRoutes, { trustProxy });
      return listen(app, { host: PEER, port: 0, setting: "SVC_API_PORT" });
    };
    const entries = await Promise.all(
      Object.entries(TRUST).map(async ([name, trusted]) => [name, await start(trusted)] as const),
    );
    servers = Object.fromEntries(entries) as typeof servers;
  });

  afterAll(async () => {
    await Promise.all(Object.values(servers).map((server) => server.close(1_000)));
  });

  /** Returns the client address that a server determines for these `X-Forwarded-For`. */
  async function requestAddress(server: keyof typeof TRUST, ...forwarded: string[]): Promise<string> {
    const headers = forwarded.flatMap((value) => ["X-Forwarded-For", value]);
    const { port } = servers[server];
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: PEER, port, agent: false, headers: ["Host", "a", ...headers] }, resolve).on("error", reject);
    });
    let text = "";
    for await (const part of response.setEncoding("utf8")) text += String(part);
    return text;
  }

  describe("X-Forwarded-For", () => {
    test.each(["nobody", "strangers"] as const)(
      "is not believed from a caller who is no named proxy: %s",
      async (who) => {
        for (const forwarded of ["203.0.113.7", "10.0.0.1", "127.0.0.1", "::1", "203.0.113.7, 10.0.0.1", "junk", ""]) {
          expect(await requestAddress(who, forwarded)).toBe(PEER);
        }
      },
    );

    test.each([
      ["203.0.113.7", "203.0.113.7"],
      ["203.0.113.7,127.0.0.1", "203.0.113.7"],
      ["  203.0.113.7  ", "203.0.113.7"],
    ])("is believed from a named proxy: %j is %s", async (forwarded, address) => {
      expect(await requestAddress("peer", forwarded)).toBe(address);
    });

    test("that a named proxy does not send leaves the proxy itself", async () => {
      expect(await requestAddress("peer")).toBe(PEER);
    });

    test.each([
      ["198.51.100.1, 203.0.113.7"],
      ["127.0.0.1, 203.0.113.7"],
      ["10.9.9.9, 127.0.0.1, 203.0.113.7"],
      ["198.51.100.1, 10.0.0.5, 203.0.113.7, 10.1.2.3"],
      ["junk, , ::1, 203.0.113.7, 10.1.2.3, 10.4.5.6"],
      ["198.51.100.1, 203.0.113.7, 2001:db8:ffff::5"],
    ])("counts for the first caller who is no named proxy, whatever that one claims: %s", async (forwarded) => {
      expect(await requestAddress("peerAndNetwork", forwarded)).toBe("203.0.113.7");
    });

    test("in several headers is one list, in their order", async () => {
      expect(await requestAddress("peer", "198.51.100.1", "203.0.113.7")).toBe("203.0.113.7");
    });

    test.each(["junk", "unknown", "_hidden", "999.1.1.1", "1.2.3", "::g", "[::1", "203.0.113.7, junk", "%", "١.٢.٣.٤"])(
      "that names no address counts for the proxy that passed it on: %s",
      async (forwarded) => {
        expect(await requestAddress("peer", Buffer.from(forwarded).toString("latin1"))).toBe(PEER);
      },
    );

    test.each([
      ["203.0.113.7:4711", "203.0.113.7"],
      ["[2001:db8:1:2::5]:4711", "2001:db8:1:2::/64"],
      ["[2001:db8:1:2::5]", "2001:db8:1:2::/64"],
    ])("may name a port, which does not make another caller: %s", async (forwarded, address) => {
      expect(await requestAddress("peer", forwarded)).toBe(address);
    });
  });

  describe("an IPv6 address", () => {
    test.each([
      "2001:db8:1:2::",
      "2001:db8:1:2::1",
      "2001:DB8:1:2:ffff:ffff:ffff:ffff",
      "2001:0db8:0001:0002:0000:0000:0000:0009",
      "2001:db8:1:2::192.0.2.1",
      "2001:db8:1:2::1%eth0",
    ])("counts for its /64, in every notation: %s", async (address) => {
      expect(await requestAddress("peer", address)).toBe("2001:db8:1:2::/64");
    });

    test.each([
      ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
      ["2001:db8::1", "2001:db8:0:0::/64"],
      ["2001::1", "2001:0:0:0::/64"],
      ["::1", "0:0:0:0::/64"],
      ["::", "0:0:0:0::/64"],
      ["1:2:3:4:5:6:7:8", "1:2:3:4::/64"],
      ["1:2:3:4:5:6:7::", "1:2:3:4::/64"],
      ["::2:3:4:5:6:7:8", "0:2:3:4::/64"],
    ])("of another /64 counts by itself: %s", async (address, name) => {
      expect(await requestAddress("peer", address)).toBe(name);
    });

    test.each(["::ffff:203.0.113.7", "::ffff:cb00:7107", "0:0:0:0:0:FFFF:203.0.113.7", "[::ffff:203.0.113.7]:80"])(
      "that stands for an IPv4 address counts as that one: %s",
      async (address) => {
        expect(await requestAddress("peer", address)).toBe("203.0.113.7");
      },
    );
  });

  test.each([
    ["203.0.113.7", "203.0.113.0/24"],
    ["203.0.113.255", "203.0.113.0/24"],
    ["::ffff:203.0.113.7", "203.0.113.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["::1", "0:0:0::/48"],
    ["junk", null],
    ["", null],
  ])("a request from %j comes from the network %j", (ip, network) => {
    expect(clientNetwork({ ip, socket: {} } as unknown as Request)).toBe(network);
  });
});

describe("isLocalRequest", () => {
  const request = (remoteAddress: string, headers: Record<string, string>) =>
    ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

  describe("a request is of this machine", () => {
    test.each([
      ["127.0.0.1", "127.0.0.1:31416"],
      ["127.8.9.1", "localhost"],
      ["::1", "[::1]:31416"],
      ["::ffff:127.0.0.1", "LOCALHOST:1"],
    ])("from %s to %s", (address, host) => {
      expect(isLocalRequest(request(address, { host, accept: "*/*" }))).toBe(true);
    });
  });

  describe("a request is not of this machine", () => {
    test.each([
      ["comes from elsewhere", "10.0.0.1", { host: "127.0.0.1" }],
      ["comes from elsewhere by IPv6", "::ffff:10.0.0.1", { host: "127.0.0.1" }],
      ["comes from nowhere", "", { host: "127.0.0.1" }],
      ["means another name", "127.0.0.1", { host: "evil.example" }],
      ["means a name that begins alike", "127.0.0.1", { host: "127.0.0.1.evil.example" }],
      ["means no name", "127.0.0.1", {}],
      ["was forwarded", "127.0.0.1", { host: "localhost", "x-forwarded-for": "127.0.0.1" }],
      ["was forwarded for a host", "127.0.0.1", { host: "localhost", "x-forwarded-host": "a" }],
      ["was forwarded in the standard way", "127.0.0.1", { host: "localhost", forwarded: "for=_a" }],
      ["came through a proxy", "127.0.0.1", { host: "localhost", via: "1.1 a" }],
      ["came through nginx", "127.0.0.1", { host: "localhost", "x-real-ip": "10.0.0.1" }],
    ])("that %s", (_what, address, headers) => {
      expect(isLocalRequest(request(address, headers))).toBe(false);
    });
  });

  test.each([
    ["127.0.0.1", true],
    ["::1", true],
    ["::ffff:10.1.2.3", true],
    ["172.31.255.255", true],
    ["192.168.0.1", true],
    ["fd00::1", true],
    ["172.32.0.1", false],
    ["203.0.113.1", false],
    ["2001:db8::1", false],
    ["", false],
  ])("that %p is an address of this machine or of a private network is %p", (address, isPrivate) => {
    expect(isPrivateAddress(address)).toBe(isPrivate);
  });

  test("a real caller on this machine is known as one", async () => {
    const server = createServer((incoming, response) => response.end(String(isLocalRequest(incoming))));
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toBe("true");
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  });
});

let database: TestDatabase;
let backend: TestQueueBackend;
let queues: Queues;
let server: Listening;
/** The unique client of a test. */
let caller: string;
let callers = 0;

/** Key check: a key's name is its limit, or the error to throw. */
const check: Authenticate = async ({ apiKey = "missing_key", project }, admit) => {
  const [name = "", limit] = apiKey.split("/");
  if (limit === undefined) {
    const challenge = { "WWW-Authenticate": 'Bearer realm="svc"' };
    throw new ServiceError(name as ErrorCode, "refused", { headers: challenge });
  }
  const rateLimit = limit === "none" ? null : Number(limit);
  const isElsewhere = project === "elsewhere";
  await admit?.({ keyId: name, rateLimit, projectName: isElsewhere ? null : "north" });
  if (isElsewhere) throw new ServiceError("project_mismatch", "refused");
  return {
    actor: `key:${name}`,
    keyId: name,
    rateLimit,
    scopes: [],
    project: "0190" as Principal["project"],
    projectName: "north",
  };
};

/** A route that works without a key, and shows more with one. */
function sendHealth(rateLimit: RateLimit): RequestHandler {
  return async (request, response) => {
    const isShown = !(await rateLimit.hasUsedUpFailures(request));
    const code = request.headers["x-api-key"] as ErrorCode | undefined;
    if (code !== undefined) await rateLimit.recordFailure(request, new ServiceError(code, "refused"));
    response.json({ isShown });
  };
}

beforeAll(async () => {
  database = await createTestDatabase();
  backend = await createTestQueueBackend();
  queues = openQueues({
    databaseUrl: database.url,
    redisUrl: backend.redisUrl,
    prefix: backend.prefix,
    log: testLog(),
  });
  await waitFor(() => queues.findPolicyProblem(1_000).then(() => queues.isUp()), { what: "the queues to be up" });
  const rateLimit = createRateLimit(queues.counters);
  const addRoutes: Parameters<typeof createApp>[1] = (routes) => {
    routes.get("/health", sendHealth(rateLimit));
    routes.use("/api", authenticated(check, rateLimit));
    routes
      .route("/api/things")
      .get((_request, response) => void response.json({ ok: true }))
      .all(methodNotAllowed("GET"));
    routes.get("/api/fault", () => {
      throw new TypeError("a fault of ours");
    });
    routes.get("/api/long-poll", (_request, response) => {
      response.write(" ");
      setImmediate(() => response.end("{}"));
    });
  };
  const app = createApp(collectLog().log, addRoutes, { trustProxy: ["127.0.0.1"] });
  app.set("env", "production");
  server = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_API_PORT" });
});

beforeEach(() => {
  callers++;
  caller = `198.51.${callers >> 8}.${callers & 255}`;
});

afterAll(async () => {
  await server.close(1_000);
  await queues.close();
  await backend.stop();
  await database.drop();
});

/** Returns the rate limit of one response. */
async function ask(key?: string, { path = "/api/things", method = "GET", from = caller, project = "north" } = {}) {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { "X-Forwarded-For": from, "x-svc-project": project, ...(key === undefined ? {} : { "X-Api-Key": key }) },
  });
  const text = await response.text();
  const field = (name: string) => response.headers.get(name);
  const [, policy, remaining, seconds] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(field("ratelimit") ?? "") ?? [];
  return {
    status: response.status,
    text,
    policy: field("ratelimit-policy"),
    /** The policy with its remaining requests. */
    left: policy === undefined ? null : [policy, Number(remaining)],
    seconds: Number(seconds),
    retryAfter: field("retry-after"),
    challenge: field("www-authenticate"),
    project: field("x-svc-project"),
  };
}

/** Uses up a limit. */
async function askTimes(times: number, ...what: Parameters<typeof ask>): Promise<number[]> {
  return (await Promise.all(Array.from({ length: times }, () => ask(...what)))).map(({ status }) => status);
}

describe("the limit of a key", () => {
  test("holds for all of its addresses together, at ten times the number", async () => {
    const statuses: number[] = [];
    for (let address = 1; address <= 10; address++) {
      statuses.push(...(await askTimes(2, "leaked/2", { from: `203.0.113.${address}` })));
    }
    expect(statuses).toEqual(Array<number>(20).fill(200));
    const over = await ask("leaked/2", { from: "203.0.113.11" });
    expect(over.status).toBe(429);
    expect(over.text).toContain("20 requests per minute from all addresses together");
    expect((await ask("other/2", { from: "203.0.113.11" })).status).toBe(200);
  });

  test("is in the fields of every answer: what holds, what is left, and for how many seconds", async () => {
    for (const left of [2, 1, 0]) {
      const answer = await ask("shop/3");
      expect(answer).toMatchObject({
        status: 200,
        policy: '"default";q=3;w=60',
        left: ["default", left],
        retryAfter: null,
      });
      expect(answer.seconds).toBeGreaterThan(0);
      expect(answer.seconds).toBeLessThanOrEqual(60);
    }
  });

  test.each<[what: string, status: number, options: NonNullable<Parameters<typeof ask>[1]>]>([
    ["an address that nobody serves", 404, { path: "/api/nowhere" }],
    ["an address that is no UTF-8", 404, { path: "/api/%ff" }],
    ["a method that is not possible", 405, { method: "DELETE" }],
    ["a project that the key cannot have", 403, { project: "elsewhere" }],
    ["a fault of ours", 500, { path: "/api/fault" }],
    ["a HEAD", 200, { method: "HEAD" }],
  ])("counts %s, and its answer has the fields", async (_what, status, options) => {
    expect(await ask("shop/120", options)).toMatchObject({
      status,
      policy: '"default";q=120;w=60',
      left: ["default", 119],
    });
    expect(await ask("shop/120")).toMatchObject({ left: ["default", 118] });
  });

  test("counts an answer that comes in parts once", async () => {
    await ask("shop/3", { path: "/api/long-poll" });
    expect(await ask("shop/3")).toMatchObject({ left: ["default", 1] });
  });

  test("used up is 429 rate_limited with Retry-After and the same fields, whatever is asked", async () => {
    await askTimes(3, "shop/3");
    for (const options of [{}, { path: "/api/nowhere" }, { method: "POST" }, { project: "elsewhere" }]) {
      const answer = await ask("shop/3", options);
      expect(answer).toMatchObject({ status: 429, policy: '"default";q=3;w=60', left: ["default", 0] });
      expect(JSON.parse(answer.text)).toMatchObject({
        ok: false,
        code: "rate_limited",
        detail: expect.stringMatching(/3 requests per minute.*Retry in \d+ s/),
      });
      expect(Number(answer.retryAfter)).toBe(answer.seconds);
      expect(answer.seconds).toBeGreaterThan(0);
    }
    expect(await ask("shop/3")).toMatchObject({ project: "north" });
  });

  test("lets exactly as many through, however many come at once", async () => {
    const statuses = await askTimes(60, "busy/20");
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });

  test("is used up for one address and key: neither for another key nor for another address", async () => {
    await askTimes(4, "shop/3");
    expect(await ask("other/3")).toMatchObject({ status: 200, left: ["default", 2] });
    expect(await ask("shop/3", { from: "203.0.113.99" })).toMatchObject({ status: 200, left: ["default", 2] });
    expect(await ask("shop/3")).toMatchObject({ status: 429 });
  });

  test("cannot be had anew with another address of the same IPv6 network", async () => {
    await askTimes(3, "network/3", { from: "2001:db8:5:5::1" });
    expect(await ask("network/3", { from: "2001:db8:5:5:ffff::2" })).toMatchObject({ status: 429 });
    expect(await ask("network/3", { from: "2001:db8:5:6::1" })).toMatchObject({ status: 200 });
  });

  test("that is none: no fields, no count, no end", async () => {
    for (const status of await askTimes(150, "free/none")) expect(status).toBe(200);
    for (const path of ["/api/things", "/api/nowhere"]) {
      expect(await ask("free/none", { path })).toMatchObject({ policy: null, left: null, retryAfter: null });
    }
  });

  test("that was changed holds at once, with what was counted", async () => {
    await askTimes(4, "shop/3");
    expect(await ask("shop/100")).toMatchObject({ status: 200, policy: '"default";q=100;w=60' });
    expect(await ask("shop/2")).toMatchObject({ status: 429, policy: '"default";q=2;w=60' });
  });
});

describe("failed authentications", () => {
  test.each(["missing_key", "invalid_key"])("with 401 %s count by address and say what is left", async (code) => {
    const key = code === "missing_key" ? undefined : code;
    for (const left of [29, 28]) {
      expect(await ask(key)).toMatchObject({
        status: 401,
        policy: '"auth";q=30;w=60',
        left: ["auth", left],
        challenge: 'Bearer realm="svc"',
        project: null,
      });
    }
    expect(await ask("invalid_key", { path: "/api/nowhere" })).toMatchObject({ status: 401, left: ["auth", 27] });
  });

  test("after 30 a minute get 429 rate_limited with Retry-After, while valid keys of that address go on", async () => {
    for (const status of await askTimes(30, "invalid_key")) expect(status).toBe(401);
    for (const key of ["invalid_key", undefined]) {
      const answer = await ask(key);
      expect(answer).toMatchObject({ status: 429, policy: '"auth";q=30;w=60', left: ["auth", 0], challenge: null });
      expect(JSON.parse(answer.text)).toMatchObject({ code: "rate_limited" });
      expect(Number(answer.retryAfter)).toBe(answer.seconds);
    }
    expect(await ask("shop/120")).toMatchObject({ status: 200, left: ["default", 119] });
    expect(await ask("free/none")).toMatchObject({ status: 200, left: null });
    expect(await ask("invalid_key", { from: "203.0.113.98" })).toMatchObject({ status: 401 });
  });

  test.each([
    ["ambiguous_credentials", 400],
    ["unavailable", 503],
  ])("are not what %s is: the fields, but no count", async (code, status) => {
    for (let time = 0; time < 2; time++) {
      expect(await ask(code)).toMatchObject({ status, policy: '"auth";q=30;w=60', left: ["auth", 30] });
    }
    await askTimes(31, "invalid_key");
    expect(await ask(code)).toMatchObject({ status, left: ["auth", 0] });
  });

  test("count too where the answer says nothing of them, and are then known to be used up", async () => {
    const health = async (key?: string) => JSON.parse((await ask(key, { path: "/health" })).text) as unknown;
    for (let time = 0; time < 3; time++) {
      expect(await health("invalid_key")).toEqual({ isShown: true });
      expect(await health("not_found")).toEqual({ isShown: true });
    }
    expect(await ask("invalid_key")).toMatchObject({ status: 401, left: ["auth", 26] });
    await askTimes(26, "invalid_key");
    expect(await health()).toEqual({ isShown: false });
    expect(await health("invalid_key")).toEqual({ isShown: false });
    expect(await ask("invalid_key")).toMatchObject({ status: 429 });
  });
});
