import { afterEach, describe, expect, test } from "@jest/globals";
import { collectLog, startEmbeddingServer, waitFor } from "@svc/testing";
import type { EmbeddingServer, EmbeddingServerOptions } from "@svc/testing";
import { createEmbedder } from "./create-embedder.ts";
import { promptsOf } from "./read-model-folder.ts";
import type { Embedder, EmbedderOptions } from "./create-embedder.ts";
import type { EmbeddingEndpoint } from "./request-embeddings.ts";

test.each([
  ["nomic-embed-text", "search_query: ", "search_document: "],
  ["nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0", "search_query: ", "search_document: "],
  ["intfloat/multilingual-e5-large", "query: ", "passage: "],
  ["snowflake-arctic-embed2", "query: ", ""],
  ["Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""],
  ["snowflake-arctic-embed:22m", "Represent this sentence for searching relevant passages: ", ""],
  ["mxbai-embed-large:latest", "Represent this sentence for searching relevant passages: ", ""],
  ["bge-m3", "", ""],
  ["all-minilm", "", ""],
  ["text-embedding-3-small", "", ""],
])("%s gets the words that it was trained with", (model, query, document) => {
  expect(promptsOf(model)).toEqual({ query, document });
});

const KEY = "sk-planted-0123456789";
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function open(options: EmbeddingServerOptions & Partial<Extract<EmbedderOptions, EmbeddingEndpoint>> = {}) {
  const server = await startEmbeddingServer(options);
  const { log, lines } = collectLog();
  const embedder = createEmbedder({
    model: "test-model",
    queryDeadlineMs: 2_000,
    restMs: 60_000,
    firstRetryMs: 1,
    ...options,
    baseUrl: options.baseUrl ?? server.baseUrl,
    log,
  });
  ends.push(async () => {
    await embedder.close();
    await server.close();
  });
  const warnings = () => lines().filter(({ level }) => level === "warn");
  return { server, embedder, lines, warnings };
}

const never = new AbortController().signal;
const embedAll = (embedder: Embedder, texts: string[]) => embedder.embedTexts(texts, never);

function cosine(a: Float32Array | null | undefined, b: Float32Array | null | undefined): number {
  if (a == null || b == null) throw new Error("there is no embedding");
  return a.reduce((sum, number, position) => sum + number * (b[position] ?? 0), 0);
}

const inputs = (server: EmbeddingServer) => server.requests().map(({ input }) => input);

describe("passages", () => {
  test.each([
    ["numbers", {}],
    ["base64", { format: "base64" as const }],
    ["another order", { isShuffled: true }],
  ])("get their embeddings in their order from a server that answers in %s", async (_, options) => {
    const { embedder } = await open({ ...options, synonyms: [["car", "automobile"]] });
    const [car, automobile, tree] = await embedAll(embedder, ["car", "automobile", "tree"]);
    expect(cosine(car, automobile)).toBeCloseTo(1, 5);
    expect(cosine(car, tree)).toBeLessThan(0.5);
  });

  test("go with the model and the key, to an address with or without a slash at its end", async () => {
    const { server } = await open();
    for (const baseUrl of [server.baseUrl, `${server.baseUrl}/`]) {
      const { embedder } = await open({ baseUrl, apiKey: KEY });
      await embedAll(embedder, ["car"]);
    }
    const { embedder } = await open({ baseUrl: server.baseUrl });
    await embedAll(embedder, ["car"]);
    const expected = { model: "test-model", input: ["car"] };
    expect(server.requests()).toMatchObject([expected, expected, expected]);
    const authorizations = server.requests().map(({ headers }) => headers["authorization"]);
    expect(authorizations).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`, undefined]);
  });

  test("go with the words that a known model wants before them", async () => {
    const { server, embedder } = await open({ model: "nomic-embed-text" });
    await embedAll(embedder, ["car"]);
    await embedder.embedQuery("car");
    expect(inputs(server)).toEqual([["search_document: car"], ["search_query: car"]]);
  });

  test("go in requests of at most 32 texts and 48,000 characters, long ones cut", async () => {
    const { server, embedder } = await open();
    await embedAll(
      embedder,
      Array.from({ length: 70 }, (_, index) => `text ${index}`),
    );
    await embedAll(
      embedder,
      Array.from({ length: 20 }, () => "long text ".repeat(5_000)),
    );
    expect(inputs(server).map((texts) => texts.length)).toEqual([32, 32, 6, 8, 8, 4]);
    expect(
      Math.max(
        ...inputs(server)
          .flat()
          .map((text) => text.length),
      ),
    ).toBeLessThanOrEqual(6_000);
  });

  test("that are too long for the model are embedded by their beginning, the others whole", async () => {
    const { server, embedder } = await open({ maxChars: 200 });
    const long = "car ".repeat(200);
    const [one, two, three] = await embedAll(embedder, ["tree", long, "house"]);
    expect([one, two, three]).not.toContain(null);
    expect(inputs(server).flat()).toEqual(expect.arrayContaining(["tree", "house"]));
    expect(cosine(two, (await embedAll(embedder, ["car"]))[0])).toBeCloseTo(1, 5);
  });

  test("that are refused at any length have no embedding, unless everything is refused", async () => {
    const { server, embedder } = await open();
    const refusal = { status: 400, body: '{"error":{"message":"bad words"}}' };
    server.answerWith(({ input }) => (input.some((text) => text.startsWith("bad")) ? refusal : null));
    const [good, bad] = await embedAll(embedder, ["good", "bad ".repeat(500)]);
    expect([good, bad]).toEqual([expect.any(Float32Array), null]);
    server.answerWith(refusal);
    await expect(embedAll(embedder, ["good"])).rejects.toThrow("it returned 400 (bad words)");
  });

  test("too long for llama.cpp, which answers 500 to them, are cut as well", async () => {
    const { server, embedder } = await open();
    const body = '{"error":{"code":500,"message":"input (596 tokens) is too large to process."}}';
    server.answerWith(({ input }) => (input.some((text) => text.length > 300) ? { status: 500, body } : null));
    expect(await embedAll(embedder, ["car ".repeat(200)])).toEqual([expect.any(Float32Array)]);
  });

  test("are tried again after a fault", async () => {
    const { server, embedder } = await open();
    let count = 0;
    server.answerWith(() => {
      count += 1;
      if (count === 1) return "cut";
      return count === 2 ? { status: 503, headers: { "Retry-After": "0" }, body: "<html>busy" } : null;
    });
    expect(await embedAll(embedder, ["car"])).toEqual([expect.any(Float32Array)]);
    expect(count).toBe(3);
  });

  test.each([
    ["a wrong key", { status: 401, body: "{}" }, "SVC_EMBEDDINGS_API_KEY"],
    ["a wrong path or model", { status: 404, body: "404 page not found" }, "SVC_EMBEDDINGS_MODEL"],
    ["a redirect", { status: 302, headers: { Location: "http://127.0.0.1:1/" } }, "redirects"],
    ["a web page", { status: 200, body: "<!doctype html>" }, "not JSON"],
    ["an answer of 5 MB", { status: 200, body: " ".repeat(5_000_000) }, "longer than"],
    ["an answer that breaks off", "cut-midway" as const, "it is unreachable"],
  ])("%s is a fault that says what to do", async (_, answer, reason) => {
    const { server, embedder } = await open();
    server.answerWith(answer);
    await expect(embedAll(embedder, ["car"])).rejects.toThrow(reason);
  });

  test("are given up at once when they are not wanted any more", async () => {
    const { server, embedder } = await open();
    server.answerWith("hang");
    const aborting = new AbortController();
    const embedding = embedder.embedTexts(["car"], aborting.signal);
    await waitFor(() => server.requests().length > 0, { what: "the request" });
    aborting.abort(new Error("not wanted"));
    await expect(embedding).rejects.toThrow("not wanted");
  });

  test("of another length than before are a fault: the model is another one", async () => {
    const { server, embedder } = await open();
    await embedAll(embedder, ["car"]);
    server.answerWith({ status: 200, body: '{"data":[{"index":0,"embedding":[1,0]}]}' });
    await expect(embedAll(embedder, ["car"])).rejects.toThrow("2 dimensions instead of 512");
  });
});

describe("queries", () => {
  test("are asked for once, however often they come, together or later", async () => {
    const { server, embedder } = await open();
    const [one, two] = await Promise.all([embedder.embedQuery("car"), embedder.embedQuery(" car ")]);
    expect(one).toEqual(expect.any(Float32Array));
    expect(two).toEqual(one);
    expect(await embedder.embedQuery("car")).toEqual(one);
    expect(server.requests()).toHaveLength(1);
  });

  test("of 50,000 characters, of nothing and of strange ones harm nobody", async () => {
    const { server, embedder } = await open({ maxChars: 500 });
    expect(await embedder.embedQuery("car ".repeat(12_500))).toEqual(expect.any(Float32Array));
    expect(await embedder.embedQuery(" \n ")).toBeNull();
    expect(await embedder.embedQuery("a\u0000\uD800b")).toEqual(expect.any(Float32Array));
    expect(
      Math.max(
        ...inputs(server)
          .flat()
          .map((text) => text.length),
      ),
    ).toBeLessThanOrEqual(2_000);
  });

  test("that take too long have no embedding now, and one when the answer has come", async () => {
    const { server, embedder } = await open({ queryDeadlineMs: 20 });
    let isLoaded = false;
    server.answerWith(() => (isLoaded ? null : { status: 200, body: '{"data":[{"embedding":[1,0]}]}', delayMs: 200 }));
    expect(await embedder.embedQuery("car")).toBeNull();
    isLoaded = true;
    await waitFor(() => embedder.embedQuery("car"), { what: "the late answer" });
    expect(server.requests()).toHaveLength(1);
  });

  test.each([
    ["answers 500", { status: 500, body: "no" }],
    ["sends a web page", { status: 200, body: "<!doctype html>" }],
    ["sends NaN", { status: 200, body: '{"data":[{"index":0,"embedding":[NaN]}]}' }],
    ["sends too many", { status: 200, body: '{"data":[{"embedding":[1]},{"embedding":[1]}]}' }],
    ["cuts the connection", "cut" as const],
    ["never answers", "hang" as const],
  ])("leave an endpoint alone that %s three times, and say so in one line", async (_, answer) => {
    const { server, embedder, warnings } = await open({ queryDeadlineMs: answer === "hang" ? 20 : 5_000 });
    server.answerWith(answer);
    for (const query of ["one", "two", "three", "four", "five"]) expect(await embedder.embedQuery(query)).toBeNull();
    expect(server.requests()).toHaveLength(3);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]?.msg).toContain("searches use keywords only");
  });

  test("try it again after a rest, one at a time, and say when it is back", async () => {
    const { server, embedder, lines, warnings } = await open({ restMs: 50 });
    server.answerWith({ status: 500, body: "no" });
    for (const query of ["one", "two", "three"]) await embedder.embedQuery(query);
    server.answerWith(null);
    const found = await waitFor(() => embedder.embedQuery("four"), { what: "the endpoint to be asked again" });
    expect(found).toEqual(expect.any(Float32Array));
    expect(await embedder.embedQuery("five")).toEqual(expect.any(Float32Array));
    expect(warnings()).toHaveLength(1);
    expect(lines().filter(({ msg }) => msg?.includes("available again"))).toHaveLength(1);
  });

  test("an endpoint that nobody listens at costs nothing but a line", async () => {
    const { server, embedder, warnings } = await open();
    await server.close();
    for (const query of ["one", "two", "three", "four"]) expect(await embedder.embedQuery(query)).toBeNull();
    expect(warnings().map(({ msg }) => msg)).toEqual([expect.stringContaining("ECONNREFUSED")]);
  });

  test("have no embedding once the embedder is closed", async () => {
    const { server, embedder, lines } = await open();
    server.answerWith("hang");
    const asked = embedder.embedQuery("car");
    await waitFor(() => server.requests().length > 0, { what: "the request" });
    await embedder.close();
    expect(await asked).toBeNull();
    expect(await embedder.embedQuery("tree")).toBeNull();
    expect(lines().filter(({ level }) => level !== "debug")).toEqual([]);
  });
});

test("the key is in no line of the log, even if the server repeats it", async () => {
  const { server, embedder, lines } = await open({ apiKey: KEY });
  server.answerWith({ status: 401, body: `{"error":{"message":"Incorrect API key provided: ${KEY}"}}` });
  for (const query of ["one", "two", "three"]) await embedder.embedQuery(query);
  await expect(embedAll(embedder, ["car"])).rejects.toThrow("Incorrect API key provided: [key]");
  expect(lines().length).toBeGreaterThan(0);
  expect(JSON.stringify(lines())).not.toContain(KEY);
});
