import { connect } from "node:net";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { LIMITS } from "@svc/contracts";
import fc from "fast-check";
import { queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { apiAnswer } from "./support/api-answer.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { sendRaw } from "./support/send-raw.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const NUL = "\u0000";
const LONE = "\ud83d";
/** Text that easily breaks in JSON, HTTP or SQL. */
const HARD_TEXT = 'שלום "עולם" مرحبا ‮abc‬ 👩‍👩‍👧‍👦🏳️‍🌈 e\u0301 \u{1F600}\u{10FFFF}\uFFFE \\u0000 \\ \'; -- \t\r\n\u2028 {"a":1}';
const RUNS = process.env["SVC_SOAK"] === "1" ? 300 : 25;

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  await addProject(product.store, "echo", { fixedReply: HARD_TEXT });
});

afterAll(() => product.stop());

const post = (json: unknown) => api.send("echo", json);
const postBody = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  api.send("echo", undefined, { body, headers });
const drain = (query: string) => api.drain("echo", "chat", query);
/** An accepted message whose reply the test does not await. */
const accepted = { text: "hello", mode: "async" };

function nested(depth: number): string {
  return `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;
}

describe("400 names the field:", () => {
  const wrongTypes = [null, 5, true, [], {}];
  test.each<[what: string, json: unknown, pointers: string[]]>([
    ["no text", {}, ["/text"]],
    ["empty text", { text: "" }, ["/text"]],
    ["white space only", { text: " \t\r\n\u00a0\u2003\ufeff" }, ["/text"]],
    ["invisible characters only", { text: "\u200b\u3164\u2060" }, ["/text"]],
    ["50,001 characters", { text: "x".repeat(50_001) }, ["/text"]],
    ["50,001 emoji", { text: "🙂".repeat(50_001) }, ["/text"]],
    ["NUL in text", { text: `a${NUL}b` }, ["/text"]],
    ["a lone surrogate in text", { text: `a${LONE}b` }, ["/text"]],
    ["a lone low surrogate in text", { text: "\ude00" }, ["/text"]],
    ...wrongTypes.map((text): [string, unknown, string[]] => [`text ${JSON.stringify(text)}`, { text }, ["/text"]]),

    ["empty chatId", { text: "hi", chatId: "" }, ["/chatId"]],
    ["chatId of 201 characters", { text: "hi", chatId: "x".repeat(201) }, ["/chatId"]],
    ...[NUL, LONE, "\t", "a\nb", "\u007f", "\u0085", ".", "..", "issue:1"].map(
      (chatId): [string, unknown, string[]] => [
        `chatId ${JSON.stringify(chatId)}`,
        { text: "hi", chatId },
        ["/chatId"],
      ],
    ),
    ...wrongTypes.map((chatId): [string, unknown, string[]] => [
      `chatId ${JSON.stringify(chatId)}`,
      { text: "hi", chatId },
      ["/chatId"],
    ]),

    ["empty userId", { text: "hi", userId: "" }, ["/userId"]],
    ["userId of 201 characters", { text: "hi", userId: "x".repeat(201) }, ["/userId"]],
    ["NUL in userId", { text: "hi", userId: `u${NUL}` }, ["/userId"]],
    ["a lone surrogate in userId", { text: "hi", userId: LONE }, ["/userId"]],
    ...wrongTypes.map((userId): [string, unknown, string[]] => [
      `userId ${JSON.stringify(userId)}`,
      { text: "hi", userId },
      ["/userId"],
    ]),

    ["meta over 64 KB", { text: "hi", meta: { a: "x".repeat(65_536) } }, ["/meta"]],
    ["meta over 64 KB in bytes, not characters", { text: "hi", meta: { a: "é".repeat(32_768) } }, ["/meta"]],
    ["meta of 33 levels", { text: "hi", meta: JSON.parse(nested(33)) as unknown }, ["/meta"]],
    ["NUL in a value of meta", { text: "hi", meta: { a: [{ b: NUL }] } }, ["/meta"]],
    ["NUL in a name of meta", { text: "hi", meta: { a: { [NUL]: 1 } } }, ["/meta"]],
    ["a lone surrogate in meta", { text: "hi", meta: { a: LONE } }, ["/meta"]],
    ["a lone surrogate in a name of meta", { text: "hi", meta: { [LONE]: 1 } }, ["/meta"]],
    ...[null, 5, true, [], "meta"].map((meta): [string, unknown, string[]] => [
      `meta ${JSON.stringify(meta)}`,
      { text: "hi", meta },
      ["/meta"],
    ]),

    ...[null, 5, {}, "", "SYNC", "stream", "__proto__", "constructor"].map((mode): [string, unknown, string[]] => [
      `mode ${JSON.stringify(mode)}`,
      { text: "hi", mode },
      ["/mode"],
    ]),
    ...[null, 5, [], `http://a.example/${NUL}`, `http://a.example/${LONE}`].map(
      (webhookUrl): [string, unknown, string[]] => [
        `webhookUrl ${JSON.stringify(webhookUrl)}`,
        { text: "hi", webhookUrl },
        ["/webhookUrl"],
      ],
    ),
    ...[0, -1, 120_001, 1.5, 1e300, "5", null, true, []].map((timeoutMs): [string, unknown, string[]] => [
      `timeoutMs ${JSON.stringify(timeoutMs)}`,
      { text: "hi", timeoutMs },
      ["/timeoutMs"],
    ]),

    ...[null, 5, true, "text", [], [{ text: "hi" }]].map((json): [string, unknown, string[]] => [
      `${JSON.stringify(json)} instead of an object`,
      json,
      [""],
    ]),
  ])("%s", async (_what, json, pointers) => {
    expectProblem(await post(json), "invalid_request", pointers);
  });

  test("all invalid fields at once", async () => {
    const answer = await post({ text: 5, chatId: "", userId: [], meta: [], mode: "x", webhookUrl: 1, timeoutMs: 0 });
    expectProblem(answer, "invalid_request", [
      "/text",
      "/chatId",
      "/userId",
      "/meta",
      "/mode",
      "/webhookUrl",
      "/timeoutMs",
    ]);
  });

  test("mode webhook without a webhookUrl", async () => {
    expectProblem(await post({ text: "hi", mode: "webhook" }), "invalid_request", ["/webhookUrl"]);
  });

  test("timeoutMs 1e309", async () => {
    expectProblem(await postBody('{"text":"hi","timeoutMs":1e309}'), "invalid_request", ["/timeoutMs"]);
  });

  test.each([
    ["meta", `{"text":"hi","mode":"async","meta":${nested(10_000)}}`, "/meta"],
    ["text", `{"text":${nested(10_000)}}`, "/text"],
    ["chatId", `{"text":"hi","chatId":${"[".repeat(10_000)}${"]".repeat(10_000)}}`, "/chatId"],
  ])("%s of 10,000 levels", async (_field, body, pointer) => {
    expectProblem(await postBody(body), "invalid_request", [pointer]);
  });

  test("text that is only in the prototype", async () => {
    expectProblem(await postBody('{"__proto__":{"text":"hi"}}'), "invalid_request", ["/text"]);
  });
});

describe("400 invalid_json:", () => {
  test.each<[what: string, body: string | Uint8Array<ArrayBuffer>]>([
    ["nothing", ""],
    ["cut off", '{"text":"hi"'],
    ["a comma too much", '{"text":"hi",}'],
    ["single quotes", "{'text':'hi'}"],
    ["NaN", '{"text":"hi","timeoutMs":NaN}'],
    ["a comment", '{"text":"hi"} // hello'],
    ["two documents", '{"text":"hi"}{"text":"hi"}'],
    ["a raw line break in a string", '{"text":"a\nb"}'],
    ["brackets without end", "[".repeat(100_000)],
    ["a form", "text=hi"],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ["UTF-8 cut inside a character", Buffer.from('{"text":"é"}').subarray(0, 10)],
    ["a surrogate encoded as UTF-8", Buffer.from([...Buffer.from('{"text":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d])],
    ["UTF-16", Buffer.from('\ufeff{"text":"hi"}', "utf16le")],
  ])("%s", async (_what, body) => {
    expectProblem(await postBody(body), "invalid_json");
  });
});

describe("accepted although unusual:", () => {
  test.each<[what: string, json: unknown]>([
    ["50,000 characters", { ...accepted, text: "x".repeat(50_000) }],
    ["50,000 emoji, which are 100,000 UTF-16 units", { ...accepted, text: "🙂".repeat(50_000) }],
    ["one character", { ...accepted, text: "x" }],
    ["chatId of 200 characters", { ...accepted, chatId: "x".repeat(200) }],
    ["meta of 64 KB", { ...accepted, meta: { a: "x".repeat(65_536 - 8) } }],
    ["meta of 32 levels", { ...accepted, meta: JSON.parse(nested(32)) as unknown }],
    ["the longest timeout", { ...accepted, timeoutMs: 120_000 }],
    ["fields that nobody knows", { ...accepted, extra: { deep: [1, null] }, "": 1 }],
  ])("%s", async (_what, json) => {
    expect((await post(json)).status).toBe(202);
  });

  test.each([
    ["a byte order mark", `\ufeff${JSON.stringify(accepted)}`],
    ["escapes", '{"text":"\\u0068\\ud83d\\ude00","mode":"async"}'],
    ["an unknown field of 10,000 levels", `{"text":"hi","mode":"async","extra":${nested(10_000)}}`],
    ["__proto__ in meta", '{"text":"hi","mode":"async","meta":{"__proto__":{"mode":"x"},"a":{"__proto__":{"b":1}}}}'],
    ["constructor in meta", '{"text":"hi","mode":"async","meta":{"constructor":{"prototype":{"polluted":true}}}}'],
    ["exactly 1 MB", JSON.stringify({ ...accepted, extra: "" }).replace('""', `"${"x".repeat(1_048_576 - 42)}"`)],
  ])("%s", async (_what, body) => {
    expect((await postBody(body)).status).toBe(202);
  });

  test("right-to-left text, emoji and control characters are stored and returned unchanged", async () => {
    const chatId = "hard-text";
    const meta = { [HARD_TEXT]: HARD_TEXT };
    const answer = await post({ text: HARD_TEXT, chatId, userId: HARD_TEXT, meta });
    expect(answer.texts).toEqual([HARD_TEXT]);
    const rows = await queryDatabase(
      product.databaseUrl,
      `SELECT m.text, m.user_id, m.channel_meta FROM messages m JOIN chats c USING (ticket_id) WHERE c.chat_id = $1`,
      [chatId],
    );
    expect(rows).toEqual([
      { text: HARD_TEXT, user_id: HARD_TEXT, channel_meta: { [HARD_TEXT]: HARD_TEXT, userId: HARD_TEXT } },
    ]);
  });
});

describe("the drain's query and path", () => {
  test.each([
    ["wait", ["-1", "60001", "1.5", "1e3", "", "5x", "NaN", "Infinity", "+5", " 5", "٣", "0x10"]],
    ["after", ["-1", "x", "", "1.5", "9999999999999999", "null"]],
    ["peek", ["2", "true", "", "yes"]],
  ])("400 for a bad %s", async (name, values) => {
    for (const value of values) {
      expectProblem(await drain(`?${name}=${encodeURIComponent(value)}`), "invalid_request", [`/${name}`]);
    }
  });

  test("400 for a duplicate parameter", async () => {
    expectProblem(await drain("?wait=1&wait=2"), "invalid_request", ["/wait"]);
  });

  test("400 lists all invalid parameters", async () => {
    expectProblem(await drain("?wait=-1&after=x&peek=7"), "invalid_request", ["/wait", "/after", "/peek"]);
  });

  test("accepts the longest wait and unknown parameters", async () => {
    // The reply ends the wait.
    await post({ ...accepted, chatId: "chat" });
    expect((await drain("?peek=1&wait=60000&colour=blue&__proto__=1")).status).toBe(200);
  });

  test.each(["%00", "a%0Ab", "%7F", "issue%3A1", "%2E%2E", "%2e", "x".repeat(201)])(
    "400 for the invalid chatId %s",
    async (path) => {
      expectProblem(await askPath(`/api/v1/messages/${path}`), "invalid_request", ["/chatId"]);
    },
  );

  test.each(["%", "%zz", "a%2", "%E0%A4%A", "%ff", "%ED%A0%80", "%C0%AF"])(
    "400 for the path %s, which is not percent-encoded UTF-8",
    async (path) => {
      expectProblem(await askPath(`/api/v1/messages/${path}`), "invalid_request");
    },
  );
});

function askPath(path: string, method = "GET"): Promise<ApiAnswer> {
  return sendRaw(api.baseUrl(), { method, path, headers: [["X-Api-Key", product.adminKey]] });
}

describe("413", () => {
  const tooLarge = JSON.stringify({ ...accepted, extra: "x".repeat(2 * 1024 * 1024) });

  test("for a body of 2 MB with Content-Length, with the limit in the error", async () => {
    const answer = await postBody(tooLarge);
    expectProblem(answer, "payload_too_large");
    expect(answer.body.detail).toContain(String(LIMITS.bodyMaxBytes));
  });

  test("for a chunked body of 2 MB", async () => {
    const response = await fetch(`${api.baseUrl()}/api/v1/messages`, {
      method: "POST",
      headers: { "X-Api-Key": product.adminKey, "Content-Type": "application/json" },
      body: new Blob([tooLarge]).stream(),
      duplex: "half",
    });
    expectProblem(apiAnswer(response.status, response.headers, await response.text()), "payload_too_large");
  });

  test("for one byte more than 1 MB", async () => {
    const body = JSON.stringify({ ...accepted, extra: "" }).replace('""', `"${"x".repeat(1_048_576 - 41)}"`);
    expectProblem(await postBody(body), "payload_too_large");
  });

  test("and the next call of the same client succeeds", async () => {
    for (let round = 0; round < 3; round++) {
      expectProblem(await postBody(tooLarge), "payload_too_large");
      expect((await post(accepted)).status).toBe(202);
    }
  });
});

describe("415", () => {
  const json = JSON.stringify(accepted);

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "*/*",
  ])("for the media type %s", async (type) => {
    expectProblem(await postBody(json, { "Content-Type": type }), "unsupported_media_type");
  });

  test("for a body without a media type", async () => {
    const answer = await sendRaw(api.baseUrl(), {
      method: "POST",
      path: "/api/v1/messages",
      headers: [["X-Api-Key", product.adminKey]],
      body: json,
    });
    expectProblem(answer, "unsupported_media_type");
  });

  test.each(["gzip", "br", "deflate", "zstd", "gzip, gzip"])("for the Content-Encoding %s", async (encoding) => {
    expectProblem(
      await postBody(Buffer.from(gzipSync(json)), { "Content-Encoding": encoding }),
      "unsupported_media_type",
    );
  });

  test("but not for other spellings of JSON", async () => {
    for (const type of ["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.acme.chat+json"]) {
      expect((await postBody(json, { "Content-Type": type })).status).toBe(202);
    }
  });
});

describe("405 lists the allowed methods:", () => {
  test.each([
    ["/api/v1/messages", "POST", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]],
    ["/api/v1/messages/chat", "GET, HEAD", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]],
    ["/api/v1/health", "GET, HEAD", ["POST", "PUT", "DELETE", "OPTIONS"]],
  ])("%s allows %s", async (path, allow, methods) => {
    for (const method of methods) {
      const answer = await askPath(path, method);
      expect([method, answer.status, answer.headers.get("allow")]).toEqual([method, 405, allow]);
      if (method !== "HEAD") expectProblem(answer, "method_not_allowed");
    }
  });
});

describe("404 for unknown paths:", () => {
  test.each([
    "/",
    "/api",
    "/api/v1",
    "/api/v1/nothing",
    "/api/v2/messages",
    "/API/V1/health",
    "/api/v1/messages/a/b",
    "//",
    "/%E0%A4%A",
  ])("%s", async (path) => {
    expectProblem(await askPath(path), "not_found");
  });
});

describe("X-Request-Id", () => {
  const idOf = async (given?: string) => {
    const answer = await callApi(`${api.baseUrl()}/api/v1/nothing`, {
      headers: given === undefined ? {} : { "X-Request-Id": given },
    });
    expect(answer.body.requestId).toBe(answer.headers.get("x-request-id"));
    return answer.headers.get("x-request-id");
  };

  test.each(["a", "req-1_2.3:4", "X".repeat(128)])("is that of the request if it is a valid token: %s", async (id) => {
    expect(await idOf(id)).toBe(id);
    expect((await api.send("echo", accepted, { headers: { "X-Request-Id": id } })).headers.get("x-request-id")).toBe(
      id,
    );
  });

  test.each(["", "two words", "X".repeat(129), "<script>", "a,b", "é", '"', "a/b"])(
    "is a new one if that of the request is invalid: %j",
    async (id) => {
      expect(await idOf(id)).toMatch(UUID);
    },
  );

  test("is a new one if the request has two", async () => {
    const answer = await sendRaw(api.baseUrl(), {
      path: "/api/v1/health",
      headers: [
        ["X-Request-Id", "one"],
        ["X-Request-Id", "two"],
      ],
    });
    expect(answer.headers.get("x-request-id")).toMatch(UUID);
  });

  test("is unique if the request has none", async () => {
    expect(await idOf()).not.toBe(await idOf());
  });
});

describe("any request at all", () => {
  const wellFormed = (maxLength: number) =>
    fc.string({ unit: "binary", minLength: 1, maxLength }).filter((text) => !text.includes(NUL));
  const name = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
    .filter((id) => !/\p{Cc}/u.test(id) && !/^\.{1,2}$/.test(id) && id.isWellFormed());
  const validFields = {
    text: wellFormed(200).filter((text) => /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u.test(text)),
    chatId: name,
    userId: wellFormed(40),
    meta: fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 5 }), { maxKeys: 5 }),
    timeoutMs: fc.integer({ min: 1, max: 120_000 }),
  };
  const valid = fc.record(validFields, { requiredKeys: ["text"] }).map((request) => ({ ...request, mode: "async" }));
  const notA = (type: string) => fc.jsonValue({ maxDepth: 2 }).filter((value) => typeof value !== type);
  const malformed = fc.constantFrom(NUL, LONE, "\udc00", `a${NUL}`, `${LONE}b`);
  const invalidFields = {
    text: fc.oneof(notA("string"), malformed, fc.constantFrom("", " ", "\n\t", "x".repeat(50_001))),
    chatId: fc.oneof(notA("string"), malformed, fc.constantFrom("", ".", "..", "\u0001", "issue:x", "x".repeat(201))),
    userId: fc.oneof(notA("string"), malformed, fc.constantFrom("", "x".repeat(201))),
    meta: fc.oneof(
      fc.jsonValue().filter((value) => typeof value !== "object" || value === null || Array.isArray(value)),
      malformed.map((text) => ({ a: { b: [text] } })),
    ),
    mode: fc.jsonValue().filter((value) => typeof value !== "string" || !["sync", "async", "webhook"].includes(value)),
    timeoutMs: fc.oneof(
      notA("number"),
      fc.integer({ max: 0 }),
      fc.integer({ min: 120_001 }),
      fc.double({ min: 1.1, max: 1.9, noNaN: true }),
    ),
  };

  test("that matches the schema is accepted", async () => {
    await fc.assert(
      fc.asyncProperty(valid, async (request) => {
        const answer = await post(request);
        expect([answer.status, answer.body.ok]).toEqual([202, true]);
        if (request.chatId !== undefined) expect(answer.body.chatId).toBe(request.chatId);
      }),
      { numRuns: RUNS },
    );
  });

  test("with invalid fields is rejected with exactly these fields", async () => {
    const bad = fc.record(invalidFields, { requiredKeys: [] }).filter((fields) => Object.keys(fields).length > 0);
    await fc.assert(
      fc.asyncProperty(valid, bad, async (request, errors) => {
        const pointers = Object.keys(errors).map((field) => `/${field}`);
        expectProblem(await post({ ...request, ...errors }), "invalid_request", pointers);
      }),
      { numRuns: RUNS },
    );
  });

  test("with any JSON or bytes as body gets a response other than an error of the service", async () => {
    const anyBody = fc.oneof(
      fc.json(),
      fc.string({ unit: "binary" }),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(anyBody, async (body) => {
        const answer = await postBody(body);
        expectProblem(answer, answer.body.code === "invalid_json" ? "invalid_json" : "invalid_request");
      }),
      { numRuns: RUNS },
    );
  });

  test("with any path and query gets a response other than an error of the service", async () => {
    const part = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }).map((text) => encodeURIComponent(text)),
      fc.stringMatching(/^[!-~]{0,20}$/).map((text) => text.replaceAll(/[?#]/g, "%")),
    );
    await fc.assert(
      fc.asyncProperty(part, part, async (path, query) => {
        const { status, headers } = await askPath(`/api/v1/messages/${path}?${query}`);
        expect([200, 400, 404, 405]).toContain(status);
        expect(headers.get("x-request-id")).toMatch(UUID);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("afterwards", () => {
  test("truncated bodies affect no other call", async () => {
    const head = `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${product.adminKey}\r\nContent-Type: application/json\r\n`;
    const { hostname, port } = new URL(api.baseUrl());
    for (const rest of [
      'Content-Length: 1000\r\n\r\n{"text":',
      'Transfer-Encoding: chunked\r\n\r\n5\r\n{"tex',
      `Content-Length: 3000000\r\n\r\n${"x".repeat(1_500_000)}`,
      `Transfer-Encoding: chunked\r\n\r\n16e360\r\n${"x".repeat(1_500_000)}`,
    ]) {
      const socket = connect({ host: hostname, port: Number(port) });
      await once(socket, "connect");
      // The service may close the connection first; then it cannot be dropped.
      socket.on("error", () => undefined);
      await new Promise<void>((resolve) => {
        socket.write(head + rest, () => resolve());
      });
      socket.destroy();
      expect((await post(accepted)).status).toBe(202);
    }
  });

  test("every process still responds, and has logged no internal error", async () => {
    const { processes } = product.composition;
    for (const { name, apiUrl, output } of processes) {
      if (apiUrl !== undefined) expect((await callApi(`${apiUrl}/api/v1/health`)).body.status).toBe("pass");
      const errors = output()
        .split("\n")
        .filter((line) => /"level":"(?:error|fatal)"/.test(line));
      expect({ name, errors }).toEqual({ name, errors: [] });
    }
    expect((await post({ text: "still there?" })).texts).toEqual([HARD_TEXT]);
  });
});
