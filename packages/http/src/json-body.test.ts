import { request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import { collectLog, waitFor } from "@svc/testing";
import type { LogLine } from "@svc/testing";
import type { Request, Response } from "express";
import { createApp } from "./create-app.ts";
import { readJsonBody } from "./json-body.ts";
import { listen } from "./listen.ts";
import type { Listening } from "./listen.ts";

const MAX_BYTES = 1_000;

let server: Listening;
let lines: () => LogLine[];
/** Result of each body: "read", or the error code. */
let outcomes: string[];
/** Delays the next read. */
let beforeReading: (request: IncomingMessage) => Promise<void> = () => Promise.resolve();

async function answerBody(request: Request, response: Response): Promise<void> {
  await beforeReading(request);
  try {
    const body = await readJsonBody(request, MAX_BYTES);
    outcomes.push("read");
    response.json({ body });
  } catch (error) {
    outcomes.push(error instanceof ServiceError ? error.code : String(error));
    throw error;
  }
}

beforeAll(async () => {
  const collected = collectLog();
  lines = collected.lines;
  const app = createApp(collected.log, (routes) => {
    routes.post("/body", (request, response) => answerBody(request, response));
  });
  server = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_API_PORT" });
});

beforeEach(() => {
  outcomes = [];
  beforeReading = () => Promise.resolve();
});

afterAll(async () => {
  await server.close(1_000);
  // No body of a client caused an internal error.
  expect(lines().filter(({ level }) => level !== "debug")).toEqual([]);
});

interface Answer {
  status: number;
  body: { body?: unknown; code?: string; detail?: string };
}

function begin(headers: Record<string, string | number>): { request: ClientRequest; answer: Promise<Answer> } {
  const request = httpRequest({ port: server.port, host: "127.0.0.1", path: "/body", method: "POST", headers });
  const answer = new Promise<Answer>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answer["body"] });
      });
    });
  });
  return { request, answer };
}

const JSON_TYPE = { "Content-Type": "application/json" };

/** Sends a body with its length announced. */
function post(body: string | Buffer, headers: Record<string, string> = JSON_TYPE): Promise<Answer> {
  const { request, answer } = begin({ ...headers, "Content-Length": Buffer.byteLength(body) });
  request.end(body);
  return answer;
}

/** Sends a body in chunks, without a length. */
async function postChunked(parts: (string | Buffer)[]): Promise<Answer> {
  const { request, answer } = begin({ ...JSON_TYPE, "Transfer-Encoding": "chunked" });
  for (const part of parts) {
    await new Promise<void>((resolve) => {
      request.write(part, () => resolve());
    });
  }
  request.end();
  return answer;
}

/** Sends a raw request, and reads until the server closes the connection. */
async function exchange(text: string): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.write(text);
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

const jsonOfBytes = (sizeBytes: number) => JSON.stringify("x".repeat(sizeBytes - 2));
const TOO_LARGE = {
  status: 413,
  body: { code: "payload_too_large", detail: expect.stringContaining(String(MAX_BYTES)) },
};

describe("a JSON body", () => {
  test.each<[string, unknown]>([
    ['{"a":[1,null,"é😀"]}', { a: [1, null, "é😀"] }],
    [" \n[]\t", []],
    ['"text"', "text"],
    ["0", 0],
    ["null", null],
    ["\ufeff{}", {}],
  ])("is read: %j", async (text, body) => {
    expect(await post(text)).toEqual({ status: 200, body: { body } });
    expect(await postChunked([text])).toEqual({ status: 200, body: { body } });
  });

  test("is put together from its pieces, also where a character is cut in two", async () => {
    const bytes = Buffer.from('{"a":"é😀"}');
    const parts = Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1));
    expect(await postChunked(parts)).toEqual({ status: 200, body: { body: { a: "é😀" } } });
  });

  test("keeps a key __proto__ as data", async () => {
    const { body } = await post('{"__proto__":{"a":1}}');
    expect(JSON.stringify(body)).toBe('{"body":{"__proto__":{"a":1}}}');
  });

  test.each([
    "application/json; charset=utf-8",
    'application/json;charset="UTF8"',
    "application/json; a=b; CHARSET=us-ascii",
    "APPLICATION/JSON",
    "application/json ;a=b",
    "application/merge-patch+json",
  ])("may be called %s", async (type) => {
    expect((await post("{}", { "Content-Type": type })).status).toBe(200);
  });

  test.each(["text/plain", "text/json", "application/jsonx", "application/x-www-form-urlencoded", "json", ""])(
    "that is called %j is 415",
    async (type) => {
      expect(await post("{}", { "Content-Type": type })).toMatchObject({
        status: 415,
        body: { code: "unsupported_media_type", detail: expect.stringContaining("Content-Type: application/json") },
      });
    },
  );

  test.each(["iso-8859-1", "utf-16", "UTF-16LE", '"windows-1252"', "utf-8; charset=utf-16", "utf-8x"])(
    "in the charset %s is 415",
    async (charset) => {
      expect(await post("{}", { "Content-Type": `application/json; charset=${charset}` })).toMatchObject({
        status: 415,
        body: { code: "unsupported_media_type", detail: expect.stringContaining("UTF-8") },
      });
    },
  );

  test("with two media types is 415", async () => {
    const head = "POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n";
    const types = "Content-Type: application/json\r\nContent-Type: text/plain\r\n";
    expect(await exchange(`${head}${types}\r\n{}`)).toMatch(/^HTTP\/1.1 415 [^]*"unsupported_media_type"/);
  });

  test("that is compressed in its transfer is 415", async () => {
    const head = "POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n";
    const answer = await exchange(`${head}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 415 [^]*"unsupported_media_type"/);
  });

  test("without a media type is 415", async () => {
    expect((await post("{}", {})).status).toBe(415);
  });

  test.each(["gzip", "GZIP", "br", "deflate", "gzip, identity"])("that is compressed (%s) is 415", async (encoding) => {
    expect(await post(gzipSync("{}"), { ...JSON_TYPE, "Content-Encoding": encoding })).toMatchObject({
      status: 415,
      body: { code: "unsupported_media_type", detail: expect.stringContaining("Content-Encoding") },
    });
  });

  test("whose encoding is identity is not compressed", async () => {
    expect((await post("{}", { ...JSON_TYPE, "Content-Encoding": "identity" })).status).toBe(200);
  });

  test.each(["", " ", "{", "{a:1}", "{}{}", "{'a':1}", "[1,]", "NaN", "undefined", '"\n"', "\u0000{}", "{}\u0000"])(
    "that is no JSON is invalid_json: %j",
    async (text) => {
      expect(await post(text)).toMatchObject({
        status: 400,
        body: {
          code: "invalid_json",
          detail: expect.stringMatching(
            /^The body is (?:empty\. Send a JSON object|not valid JSON(?:: error at character \d+)?)\.$/,
          ),
        },
      });
    },
  );

  test("that is no JSON is told where it is wrong, and nothing of what it says", async () => {
    const { body } = await post('{"secret": "value", }');
    expect(body).toMatchObject({ detail: "The body is not valid JSON: error at character 21." });
  });

  test.each([
    ["a byte that never occurs", [0x22, 0xff, 0x22]],
    ["half a character", [0x22, 0xc3, 0x22]],
    ["half a character at the end", [0x22, 0x22, 0xe2, 0x82]],
    ["an overlong slash", [0x22, 0xc0, 0xaf, 0x22]],
    ["a surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ["UTF-16", [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])("that is no UTF-8 is invalid_json: %s", async (_what, bytes) => {
    expect(await post(Buffer.from(bytes))).toMatchObject({
      status: 400,
      body: { code: "invalid_json", detail: "The body is not valid UTF-8." },
    });
  });
});

describe("the limit of a body", () => {
  test("lets exactly so many bytes through, announced or in pieces", async () => {
    const largest = jsonOfBytes(MAX_BYTES);
    expect((await post(largest)).status).toBe(200);
    expect((await postChunked([largest.slice(0, 500), largest.slice(500)])).status).toBe(200);
  });

  test("is said to whoever sends one byte more, announced or in pieces", async () => {
    const larger = jsonOfBytes(MAX_BYTES + 1);
    expect(await post(larger)).toMatchObject(TOO_LARGE);
    expect(await postChunked([larger.slice(0, 500), larger.slice(500)])).toMatchObject(TOO_LARGE);
  });

  test("counts bytes, not characters", async () => {
    expect(await post(JSON.stringify("é".repeat(MAX_BYTES / 2)))).toMatchObject(TOO_LARGE);
  });

  test("is told without waiting for what was announced", async () => {
    const { request, answer } = begin({ ...JSON_TYPE, "Content-Length": 100_000_000 });
    request.write("[");
    expect(await answer).toMatchObject(TOO_LARGE);
    request.destroy();
  });

  test("is told to a sender that writes all of it before it reads", async () => {
    for (let round = 0; round < 10; round++) expect(await post(jsonOfBytes(MAX_BYTES * 5))).toMatchObject(TOO_LARGE);
  });

  test("cuts off whoever never ends", async () => {
    const { request, answer } = begin({ ...JSON_TYPE, "Transfer-Encoding": "chunked" });
    // Either an early response or a closed connection: the server must not read everything.
    const outcome = answer.then(
      () => "told",
      () => "cut",
    );
    let isClosed = false;
    request.on("error", () => (isClosed = true)).on("close", () => (isClosed = true));
    await waitFor(
      () => {
        if (!isClosed) request.write("x".repeat(MAX_BYTES));
        return isClosed;
      },
      { what: "the server to cut the connection" },
    );
    await outcome;
    expect(outcomes).toEqual(["payload_too_large"]);
  });
});

describe("a connection that is cut", () => {
  const HEAD = "POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";

  /** Sends a part of a request and then closes the connection. */
  function cutAfter(text: string, isReady: () => boolean = () => true): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.write(text, () => {
          waitFor(isReady, { what: "the time to cut" }).then(() => socket.resetAndDestroy(), reject);
        });
      });
      socket.on("close", () => resolve());
      socket.on("error", reject);
    });
  }

  test.each([
    ["with its length announced", `${HEAD}Content-Length: 500\r\n\r\n{"a":`],
    ["in pieces", `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`],
    ["before any of it", `${HEAD}Content-Length: 500\r\n\r\n`],
  ])("in the middle of a body, %s, ends its request, and the server goes on", async (_how, text) => {
    let begun = false;
    beforeReading = async () => {
      begun = true;
      await Promise.resolve();
    };
    await cutAfter(text, () => begun);
    await waitFor(() => outcomes.length === 1, { what: "the request to end" });
    expect(outcomes).toEqual(["invalid_request"]);
    expect((await post("{}")).status).toBe(200);
  });

  test("before the body is asked for ends its request too", async () => {
    let begun = false;
    beforeReading = async (request) => {
      begun = true;
      await waitFor(() => request.destroyed, { what: "the request to be cut" });
    };
    await cutAfter(`${HEAD}Content-Length: 500\r\n\r\n{"a":`, () => begun);
    await waitFor(() => outcomes.length === 1, { what: "the request to end" });
    expect(outcomes).toEqual(["invalid_request"]);
  });
});
