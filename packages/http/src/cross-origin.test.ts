import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { testLog } from "@svc/testing";
import { createApp } from "./create-app.ts";
import { createKnownHosts, crossOrigin } from "./cross-origin.ts";
import { listen } from "./listen.ts";
import type { Listening } from "./listen.ts";

describe("crossOrigin", () => {
  const APP = "https://app.example.com";
  const STRANGER = "https://stranger.example.com";

  let listening: Listening;

  beforeAll(async () => {
    const app = createApp(testLog(), (routes) => {
      routes.use("/api/v1", crossOrigin([APP]));
      routes.get("/api/v1/thing", (_request, response) => void response.json({ ok: true }));
    });
    listening = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_API_PORT" });
  });

  afterAll(() => listening.close(1_000));

  const call = (method: string, headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${listening.port}/api/v1/thing`, { method, headers });

  describe("a browser that asks for a page", () => {
    test("of a named site may call, with a key in a header and a body of JSON", async () => {
      const answer = await call("OPTIONS", {
        Origin: APP,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-api-key,content-type,idempotency-key,last-event-id",
      });
      expect(answer.status).toBe(204);
      expect(answer.headers.get("access-control-allow-origin")).toBe(APP);
      expect(answer.headers.get("access-control-allow-headers")).toBe(
        "x-api-key,content-type,idempotency-key,last-event-id",
      );
      expect(answer.headers.get("access-control-allow-methods")).toContain("POST");
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    });

    test("of a named site may read the answer and what it says of limits", async () => {
      const answer = await call("GET", { Origin: APP });
      expect(await answer.json()).toEqual({ ok: true });
      expect(answer.headers.get("access-control-allow-origin")).toBe(APP);
      expect(answer.headers.get("access-control-expose-headers")).toContain("RateLimit");
      expect(answer.headers.get("vary")).toContain("Origin");
    });

    test("of another site may not", async () => {
      for (const method of ["OPTIONS", "GET"]) {
        const answer = await call(method, { Origin: STRANGER });
        expect(answer.headers.get("access-control-allow-origin")).toBeNull();
        expect(answer.headers.get("x-svc-hint")).toBe(`Add ${STRANGER} to SVC_CORS_ORIGINS`);
        expect(answer.headers.get("vary")).toContain("Origin");
      }
    });

    test("of another site is told by the preflight which setting allows it", async () => {
      const answer = await call("OPTIONS", { Origin: STRANGER, "Access-Control-Request-Method": "POST" });
      expect([answer.status, answer.statusText]).toEqual([403, "Origin not in SVC_CORS_ORIGINS"]);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expect(await answer.json()).toMatchObject({
        code: "origin_not_allowed",
        detail: expect.stringMatching(/stranger\.example\.com.*SVC_CORS_ORIGINS/),
      });
    });

    test("that the server itself has sent may call it", async () => {
      const own = `http://127.0.0.1:${listening.port}`;
      expect((await call("GET", { Origin: own })).headers.get("x-svc-hint")).toBeNull();
    });

    test.each(["null", "file:///etc/passwd"])("with the origin %s gets no hint", async (origin) => {
      expect((await call("GET", { Origin: origin })).headers.get("x-svc-hint")).toBeNull();
    });
  });
});

describe("knownHosts", () => {
  const publicUrls = ["https://console.example.com"];

  test.each([
    ["127.0.0.1", "localhost:31418", true],
    ["127.0.0.1", "[::1]:31418", true],
    ["127.0.0.1", "console.example.com", true],
    ["127.0.0.1", "192.0.2.7:31418", false],
    ["0.0.0.0", "192.0.2.7:31418", true],
    ["0.0.0.0", "evil.example:31418", false],
    ["192.0.2.7", "192.0.2.7:31418", true],
    ["127.0.0.1", "localhost/evil", false],
    ["127.0.0.1", "localhost@evil.example", false],
    ["127.0.0.1", "", false],
    ["127.0.0.1", undefined, false],
  ])("a server bound to %s knows the host %s: %s", (bindHost, host, isKnown) => {
    expect(createKnownHosts({ bindHost, publicUrls }).isKnown(host)).toBe(isKnown);
  });
});
