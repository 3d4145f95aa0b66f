import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { waitFor } from "@svc/testing";
import type { Tool } from "@svc/tool-server";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { openRawConnection } from "../../journeys/support/open-raw-connection.ts";
import { openTestTools } from "./open-test-tools.ts";
import type { TestTools } from "./open-test-tools.ts";
import { ENVELOPE, parseEvents } from "./rpc.ts";
import type { RpcMessage } from "./rpc.ts";

const NAMES = [
  "svc_search_kb",
  "svc_list_kbs",
  "svc_list_agents",
  "svc_execute_agent",
  "svc_get_ticket",
  "svc_list_tickets",
  "svc_summarize_notes",
  "svc_submit_issue",
];
const NOTES = "Um, the the printer on floor two is, uh, broken. Please order toner, no wait, order paper.";

/** How calls of the slow tool have ended, by their arguments. */
const ended = new Map<string, "aborted" | "on">();
/** Runs until it is aborted. */
const SLOW: Tool = {
  scope: "kb:read",
  definition: { name: "slow", inputSchema: { type: "object" } },
  waitingFor: "It goes on",
  call: (_deps, _principal, args, signal) =>
    new Promise((_resolve, reject) => {
      const { label } = args as { label: string };
      ended.set(label, "on");
      signal.addEventListener("abort", () => {
        ended.set(label, "aborted");
        reject(signal.reason as Error);
      });
    }),
};
/** Runs until it is released, and ignores its signal. */
const HELD: Tool = {
  scope: "kb:read",
  definition: { name: "held", inputSchema: { type: "object" } },
  call: async () => {
    await new Promise<void>((resolve) => held.push(resolve));
    return { content: [{ type: "text", text: "done" }] };
  },
};
const held: (() => void)[] = [];
const BROKEN: Tool = {
  scope: "kb:read",
  definition: { name: "broken", inputSchema: { type: "object" } },
  call: () => Promise.reject(new Error("relation api_keys does not exist at /srv/db.ts")),
};

const whenOn = (label: string) => waitFor(() => ended.get(label) === "on", { what: `the call ${label} to begin` });
const whenAborted = (label: string) =>
  waitFor(() => ended.get(label) === "aborted", { what: `the call ${label} to be ended` });

let tools: TestTools;
let north: Project;
let south: Project;
let key: string;
let foreignKey: string;
let kbId: string;
let foreignKbId: string;

beforeAll(async () => {
  tools = await openTestTools({ replicas: 2, further: [SLOW, BROKEN] });
  north = await tools.addProject("north");
  south = await tools.addProject("south");
  kbId = await tools.addKb(north, "manual", "# Printer\n\nThe printer stands in room 12. Its button is green.");
  foreignKbId = await tools.addKb(south, "secrets", "# Printer\n\nThe printer of the south stands in room 99.");
  const scopes = ["kb:read", "agents:*", "tickets:read", "messages:write"] as const;
  key = await tools.addKey(north, [...scopes]);
  foreignKey = await tools.addKey(south, [...scopes]);
});

afterAll(() => tools.close());

/** Returns the result of a call. */
async function call(name: string, args: unknown, asked = key) {
  const { last } = await tools.ask(asked, "tools/call", { name, arguments: args });
  return last.result;
}

/** Tools that ignore unknown arguments, because issues from notes have more fields than a submission. */
const TAKES_MORE = new Set(["svc_submit_issue"]);
const CLOSED = { additionalProperties: false };

describe("the list of tools", () => {
  test("has the eight tools of the product, in order, with all their metadata", async () => {
    const { last } = await tools.ask(key, "tools/list");
    const listed = last.result.tools;
    expect(listed.slice(0, 8).map(({ name }) => name)).toEqual(NAMES);
    for (const tool of listed.slice(0, 8)) {
      expect(tool).toEqual({
        name: tool.name,
        title: expect.stringMatching(/\S/),
        description: expect.stringMatching(/\S/),
        inputSchema: expect.objectContaining({ type: "object", ...(TAKES_MORE.has(tool.name) ? {} : CLOSED) }),
        outputSchema: expect.objectContaining({ type: "object" }),
        annotations: {
          title: expect.stringMatching(/\S/),
          readOnlyHint: tool.name !== "svc_submit_issue",
          destructiveHint: false,
          idempotentHint: expect.any(Boolean),
          openWorldHint: expect.any(Boolean),
        },
      });
    }
  });

  test("is the same each time, and in both revisions", async () => {
    const one = await tools.ask(key, "tools/list");
    const other = await tools.ask(key, "tools/list");
    expect(other.last.result.tools).toEqual(one.last.result.tools);
    const modern = await tools.askModern(key, "tools/list");
    expect(modern.last.result.tools).toEqual(one.last.result.tools);
  });

  test("has the fields of the contract for each tool", async () => {
    const { last } = await tools.ask(key, "tools/list");
    const fields = (schema: { properties?: object }) => Object.keys(schema.properties ?? {}).toSorted();
    const shapes = Object.fromEntries(
      last.result.tools.slice(0, 8).map((tool) => [tool.name, [fields(tool.inputSchema), fields(tool.outputSchema)]]),
    );
    expect(shapes).toEqual({
      svc_search_kb: [["kbIds", "limit", "query"], ["hits"]],
      svc_list_kbs: [["cursor"], ["items", "nextCursor"]],
      svc_list_agents: [["cursor"], ["items", "nextCursor"]],
      svc_execute_agent: [
        ["agentId", "context", "input"],
        ["confidence", "durationMs", "output", "sources", "usage", "why"],
      ],
      svc_get_ticket: [["ticketId"], ["ticket"]],
      svc_list_tickets: [
        ["cursor", "q", "stage", "status"],
        ["items", "nextCursor"],
      ],
      svc_summarize_notes: [
        ["date", "locale", "notes"],
        ["cleanedText", "issues", "summary"],
      ],
      svc_submit_issue: [
        ["clientIssueId", "description", "dueDate", "person", "severity", "source", "title"],
        ["agentId", "confidence", "created", "project", "reason", "stage", "ticketId"],
      ],
    });
  });
});

describe("every result", () => {
  test("matches its output schema, with the same content as text", async () => {
    const { last } = await tools.ask(key, "tools/list");
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    const agentId = (await call("svc_list_agents", {})).structuredContent.items[0]?.id;
    const calls: Record<string, object> = {
      svc_search_kb: { query: "where is the printer?" },
      svc_list_kbs: {},
      svc_list_agents: {},
      svc_execute_agent: { agentId, input: "hello" },
      svc_list_tickets: {},
      svc_summarize_notes: { notes: NOTES },
    };
    for (const [name, args] of Object.entries(calls)) {
      const result = await call(name, args);
      const outputSchema = last.result.tools.find((tool) => tool.name === name)?.outputSchema ?? {};
      const isRight = ajv.validate(outputSchema, result.structuredContent);
      expect({ name, isRight, errors: ajv.errors }).toEqual({ name, isRight: true, errors: null });
      expect(result.isError).toBeUndefined();
      expect(result.content).toEqual([{ type: "text", text: expect.any(String) }]);
      expect(JSON.parse(result.content[0]?.text ?? "")).toEqual(result.structuredContent);
    }
  });

  test("of a search has passages with their positions, of the requested knowledge bases", async () => {
    const query = "where is the printer?";
    const hit = {
      documentId: expect.any(String),
      chunkId: expect.any(String),
      title: "manual",
      text: "The printer stands in room 12. Its button is green.",
      score: expect.any(Number),
    };
    for (const args of [{ query }, { query, kbIds: [kbId] }, { query, kbIds: [kbId.toUpperCase()], limit: 1 }]) {
      expect((await call("svc_search_kb", args)).structuredContent).toEqual({ hits: [hit] });
    }
    expect((await call("svc_search_kb", { query: "zzz" })).structuredContent).toEqual({ hits: [] });
  });

  test("of an agent is its answer, and of an unknown one an error", async () => {
    const { items } = (await call("svc_list_agents", {})).structuredContent;
    expect(items).toEqual([expect.objectContaining({ name: "north-agent", fixedReply: "north answers" })]);
    const result = await call("svc_execute_agent", { agentId: items[0]?.id, input: "hello" });
    expect(result.structuredContent).toMatchObject({ output: { text: "north answers" }, confidence: 1 });
  });

  test("of notes has their cleaned text, their summary, and their issues with positions", async () => {
    const { structuredContent } = await call("svc_summarize_notes", { notes: NOTES });
    expect(structuredContent.cleanedText).not.toMatch(/\b(um|uh|the the)\b/i);
    expect(structuredContent.issues.length).toBeGreaterThan(0);
    for (const { quotes } of structuredContent.issues) {
      for (const { start, end } of quotes) expect(NOTES.slice(start, end).length).toBe(end - start);
    }
    const again = await call("svc_summarize_notes", { notes: NOTES });
    expect(again.structuredContent).toEqual(structuredContent);
  });

  test("of a list continues with its cursor", async () => {
    const many = await tools.addProject("many");
    for (let index = 0; index < 24; index++) {
      await tools.resources.store.agents.insert(many.id, { name: `agent ${index}` });
    }
    const manyKey = await tools.addKey(many, ["agents:read"]);
    const first = (await call("svc_list_agents", {}, manyKey)).structuredContent;
    expect(first.items).toHaveLength(20);
    const second = (await call("svc_list_agents", { cursor: first.nextCursor }, manyKey)).structuredContent;
    expect([second.items.length, second.nextCursor]).toEqual([5, null]);
  });
});

/** Returns a result that describes errors, both for models and for programs. */
const failure = (code: string, ...pointers: string[]) => ({
  isError: true,
  content: [{ type: "text", text: expect.stringMatching(new RegExp(`^${code}: `)) }],
  _meta: {
    "svc/error": {
      code,
      detail: expect.any(String),
      ...(pointers.length === 0 ? {} : { errors: pointers.map((pointer) => expect.objectContaining({ pointer })) }),
    },
  },
});

describe("invalid arguments", () => {
  test.each([
    ["svc_search_kb", {}, ["/query"]],
    ["svc_search_kb", { query: 5, limit: "many", kbIds: "all" }, ["/query", "/kbIds", "/limit"]],
    ["svc_search_kb", { query: "  ", kbIds: [], limit: 0 }, ["/query", "/kbIds", "/limit"]],
    ["svc_search_kb", { query: "a", limit: 51 }, ["/limit"]],
    ["svc_search_kb", { query: "x".repeat(50_001) }, ["/query"]],
    ["svc_search_kb", { query: "a", prompt: "b", "a/b~c": 1 }, ["/prompt", "/a~1b~0c"]],
    ["svc_list_kbs", { cursor: "AAAA" }, ["/cursor"]],
    ["svc_list_agents", { cursor: 7 }, ["/cursor"]],
    ["svc_execute_agent", { agentId: null, input: "" }, ["/agentId", "/input"]],
    ["svc_execute_agent", { agentId: "a", input: "x".repeat(50_001) }, ["/input"]],
    ["svc_execute_agent", { agentId: "a", input: "a", context: "x".repeat(50_001) }, ["/context"]],
    ["svc_get_ticket", { ticketId: ["a"] }, ["/ticketId"]],
    ["svc_list_tickets", { status: "done", stage: "open", q: "x".repeat(201) }, ["/status", "/stage", "/q"]],
    ["svc_list_tickets", { cursor: "nonsense" }, ["/cursor"]],
    ["svc_summarize_notes", { notes: "" }, ["/notes"]],
    ["svc_summarize_notes", { notes: "x".repeat(50_001) }, ["/notes"]],
    ["svc_summarize_notes", { notes: "a\u0000b", locale: 5, date: "today" }, ["/notes", "/locale", "/date"]],
    ["svc_submit_issue", {}, ["/clientIssueId", "/title", "/description"]],
    [
      "svc_submit_issue",
      {
        clientIssueId: "",
        title: "two\nlines",
        description: " ",
        severity: "huge",
        source: 1,
        person: "",
        dueDate: "2026-02-30",
      },
      ["/clientIssueId", "/title", "/description", "/severity", "/source", "/person", "/dueDate"],
    ],
  ] as const)("of %s are all reported together: case %#", async (name, args, pointers) => {
    const result = await call(name, args);
    expect(result).toEqual(failure("invalid_request", ...pointers));
    for (const pointer of pointers) expect(result.content[0]?.text).toContain(`\n- ${pointer}: `);
    const modern = await tools.askModern(key, "tools/call", { name, arguments: args });
    expect(modern).toMatchObject({ status: 200, last: { result } });
  });

  test.each(["constructor", "prototype", "toString"])(
    "with the key %s are reported, and have no effect",
    async (name) => {
      const args: unknown = JSON.parse(`{"query":"a","${name}":{"limit":1,"polluted":true}}`);
      expect(await call("svc_search_kb", args)).toEqual(failure("invalid_request", `/${name}`));
      expect(Reflect.get({}, "polluted")).toBeUndefined();
    },
  );

  test("with the key __proto__ are accepted without it", async () => {
    const args: unknown = JSON.parse('{"query":"printer","__proto__":{"limit":"many","polluted":true}}');
    expect((await call("svc_search_kb", args)).structuredContent.hits).toHaveLength(1);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("that are not an object are a protocol error", async () => {
    for (const args of ["text", 5, [1], true]) {
      const { last } = await tools.ask(key, "tools/call", { name: "svc_list_kbs", arguments: args });
      expect(last.error?.code).toBe(-32_602);
    }
  });
});

describe("an object of another project", () => {
  test("has the same error as a missing one", async () => {
    const { store } = tools.resources;
    const foreignAgent = (await store.agents.list(south.id))[0]?.id ?? "";
    for (const id of [foreignAgent, newId(), "nonsense", ""]) {
      expect(await call("svc_execute_agent", { agentId: id, input: "a" })).toEqual(failure("not_found"));
    }
    for (const id of [foreignKbId, newId(), "nonsense"]) {
      const result = await call("svc_search_kb", { query: "printer", kbIds: [kbId, id] });
      expect(result).toEqual(failure("not_found", "/kbIds/1"));
    }
    for (const id of [newId(), "nonsense", "../..", ""]) {
      expect(await call("svc_get_ticket", { ticketId: id })).toEqual(failure("not_found"));
    }
    expect((await call("svc_search_kb", { query: "room 99 south" })).structuredContent.hits).not.toContainEqual(
      expect.objectContaining({ title: "secrets" }),
    );
  });
});

test("200 concurrent calls of two keys on one replica each get their own result", async () => {
  const ask = async (index: number) => {
    const isNorth = index % 2 === 0;
    const params = { name: "svc_list_agents", arguments: {} };
    const send = index % 3 === 0 ? tools.askModern : tools.ask;
    const { status, last } = await send(isNorth ? key : foreignKey, "tools/call", params, { id: index });
    const names = last.result.structuredContent.items.map(({ name }) => name);
    expect([status, last.id, names]).toEqual([200, index, [isNorth ? "north-agent" : "south-agent"]]);
  };
  await Promise.all(Array.from({ length: 200 }, (_, index) => ask(index)));
});

test("an unexpected error returns only the request id, and is logged", async () => {
  const { headers, last } = await tools.ask(key, "tools/call", { name: "broken", arguments: {} });
  const requestId = headers.get("x-request-id") ?? "";
  expect(last.result).toEqual(failure("internal"));
  expect(last.result.content[0]?.text).toContain(requestId);
  expect(JSON.stringify(last)).not.toMatch(/api_keys|\.ts/);
  const line = tools.log().find(({ level }) => level === "error");
  expect(line).toMatchObject({ requestId, tool: "broken" });
});

describe("a slow call", () => {
  const slow = (label: string, meta: object = {}) => ({
    jsonrpc: "2.0",
    id: `id of ${label}`,
    method: "tools/call",
    params: { name: "slow", arguments: { label }, _meta: meta },
  });
  const OLD = { "MCP-Protocol-Version": "2025-11-25" };
  const NEW = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "slow" };

  test.each([
    ["2025-11-25", OLD, {}],
    ["2026-07-28", NEW, ENVELOPE],
  ])("reports its progress to its caller, and ends when the caller disconnects: %s", async (version, headers, meta) => {
    const label = `hung up ${version}`;
    const line = new AbortController();
    const body = JSON.stringify(slow(label, { ...meta, progressToken: "how far?" }));
    const response = await tools.send({ key, headers, body, signal: line.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const messages = (): RpcMessage[] => parseEvents(text.slice(0, text.lastIndexOf("\n\n") + 1));
    while (messages().length < 2) text += (await reader?.read())?.value ?? "";
    expect(messages().map(({ method, params }) => [method, params?.["progressToken"], params?.["progress"]])).toEqual([
      ["notifications/progress", "how far?", 0],
      ["notifications/progress", "how far?", 1],
    ]);
    expect(ended.get(label)).toBe("on");
    line.abort();
    await whenAborted(label);
  });

  test("sends no progress unless requested", async () => {
    const { messages } = await tools.ask(key, "tools/call", {
      name: "svc_summarize_notes",
      arguments: { notes: NOTES },
    });
    expect(messages).toHaveLength(1);
  });

  test("is cancelled by its own client on any replica, and by no other", async () => {
    const begin = async () => (await tools.ask(key, "initialize")).headers.get("mcp-session-id") ?? "";
    const [mine, another] = [await begin(), await begin()];
    expect(mine).not.toBe(another);
    const notice = JSON.stringify({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: "id of noticed" },
    });
    const cancel = async (asked: string, session: string | null, replica: number) => {
      const headers = { ...OLD, ...(session === null ? {} : { "Mcp-Session-Id": session }) };
      const response = await tools.send({ key: asked, headers, body: notice }, replica);
      expect([response.status, await response.text()]).toEqual([202, ""]);
    };
    const going = tools.send({
      key,
      headers: { ...OLD, "Mcp-Session-Id": mine },
      body: JSON.stringify(slow("noticed")),
    });
    await whenOn("noticed");
    for (const replica of [0, 1]) {
      await cancel(key, another, replica);
      await cancel(key, null, replica);
      await cancel(foreignKey, mine, replica);
    }
    expect(ended.get("noticed")).toBe("on");
    await cancel(key, mine, 1);
    await whenAborted("noticed");
    const [answer] = parseEvents(await (await going).text());
    expect(answer?.result).toMatchObject({ isError: true });
  });
});

test("a server that shuts down responds to running calls that they should be retried", async () => {
  const other = await openTestTools({ further: [SLOW] });
  try {
    const project = await other.addProject("north");
    const asking = other.ask(await other.addKey(project, ["kb:read"]), "tools/call", {
      name: "slow",
      arguments: { label: "stopped" },
    });
    await whenOn("stopped");
    await other.close();
    expect((await asking).last.result).toEqual(failure("unavailable"));
  } finally {
    await other.close();
  }
});

test("a server that shuts down completes running calls, and rejects new ones", async () => {
  const other = await openTestTools({ further: [HELD] });
  try {
    const otherKey = await other.addKey(await other.addProject("north"), ["kb:read"]);
    const [url = ""] = other.urls;
    // Its request has started when the server stops, and is complete after all others have their responses.
    const late = await openRawConnection(url);
    late.write(`POST /mcp HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${otherKey}\r\n`);
    const body = { name: "held", arguments: {} };
    const going = [other.ask(otherKey, "tools/call", body), other.askModern(otherKey, "tools/call", body)];
    const following = other.askModern(otherKey, "subscriptions/listen", { notifications: { toolsListChanged: true } });
    await waitFor(() => held.length === 2, { what: "both calls to begin" });
    const closed = other.close();
    for (const letGo of held) letGo();
    const done = expect.objectContaining({ content: [{ type: "text", text: "done" }] });
    for (const { status, last } of await Promise.all(going)) expect([status, last.result]).toEqual([200, done]);
    await following;
    late.write("Content-Length: 0\r\n\r\n");
    const [refusal] = (await late.answered()).answers;
    expect([refusal?.status, refusal?.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    await closed;
  } finally {
    await other.close();
  }
});
