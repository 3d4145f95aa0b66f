import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { RequestHandler } from "express";
import type { Authenticate, Credentials, Principal } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import type { ErrorCode } from "@svc/contracts";
import { openQueues } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { collectLog, createTestDatabase, createTestQueueBackend, testLog, waitFor } from "@svc/testing";
import type { TestDatabase, TestQueueBackend } from "@svc/testing";
import { authenticated, callerOf, createOpenCount, createRateLimit, principalOf } from "./authenticated.ts";
import type { RateLimit } from "./authenticated.ts";
import { createApp } from "./create-app.ts";
import { listen } from "./listen.ts";
import type { Listening } from "./listen.ts";
import { methodNotAllowed } from "./problem.ts";

describe("authenticated", () => {
  let server: Listening;
  let base: string;
  /** Credentials passed to the key check. */
  let asked: Credentials[];
  /** Denied requests with their errors. */
  let denied: object[];

  const check: Authenticate = async (credentials, admit) => {
    asked.push(credentials);
    if (credentials.apiKey !== "good") {
      throw new ServiceError("invalid_key", "This key is unknown.", {
        headers: { "WWW-Authenticate": 'Bearer realm="svc"' },
      });
    }
    const key = { keyId: "1", rateLimit: null, projectName: credentials.project === "south" ? null : "north" };
    await admit?.(key);
    if (key.projectName === null) throw new ServiceError("project_mismatch", "This key is bound to another project.");
    return {
      ...key,
      actor: "key:1",
      scopes: ["messages:read"],
      project: "0190" as Principal["project"],
      projectName: "north",
    };
  };

  beforeAll(async () => {
    const app = createApp(
      collectLog().log,
      (routes) => {
        routes.get("/unchecked", (_request, response) => void response.json(principalOf(response)));
        routes.use(authenticated(check));
        routes.get("/checked", (_request, response) => void response.json(principalOf(response)));
        routes.get("/narrow", () => {
          throw new ServiceError("insufficient_scope", "This key lacks kb:read.");
        });
      },
      {
        onDenial: (request, response, { code }) =>
          void denied.push({ path: request.path, code, ...callerOf(response) }),
      },
    );
    server = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_API_PORT" });
    base = `http://127.0.0.1:${server.port}`;
  });

  beforeEach(() => {
    asked = [];
    denied = [];
  });

  afterAll(() => server.close(1_000));

  describe("a route behind the key check", () => {
    test("knows who asks, and its answer says on which project", async () => {
      const response = await fetch(`${base}/checked`, { headers: { "X-Api-Key": "good" } });
      expect(response.headers.get("x-svc-project")).toBe("north");
      expect(await response.json()).toEqual({
        actor: "key:1",
        keyId: "1",
        rateLimit: null,
        scopes: ["messages:read"],
        project: "0190",
        projectName: "north",
        requestId: response.headers.get("x-request-id"),
      });
    });

    test("says nothing of a project that the key cannot have", async () => {
      const response = await fetch(`${base}/checked`, { headers: { "X-Api-Key": "good", "x-svc-project": "south" } });
      expect([response.status, response.headers.get("x-svc-project")]).toEqual([403, null]);
    });

    test("has the check see the three headers and nothing of the address", async () => {
      const headers = { Authorization: "Bearer a b", "X-Api-Key": "bad", "x-svc-project": "south" };
      await fetch(`${base}/checked?key=good&apiKey=good`, { headers });
      await fetch(`${base}/checked?x-api-key=good`);
      expect(asked).toEqual([
        { authorization: "Bearer a b", apiKey: "bad", project: "south" },
        { authorization: undefined, apiKey: undefined, project: undefined },
      ]);
    });

    test("answers as the check says, before there is a look whether the address is there", async () => {
      for (const path of ["/checked", "/nowhere"]) {
        const response = await fetch(base + path, { headers: { "X-Api-Key": "bad" } });
        expect(response.status).toBe(401);
        expect(response.headers.get("www-authenticate")).toBe('Bearer realm="svc"');
        expect(response.headers.get("x-svc-project")).toBeNull();
      }
    });

    test.each(["Authorization", "X-Api-Key", "X-Svc-Project"])(
      "refuses %s that is sent twice, even the same",
      async (name) => {
        const answer = await new Promise<string>((resolve, reject) => {
          const socket = connect(server.port, "127.0.0.1", () => {
            socket.end(`GET /checked HTTP/1.1\r\nHost: a\r\n${`${name}: good\r\n`.repeat(2)}Connection: close\r\n\r\n`);
          });
          let text = "";
          socket.setEncoding("utf8").on("data", (part: string) => (text += part));
          socket.on("close", () => resolve(text)).on("error", reject);
        });
        expect(answer).toMatch(/^HTTP\/1\.1 400 /);
        expect(answer).toContain('"code":"ambiguous_credentials"');
        expect(asked).toEqual([]);
      },
    );
  });

  test("whoever is refused for who asks is told to who listens, with the key and the project as far as they are known", async () => {
    for (const [path, headers] of [
      ["/checked", {}],
      ["/checked", { "X-Api-Key": "good", "x-svc-project": "south" }],
      ["/narrow", { "X-Api-Key": "good" }],
      // Requests that are not denied.
      ["/checked", { "X-Api-Key": "good" }],
      ["/nowhere", { "X-Api-Key": "good" }],
    ] as const) {
      await fetch(base + path, { headers });
    }
    expect(denied).toEqual([
      { path: "/checked", code: "invalid_key", actor: null, project: null },
      { path: "/checked", code: "project_mismatch", actor: "key:1", project: null },
      { path: "/narrow", code: "insufficient_scope", actor: "key:1", project: { id: "0190", name: "north" } },
    ]);
  });

  test("a route that asks who it is without a check is a fault of ours, never an open door", async () => {
    expect((await fetch(`${base}/unchecked`, { headers: { "X-Api-Key": "good" } })).status).toBe(500);
  });
});

describe("openCount", () => {
  test("opens up to the limit of a name, and again once one is closed", () => {
    const { open } = createOpenCount();
    const first = open("one", 2);
    expect(open("one", 2)).not.toBeNull();
    expect(open("one", 2)).toBeNull();
    expect(open("other", 2)).not.toBeNull();
    first?.();
    first?.();
    expect(open("one", 2)).not.toBeNull();
    expect(open("one", 2)).toBeNull();
  });
});

describe("the rate limit", () => {
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
      headers: {
        "X-Forwarded-For": from,
        "x-svc-project": project,
        ...(key === undefined ? {} : { "X-Api-Key": key }),
      },
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
});
