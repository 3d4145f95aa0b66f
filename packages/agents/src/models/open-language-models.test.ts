import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { asProjectId } from "@svc/store";
import type { ModelAllowance, ModelCall } from "@svc/store";
import { collectLog, startFakeModel, waitFor } from "@svc/testing";
import type { FakeModel } from "@svc/testing";
import { z } from "zod";
import type { CallPolicy, ChatRequest, ChatTool, ModelApi, OpenedModels } from "./language-model.ts";
import { ModelError } from "./model-error.ts";
import { openLanguageModels } from "./open-language-models.ts";

const PROJECT = asProjectId("00000000-0000-7000-8000-000000000001");
const KEY = "sk-planted-0123456789";
const APIS: ModelApi[] = ["openai", "anthropic"];
/** Names of which the client library knows that they answer in a schema. */
const NAMES: Record<ModelApi, string> = { openai: "gpt-test", anthropic: "claude-sonnet-5-5" };
const schema = z.object({ colour: z.string() });

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const FAST: Partial<CallPolicy> = { firstRetryMs: 1, turnMs: 20 };
const IMPATIENT: Partial<CallPolicy> = { firstByteMs: 600, silenceMs: 600 };

/** Models at a server, and what is written down of their calls. */
function open(baseUrl: string, options: { api?: ModelApi; policy?: Partial<CallPolicy>; timeoutMs?: number } = {}) {
  const { api = "openai", policy = {}, timeoutMs = 20_000 } = options;
  const { log, lines } = collectLog();
  const calls: ModelCall[] = [];
  const allowance: ModelAllowance = { concurrency: null, tokensPerDay: null, tokensToday: 0 };
  const models = openLanguageModels(
    {
      providers: [{ name: "here", api, baseUrl, apiKey: KEY }],
      defaultModel: NAMES[api],
      timeoutMs,
      prices: { [NAMES[api]]: { input: 1, output: 2 } },
    },
    {
      log,
      store: {
        modelCalls: {
          findAllowance: () => Promise.resolve(allowance),
          insert: (_, call) => Promise.resolve(void calls.push(call)),
        },
      },
      policy: { ...FAST, ...policy },
    },
  );
  ends.push(() => models.close());
  return { models, calls, lines, allowance };
}

type Ask = Partial<ChatRequest<{ colour: string }>>;

/** Asks for the colour of the sky. */
async function ask(models: OpenedModels, request: Ask = {}) {
  const model = models.forAgent({ model: null });
  if (model === null) throw new Error("there is no model");
  return model.chat({
    caller: { project: PROJECT, ticketId: null, purpose: "answer" },
    system: "You name colours.",
    messages: [{ role: "user", text: "The sky?" }],
    schema,
    schemaName: "answer",
    signal: new AbortController().signal,
    ...request,
  });
}

/** The fault that a question ends in, with its text. */
async function errorOf(models: OpenedModels, request: Ask = {}): Promise<ModelError> {
  const failed = await ask(models, request).catch((error: unknown) => error);
  if (failed instanceof ModelError) return failed;
  throw new Error(`there is no fault, but ${JSON.stringify(failed)}`, { cause: failed });
}

interface RawServer {
  baseUrl: string;
  /** Bodies of the requests so far. */
  bodies: string[];
}

/** A server that does what no fake of a provider does. */
async function startRaw(answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
  const bodies: string[] = [];
  const listener: RequestListener = (request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString("utf8")));
    request.on("end", () => {
      bodies.push(body);
      answer(request, response, body);
    });
  };
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const raw: RawServer = { baseUrl: `http://127.0.0.1:${port}/v1`, bodies };
  return raw;
}

const event = (data: object) =>
  `${"type" in data ? `event: ${String(data.type)}\n` : ""}data: ${JSON.stringify(data)}\n\n`;

/** How a provider streams: the beginning, a piece of text, and the end. */
const STREAMS: Record<ModelApi, { begin: string; text(text: string): string; end(reason?: string): string }> = {
  openai: {
    begin: "",
    text: (content) => event({ id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] }),
    end: (reason = "stop") =>
      `${event({
        id: "1",
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: {}, finish_reason: reason === "refusal" ? "content_filter" : reason }],
        usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
      })}data: [DONE]\n\n`,
  },
  anthropic: {
    begin:
      event({
        type: "message_start",
        message: {
          id: "1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          usage: { input_tokens: 7, output_tokens: 0 },
        },
      }) + event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    text: (text) => event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    end: (reason = "end_turn") =>
      event({ type: "content_block_stop", index: 0 }) +
      event({ type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 3 } }) +
      event({ type: "message_stop" }),
  },
};

const startStream = (response: ServerResponse) => response.writeHead(200, { "Content-Type": "text/event-stream" });

/** A server that streams these texts to every question. */
const startSaying = (api: ModelApi, text: string, reason?: string) =>
  startRaw((_, response) => {
    const { begin, end, text: piece } = STREAMS[api];
    startStream(response).end(begin + (text === "" ? "" : piece(text)) + end(reason));
  });

describe.each(APIS)("a model that speaks the API of %s", (api) => {
  let server: FakeModel;
  beforeAll(async () => {
    server = await startFakeModel(() => ({ colour: "blue" }));
  });
  afterAll(() => server.close());
  afterEach(() => server.answerWith(() => ({ colour: "blue" })));

  test("answers in the schema, hands out what has come, and is written down with tokens and money", async () => {
    const { models, calls } = open(server.baseUrl, { api });
    const partials: unknown[] = [];
    const { output, usage } = await ask(models, { onPartial: (partial) => partials.push(partial) });
    expect(output).toEqual({ colour: "blue" });
    expect(usage).toEqual({
      model: `here:${NAMES[api]}`,
      inputTokens: expect.any(Number),
      outputTokens: expect.any(Number),
      costUsd: (usage.inputTokens + 2 * usage.outputTokens) / 1_000_000,
    });
    expect(partials.at(-1)).toEqual({ colour: "blue" });
    expect(calls).toEqual([{ ...usage, ticketId: null, purpose: "answer", ms: expect.any(Number), fault: null }]);
  });

  test("is asked again after faults that pass", async () => {
    const { models, calls } = open(server.baseUrl, { api });
    server.failNext(503);
    expect((await ask(models)).output).toEqual({ colour: "blue" });
    expect(calls.map(({ fault: error }) => error)).toEqual([null]);
  });

  test("calls tools, and answers with what they say", async () => {
    const { models } = open(server.baseUrl, { api });
    const inputs: unknown[] = [];
    server.answerWith((request) =>
      request.messages.some(({ role }) => role === "tool")
        ? { colour: "grey" }
        : { toolCalls: [{ name: "look_up", arguments: '{"place":"London"}' }] },
    );
    const { output } = await ask(models, { tools: [toolThat((input) => inputs.push(input))], maxRounds: 2 });
    expect([output, inputs]).toEqual([{ colour: "grey" }, [{ place: "London" }]]);
  });

  test.each([
    ["without end", { name: "look_up", arguments: "{}" }, 2],
    ["that it does not have", { name: "no_such_tool", arguments: "{}" }, 0],
    // For Anthropic's API the fake makes an object of them.
    ["with arguments that are no JSON", { name: "look_up", arguments: '{"place' }, api === "openai" ? 0 : 2],
  ])("that calls tools %s ends as tool_loop, and no tool is called in the last round", async (_, call, times) => {
    const { models } = open(server.baseUrl, { api });
    let count = 0;
    server.answerWith(() => ({ toolCalls: [call] }));
    const error = await errorOf(models, { tools: [toolThat(() => (count += 1))], maxRounds: 3 });
    expect([error.fault, count]).toEqual(["tool_loop", times]);
    expect(server.requests().length).toBeLessThan(50);
  });

  test.each<[what: string, fault: string, requests: number, answer: Parameters<typeof startRaw>[0]]>([
    ["401", "unauthorized", 1, (_, response) => response.writeHead(401).end(`{"error":{"message":"bad key ${KEY}"}}`)],
    ["403", "unauthorized", 1, (_, response) => response.writeHead(403).end("{}")],
    ["404", "unknown_model", 1, (_, response) => response.writeHead(404).end('{"error":{"message":"no model"}}')],
    [
      "429 for a minute",
      "rate_limited",
      1,
      (_, response) => response.writeHead(429, { "Retry-After": "60" }).end("{}"),
    ],
    ["429 without end", "rate_limited", 3, (_, response) => response.writeHead(429, { "Retry-After": "0" }).end("{}")],
    ["400", "refused", 1, (_, response) => response.writeHead(400).end(`{"error":{"message":"${KEY} <b>\\u0000"}}`)],
    [
      "400 for a long question",
      "too_long",
      1,
      (_, response) => response.writeHead(400).end('{"error":{"message":"maximum context length is 8192"}}'),
    ],
    ["500s", "provider_fault", 3, (_, response) => response.writeHead(500).end("<html>oops")],
    [
      "529",
      "provider_fault",
      3,
      (_, response) =>
        response.writeHead(529).end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
    ],
    [
      "a redirect",
      "provider_fault",
      1,
      (request, response) => response.writeHead(307, { Location: request.url ?? "/" }).end(),
    ],
    [
      "a web page",
      "invalid_output",
      2,
      (_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html>"),
    ],
    ["a closed connection", "unreachable", 3, (_, response) => void response.destroy()],
    ["silence", "timeout", 1, () => undefined],
    ["silence after its head", "timeout", 1, (_, response) => startStream(response).flushHeaders()],
    ["a stream of nonsense", "cut", 2, (_, response) => void startStream(response).end("nonsense\n\n")],
    ["an empty stream", "cut", 2, (_, response) => void startStream(response).end()],
  ])("that answers with %s ends as %s", async (_, problem, requests, answer) => {
    const server = await startRaw(answer);
    const { models, calls, lines } = open(server.baseUrl, { api, policy: problem === "timeout" ? IMPATIENT : {} });
    const error = await errorOf(models);
    expect([error.fault, server.bodies.length]).toEqual([problem, requests]);
    expect(error.message).toMatch(/^the (?:provider|model|question|answer)(?:'s)? .{10,250}$/);
    expect(JSON.stringify([error.message, lines()])).not.toContain(KEY);
    expect(calls.map((call) => call.fault)).toEqual([problem]);
  });

  test.each([
    ["nothing", "empty", "", undefined],
    ["white space", "empty", " \n ", undefined],
    ["garbage", "invalid_output", "%&/()=", undefined],
    ["broken JSON", "invalid_output", '{"colour": "bl', undefined],
    ["JSON of another form", "invalid_output", '{"color": "blue"}', undefined],
    ["JSON without a bottom", "invalid_output", `{"colour":${"[".repeat(90_000)}`, undefined],
    ["a refusal", "refused", "", "refusal"],
    ["an answer that was cut short", "too_long", '{"colour": "bl', api === "openai" ? "length" : "max_tokens"],
  ])("that says %s ends as %s", async (_, error, text, reason) => {
    const { baseUrl } = await startSaying(api, text, reason);
    const { models } = open(baseUrl, { api });
    const errors = [await errorOf(models), await errorOf(models, { onPartial: () => undefined })];
    expect(errors.map((failed) => failed.fault)).toEqual([error, error]);
  });

  test("that is cut off, falls silent or does not end ends in bounded time", async () => {
    const { begin, text } = STREAMS[api];
    const write = (response: ServerResponse, said: string) => startStream(response).write(begin + said);
    const cut = await startRaw(
      (_, response) => write(response, text('{"col')) && setImmediate(() => response.destroy()),
    );
    const silent = await startRaw((_, response) => void write(response, text('{"col')));
    const endless = await startRaw((_, response) => {
      startStream(response).write(begin);
      const more = () => {
        while (!response.destroyed && response.write(text("blue and ".repeat(100))));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });
    const long = await startSaying(api, `{"colour":"${"x".repeat(5_000_000)}"}`);
    const dripping = await startRaw((_, response) => {
      startStream(response).write(begin);
      const drip = setInterval(() => response.write(": still there\n\n"), 20);
      response.on("close", () => clearInterval(drip));
    });
    const errors = await Promise.all([
      errorOf(open(cut.baseUrl, { api }).models, { onPartial: () => undefined }),
      errorOf(open(silent.baseUrl, { api, policy: IMPATIENT }).models),
      errorOf(open(endless.baseUrl, { api }).models),
      errorOf(open(long.baseUrl, { api }).models),
      errorOf(open(dripping.baseUrl, { api, timeoutMs: 1_000 }).models),
    ]);
    expect(errors.map(({ fault: error }) => error)).toEqual(["cut", "timeout", "too_long", "too_long", "timeout"]);
  });

  test.each([
    ["overload", "cut", 2, "overloaded_error"],
    ["a rate limit", "rate_limited", 1, "rate_limit_error"],
  ])("that tells of %s within its answer ends as %s", async (_, problem, requests, type) => {
    const { begin, text } = STREAMS[api];
    const error = { type, message: `not now ${KEY}` };
    const body = api === "openai" ? { error } : { type: "error", error };
    const server = await startRaw((_, response) => startStream(response).end(begin + text('{"col') + event(body)));
    const failed = await errorOf(open(server.baseUrl, { api }).models);
    expect([failed.fault, server.bodies.length]).toEqual([problem, requests]);
    expect(failed.message).not.toContain(KEY);
  });

  test("is asked again when its answer does not fit, unless something was handed out that may not begin anew", async () => {
    let count = 0;
    const { begin, text, end } = STREAMS[api];
    const server = await startRaw((_, response) => {
      count += 1;
      startStream(response).end(
        begin + text(count === 1 ? '{"color":"red"}' : '```json\n{"colour":"blue"}\n```') + end(),
      );
    });
    const { models } = open(server.baseUrl, { api });
    const handed: unknown[] = [];
    expect((await errorOf(models, { onPartial: (partial) => handed.push(partial) })).fault).toBe("invalid_output");
    expect([count, handed.length]).toEqual([1, 1]);
    count = 0;
    const restarting = { onPartial: (partial: unknown) => handed.push(partial), mayRestart: true };
    expect((await ask(models, restarting)).output).toEqual({ colour: "blue" });
    expect([count, handed.at(-1)]).toEqual([2, { colour: "blue" }]);
    count = 0;
    expect((await ask(models)).output).toEqual({ colour: "blue" });
    expect(server.bodies.at(-1)).toContain("colour: Invalid input");
  });
});

function toolThat(does: (input: unknown) => unknown): ChatTool {
  return {
    name: "look_up",
    description: "Looks a colour up.",
    parameters: { type: "object", properties: { place: { type: "string" } } },
    execute: (input) => Promise.resolve(String(does(input))),
  };
}

describe("a provider", () => {
  test("that asks to be left alone for a moment is asked again after it", async () => {
    const { begin, text, end } = STREAMS.openai;
    const server = await startRaw((_, response) => {
      if (server.bodies.length === 1) response.writeHead(429, { "Retry-After": "0.05" }).end("{}");
      else startStream(response).end(begin + text('{"colour":"blue"}') + end());
    });
    expect((await ask(open(server.baseUrl).models)).output).toEqual({ colour: "blue" });
  });

  test("that knows no schema, and not the usual name of a bound, is asked in words, and that is remembered", async () => {
    const { begin, text, end } = STREAMS.openai;
    const refuse = (response: ServerResponse, message: string) =>
      response.writeHead(400, { "Content-Type": "application/json" }).end(JSON.stringify({ error: { message } }));
    const server = await startRaw((_, response, body) => {
      if (body.includes('"response_format"')) refuse(response, "response_format.type json_schema is not supported");
      else if (body.includes('"max_tokens"')) refuse(response, "use max_completion_tokens instead");
      else startStream(response).end(begin + text('Sure:\n```json\n{"colour":"blue"}\n```') + end());
    });
    const { models } = open(server.baseUrl);
    expect((await ask(models)).output).toEqual({ colour: "blue" });
    expect(server.bodies).toHaveLength(3);
    expect((await ask(models)).output).toEqual({ colour: "blue" });
    expect(server.bodies).toHaveLength(4);
    expect(server.bodies.at(-1)).toMatch(/You name colours\..*JSON Schema.*colour/);
    expect(server.bodies.at(-1)).toContain('"max_completion_tokens":4096');
  });

  test("that is gone is left alone after three failures, with one line in the log, and so is health", async () => {
    const server = await startRaw((_, response) => response.writeHead(401).end());
    const { models, lines, calls } = open(server.baseUrl);
    expect(models.health()).toEqual([{ name: "here", fault: null }]);
    for (let round = 0; round < 3; round += 1) await errorOf(models);
    expect([(await errorOf(models)).fault, server.bodies.length]).toEqual(["resting", 3]);
    expect(lines().filter(({ level }) => level === "warn")).toHaveLength(1);
    expect(models.health()).toEqual([{ name: "here", fault: expect.stringContaining("API key") }]);
    expect(calls.map(({ fault: error }) => error)).toEqual(["unauthorized", "unauthorized", "unauthorized", "resting"]);
  });

  test("that is well is not blamed for a model that it does not have, but log and health say so after three times", async () => {
    let isThere = false;
    const { begin, text, end } = STREAMS.openai;
    const server = await startRaw((_, response) => {
      if (isThere) startStream(response).end(begin + text('{"colour":"blue"}') + end());
      else response.writeHead(404).end();
    });
    const { models, lines } = open(server.baseUrl);
    for (let round = 0; round < 4; round += 1) expect((await errorOf(models)).fault).toBe("unknown_model");
    expect(lines().filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({ msg: expect.stringContaining("does not know this model"), model: "here:gpt-test" }),
    ]);
    const trouble = { name: "here:gpt-test", fault: expect.stringContaining("does not know this model") };
    expect(models.health()).toEqual([{ name: "here", fault: null }, trouble]);
    isThere = true;
    await ask(models);
    expect(models.health()).toEqual([{ name: "here", fault: null }]);
  });

  test.each(["anthropic:claude-test", "openai:gpt-test"])(
    "%s is asked nowhere where it is not configured",
    async (id) => {
      const server = await startRaw((_, response) => response.writeHead(500).end());
      const { models } = open(server.baseUrl);
      const model = models.forAgent({ model: id });
      const request = {
        caller: { project: PROJECT, ticketId: null, purpose: "answer" as const },
        system: "",
        messages: [],
      };
      const signal = new AbortController().signal;
      await expect(model?.chat({ ...request, schema, schemaName: "answer", signal })).rejects.toMatchObject({
        fault: "unknown_model",
        message: expect.stringContaining("no model provider named"),
      });
      expect(server.bodies).toEqual([]);
    },
  );

  test("that is back is asked as before, with one line in the log", async () => {
    let isBack = false;
    const { begin, text, end } = STREAMS.openai;
    const server = await startRaw((_, response) => {
      if (isBack) startStream(response).end(begin + text('{"colour":"blue"}') + end());
      else response.writeHead(401).end();
    });
    const { models, lines } = open(server.baseUrl, { policy: { restMs: 0 } });
    for (let round = 0; round < 4; round += 1) await errorOf(models);
    isBack = true;
    await ask(models);
    expect(lines().filter(({ level }) => level !== "debug")).toHaveLength(2);
    expect(models.health()).toEqual([{ name: "here", fault: null }]);
  });

  test("that has little time, or is given up, is not blamed for it", async () => {
    const server = await startRaw(() => undefined);
    const { models, calls } = open(server.baseUrl);
    for (let round = 0; round < 4; round += 1)
      expect((await errorOf(models, { timeoutMs: 100 })).fault).toBe("timeout");
    const before = server.bodies.length;
    const aborting = new AbortController();
    const asked = ask(models, { signal: aborting.signal });
    await waitFor(() => server.bodies.length > before, { what: "the question" });
    aborting.abort(new Error("not wanted any more"));
    await expect(asked).rejects.toThrow("not wanted any more");
    expect(calls.at(-1)?.fault).toBe("aborted");
    expect(models.health()).toEqual([{ name: "here", fault: null }]);
  });

  test("that is left alone stays so when a call that had little time tells nothing new of it", async () => {
    let isSilent = false;
    const server = await startRaw((_, response) => void (isSilent || response.writeHead(401).end()));
    const { models, lines } = open(server.baseUrl, { policy: { restMs: 0 } });
    for (let round = 0; round < 3; round += 1) await errorOf(models);
    isSilent = true;
    expect((await errorOf(models, { timeoutMs: 100 })).fault).toBe("timeout");
    expect(models.health()).toEqual([{ name: "here", fault: expect.stringContaining("API key") }]);
    expect(lines().filter(({ level }) => level !== "debug")).toHaveLength(1);
  });

  test("is hung up on as soon as its answer is of no use", async () => {
    const { begin, text } = STREAMS.openai;
    let openLines = 0;
    const server = await startRaw((_, response) => {
      openLines += 1;
      response.on("close", () => (openLines -= 1));
      startStream(response).write(begin + text("x".repeat(200_000)));
    });
    expect((await errorOf(open(server.baseUrl).models)).fault).toBe("too_long");
    await waitFor(() => openLines === 0, { what: "the line to be closed" });
  });

  test("whose tool never ends is given up in time", async () => {
    const server = await startFakeModel(() => ({ toolCalls: [{ name: "look_up", arguments: "{}" }] }));
    ends.push(() => server.close());
    const { models } = open(server.baseUrl);
    const tool = { ...toolThat(() => ""), execute: () => new Promise<string>(() => undefined) };
    expect((await errorOf(models, { tools: [tool], maxRounds: 2, timeoutMs: 300 })).fault).toBe("timeout");
  });

  test("is not blamed for a fault of whoever listens", async () => {
    const server = await startSaying("openai", '{"colour":"blue"}');
    const { models } = open(server.baseUrl);
    const onPartial = () => {
      throw new Error("the listener has a fault");
    };
    await expect(ask(models, { onPartial })).rejects.toThrow("the listener has a fault");
    expect(server.bodies).toHaveLength(1);
  });

  test("that does not count tokens has them estimated", async () => {
    const { begin, text } = STREAMS.openai;
    const server = await startRaw((_, response) => {
      const finish = event({ id: "1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
      startStream(response).end(`${begin}${text('{"colour":"blue"}')}${finish}data: [DONE]\n\n`);
    });
    const { usage } = await ask(open(server.baseUrl).models);
    expect(usage.inputTokens).toBeGreaterThan(5);
    expect(usage.outputTokens).toBe(5);
  });

  test.each([-5, 1.5, 1e300])("that counts %d tokens has them estimated", async (tokens) => {
    const { begin, text } = STREAMS.openai;
    const server = await startRaw((_, response) => {
      const usage = { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: tokens };
      const finish = event({ id: "1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage });
      startStream(response).end(`${begin}${text('{"colour":"blue"}')}${finish}data: [DONE]\n\n`);
    });
    const { calls } = await askOnceAt(server.baseUrl);
    expect(calls[0]).toMatchObject({ outputTokens: 5, fault: null });
    expect(calls[0]?.inputTokens).toBeGreaterThan(5);
  });

  test("whose model thinks until its time is over has that counted", async () => {
    const thought = { id: "1", choices: [{ index: 0, delta: { reasoning_content: "hmm ".repeat(100) } }] };
    const server = await startRaw((_, response) => void startStream(response).write(event(thought)));
    const { models, calls } = open(server.baseUrl);
    expect((await errorOf(models, { timeoutMs: 500 })).fault).toBe("timeout");
    expect(calls).toMatchObject([{ outputTokens: 100, fault: "timeout" }]);
    expect(calls[0]?.inputTokens).toBeGreaterThan(5);
  });

  test("that is opened and asked leaves the console alone, also with what it does not support", async () => {
    expect(globalThis.AI_SDK_LOG_WARNINGS).toBe(false);
  });
});

/** Asks once, at a server. */
async function askOnceAt(baseUrl: string) {
  const opened = open(baseUrl);
  await ask(opened.models);
  return opened;
}

describe("a project", () => {
  test("does not pass its tokens of the day by many calls at once", async () => {
    const waiting: ServerResponse[] = [];
    const { begin, text, end } = STREAMS.openai;
    const server = await startRaw((_, response) => void waiting.push(response));
    const { models, allowance } = open(server.baseUrl);
    Object.assign(allowance, { tokensPerDay: 6_000, tokensToday: 0 });
    const asked = Array.from({ length: 10 }, () => ask(models).catch((error: unknown) => error));
    // One may use 4,096 tokens and those of its question, so two are admitted.
    await waitFor(() => waiting.length === 2, { what: "two questions" });
    for (const response of waiting) startStream(response).end(begin + text('{"colour":"blue"}') + end());
    const refused = (await Promise.all(asked)).filter((result) => result instanceof ModelError);
    expect(refused.map(({ fault: error }) => error)).toEqual(Array.from({ length: 8 }, () => "over_budget"));
    expect(refused[0]?.message).toMatch(/tokens left today, which concurrent calls may use$/);
    expect(server.bodies).toHaveLength(2);
  });

  test("that has used up its tokens of the day is told so without a question", async () => {
    const server = await startSaying("openai", '{"colour":"blue"}');
    const { models, allowance, calls } = open(server.baseUrl);
    Object.assign(allowance, { tokensPerDay: 10, tokensToday: 0 });
    await ask(models);
    expect([(await errorOf(models)).fault, server.bodies.length]).toEqual(["over_budget", 1]);
    expect(
      calls.map(({ inputTokens, outputTokens, fault: error }) => ({ inputTokens, outputTokens, fault: error })),
    ).toEqual([
      { inputTokens: 7, outputTokens: 3, fault: null },
      { inputTokens: 0, outputTokens: 0, fault: "over_budget" },
    ]);
  });

  test("has as many calls at once as it may; others wait for their turn, and not for long", async () => {
    const waiting: ServerResponse[] = [];
    const { begin, text, end } = STREAMS.openai;
    const answerOne = () => {
      const response = waiting.shift();
      if (response !== undefined) startStream(response).end(begin + text('{"colour":"blue"}') + end());
    };
    const server = await startRaw((_, response) => void waiting.push(response));
    const { models, allowance } = open(server.baseUrl, { policy: { turnMs: 5_000 } });
    allowance.concurrency = 1;
    const [first, second] = [ask(models), ask(models)];
    await waitFor(() => server.bodies.length === 1, { what: "the first question" });
    answerOne();
    await first;
    await waitFor(() => server.bodies.length === 2, { what: "the second question" });
    const impatient = open(server.baseUrl);
    impatient.allowance.concurrency = 1;
    const third = ask(impatient.models, { timeoutMs: 10_000 }).catch((error: unknown) => error);
    await waitFor(() => server.bodies.length === 3, { what: "the third question" });
    expect((await errorOf(impatient.models)).fault).toBe("busy");
    answerOne();
    answerOne();
    expect([(await second).output, await third]).toMatchObject([{ colour: "blue" }, { output: { colour: "blue" } }]);
  });
});

describe("the models", () => {
  test.each([
    ["openai:gpt", "openai:gpt"],
    ["qwen3:8b", "openai:qwen3:8b"],
    ["ollama:qwen3:8b", "openai:qwen3:8b"],
    ["claude:x", "claude:x"],
    ["none", undefined],
  ])("find %s as %s, where an Ollama is called openai", (model, id) => {
    const { log } = collectLog();
    const modelCalls = { findAllowance: () => Promise.resolve(null), insert: () => Promise.resolve() };
    const providers = [
      { name: "claude", api: "anthropic" as const, baseUrl: "http://127.0.0.1:9/v1" },
      { name: "openai", api: "openai" as const, baseUrl: "http://127.0.0.1:9/v1" },
    ].toReversed();
    const models = openLanguageModels(
      { providers, defaultModel: null, timeoutMs: 1_000, prices: {} },
      { log, store: { modelCalls } },
    );
    expect(models.forAgent({ model })?.id).toBe(id);
  });

  test("with a name like that of a field of every object cost nothing that is known", async () => {
    const server = await startSaying("openai", '{"colour":"blue"}');
    const model = open(server.baseUrl).models.forAgent({ model: "constructor" });
    const request = { caller: { project: PROJECT, ticketId: null, purpose: "answer" as const }, schema };
    const said = {
      system: "Colours.",
      messages: [{ role: "user" as const, text: "Sky?" }],
      schemaName: "answer",
      signal: new AbortController().signal,
    };
    expect((await model?.chat({ ...request, ...said }))?.usage.costUsd).toBeNull();
  });

  test("that are closed ask nobody any more", async () => {
    const server = await startRaw(() => undefined);
    const { models } = open(server.baseUrl);
    await models.close();
    await expect(ask(models)).rejects.toThrow("the service is shutting down");
    expect(server.bodies).toEqual([]);
  });

  test("say what is wrong with that of the configuration, or nothing", async () => {
    const good = await startSaying("openai", '{"days":7}');
    const bad = await startRaw((_, response) => response.writeHead(404).end());
    const signal = new AbortController().signal;
    const { models, calls } = open(good.baseUrl);
    expect(await models.findProblem(signal)).toBeNull();
    expect((await open(bad.baseUrl).models.findProblem(signal))?.fault).toBe("unknown_model");
    expect(calls).toEqual([]);
  });

  test("that are closed end what is on its way", async () => {
    const server = await startRaw(() => undefined);
    const { models, calls } = open(server.baseUrl);
    const asked = ask(models);
    const ended = expect(asked).rejects.toThrow("the service is shutting down");
    await waitFor(() => server.bodies.length === 1, { what: "the question" });
    await models.close();
    await ended;
    expect(calls.map(({ fault: error }) => error)).toEqual(["aborted"]);
  });
});
