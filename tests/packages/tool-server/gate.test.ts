import { request as askHttp } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Project } from "@svc/store";
import { toolServerService } from "@svc/tool-server";
import { freePort, waitFor } from "@svc/testing";
import { openTestTools } from "./open-test-tools.ts";
import type { TestTools } from "./open-test-tools.ts";
import { ENVELOPE, parseEvents } from "./rpc.ts";

const SITE = "https://notes.example.com";
const APP = "app://obsidian.md";
const LIST = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/list" });
const call = (name: string, args: unknown = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name, arguments: args } });

let tools: TestTools;
let north: Project;
let key: string;

beforeAll(async () => {
  tools = await openTestTools({
    env: { SVC_PUBLIC_URLS: "https://tools.example.com", SVC_CORS_ORIGINS: `${SITE},${APP}` },
  });
  north = await tools.addProject("north");
  await tools.addProject("south");
  key = await tools.addKey(north, ["kb:read", "messages:write"]);
});

afterAll(() => tools.close());

/** Sends a request with headers that fetch would set itself. */
function sendAs(headers: Record<string, string>): Promise<{ status: number; body: string }> {
  const { port } = new URL(tools.urls[0] ?? "");
  return new Promise((resolve, reject) => {
    const asked = askHttp(
      {
        host: "127.0.0.1",
        port,
        method: "POST",
        path: "/mcp",
        headers: {
          "X-Api-Key": key,
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          ...headers,
        },
      },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (part: string) => (body += part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    asked.on("error", reject);
    asked.end(LIST);
  });
}

describe("a key", () => {
  test.each([
    ["is needed", {}, 401, "missing_key", 'Bearer realm="svc"'],
    ["has to be known", { key: "nobody" }, 401, "invalid_key", 'Bearer realm="svc", error="invalid_token"'],
    ["in the query is none", { path: "?apiKey=" }, 401, "missing_key", 'Bearer realm="svc"'],
  ] as const)("%s", async (_, given, status, code, challenge) => {
    const response = await tools.send({ body: LIST, ...("key" in given ? { key: given.key } : {}) });
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([status, challenge]);
    expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(await response.json()).toMatchObject({ ok: false, code });
  });

  test("is accepted in either header, and responses have its project", async () => {
    for (const headers of [{ Authorization: `Bearer ${key}` }, { "X-Api-Key": key }]) {
      const response = await tools.send({ body: LIST, headers });
      expect([response.status, response.headers.get("x-svc-project")]).toEqual([200, "north"]);
      await response.text();
    }
  });

  test("of a project is rejected for another one, and an administrator's works on the given one", async () => {
    const refused = await tools.send({ key, body: LIST, headers: { "x-svc-project": "south" } });
    expect([refused.status, await refused.json()]).toEqual([
      403,
      expect.objectContaining({ code: "project_mismatch" }),
    ]);
    const admin = await tools.addKey(null, ["admin:*"]);
    const answer = await tools.ask(
      admin,
      "tools/call",
      { name: "svc_list_agents", arguments: {} },
      {
        headers: { "x-svc-project": "south" },
      },
    );
    expect(answer.headers.get("x-svc-project")).toBe("south");
    expect(answer.last.result.structuredContent.items).toEqual([expect.objectContaining({ name: "south-agent" })]);
  });

  test("only sees the tools of its scopes, in one order", async () => {
    const names = async (scopes: Parameters<TestTools["addKey"]>[1]) => {
      const { last } = await tools.ask(await tools.addKey(north, scopes), "tools/list");
      return last.result.tools.map(({ name }) => name);
    };
    expect(await names(["kb:read"])).toEqual(["svc_search_kb", "svc_list_kbs"]);
    expect(await names(["tickets:*", "agents:read"])).toEqual([
      "svc_list_agents",
      "svc_get_ticket",
      "svc_list_tickets",
    ]);
    expect(await names(["agents:execute"])).toEqual(["svc_execute_agent", "svc_summarize_notes"]);
    expect(await names(["messages:write"])).toEqual(["svc_submit_issue"]);
    expect(await names(["webhooks:read"])).toEqual([]);
  });

  test.each([
    ["svc_list_agents", "agents:read"],
    ["svc_execute_agent", "agents:execute"],
    ["svc_get_ticket", "tickets:read"],
    ["svc_list_tickets", "tickets:read"],
    ["svc_summarize_notes", "agents:execute"],
  ])("without its scope is rejected before %s is read, in either revision", async (name, scope) => {
    const modern = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: {}, _meta: ENVELOPE },
    });
    const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name };
    for (const request of [{ body: call(name) }, { body: modern, headers }, { body: `[${call(name)}]` }]) {
      const response = await tools.send({ key, ...request });
      expect(response.status).toBe(403);
      expect(response.headers.get("www-authenticate")).toBe(`Bearer error="insufficient_scope", scope="${scope}"`);
      expect(await response.json()).toMatchObject({ code: "insufficient_scope" });
    }
  });

  test("that is rejected adds a row to the audit log, as in the HTTP API", async () => {
    const scoped = await tools.addKey(north, ["kb:read"]);
    await (await tools.send({ key: scoped, body: call("svc_get_ticket") })).text();
    const { store } = tools.resources;
    const rows = await waitFor(
      async () => {
        const filter = { object: "POST /mcp", result: "insufficient_scope" };
        const found = await store.audit.listPage(filter, { limit: 100 });
        return found.length > 0 ? found : null;
      },
      { what: "the denial's row" },
    );
    expect(rows[0]).toMatchObject({ action: "http.denied", project: "north" });
  });

  test("has its rate limit, and each message of a batch counts", async () => {
    const limited = await tools.addKey(north, ["kb:read"], 3);
    const first = await tools.send({ key: limited, body: `[${LIST},${LIST.replace("7", "8")}]` });
    expect([first.status, first.headers.get("ratelimit")]).toEqual([200, expect.stringMatching(/^"default";r=1;/)]);
    await first.text();
    await (await tools.send({ key: limited, body: LIST })).text();
    const over = await tools.send({ key: limited, body: LIST });
    expect([over.status, await over.json()]).toEqual([429, expect.objectContaining({ code: "rate_limited" })]);
    expect(over.headers.get("retry-after")).toMatch(/^\d+$/);
  });
});

describe("a web page", () => {
  test.each(["https://evil.example", "null", "http://localhost.evil.example", "file://", "http://evil.example:31417"])(
    "of %s is rejected, even with a valid key",
    async (origin) => {
      const response = await tools.send({ key, body: LIST, headers: { Origin: origin } });
      expect([response.status, await response.json()]).toEqual([
        403,
        expect.objectContaining({ code: "origin_not_allowed", detail: expect.stringContaining("SVC_CORS_ORIGINS") }),
      ]);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    },
  );

  test.each([
    "http://localhost:6274",
    "http://127.0.0.1:31417",
    "http://[::1]:3000",
    "https://tools.example.com",
    SITE,
    APP,
  ])("of %s may call", async (origin) => {
    const response = await tools.send({ key, body: LIST, headers: { Origin: origin } });
    expect(response.status).toBe(200);
    await response.text();
  });

  test("of an allowed site passes the browser's preflight", async () => {
    const headers = { Origin: SITE, "Access-Control-Request-Method": "POST" };
    const response = await tools.send({ method: "OPTIONS", headers });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([204, SITE]);
  });

  test.each([
    "evil.example",
    "evil.example:31417",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost@evil.example",
    "192.0.2.7",
  ])("with the host name %j resolved to this machine is rejected", async (host) => {
    const { status, body } = await sendAs({ Host: host });
    expect([status, JSON.parse(body)]).toEqual([
      403,
      expect.objectContaining({ code: "origin_not_allowed", detail: expect.stringContaining("SVC_PUBLIC_URLS") }),
    ]);
  });

  test.each(["localhost", "LOCALHOST:31417", "127.0.0.1:1", "[::1]:31417", "tools.example.com"])(
    "with the host name %s is accepted",
    async (host) => expect((await sendAs({ Host: host })).status).toBe(200),
  );
});

describe("a request", () => {
  test.each(["GET", "DELETE", "PUT", "PATCH"])("by %s is 405, because there are no sessions", async (method) => {
    const response = await tools.send({ key, method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("to any other path is 404, by which clients detect that there is no sign-in", async () => {
    const origin = new URL(tools.urls[0] ?? "").origin;
    for (const path of ["/", "/mcp/x", "/.well-known/oauth-protected-resource", "/sse"]) {
      const response = await fetch(origin + path, { headers: { "X-Api-Key": key } });
      expect([response.status, await response.json()]).toEqual([404, expect.objectContaining({ code: "not_found" })]);
    }
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    expect((await fetch(`${origin}/readyz`)).status).toBe(200);
  });

  test("fails as unavailable while the store is unreachable", async () => {
    const { resources } = tools;
    const config = { ...resources.config, ports: { ...resources.config.ports, tools: await freePort() } };
    const store = { ...resources.store, findProblem: () => Promise.resolve("PostgreSQL is unreachable") };
    const { stop } = await toolServerService({ ...resources, config, store }).start();
    try {
      const origin = `http://127.0.0.1:${config.ports.tools}`;
      expect((await fetch(`${origin}/readyz`)).status).toBe(503);
      expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    } finally {
      await stop();
    }
  });

  test.each([
    ["no JSON", "{", -32_700],
    ["nothing", "", -32_700],
    ["no UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), -32_700],
    ["null", "null", -32_600],
    ["a number", "5", -32_600],
    ["no message of JSON-RPC", "{}", -32_600],
    ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32_600],
    ["an empty batch", "[]", -32_600],
    ["a batch that is too long", `[${Array(21).fill(LIST).join(",")}]`, -32_600],
    [
      "what nests too deep",
      `{"jsonrpc":"2.0","id":1,"method":"a","params":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
      -32_600,
    ],
  ] as const)("with %s as its body is 400 with an error of JSON-RPC", async (_, body, code) => {
    const response = await tools.send({ key, body: body as string, headers: { "Content-Type": "application/json" } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", error: { code } });
  });

  test("with a batch is processed if its revision supports batches, and otherwise rejected", async () => {
    const batch = `[${LIST},${LIST.replace("7", "8")}]`;
    const old = await tools.send({ key, body: batch });
    expect(
      parseEvents(await old.text())
        .map(({ id }) => Number(id))
        .toSorted((one, other) => one - other),
    ).toEqual([7, 8]);
    for (const version of ["2025-06-18", "2025-11-25", "2026-07-28"]) {
      const response = await tools.send({ key, body: batch, headers: { "MCP-Protocol-Version": version } });
      expect([response.status, await response.json()]).toEqual([
        400,
        { jsonrpc: "2.0", id: null, error: { code: -32_600, message: expect.any(String) } },
      ]);
    }
  });

  test("that is larger than a megabyte, or without a JSON type, is rejected as in the HTTP API", async () => {
    const large = await tools.send({ key, body: call("svc_search_kb", { query: "x".repeat(1_100_000) }) });
    expect([large.status, await large.json()]).toEqual([413, expect.objectContaining({ code: "payload_too_large" })]);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]) {
      const response = await tools.send({ key, body: LIST, headers: { "Content-Type": type } });
      expect([response.status, await response.json()]).toEqual([
        415,
        expect.objectContaining({ code: "unsupported_media_type" }),
      ]);
    }
  });

  test("with an unknown method is 404 in the revision of 2026-07-28", async () => {
    const { status, last } = await tools.ask(key, "tools/nothing");
    expect([status, last.error?.code]).toEqual([200, -32_601]);
    const answer = await tools.askModern(key, "tools/nothing");
    expect([answer.status, answer.last.error?.code]).toEqual([404, -32_601]);
  });

  test.each(["svc_nothing", "", "__proto__", "constructor", "x".repeat(300), "svc_list_agents "])(
    "for the unknown tool %j is a protocol error",
    async (name) => {
      for (const ask of [tools.ask, tools.askModern]) {
        const headers = { "Mcp-Name": /^[!-~]*$/.test(name) ? name : `=?base64?${btoa(name)}?=` };
        const { last } = await ask(key, "tools/call", { name, arguments: {} }, { headers });
        expect(last.error?.code).toBe(-32_602);
        expect(last.error?.message.length).toBeLessThan(1_000);
      }
    },
  );
});

describe("a client with a revision before 2026-07-28", () => {
  test.each(["2025-11-25", "2025-06-18", "2025-03-26"])(
    "starts with its own revision, %s, and continues with it",
    async (version) => {
      const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "test", version: "1" } };
      const begun = await tools.send({
        key,
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
      });
      expect(parseEvents(await begun.text())).toMatchObject([
        { id: 1, result: { protocolVersion: version, serverInfo: { name: "svc" }, capabilities: { tools: {} } } },
      ]);
      const headers = { "MCP-Protocol-Version": version, "Mcp-Session-Id": begun.headers.get("mcp-session-id") ?? "" };
      const notice = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
      const noticed = await tools.send({ key, headers, body: notice });
      expect([noticed.status, await noticed.text()]).toEqual([202, ""]);
      const { last } = await tools.ask(key, "tools/call", { name: "svc_list_kbs", arguments: {} }, { headers });
      expect(last.result.structuredContent).toEqual({ items: [], nextCursor: null });
      expect((await tools.ask(key, "ping", {}, { headers })).last.result).toEqual({});
    },
  );

  test("gets the newest revision that it may support if it requests an unknown one", async () => {
    const params = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const begun = await tools.send({
      key,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
    });
    expect(parseEvents(await begun.text())).toMatchObject([{ result: { protocolVersion: "2025-11-25" } }]);
  });
});

describe("headers and body of the revision of 2026-07-28", () => {
  const LIST_KBS = { name: "svc_list_kbs", arguments: {} };

  test("that agree are accepted, without a session id", async () => {
    const { status, headers, last } = await tools.askModern(key, "tools/call", LIST_KBS);
    expect([status, last.result.structuredContent]).toEqual([200, { items: [], nextCursor: null }]);
    expect(headers.get("mcp-session-id")).toBeNull();
    const listed = await tools.askModern(key, "tools/list");
    expect(listed.last.result).toMatchObject({ ttlMs: 60_000, cacheScope: "private" });
  });

  test.each([
    ["another name", { "Mcp-Name": "svc_search_kb" }],
    ["an empty name", { "Mcp-Name": "" }],
    ["another method", { "Mcp-Method": "tools/list" }],
    ["another version", { "MCP-Protocol-Version": "2025-11-25" }],
  ])("that do not, by %s, are 400 with -32020", async (_, headers) => {
    const { status, last } = await tools.askModern(key, "tools/call", LIST_KBS, { headers });
    expect([status, last.error?.code]).toEqual([400, -32_020]);
  });

  test.each(["Mcp-Name", "Mcp-Method", "MCP-Protocol-Version"])("without %s are 400 with -32020", async (missing) => {
    const all = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "svc_list_kbs" };
    const headers = Object.fromEntries(Object.entries(all).filter(([name]) => name !== missing));
    const params = { ...LIST_KBS, _meta: ENVELOPE };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params });
    const response = await tools.send({ key, headers, body });
    expect([response.status, await response.json()]).toEqual([
      400,
      { jsonrpc: "2.0", id: 7, error: expect.objectContaining({ code: -32_020 }) },
    ]);
  });

  test("of an unknown version are 400 with -32022 and the supported ones", async () => {
    const version = "2031-01-01";
    const meta = { ...ENVELOPE, "io.modelcontextprotocol/protocolVersion": version };
    const options = { meta, headers: { "MCP-Protocol-Version": version } };
    const { status, last } = await tools.askModern(key, "tools/list", {}, options);
    expect([status, last.error]).toEqual([
      400,
      { code: -32_022, message: expect.any(String), data: { supported: ["2026-07-28"], requested: version } },
    ]);
  });

  test("of an unknown version without the fields of the new one are 400 too", async () => {
    const response = await tools.send({ key, body: LIST, headers: { "MCP-Protocol-Version": "1999-01-01" } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining("2025-11-25") } });
  });
});

describe("a disabled tool server", () => {
  test("frees its port, stays healthy as a process, reports its state, and can be enabled again", async () => {
    const { store } = tools.resources;
    const stateNow = async () => (await store.channelStates.list()).find(({ id }) => id === "tool-server")?.state;
    const isOpen = () =>
      tools.send({ body: LIST, key }).then(
        ({ status }) => status === 200,
        () => false,
      );
    expect(await isOpen()).toBe(true);
    await store.channelsConfig.setEnabled("tool-server", false);
    await waitFor(async () => !(await isOpen()), { what: "the port to be free" });
    await waitFor(async () => (await stateNow()) === "stopped", { what: "the state to be stopped" });
    await store.channelsConfig.setEnabled("tool-server", true);
    await waitFor(isOpen, { what: "the tool server to answer" });
    await waitFor(async () => (await stateNow()) === "running", { what: "the state to be running" });
  });

  test("is bound to loopback if only the HTTP API is opened to the network", async () => {
    const { store } = tools.resources;
    await store.channelsConfig.update("api", { bindHost: "0.0.0.0" });
    const port = await freePort();
    const service = toolServerService({
      ...tools.resources,
      config: { ...tools.resources.config, ports: { ...tools.resources.config.ports, tools: port } },
    });
    const running = await service.start();
    try {
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
      await expect(fetch(`http://127.0.0.2:${port}/healthz`)).rejects.toThrow();
    } finally {
      await running.stop();
      await store.channelsConfig.update("api", { bindHost: "127.0.0.1" });
    }
  });
});
