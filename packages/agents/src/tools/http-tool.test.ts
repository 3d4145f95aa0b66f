import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createAddressGuard } from "@svc/outbound";
import { startWebhookReceiver } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import type { HttpTool } from "@svc/contracts";
import { httpTool, fillUrl } from "./http-tool.ts";
import { RESULT_MAX_BYTES } from "./callable-tool.ts";

const ORDER = "https://api.example.com/shops/{shop}/orders/{id}?fields={fields}&lang=en";

describe("arguments in an address", () => {
  test("are percent-encoded, and what is not named there is left for the body", () => {
    expect(fillUrl(ORDER, { shop: "a b", id: 7, fields: "x&y=1#z", note: "n" })).toEqual({
      url: "https://api.example.com/shops/a%20b/orders/7?fields=x%26y%3D1%23z&lang=en",
      rest: { note: "n" },
    });
  });

  test("that are not given take their parameter of the query with them", () => {
    expect(fillUrl(ORDER, { shop: "a", id: 7 })).toEqual({
      url: "https://api.example.com/shops/a/orders/7?lang=en",
      rest: {},
    });
  });

  test.each([
    ["..", "leads upwards"],
    [".", "leads nowhere"],
    ["@evil.example", "looks like a host"],
    ["?a=1#b", "looks like a query"],
    ["\u2025", "looks like dots"],
  ])("never change more than their own part of the path: %s %s", (id) => {
    const filled = fillUrl("https://api.example.com/orders/{id}/items", { id });
    if ("problem" in filled) return;
    const { origin, pathname, search, hash } = new URL(filled.url);
    expect([origin, search, hash]).toEqual(["https://api.example.com", "", ""]);
    expect(pathname.split("/")).toEqual(["", "orders", encodeURIComponent(id), "items"]);
  });

  test.each(["../../admin", "a/b", "..%2F..%2Fadmin", "%2e%2e", "%252e%252e%252f", "a\\b", "a\uFF0Fb"])(
    "that could leave their part of the path at a server that decodes it are a fault: %s",
    (id) => {
      expect(fillUrl("https://api.example.com/orders/{id}/items", { id })).toHaveProperty("problem");
      expect(fillUrl("https://api.example.com/orders?path={id}", { id })).toHaveProperty("url");
    },
  );

  test.each<unknown>(["", undefined, null, {}, ["a"], "..", "."])("that the path cannot have are a fault: %p", (id) => {
    expect(fillUrl("https://api.example.com/orders/{id}", { id })).toHaveProperty("problem");
  });
});

const SECRET = "Bearer sk-a-secret-of-the-shop";
const here = createAddressGuard({ allow: ["127.0.0.1"], allowLoopback: false, ownPorts: [] });
const strict = createAddressGuard({ allow: [], allowLoopback: false, ownPorts: [] });

let server: WebhookReceiver;
let other: WebhookReceiver;
beforeAll(async () => {
  server = await startWebhookReceiver();
  other = await startWebhookReceiver();
});
afterAll(async () => {
  await server?.close();
  await other?.close();
});
beforeEach(() => server.answerWith({ status: 200, body: '{"state":"sent"}' }));

const read = (change: Partial<HttpTool> = {}): HttpTool => ({
  type: "http",
  name: "get_order",
  description: "Says where an order is.",
  method: "GET",
  url: server.url("/orders/{orderId}"),
  parameters: { type: "object", properties: { orderId: { type: "string" } } },
  headers: { Authorization: SECRET },
  body: "none",
  access: "read",
  approval: "auto",
  ...change,
});
const write = (change: Partial<HttpTool> = {}) =>
  read({ method: "POST", body: "json", access: "write", approval: "operator", ...change });

const call = (tool: HttpTool, input: Record<string, unknown> = { orderId: "7" }, guard = here) =>
  httpTool(tool, guard).call(input, { callId: "call-1", signal: new AbortController().signal });

describe("a tool of HTTP", () => {
  test("that reads sends its headers, and says what was answered", async () => {
    expect(await call(read())).toEqual({ state: "done", text: 'HTTP 200\n{"state":"sent"}' });
    const { method, path, headers } = await server.next();
    expect([method, path, headers["authorization"]]).toEqual(["GET", "/orders/7", SECRET]);
    expect(headers).not.toHaveProperty("idempotency-key");
  });

  test("that writes sends what its address does not name as JSON, under a key of its own", async () => {
    await call(write(), { orderId: "7", reason: "ü" });
    const { json, headers } = await server.next();
    expect(json).toEqual({ reason: "ü" });
    expect(headers).toMatchObject({ "content-type": "application/json", "idempotency-key": "call-1" });
  });

  test("tells a refusal as a failed call", async () => {
    server.answerWith({ status: 404, body: "no such order" });
    expect(await call(read())).toEqual({ state: "failed", text: "HTTP 404\nno such order" });
    await server.next();
  });

  test("never shows a secret that the other end has echoed", async () => {
    server.answerWith(({ headers }) => ({ status: 200, body: JSON.stringify(headers) }));
    const { text } = await call(read());
    expect(text).toContain("********");
    expect(text).not.toContain("sk-a-secret-of-the-shop");
    await server.next();
  });

  test("masks a password that was sent encoded, and a secret that is echoed as JSON or in an address", async () => {
    const said = 'pass"word of Ada';
    server.answerWith({
      status: 200,
      body: `Bearer ${JSON.stringify({ said })} ${encodeURIComponent(said)} shop:hunter2-of-the-shop`,
    });
    const basic = `Basic ${Buffer.from("shop:hunter2-of-the-shop").toString("base64")}`;
    const { text } = await call(read({ headers: { Authorization: basic, "X-Key": said } }));
    expect(text).toBe('HTTP 200\nBearer {"said":"********"} ******** ********');
    await server.next();
  });

  test("bounds what it shows: 64 KB of a long answer, nothing of a huge or binary one, no NUL", async () => {
    server.answerWith({ status: 200, body: "é".repeat(100_000) });
    const { text } = await call(read());
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(RESULT_MAX_BYTES + 50);
    expect(text).toMatch(/é\n\(cut off here\)$/);
    server.answerWith({ status: 200, body: Buffer.alloc(5 * 1024 * 1024, 65) });
    expect(await call(read())).toEqual({ state: "failed", text: expect.stringMatching(/longer than/) });
    server.answerWith({ status: 200, body: Buffer.from([1, 0, 2]) });
    expect((await call(read())).text).toBe("HTTP 200\n(3 bytes that are not text)");
    server.answerWith({ status: 200, body: Buffer.from([0xff, 0xfe, 0x41]) });
    expect((await call(read())).text.isWellFormed()).toBe(true);
  });
});

describe("the address guard", () => {
  test.each([
    "http://127.0.0.1:1/{orderId}",
    "http://169.254.169.254/latest/{orderId}",
    "http://[::1]/{orderId}",
    "http://localhost/{orderId}",
    "http://10.0.0.1/{orderId}",
  ])("refuses %s, without a word of why", async (url) => {
    const text = "The URL of this tool is not allowed.";
    expect(await call(read({ url }), { orderId: "7" }, strict)).toEqual({ state: "failed", text });
    expect(await call(write({ url }), { orderId: "7" }, strict)).toEqual({ state: "failed", text });
  });

  test("a redirect is followed on the same host alone, and never by what writes", async () => {
    const seen = other.requests.length;
    server.answerWith(({ path }) =>
      path === "/orders/7"
        ? { status: 302, headers: { Location: "/moved" }, body: "elsewhere" }
        : { status: 200, body: "found" },
    );
    expect(await call(read())).toEqual({ state: "done", text: "HTTP 200\nfound" });
    expect(await call(write())).toEqual({ state: "failed", text: "HTTP 302\nelsewhere" });
    server.answerWith({ status: 302, headers: { Location: other.url("/stolen") }, body: "elsewhere" });
    expect(await call(read())).toEqual({ state: "failed", text: "HTTP 302\nelsewhere" });
    server.answerWith({ status: 302, headers: { Location: "/orders/7" } });
    expect((await call(read())).state).toBe("failed");
    expect(other.requests).toHaveLength(seen);
  });
});

describe("a call without an answer", () => {
  test("has failed where nothing was sent, and is unknown where something may have been done", async () => {
    server.answerWith("cut");
    expect((await call(read())).state).toBe("failed");
    expect((await call(write())).state).toBe("unknown");
    const closed = write({ url: "http://127.0.0.1:1/x" });
    expect((await call(closed, {})).state).toBe("failed");
  });

  test("ends with its run: what reads rejects, what writes says that nobody knows", async () => {
    server.answerWith("hang");
    for (const [tool, outcome] of [
      [read(), "rejects"],
      [write(), "unknown"],
    ] as const) {
      const ending = new AbortController();
      const asked = httpTool(tool, here).call({ orderId: "7" }, { callId: "call-1", signal: ending.signal });
      const ended = asked.then(
        ({ state }) => state,
        () => "rejects",
      );
      await server.next(({ path }) => path === "/orders/7", { what: "the call" });
      ending.abort(new Error("the run was given up"));
      expect(await ended).toBe(outcome);
    }
  });
});
