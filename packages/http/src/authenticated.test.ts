import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Request, Response } from "express";
import type { Authenticate, Credentials, Principal } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import type { ErrorCode } from "@svc/contracts";
import type { NewAuditEvent, Store } from "@svc/store";
import { collectLog } from "@svc/testing";
import { authenticated, callerOf, createDenialAudit, createOpenCount, principalOf } from "./authenticated.ts";
import type { DenialAudit } from "./authenticated.ts";
import { createApp } from "./create-app.ts";
import { listen } from "./listen.ts";
import type { Listening } from "./listen.ts";

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
