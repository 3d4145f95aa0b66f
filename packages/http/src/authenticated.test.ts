import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Authenticate, Credentials, Principal } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import { collectLog } from "@svc/testing";
import { authenticated, callerOf, createOpenCount, principalOf } from "./authenticated.ts";
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
