import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { HttpTool } from "@svc/contracts";
import { createAddressGuard } from "@svc/outbound";
import { startWebhookReceiver } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { RESULT_MAX_BYTES } from "./callable-tool.ts";
import type { CallableTool } from "./callable-tool.ts";
import { NO_CONVERSATION, REFUSED } from "./check-arguments.ts";
import type { ToolCustomer } from "./check-arguments.ts";
import { fillUrl, handleReadOnlyCalls, httpTool, offerTools } from "./offer-tools.ts";
import type { RequestedCall } from "./offer-tools.ts";

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

const signal = new AbortController().signal;
const options = { callId: "of-the-model", signal };

function toolOf(access: "read" | "write"): CallableTool {
  return {
    name: access,
    description: access,
    parameters: { type: "object", properties: { id: { type: "string" }, note: { type: "string" } }, required: ["id"] },
    access,
    approval: "auto",
    bind: {},
    anonymous: "allow",
    mark: access,
    call: (input) => Promise.resolve({ state: "done", text: JSON.stringify(input) }),
  };
}

const ANYBODY = { customer: NO_CONVERSATION, onRefused: () => undefined };

/** Offers both tools, and records which calls reach the handler. */
function offer() {
  const asked: RequestedCall[] = [];
  const [read, write] = offerTools(
    [toolOf("read"), toolOf("write")],
    (call) => {
      asked.push(call);
      return Promise.resolve(`answer ${asked.length}`);
    },
    ANYBODY,
  );
  const call = (tool: typeof read, input: unknown) => tool?.execute(input, options);
  return { asked, read: (input: unknown) => call(read, input), write: (input: unknown) => call(write, input) };
}

describe("tools that are offered to a model", () => {
  test("are called with arguments that fit, and say what is wrong with others", async () => {
    const { asked, read } = offer();
    expect(await read({ id: 7 })).toBe("Not called: /id must be string.");
    expect(await read({ id: "7" })).toBe("answer 1");
    expect(asked.map(({ arguments: input }) => input)).toEqual([{ id: "7" }]);
  });

  test("make the same write once, also at the same time and with its arguments in another order", async () => {
    const { asked, write } = offer();
    const same = [
      { id: "7", note: "n" },
      { note: "n", id: "7" },
    ];
    expect(await Promise.all(same.map(write))).toEqual(["answer 1", "answer 1"]);
    expect(await write(same[0])).toBe("answer 1");
    expect(await write({ id: "8", note: "n" })).toBe("answer 2");
    expect(asked.map(({ occurrence }) => occurrence)).toEqual([0, 0]);
  });

  test("tell one read from the next by how often it was asked", async () => {
    const { asked, read } = offer();
    await read({ id: "7" });
    await read({ id: "7" });
    expect(asked.map(({ key, occurrence }) => [key === asked[0]?.key, occurrence])).toEqual([
      [true, 0],
      [true, 1],
    ]);
  });

  test("are called twenty times for one message at most", async () => {
    const { asked, read } = offer();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, id) => read({ id: String(id) })));
    expect(asked).toHaveLength(20);
    expect(answers.filter((answer) => answer?.startsWith("Not called: too many calls for this message"))).toHaveLength(
      10,
    );
  });

  test("change nothing where there is no ticket", async () => {
    const [read, write] = offerTools([toolOf("read"), toolOf("write")], handleReadOnlyCalls, ANYBODY);
    expect(await read?.execute({ id: "7" }, options)).toBe('{"id":"7"}');
    expect(await write?.execute({ id: "7" }, options)).toMatch(/require a ticket/);
    const [guarded] = offerTools([{ ...toolOf("read"), approval: "operator" }], handleReadOnlyCalls, ANYBODY);
    expect(await guarded?.execute({ id: "7" }, options)).toMatch(/requires a ticket/);
  });
});

describe("a tool with bound arguments", () => {
  const orders: CallableTool = {
    ...toolOf("read"),
    parameters: { type: "object", properties: { note: { type: "string" } } },
    bind: { id: "customer.userId" },
  };

  function callAs(tool: CallableTool, customer: ToolCustomer) {
    const asked: RequestedCall[] = [];
    const refused: string[] = [];
    const [offered] = offerTools(
      [tool],
      (call) => {
        asked.push(call);
        return Promise.resolve("made");
      },
      { customer, onRefused: ({ name }) => refused.push(name) },
    );
    return { asked, refused, call: (input: unknown) => offered?.execute(input, options) };
  }

  test("gets the proven value, whatever the model sends under that name", async () => {
    const { asked, call } = callAs(orders, { isAnonymous: false, values: { "customer.userId": "u-7" } });
    await call({ id: "somebody else", note: "n" });
    expect(asked[0]?.arguments).toEqual({ id: "u-7", note: "n" });
  });

  test("is not called where the conversation has no such value", async () => {
    const { asked, refused, call } = callAs(orders, NO_CONVERSATION);
    expect(await call({ id: "u-7" })).toMatch(/no verified customer\.userId/);
    expect([asked, refused]).toEqual([[], ["read"]]);
  });

  test("is not called for an anonymous customer if it could show anybody's data, unless an operator approves it", async () => {
    const anonymous = { isAnonymous: true, values: {} };
    const unbound: CallableTool = { ...toolOf("read"), anonymous: "refuse" };
    expect(await callAs(unbound, anonymous).call({ id: "7" })).toBe(REFUSED);
    expect(await callAs({ ...unbound, anonymous: "allow" }, anonymous).call({ id: "7" })).toBe("made");
    expect(await callAs({ ...unbound, approval: "operator" }, anonymous).call({ id: "7" })).toBe("made");
    expect(await callAs(unbound, NO_CONVERSATION).call({ id: "7" })).toBe("made");
  });
});
