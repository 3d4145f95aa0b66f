import { describe, expect, test } from "@jest/globals";
import { createFetchGuard, createWebhookGuard } from "./guards.ts";

const CONFIG = {
  databaseUrl: "postgres://svc:secret@127.0.0.1:5433/svc",
  directUrl: "postgres://svc:secret@127.0.0.1:5434/svc",
  redisUrl: undefined,
  embeddings: undefined,
  models: undefined,
  ports: { api: 31416, widget: 31415, tools: 31417, console: 31418, metrics: undefined },
  fetchAllow: [] as string[],
};
const allows = (fetchAllow: string[], url: string) => createFetchGuard({ ...CONFIG, fetchAllow }).checkUrl(url).ok;

describe("fetches go", () => {
  test.each(["https://example.com/", "http://1.1.1.1/"])("to public addresses: %s", (url) => {
    expect(allows([], url)).toBe(true);
  });

  test.each(["http://127.0.0.1:3000/", "http://localhost:3000/", "http://10.2.0.1/", "http://wiki.internal/"])(
    "not to %s, loopback included, unless it is named",
    (url) => {
      expect(allows([], url)).toBe(false);
      expect(allows(["127.0.0.1", "localhost", "10.2.0.0/16", "wiki.internal"], url)).toBe(true);
    },
  );

  test.each([31415, 31416, 31417, 31418, 5433, 5434])("never to the own port %i", (port) => {
    expect(allows(["127.0.0.0/8", "localhost"], `http://127.0.0.1:${port}/`)).toBe(false);
    expect(allows(["127.0.0.0/8", "localhost"], `http://localhost:${port}/`)).toBe(false);
  });

  test.each([
    ["http://127.0.0.1:11434/v1", 11434],
    ["https://models.example.com:8443/v1", 8443],
    ["http://localhost/v1", 80],
    ["https://ollama/v1", 443],
  ])("never to the port of the embeddings at %s", (baseUrl, port) => {
    const { checkUrl } = createFetchGuard({
      ...CONFIG,
      embeddings: { baseUrl, model: "m" },
      fetchAllow: ["127.0.0.0/8", "10.0.0.0/8"],
    });
    expect(checkUrl(`http://127.0.0.1:${port}/`).ok).toBe(false);
    expect(checkUrl(`http://10.0.0.1:${port}/`).ok).toBe(false);
    expect(checkUrl(`http://1.1.1.1:${port}/`).ok).toBe(true);
  });

  test("to servers of one's own network, also where the embeddings come from a public one", () => {
    const embeddings = { baseUrl: "https://api.example.com/v1", model: "m" };
    const { checkUrl } = createFetchGuard({ ...CONFIG, embeddings, fetchAllow: ["10.0.0.0/8"] });
    expect(checkUrl("https://10.0.0.1/").ok).toBe(true);
  });
});

type WebhookConfig = Parameters<typeof createWebhookGuard>[0];

const WEBHOOK_CONFIG: WebhookConfig = {
  databaseUrl: "postgres://svc:secret@127.0.0.1:5433/svc",
  directUrl: "postgres://svc:secret@127.0.0.1:5434/svc",
  redisUrl: "redis://127.0.0.1:6380",
  embeddings: undefined,
  models: undefined,
  ports: { api: 31416, widget: 31415, tools: 31417, console: 31418, metrics: 31419 },
  trustProxy: [],
  webhookAllow: [],
};
const LOOPBACK = ["http://127.0.0.1:3000/", "http://[::1]:3000/", "http://localhost:3000/"];

const allowsCallback = (change: Partial<WebhookConfig>, host: string) => {
  const guard = createWebhookGuard({ ...WEBHOOK_CONFIG, ...change }, () => host);
  return (url: string) => guard.checkUrl(url).ok;
};

test.each(["127.0.0.1", "127.0.0.2", "localhost", "::1"])(
  "loopback may be called while the HTTP API listens on %s alone",
  (host) => {
    for (const url of LOOPBACK) expect({ url, ok: allowsCallback({}, host)(url) }).toEqual({ url, ok: true });
  },
);

test.each(["0.0.0.0", "::", "192.168.1.7", "api.example.com"])(
  "loopback may not be called where it listens on %s",
  (host) => {
    for (const url of LOOPBACK) expect({ url, ok: allowsCallback({}, host)(url) }).toEqual({ url, ok: false });
  },
);

test("loopback may not be called where a proxy lets others in", () => {
  const check = allowsCallback({ trustProxy: ["10.0.0.1"] }, "127.0.0.1");
  for (const url of LOOPBACK) expect({ url, ok: check(url) }).toEqual({ url, ok: false });
});

describe("what the operator has named may be called", () => {
  const check = allowsCallback({ webhookAllow: ["127.0.0.1", "10.1.0.0/16", "hooks.internal"] }, "0.0.0.0");
  test.each(["http://127.0.0.1:3000/", "http://10.1.2.3/", "http://hooks.internal/"])("%s", (url) =>
    expect(check(url)).toBe(true),
  );
  test.each(["http://127.0.0.2:3000/", "http://10.2.0.1/", "http://other.internal/"])("and not %s", (url) =>
    expect(check(url)).toBe(false),
  );
});

describe("the own ports and servers may never be called", () => {
  const own = [31415, 31416, 31417, 31418, 31419, 5433, 6380];
  const check = allowsCallback({ webhookAllow: ["127.0.0.0/8", "10.0.0.0/8"] }, "127.0.0.1");
  test.each(own)("port %i", (port) => {
    for (const host of ["127.0.0.1", "localhost", "[::1]", "127.0.0.9", "10.0.0.1"]) {
      expect({ host, ok: check(`http://${host}:${port}/`) }).toEqual({ host, ok: false });
    }
  });

  test.each([
    ["postgres://127.0.0.1/svc", 5432],
    ["postgresql://db.example/svc", 5432],
  ])("the usual port of %s, which names none", (databaseUrl, port) => {
    expect(allowsCallback({ databaseUrl }, "127.0.0.1")(`http://127.0.0.1:${port}/`)).toBe(false);
  });

  test.each(["redis://127.0.0.1", "rediss://redis.example/0"])("the usual port of %s, which names none", (redisUrl) => {
    expect(allowsCallback({ redisUrl }, "127.0.0.1")("http://127.0.0.1:6379/")).toBe(false);
  });

  test("and where there is no Redis and no port for metrics, nothing is missed", () => {
    const ports = { ...WEBHOOK_CONFIG.ports, metrics: undefined };
    const without = allowsCallback({ redisUrl: undefined, ports }, "127.0.0.1");
    expect(without("http://127.0.0.1:31416/")).toBe(false);
    expect(without("http://127.0.0.1:3000/")).toBe(true);
  });
});
