import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Request, Response } from "express";
import { ENDPOINTS, ERRORS, ServiceError } from "@svc/contracts";
import type { ErrorCode } from "@svc/contracts";
import { createLog } from "@svc/log";
import type { LogLevel } from "@svc/log";
import type { NewAuditEvent, Store } from "@svc/store";
import { collectLog, waitFor } from "@svc/testing";
import type { LogLine } from "@svc/testing";
import { createApp, createDenialAudit, findRoute } from "./create-app.ts";
import type { DenialAudit } from "./create-app.ts";
import { listen } from "./listen.ts";
import type { Listening } from "./listen.ts";
import { methodNotAllowed } from "./problem.ts";

describe("createApp", () => {
  const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const INNER = "relation api_keys does not exist at /srv/app/db.ts";

  let server: Listening;
  let base: string;
  let lines: () => LogLine[];
  let seen = 0;

  /** Returns the new lines of the log. */
  function newLines(): LogLine[] {
    const all = lines();
    const fresh = all.slice(seen);
    seen = all.length;
    return fresh.filter(({ msg }) => msg !== "request");
  }

  /** Errors other than ServiceError that a handler may throw. */
  const PROBLEMS: Record<string, () => unknown> = {
    sync: () => {
      throw new TypeError(INNER);
    },
    async: () => Promise.reject(new Error(INNER, { cause: new Error("inner cause") })),
    "with-status": () =>
      Promise.reject(Object.assign(new Error(INNER), { status: 200, statusCode: 200, expose: true })),
    string: () => Promise.reject(INNER),
    nothing: () => Promise.reject(undefined),
  };

  beforeAll(async () => {
    const collected = collectLog();
    lines = collected.lines;
    const app = createApp(collected.log, (routes) => {
      routes
        .route("/things")
        .get((_request, response) => void response.json({ ok: true }))
        .all(methodNotAllowed("GET", "HEAD"));
      routes.get("/things/:id", (request, response) => void response.json({ id: request.params["id"] }));
      routes.get("/error/:code", (request) => {
        const code = request.params["code"] as ErrorCode;
        throw new ServiceError(code, `About ${code}.`, {
          headers: { "Retry-After": "2" },
          errors: [{ pointer: "/a", code: "b", detail: "c" }],
          cause: new Error(INNER),
        });
      });
      routes.get("/fault/:name", (request) => PROBLEMS[request.params["name"] ?? ""]?.());
      routes.get("/half", (_request, response) => {
        response.write("half an answer");
        throw new Error(INNER);
      });
    });
    // Express prints errors unless it runs in tests.
    app.set("env", "production");
    server = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_API_PORT" });
    base = `http://127.0.0.1:${server.port}`;
  });

  afterEach(() => void newLines());

  afterAll(() => server.close(1_000));

  /** Sends a raw request and returns the response. */
  function sendText(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(server.port, "127.0.0.1", () => socket.end(text));
      let answer = "";
      socket.setEncoding("utf8").on("data", (part: string) => (answer += part));
      socket.on("close", () => resolve(answer));
      socket.on("error", reject);
    });
  }

  describe("an error", () => {
    test.each(Object.keys(ERRORS))("%s is problem+json with its status, and nothing of its cause", async (code) => {
      const response = await fetch(`${base}/error/${code}?key=planted`);
      const { status, title } = ERRORS[code as ErrorCode];
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json(; charset=utf-8)?$/);
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(response.headers.get("retry-after")).toBe("2");
      expect(await response.json()).toEqual({
        ok: false,
        type: `urn:svc:error:${code}`,
        title,
        status,
        code,
        detail: `About ${code}.`,
        instance: `/error/${code}`,
        requestId: response.headers.get("x-request-id"),
        errors: [{ pointer: "/a", code: "b", detail: "c" }],
      });
    });

    test("that tells of the store's absence is in the log for who looks closely, others of callers are not", async () => {
      await fetch(`${base}/error/not_found`);
      expect(newLines()).toEqual([]);
      await fetch(`${base}/error/unavailable`);
      expect(newLines()).toEqual([
        expect.objectContaining({ level: "debug", msg: expect.stringContaining("service unavailable") }),
      ]);
    });

    test("has no body where HEAD asked for it", async () => {
      const response = await fetch(`${base}/nowhere`, { method: "HEAD" });
      expect([response.status, await response.text()]).toEqual([404, ""]);
    });
  });

  describe("an address", () => {
    test.each(["/nowhere", "/", "/THINGS", "/things/a/b", "/%00", "//things", "/nowhere/%E0%A4%A"])(
      "%s that nobody serves is 404 not_found",
      async (path) => {
        const response = await fetch(base + path);
        expect(response.status).toBe(404);
        expect(await response.json()).toMatchObject({ ok: false, code: "not_found", instance: path });
      },
    );

    test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
      "that is there, but not for %s, is 405",
      async (method) => {
        const response = await fetch(`${base}/things`, { method });
        expect(response.status).toBe(405);
        expect(response.headers.get("allow")).toBe("GET, HEAD");
        expect(await response.json()).toMatchObject({
          code: "method_not_allowed",
          detail: `This path does not support ${method}. Use GET or HEAD.`,
        });
      },
    );

    test.each(["%E0%A4%A", "%", "%zz", "a%f", "%ff"])(
      "with the malformed part %s is 400, not a fault of ours",
      async (part) => {
        const response = await fetch(`${base}/things/${part}`);
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          code: "invalid_request",
          detail: expect.stringContaining("percent sign"),
        });
        expect(newLines()).toEqual([]);
      },
    );

    test.each(["a%2Fb%3F", "100%25", "..%2F..%2Fetc", "%F0%9F%98%80", "%00"])(
      "with the encoded part %s is taken apart",
      async (part) => {
        const response = await fetch(`${base}/things/${part}`);
        expect(await response.json()).toEqual({ id: decodeURIComponent(part) });
      },
    );

    test.each([
      "GET /things HTTP/1.1\r\n\r\n",
      "GET /thi\u0001ngs HTTP/1.1\r\nHost: a\r\n\r\n",
      "BREW /things HTTP/1.1\r\nHost: a\r\n\r\n",
      "nonsense\r\n\r\n",
      "POST /things HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ])("in a request that is no HTTP is 400, and the server goes on: %j", async (text) => {
      expect(await sendText(text)).toMatch(/^HTTP\/1\.1 400 /);
      expect((await fetch(`${base}/things`)).status).toBe(200);
    });
  });

  describe("what nobody foresaw", () => {
    test.each(Object.keys(PROBLEMS))("is 500 without any detail, and the log has it all: %s", async (name) => {
      const response = await fetch(`${base}/fault/${name}`, { headers: { "X-Request-Id": `id-${name}` } });
      expect(response.status).toBe(500);
      const text = await response.text();
      expect(JSON.parse(text)).toEqual({
        ok: false,
        type: "urn:svc:error:internal",
        title: ERRORS.internal.title,
        status: 500,
        code: "internal",
        detail: expect.stringContaining("request ID"),
        instance: `/fault/${name}`,
        requestId: `id-${name}`,
      });
      expect(text).not.toMatch(/api_keys|\.ts|stack/);
      const [line, ...further] = newLines();
      expect(further).toEqual([]);
      expect(line).toMatchObject({ level: "error", requestId: `id-${name}`, method: "GET", route: "/fault/:name" });
      if (name !== "nothing") expect(JSON.stringify(line?.["error"])).toContain(INNER);
    });

    test("after the answer has begun cuts the connection, so that half an answer is not taken for a whole one", async () => {
      await expect(fetch(`${base}/half`).then((response) => response.text())).rejects.toThrow();
      expect(newLines()).toEqual([expect.objectContaining({ level: "warn" })]);
      expect((await fetch(`${base}/things`)).status).toBe(200);
    });
  });

  describe("the request id", () => {
    test.each(["a", "0190b5a0-9e8f-7c1d", "trace:a.b_c-D", "x".repeat(128)])("%s is the caller's own", async (id) => {
      const response = await fetch(`${base}/things`, { headers: { "X-Request-Id": id } });
      expect(response.headers.get("x-request-id")).toBe(id);
    });

    test.each(["", "a b", "a,b", '"a"', "<script>", "é", "x".repeat(129), "a/b"])(
      "is a new one where the caller's is no sane token: %j",
      async (id) => {
        const response = await fetch(`${base}/nowhere`, { headers: { "X-Request-Id": id } });
        expect(response.headers.get("x-request-id")).toMatch(UUID);
        expect(await response.json()).toMatchObject({ requestId: response.headers.get("x-request-id") });
      },
    );

    test("is a new one for each request that brings none, or two", async () => {
      const ids = [];
      for (let round = 0; round < 3; round++) ids.push((await fetch(`${base}/things`)).headers.get("x-request-id"));
      expect(new Set(ids).size).toBe(3);
      const answer = await sendText(
        "GET /things HTTP/1.1\r\nHost: a\r\nX-Request-Id: one\r\nX-Request-Id: two\r\nConnection: close\r\n\r\n",
      );
      expect(/^X-Request-Id: (.*)\r$/im.exec(answer)?.[1]).toMatch(UUID);
    });
  });

  test("logs once that requests come through a proxy that is not trusted, and nothing of one that is", async () => {
    const warningsOf = async (trustProxy: string[]) => {
      const collected = collectLog();
      const app = createApp(collected.log, () => undefined, { trustProxy });
      const proxied = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_API_PORT" });
      const ask = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${proxied.port}/`, { headers });
      await ask({});
      for (const address of ["203.0.113.1", "203.0.113.2"]) await ask({ "X-Forwarded-For": address });
      await proxied.close(0);
      return collected.lines().flatMap(({ level, msg }) => (level === "warn" ? [msg] : []));
    };
    expect(await warningsOf([])).toEqual([expect.stringContaining("127.0.0.1, which SVC_TRUST_PROXY does not list")]);
    expect(await warningsOf(["10.0.0.0/8"])).toHaveLength(1);
    expect(await warningsOf(["127.0.0.1"])).toEqual([]);
  });

  test("no answer says what it is made with, or lets a browser guess its type", async () => {
    for (const path of ["/things", "/nowhere", "/fault/sync"]) {
      const { headers } = await fetch(base + path);
      expect(headers.get("x-powered-by")).toBeNull();
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  let listening: Listening | undefined;

  afterEach(async () => {
    await listening?.close(1_000);
    listening = undefined;
  });

  async function start(level: LogLevel) {
    const lines: LogLine[] = [];
    const log = createLog({ level, destination: { write: (line) => void lines.push(JSON.parse(line) as LogLine) } });
    const app = createApp(log, (routes) => {
      routes.get("/things/:secret", (_request, response) => void response.json({ ok: true }));
      routes.get("/refused", () => {
        throw new ServiceError("not_found", "There is no such thing.");
      });
    });
    listening = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_API_PORT" });
    const call = (path: string, id: string) =>
      fetch(`http://127.0.0.1:${listening?.port}${path}`, { headers: { "X-Request-Id": id } });
    const requests = () => lines.filter(({ msg }) => msg === "request");
    return { call, requests };
  }

  test("each request is found in a debug log by its id, with route and status and not with what its path holds", async () => {
    const { call, requests } = await start("debug");
    await call("/things/hidden-value", "find-me-1");
    await call("/refused", "find-me-2");
    await call("/nothing/hidden-value", "find-me-3");
    await waitFor(() => requests().length === 3, { what: "three lines" });
    expect(requests()).toEqual([
      expect.objectContaining({ requestId: "find-me-1", method: "GET", route: "/things/:secret", status: 200 }),
      expect.objectContaining({ requestId: "find-me-2", route: "/refused", status: 404 }),
      expect.objectContaining({ requestId: "find-me-3", status: 404 }),
    ]);
    expect(JSON.stringify(requests())).not.toContain("hidden-value");
  });

  test("at other levels requests are not logged", async () => {
    const { call, requests } = await start("info");
    await call("/refused", "find-me");
    expect(requests()).toEqual([]);
  });
});

describe("findRoute", () => {
  const SECRET = `svc_${"s".repeat(38)}`;

  test.each(Object.entries(ENDPOINTS))(
    "%s is found by its path, whatever the caller has put there",
    (_name, { path }) => {
      expect(findRoute(path.replaceAll(/\{\w+\}/g, SECRET))).toBe(path);
      expect(findRoute(`${path.replaceAll(/\{\w+\}/g, "%2F%00..")}/`)).toBe(path);
    },
  );

  test.each([
    ["/api/v1/admin/audit/verify", "/api/v1/admin/audit/verify"],
    ["/api/v1/admin/agents//execute", null],
    [`/api/v1/${SECRET}`, null],
    [`/${SECRET}`, null],
    ["/api/v1/admin/Agents", null],
    ["/api/v1/admin/agents/{id}/other", null],
    ["/", null],
    ["", null],
    ["/".repeat(5_000), null],
  ])("%s is the route %s", (path, route) => {
    expect(findRoute(path)).toBe(route);
  });
});

describe("the audit of denials", () => {
  const ROUTES = ["/api/v1/admin/keys", "/api/v1/admin/kb"];
  const findRoute = (path: string) => (ROUTES.includes(path) ? path : null);

  /** Rows in the order in which they were started. */
  let rows: NewAuditEvent[];
  let append: (event: NewAuditEvent) => Promise<void>;
  let denials: DenialAudit;
  const { log, lines } = collectLog();

  beforeEach(() => {
    jest.useFakeTimers();
    rows = [];
    append = () => Promise.resolve();
    const audit = {
      append(event: NewAuditEvent) {
        rows.push(event);
        return append(event);
      },
    };
    denials = createDenialAudit({ store: { audit } as unknown as Store, log, findRoute });
  });

  afterEach(async () => {
    await denials.close();
    jest.useRealTimers();
  });

  let requests = 0;

  /** Denies a request without a key from an address. */
  function deny(
    ip: string,
    { path = "/api/v1/admin/keys", code = "missing_key" }: { path?: string; code?: ErrorCode } = {},
  ) {
    requests++;
    const request = { path, method: "GET", ip, socket: {} } as unknown as Request;
    const response = { getHeader: () => `request-${requests}` } as unknown as Response;
    denials.note(request, response, new ServiceError(code, "refused"));
  }

  const counts = () => rows.map(({ network, object, result, count }) => [network, object, result, count]);
  const KEYS = "GET /api/v1/admin/keys";

  describe("equal denials", () => {
    test("leave the first row at once, and one for the others of the minute", () => {
      for (let round = 0; round < 1_000; round++) deny("203.0.113.7");
      expect(rows).toEqual([
        {
          actor: "anonymous",
          action: "http.denied",
          object: KEYS,
          project: null,
          result: "missing_key",
          requestId: `request-${requests - 999}`,
          count: 1,
          network: "203.0.113.0/24",
        },
      ]);
      jest.advanceTimersByTime(60_000);
      expect(rows.slice(1)).toEqual([{ ...rows[0], requestId: null, count: 999 }]);
      jest.advanceTimersByTime(600_000);
      expect(rows).toHaveLength(2);
    });

    test("of the next minute leave rows of their own", () => {
      deny("203.0.113.7");
      jest.advanceTimersByTime(60_000);
      deny("203.0.113.7");
      deny("203.0.113.7");
      jest.advanceTimersByTime(60_000);
      expect(rows.map(({ count }) => count)).toEqual([1, 1, 1]);
    });

    test("are those of one network, one code and one route", () => {
      for (const ip of ["203.0.113.7", "203.0.113.255", "198.51.100.1", "2001:db8::1", "2001:db8::ffff"]) deny(ip);
      deny("203.0.113.7", { code: "invalid_key" });
      deny("203.0.113.7", { path: "/api/v1/admin/kb" });
      deny("203.0.113.7", { path: "/api/v1/svc_misplaced" });
      expect(counts()).toEqual([
        ["203.0.113.0/24", KEYS, "missing_key", 1],
        ["198.51.100.0/24", KEYS, "missing_key", 1],
        ["2001:db8:0::/48", KEYS, "missing_key", 1],
        ["203.0.113.0/24", KEYS, "invalid_key", 1],
        ["203.0.113.0/24", "GET /api/v1/admin/kb", "missing_key", 1],
        ["203.0.113.0/24", null, "missing_key", 1],
      ]);
    });
  });

  test("many networks at once get few rows, and every denial is counted", async () => {
    for (let index = 0; index < 20_000; index++) {
      deny(`10.${index >> 8}.${index & 255}.1`, { path: index % 2 === 0 ? "/api/v1/admin/keys" : "/nowhere" });
    }
    await denials.close();
    expect(rows.length).toBeLessThanOrEqual(102);
    expect(rows.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(20_000);
  });

  test("what cannot be written is logged, and harms nobody", async () => {
    append = () => Promise.reject(new Error("service unavailable"));
    deny("203.0.113.7");
    await denials.close();
    expect(lines().filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  test("the end waits for what is being written", async () => {
    let finish: () => void = () => undefined;
    append = () => new Promise((resolve) => (finish = resolve));
    deny("203.0.113.7");
    let isClosed = false;
    const closing = denials.close().then(() => (isClosed = true));
    await Promise.resolve();
    expect(isClosed).toBe(false);
    finish();
    await closing;
  });
});
