import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectDecent } from "./support/expect-decent.ts";
import { expectHealthy } from "./support/expect-healthy.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { exchangeRaw, openRawConnection } from "./support/open-raw-connection.ts";
import type { RawConnection } from "./support/open-raw-connection.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
const MESSAGES = "/api/v1/messages";
const CHAT = `${MESSAGES}/chat`;

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  await addProject(product.store, "fixed", { fixedReply: FIXED });
});

afterAll(() => product.stop());

/** Returns the bytes of a request: first line, headers in order, body. Nothing is added or corrected. */
function bytesOf(line: string, headers: readonly string[], body: string | Buffer = ""): Buffer {
  return Buffer.concat([Buffer.from([line, ...headers, "", ""].join("\r\n"), "latin1"), Buffer.from(body)]);
}

const host = "Host: api.example";
const keyed = () => [host, `X-Api-Key: ${product.adminKey}`, "x-svc-project: fixed"];
const jsonType = "Content-Type: application/json";
const message = (chatId: string) => JSON.stringify({ text: "hello", mode: "async", chatId });
const lengthOf = (body: string) => `Content-Length: ${Buffer.byteLength(body)}`;
const chunk = (text: string, extension = "") => `${text.length.toString(16)}${extension}\r\n${text}\r\n`;

/** Sends bytes on a new connection and returns the first response, which must be valid whatever was sent. */
async function send(bytes: Buffer, options: { endsInput?: boolean } = {}): Promise<ApiAnswer> {
  const { answers, rest } = await exchangeRaw(api.baseUrl(), bytes, options);
  const [answer] = answers;
  if (answer === undefined) throw new Error(`there was no answer, but ${JSON.stringify(rest)}`);
  expectDecent(answer);
  return answer;
}

const get = (target: string, headers: readonly string[] = keyed()) => send(bytesOf(`GET ${target} HTTP/1.1`, headers));

/** Sends a POST with the given framing headers. */
const post = (framing: readonly string[], body: string | Buffer, options: { endsInput?: boolean } = {}) =>
  send(bytesOf(`POST ${MESSAGES} HTTP/1.1`, [...keyed(), jsonType, ...framing], body), options);

/** Expects the problem for invalid HTTP, and that the connection is closed. */
function expectBroken(answer: ApiAnswer, status = 400): void {
  expect(answer.body).toMatchObject({ ok: false, code: "invalid_request", status, detail: expect.any(String) });
  expect([answer.status, answer.headers.get("connection")]).toEqual([status, "close"]);
}

describe("400 for invalid HTTP:", () => {
  const unmade: [what: string, text: string][] = [
    ["words", "hello there\r\n\r\n"],
    ["a method that nobody knows", `FOO ${CHAT} HTTP/1.1\r\n${host}\r\n\r\n`],
    ["a method in small letters", `get ${CHAT} HTTP/1.1\r\n${host}\r\n\r\n`],
    ["HTTP/2 without asking", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a version that nobody knows", `GET ${CHAT} HTTP/9.9\r\n${host}\r\n\r\n`],
    ["a path without its slash", `GET api/v1/health HTTP/1.1\r\n${host}\r\n\r\n`],
    ["a path with raw bytes beyond ASCII", `GET ${MESSAGES}/\u00e9 HTTP/1.1\r\n${host}\r\n\r\n`],
    ["a raw control character in the path", `GET ${MESSAGES}/\u0001 HTTP/1.1\r\n${host}\r\n\r\n`],
    ["a header without a colon", `GET ${CHAT} HTTP/1.1\r\n${host}\r\nX-Api-Key\r\n\r\n`],
    ["a space before a colon", `GET ${CHAT} HTTP/1.1\r\n${host}\r\nX-Api-Key : key\r\n\r\n`],
    ["a space in the name of a header", `GET ${CHAT} HTTP/1.1\r\n${host}\r\nX Api Key: key\r\n\r\n`],
    ["a header that goes on in the next line", `GET ${CHAT} HTTP/1.1\r\n${host}\r\nX-Api-Key: a\r\n b\r\n\r\n`],
    ["NUL in a header", `GET ${CHAT} HTTP/1.1\r\n${host}\r\nX-Api-Key: a\u0000b\r\n\r\n`],
    ["a bare line feed after each line", `GET ${CHAT} HTTP/1.1\n${host}\n\n`],
    ["a bare carriage return in a header", `GET ${CHAT} HTTP/1.1\r\n${host}\r\nX-Api-Key: a\rb\r\n\r\n`],
  ];
  test.each(unmade)("%s", async (_what, text) => {
    expectBroken(await send(Buffer.from(text, "latin1")));
  });

  test("a TLS handshake", async () => {
    expectBroken(await send(Buffer.from("16030100020100fc0303", "hex")));
  });

  test("HTTP/1.1 without a Host, or with two of them", async () => {
    for (const hosts of [[], [host, host], [host, "Host: other.example"]]) {
      expectBroken(await get("/api/v1/health", hosts));
    }
  });
});

describe("431 for excessive headers:", () => {
  test.each([
    ["one giant header", [`X-Giant: ${"x".repeat(100_000)}`]],
    ["a giant key", [`Authorization: Bearer ${"k".repeat(100_000)}`]],
    ["thousands of headers", Array.from({ length: 5_000 }, (_, index) => `X-Header-${index}: value`)],
  ])("%s", async (_what, headers) => {
    expectBroken(await get("/api/v1/health", [host, ...headers]), 431);
  });

  test("a giant path", async () => {
    expectBroken(await get(`${MESSAGES}/${"x".repeat(100_000)}`), 431);
  });
});

describe("many unknown headers", () => {
  test("are accepted: 200 of them", async () => {
    const many = Array.from({ length: 200 }, (_, index) => `X-Header-${index}: value ${index}`);
    expect((await get(CHAT, [...keyed(), ...many])).status).toBe(200);
    expect((await get(CHAT, [...many, ...keyed()])).status).toBe(200);
  });

  test("do not displace the key or the Host: as many as fit", async () => {
    const many = Array.from({ length: 1_500 }, (_, index) => `${index.toString(36)}:`);
    expect((await get(CHAT, [...many, ...keyed()])).status).toBe(200);
  });
});

describe("a body with another length than declared", () => {
  const body = message("lengths");

  test.each([
    ["negative", ["Content-Length: -1"]],
    ["hexadecimal", ["Content-Length: 0x10"]],
    ["with a sign", ["Content-Length: +10"]],
    ["no number", ["Content-Length: many"]],
    ["two lengths", ["Content-Length: 5", lengthOf(body)]],
    ["the same length twice", [lengthOf(body), lengthOf(body)]],
    ["a list of lengths", ["Content-Length: 5, 5"]],
    ["a length and chunks", [lengthOf(body), "Transfer-Encoding: chunked"]],
    ["chunks that are none", ["Transfer-Encoding: xchunked"]],
    ["chunks before another coding", ["Transfer-Encoding: chunked, gzip"]],
  ])("is 400: %s", async (_what, framing) => {
    expectBroken(await post(framing, body));
  });

  test.each([
    ["a size that is no number", `zz\r\n${body}\r\n0\r\n\r\n`],
    ["a size beyond all numbers", `${"f".repeat(17)}\r\n${body}\r\n0\r\n\r\n`],
    ["a size that is too small", `5\r\n${body}\r\n0\r\n\r\n`],
    ["a negative size", `-5\r\n${body}\r\n0\r\n\r\n`],
  ])("is 400 in chunks: %s", async (_what, chunks) => {
    expectBroken(await post(["Transfer-Encoding: chunked"], chunks));
  });

  test("is 400 if it is shorter", async () => {
    expectBroken(await post(["Content-Length: 500"], body, { endsInput: true }));
    expectBroken(await post(["Transfer-Encoding: chunked"], chunk(body), { endsInput: true }));
  });

  test("is 400 if it is longer, and the rest is not parsed as a request", async () => {
    const smuggled = bytesOf(`POST ${MESSAGES} HTTP/1.1`, [...keyed(), jsonType, lengthOf(body)], body);
    for (const length of [0, 5]) {
      const bytes = bytesOf(`POST ${MESSAGES} HTTP/1.1`, [...keyed(), jsonType, `Content-Length: ${length}`], body);
      const { answers } = await exchangeRaw(api.baseUrl(), Buffer.concat([bytes, smuggled]), { count: 2 });
      expect(answers.map(({ status }) => status)).toEqual([400]);
    }
    expect((await api.drain("fixed", "lengths", "?wait=100")).replies).toEqual([]);
  });

  test("is 415 if it has a compressed Transfer-Encoding", async () => {
    const answer = await post(["Transfer-Encoding: gzip, chunked"], `${chunk(body)}0\r\n\r\n`);
    expectProblem(answer, "unsupported_media_type");
  });
});

describe("accepted although rare:", () => {
  /** Checks that the message was accepted once, with its own text. */
  async function expectArrived(answer: ApiAnswer, chatId: string): Promise<void> {
    expect([answer.status, answer.body.chatId]).toEqual([202, chatId]);
    expect((await api.drain("fixed", chatId, "?wait=20000")).texts).toEqual([FIXED]);
  }

  test("chunks of one byte, with extensions", async () => {
    const body = message("chunks");
    const chunks = Array.from(body, (character) => chunk(character, ';name="value"')).join("");
    await expectArrived(await post(["Transfer-Encoding: chunked"], `${chunks}0\r\n\r\n`), "chunks");
  });

  test("trailers, which are neither headers nor credentials", async () => {
    const body = message("trailers");
    const trailers = `Content-Encoding: gzip\r\nX-Api-Key: another\r\nx-svc-project: another\r\n`;
    const answer = await post(["Transfer-Encoding: chunked"], `${chunk(body)}0\r\n${trailers}\r\n`);
    await expectArrived(answer, "trailers");

    const keyless = [host, jsonType, "Transfer-Encoding: chunked", "Trailer: X-Api-Key"];
    const keyInTrailer = `${chunk(body)}0\r\nX-Api-Key: ${product.adminKey}\r\n\r\n`;
    expectProblem(await send(bytesOf(`POST ${MESSAGES} HTTP/1.1`, keyless, keyInTrailer)), "missing_key");
  });

  test("Expect: 100-continue, which gets 100, and other expectations, which are ignored", async () => {
    for (const [expectation, interim] of [
      ["100-continue", [100]],
      ["200-maybe", []],
    ] as const) {
      const chatId = `expects-${expectation}`;
      const body = message(chatId);
      const connection = await openRawConnection(api.baseUrl());
      try {
        const headers = [...keyed(), jsonType, lengthOf(body), `Expect: ${expectation}`];
        connection.write(bytesOf(`POST ${MESSAGES} HTTP/1.1`, headers));
        connection.write(body);
        const parsed = await connection.answered();
        expect(parsed.interim).toEqual(interim);
        const [answer] = parsed.answers;
        if (answer === undefined) throw new Error("there was no answer");
        expectDecent(answer);
        await expectArrived(answer, chatId);
      } finally {
        connection.hangUp();
      }
    }
  });

  test("100 Continue, also before an error such as a missing key", async () => {
    const headers = [host, jsonType, "Content-Length: 5", "Expect: 100-continue"];
    expectProblem(await send(bytesOf(`POST ${MESSAGES} HTTP/1.1`, headers, "12345")), "missing_key");
  });

  test("HTTP/1.0, with and without a Host; the connection is closed after the response", async () => {
    const body = message("old");
    const headers = [...keyed().slice(1), jsonType, lengthOf(body)];
    const answer = await send(bytesOf(`POST ${MESSAGES} HTTP/1.0`, headers, body));
    expect(answer.headers.get("connection")).toBe("close");
    await expectArrived(answer, "old");
    expect((await send(bytesOf("GET /api/v1/health HTTP/1.0", [host]))).status).toBe(200);
  });

  test("empty lines before a request", async () => {
    expect(
      (await send(Buffer.concat([Buffer.from("\r\n\r\n"), bytesOf(`GET ${CHAT} HTTP/1.1`, keyed())]))).status,
    ).toBe(200);
  });

  test("an absolute URL instead of a path, with any host", async () => {
    for (const address of ["http://api.example", "https://elsewhere.example:8443", "http://user:word@[::1]:1"]) {
      const answer = await get(`${address}${CHAT}`);
      expect([answer.status, answer.body.chatId]).toEqual([200, "chat"]);
    }
  });

  test("an Upgrade to another protocol, which is ignored", async () => {
    for (const protocol of ["websocket", "h2c", "TLS/1.0"]) {
      const wish = ["Connection: Upgrade", `Upgrade: ${protocol}`, "Sec-WebSocket-Version: 13"];
      expect((await get(CHAT, [...keyed(), ...wish])).status).toBe(200);
    }
  });

  test("a GET with a body, which is ignored", async () => {
    const bytes = bytesOf(`GET ${CHAT} HTTP/1.1`, [...keyed(), "Content-Length: 8"], "not json");
    expect((await send(bytes)).status).toBe(200);
  });
});

describe("pipelined requests", () => {
  test("are all answered in order, even if a later one would be faster", async () => {
    const body = message("pipelined");
    const named = (name: string) => [...keyed(), `X-Request-Id: ${name}`];
    const bytes = Buffer.concat([
      bytesOf(`GET ${MESSAGES}/nothing-comes?wait=300 HTTP/1.1`, named("waits")),
      bytesOf(`POST ${MESSAGES} HTTP/1.1`, [...named("posts"), jsonType, lengthOf(body)], body),
      bytesOf("GET /api/v1/nothing HTTP/1.1", named("finds-nothing")),
      bytesOf("GET /api/v1/health HTTP/1.1", named("asks")),
    ]);
    const { answers, rest } = await exchangeRaw(api.baseUrl(), bytes, { count: 4 });
    for (const answer of answers) expectDecent(answer);
    expect(answers.map(({ status, headers }) => [headers.get("x-request-id"), status])).toEqual([
      ["waits", 200],
      ["posts", 202],
      ["finds-nothing", 404],
      ["asks", 200],
    ]);
    expect(rest).toBe("");
  });

  test("end at the first invalid one", async () => {
    const bytes = Buffer.concat([Buffer.from("nonsense\r\n\r\n"), bytesOf("GET /api/v1/health HTTP/1.1", [host])]);
    const { answers } = await exchangeRaw(api.baseUrl(), bytes, { count: 2 });
    expect(answers.map(({ status }) => status)).toEqual([400]);
  });

  test("leave the reply of a waiting call to the drain if invalid HTTP follows", async () => {
    /**
     * Returns the chat of such a call; null if the connection closed before its body was read, so that no message was
     * stored.
     */
    async function tryCall(): Promise<string | null> {
      const chatId = randomUUID();
      const body = JSON.stringify({ text: "hello", chatId });
      const call = bytesOf(`POST ${MESSAGES} HTTP/1.1`, [...keyed(), jsonType, lengthOf(body)], body);
      const { answers } = await exchangeRaw(api.baseUrl(), Buffer.concat([call, Buffer.from("nonsense\r\n\r\n")]));
      expect(answers.map(({ status }) => status)).toEqual([400]);
      const isAccepted = async () =>
        (await queryDatabase(product.databaseUrl, "SELECT 1 FROM chats WHERE chat_id = $1", [chatId])).length === 1;
      return waitFor(isAccepted, { what: "ID of the message", timeoutMs: 2_000 }).then(
        () => chatId,
        () => null,
      );
    }
    let chatId: string | null = null;
    for (let tries = 0; chatId === null && tries < 12; tries++) chatId = await tryCall();
    if (chatId === null) throw new Error("no such call was read before its connection ended");
    expect((await api.drain("fixed", chatId, "?wait=20000")).texts).toEqual([FIXED]);
    expect((await api.drain("fixed", chatId)).texts).toEqual([]);
  });
});

describe("unsupported methods", () => {
  test.each(["TRACE", "OPTIONS", "PROPFIND", "QUERY", "M-SEARCH"])(
    "%s is 405 with the allowed methods",
    async (method) => {
      for (const [target, allow] of [
        [MESSAGES, "POST"],
        [CHAT, "GET, HEAD"],
      ] as const) {
        const answer = await send(bytesOf(`${method} ${target} HTTP/1.1`, keyed()));
        expectProblem(answer, "method_not_allowed");
        expect(answer.headers.get("allow")).toBe(allow);
        // An echo would reveal the key.
        expect(answer.text).not.toContain(product.adminKey);
      }
    },
  );

  test.each(["OPTIONS", "TRACE"])("%s of everything is 404", async (method) => {
    const answer = await send(bytesOf(`${method} * HTTP/1.1`, keyed()));
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
  });

  test("CONNECT opens no tunnel", async () => {
    for (const target of ["elsewhere.example:443", CHAT, "127.0.0.1:22"]) {
      const connection = await openRawConnection(api.baseUrl());
      try {
        connection.write(bytesOf(`CONNECT ${target} HTTP/1.1`, keyed()));
        const { answers } = await connection.closed();
        expect(answers.length).toBe(1);
        for (const answer of answers) {
          expectDecent(answer);
          expectBroken(answer);
        }
      } finally {
        connection.hangUp();
      }
    }
  });
});

describe("paths", () => {
  test.each([
    "//api/v1/messages/chat",
    "/api//v1/messages/chat",
    "/api/v1//messages/chat",
    "/API/V1/MESSAGES/chat",
    "/api/v1/Messages/chat",
    "/api/v1/messages/../messages/chat",
    "/api/v1/messages/%2e%2e/messages/chat",
    "/api/v1/./messages/chat",
    "/api/v1%2Fmessages%2Fchat",
    "/api%2Fv1/messages/chat",
    "/api/v1/messages;v=1/chat",
    "/api/v1/messages/chat/../../health",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/api/v1/../../../../etc/passwd",
    "/index.html",
    "/.env",
    "/.git/config",
    "/api/v1/__proto__",
    "/constructor",
  ])("are 404 if they only resemble an existing one: %s", async (path) => {
    expectProblem(await get(path), "not_found");
  });

  test.each([
    ["..%2f..%2fhealth", "../../health"],
    ["%2Fetc%2Fpasswd", "/etc/passwd"],
    ["a%2Fb%2F..", "a/b/.."],
    ["%252e%252e", "%2e%2e"],
    ["...", "..."],
    ["a%5C..%5Cb", "a\\..\\b"],
    ["a;b=c", "a;b=c"],
    ["%3Fwait=1", "?wait=1"],
    ["a%23b", "a#b"],
    ["__proto__", "__proto__"],
    ["%20", " "],
    ["a+b", "a+b"],
  ])("contain a chatId exactly as it was encoded: %s", async (path, chatId) => {
    const answer = await get(`${MESSAGES}/${path}`);
    expect([answer.status, answer.body.chatId]).toEqual([200, chatId]);
  });

  test("may have a trailing slash", async () => {
    const body = message("slash");
    const posted = await send(bytesOf(`POST ${MESSAGES}/ HTTP/1.1`, [...keyed(), jsonType, lengthOf(body)], body));
    expect(posted.status).toBe(202);
    const drained = await get(`${MESSAGES}/slash/?wait=20000`);
    expect([drained.body.chatId, drained.texts]).toEqual(["slash", [FIXED]]);
    expectProblem(await get(`${MESSAGES}/slash//`), "not_found");
  });
});

describe("credentials", () => {
  const ask = (headers: string[], query = "") => get(`${CHAT}${query}`, [host, ...headers]);

  test("in a query string are ignored beside a key in a header", async () => {
    expect((await get(`${CHAT}?apiKey=wrong-key-0123456789&access_token=wrong`)).status).toBe(200);
  });

  test("that are equal count as one, whatever the case of headers and scheme", async () => {
    const key = product.adminKey;
    expect((await ask([`AUTHORIZATION: BEARER ${key}`, `x-API-key: ${key}`])).status).toBe(200);
    expect((await ask([`Authorization:Bearer ${key}`, `X-Api-Key:\t${key}  `])).status).toBe(200);
  });

  test("sent twice are rejected, even if equal, empty, or with names in different case", async () => {
    const key = product.adminKey;
    for (const headers of [
      [`Authorization: Bearer ${key}`, `authorization: Bearer ${key}`],
      [`X-Api-Key: ${key}`, `x-api-key: ${key}`],
      ["X-Api-Key: ", `X-Api-Key: ${key}`],
      [`X-Api-Key: ${key}`, "X-Api-Key: wrong-key-0123456789"],
    ]) {
      expectProblem(await ask(headers), "ambiguous_credentials");
    }
  });
});

describe("slow requests", () => {
  /** Interval between writes, short enough that no connection is ever idle. */
  const DRIP_MS = 500;
  /** Longer than every deadline of the service, the longest being 30 s. */
  const TIMEOUT_MS = 50_000;

  /** Opens a connection, writes the beginning, and then a little at a time until the other side closes it. */
  async function drip(beginning: string, drop: string): Promise<RawConnection> {
    const connection = await openRawConnection(api.baseUrl());
    connection.write(beginning);
    const timer = setInterval(() => {
      if (connection.isClosed()) clearInterval(timer);
      else connection.write(drop);
    }, DRIP_MS);
    timer.unref();
    return connection;
  }

  /** Makes normal calls, and checks that the service responds as usual. */
  async function serveOthersUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      expect((await api.send("fixed", { text: "hello" })).texts).toEqual([FIXED]);
      expect((await api.drain("fixed", "nothing-comes", "?wait=2000")).status).toBe(200);
    }
  }

  test("get an error and are disconnected, and block no one else", async () => {
    const keyed = `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${product.adminKey}\r\nx-svc-project: fixed\r\n`;
    const head = `${keyed}Content-Type: application/json\r\n`;
    const slow = await Promise.all([
      // Headers: the limit is 10 s.
      drip("GET /api/v1/health HTTP/1.1\r\nHost: x\r\n", "X-More: more\r\n"),
      drip("GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-Long: ", "x"),
      drip("G", ""),
      drip("\r\n", "\r\n"),
      // Bodies: the limit is 30 s.
      drip(`${head}Content-Length: 1000\r\n\r\n{"text":"`, "x"),
      drip(`${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, "1\r\n \r\n"),
      drip(`${head}Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n`, ""),
      drip(`${keyed}Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\n`, "x"),
    ]);
    try {
      const closing = Promise.all(slow.map((connection) => connection.closed({ timeoutMs: TIMEOUT_MS })));
      let areClosed = false;
      const noted = closing.finally(() => (areClosed = true));
      await serveOthersUntil(() => areClosed);
      const ends = await noted;
      for (const { answers } of ends) for (const answer of answers) expectDecent(answer);
      const [wrongType, ...others] = ends.map(({ answers }) => answers.map(({ status }) => status)).toReversed();
      expect(others).toEqual(others.map(() => [408]));
      // A request that is rejected early gets its response without a delay.
      expect(wrongType?.[0]).toBe(415);
    } finally {
      for (const connection of slow) connection.hangUp();
    }
    await expectHealthy(product);
  }, 120_000);
});

test("after all of this every process is healthy, and has logged no internal error", async () => {
  await expectHealthy(product);
  expect((await api.send("fixed", { text: "still there?" })).texts).toEqual([FIXED]);
});
