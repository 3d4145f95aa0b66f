import { describe, expect, test } from "@jest/globals";
import { createWebhookGuard } from "./webhook-guard.ts";

type GuardConfig = Parameters<typeof createWebhookGuard>[0];

const CONFIG: GuardConfig = {
  databaseUrl: "postgres://svc:secret@127.0.0.1:5433/svc",
  redisUrl: "redis://127.0.0.1:6380",
  embeddings: undefined,
  models: undefined,
  ports: { api: 31416, widget: 31415, tools: 31417, console: 31418, metrics: 31419 },
  trustProxy: [],
  webhookAllow: [],
};
const LOOPBACK = ["http://127.0.0.1:3000/", "http://[::1]:3000/", "http://localhost:3000/"];

const allows = (change: Partial<GuardConfig>, host: string) => {
  const guard = createWebhookGuard({ ...CONFIG, ...change }, () => host);
  return (url: string) => guard.checkUrl(url).ok;
};

test.each(["127.0.0.1", "127.0.0.2", "localhost", "::1"])(
  "loopback may be called while the HTTP API listens on %s alone",
  (host) => {
    for (const url of LOOPBACK) expect({ url, ok: allows({}, host)(url) }).toEqual({ url, ok: true });
  },
);

test.each(["0.0.0.0", "::", "192.168.1.7", "api.example.com"])(
  "loopback may not be called where it listens on %s",
  (host) => {
    for (const url of LOOPBACK) expect({ url, ok: allows({}, host)(url) }).toEqual({ url, ok: false });
  },
);

test("loopback may not be called where a proxy lets others in", () => {
  const check = allows({ trustProxy: ["10.0.0.1"] }, "127.0.0.1");
  for (const url of LOOPBACK) expect({ url, ok: check(url) }).toEqual({ url, ok: false });
});

describe("what the operator has named may be called", () => {
  const check = allows({ webhookAllow: ["127.0.0.1", "10.1.0.0/16", "hooks.internal"] }, "0.0.0.0");
  test.each(["http://127.0.0.1:3000/", "http://10.1.2.3/", "http://hooks.internal/"])("%s", (url) =>
    expect(check(url)).toBe(true),
  );
  test.each(["http://127.0.0.2:3000/", "http://10.2.0.1/", "http://other.internal/"])("and not %s", (url) =>
    expect(check(url)).toBe(false),
  );
});

describe("the own ports and servers may never be called", () => {
  const own = [31415, 31416, 31417, 31418, 31419, 5433, 6380];
  const check = allows({ webhookAllow: ["127.0.0.0/8", "10.0.0.0/8"] }, "127.0.0.1");
  test.each(own)("port %i", (port) => {
    for (const host of ["127.0.0.1", "localhost", "[::1]", "127.0.0.9", "10.0.0.1"]) {
      expect({ host, ok: check(`http://${host}:${port}/`) }).toEqual({ host, ok: false });
    }
  });

  test.each([
    ["postgres://127.0.0.1/svc", 5432],
    ["postgresql://db.example/svc", 5432],
  ])("the usual port of %s, which names none", (databaseUrl, port) => {
    expect(allows({ databaseUrl }, "127.0.0.1")(`http://127.0.0.1:${port}/`)).toBe(false);
  });

  test.each(["redis://127.0.0.1", "rediss://redis.example/0"])("the usual port of %s, which names none", (redisUrl) => {
    expect(allows({ redisUrl }, "127.0.0.1")("http://127.0.0.1:6379/")).toBe(false);
  });

  test("and where there is no Redis and no port for metrics, nothing is missed", () => {
    const ports = { ...CONFIG.ports, metrics: undefined };
    const without = allows({ redisUrl: undefined, ports }, "127.0.0.1");
    expect(without("http://127.0.0.1:31416/")).toBe(false);
    expect(without("http://127.0.0.1:3000/")).toBe(true);
  });
});
