import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectDecent } from "./support/expect-decent.ts";
import { expectHealthy } from "./support/expect-healthy.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  await addProject(product.store, "fixed", { fixedReply: FIXED });
});

afterAll(() => product.stop());

/** Posts a body unchanged, with a Content-Length. */
async function post(body: string | Buffer, headers: Record<string, string> = {}): Promise<ApiAnswer> {
  const answer = await api.send("fixed", undefined, { body: Buffer.from(body), headers });
  expectDecent(answer);
  return answer;
}

/** Returns the stored newest message of a chat, with JSON as text. */
async function storedOf(chatId: string): Promise<{ text: string; mode: string; meta: string } | undefined> {
  const rows = await queryDatabase<{ text: string; mode: string; meta: string }>(
    product.databaseUrl,
    `SELECT m.text, m.mode, m.channel_meta::text AS meta FROM messages m JOIN chats c USING (ticket_id)
     WHERE c.chat_id = $1 ORDER BY m.seq DESC LIMIT 1`,
    [chatId],
  );
  return rows[0];
}

describe("nested JSON", () => {
  const KINDS: [kind: string, open: string, inner: string, close: string][] = [
    ["arrays", "[", "", "]"],
    ["objects", '{"a":', "1", "}"],
    ["both by turns", '[{"a":', "1", "}]"],
  ];
  const cases = [10_000, 100_000].flatMap((depth) =>
    KINDS.map(([kind, open, inner, close]): [number, string, string] => {
      const times = depth / (open.split(/[[{]/).length - 1);
      return [depth, kind, open.repeat(times) + inner + close.repeat(times)];
    }),
  );

  test.each(cases)("%i deep, %s: is rejected, and the error shows its path", async (_depth, _kind, deep) => {
    expectProblem(await post(deep), "invalid_request");
    for (const field of ["text", "chatId", "userId", "meta", "mode", "webhookUrl", "timeoutMs"]) {
      const value = field === "meta" ? `{"deep":${deep}}` : deep;
      const others = field === "text" ? "" : '"text":"hello",';
      expectProblem(await post(`{${others}"${field}":${value}}`), "invalid_request", [`/${field}`]);
    }
  });

  test.each(cases)("%i deep, %s: is ignored in an unknown field", async (_depth, _kind, deep) => {
    expect((await post(`{"text":"hello","mode":"async","unknown":${deep}}`)).status).toBe(202);
  });

  test.each(["[", '{"a":', '[{"a":', "[[],"])("without an end is invalid JSON: %s 100,000 times", async (open) => {
    expectProblem(await post(open.repeat(100_000)), "invalid_json");
  });

  test("that is wide instead of deep is limited by size: 64 KB in meta", async () => {
    const keys = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [index.toString(36), 0]));
    expect((await post(JSON.stringify({ text: "hello", mode: "async", meta: keys }))).status).toBe(202);
    const meta = { list: Array.from({ length: 100_000 }, () => 0) };
    expectProblem(await post(JSON.stringify({ text: "hello", mode: "async", meta })), "invalid_request", ["/meta"]);
  });
});

describe("duplicate keys", () => {
  test("count once: the last one wins, as in JavaScript", async () => {
    const body = '{"text":"one","mode":"sync","chatId":"first","text":"two","mode":"async","chatId":"twice"}';
    const answer = await post(body);
    expect([answer.status, answer.body.chatId]).toEqual([202, "twice"]);
    expect(await storedOf("twice")).toMatchObject({ text: "two", mode: "async" });
    expect(await storedOf("first")).toBeUndefined();
  });

  test("are validated by the last value", async () => {
    expectProblem(await post('{"text":"one","text":5}'), "invalid_request", ["/text"]);
    expect((await post('{"text":5,"text":"one","mode":"async"}')).status).toBe(202);
  });

  test("are also detected if one of them has escapes", async () => {
    const answer = await post('{"text":"one","te\\u0078t":"two","mode":"async","chatId":"escaped"}');
    expect(answer.status).toBe(202);
    expect(await storedOf("escaped")).toMatchObject({ text: "two" });
  });
});

describe("keys with a meaning in JavaScript", () => {
  const NAMES = ["__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "toJSON", "then"];
  const VALUES = ["null", '"text"', "5", "[]", '{"polluted":true}', '{"prototype":{"polluted":true}}'];

  test.each(NAMES)("%s in meta is stored as data, whatever its value", async (name) => {
    for (const [index, value] of VALUES.entries()) {
      const chatId = `meta-${name}-${index}`;
      const meta = `{"a":{"${name}":${value}},"${name}":${value}}`;
      expect((await post(`{"text":"hello","mode":"async","chatId":"${chatId}","meta":${meta}}`)).status).toBe(202);
      const kept = JSON.parse((await storedOf(chatId))?.meta ?? "{}") as object;
      expect(JSON.stringify(kept)).toBe(JSON.stringify(sorted(JSON.parse(meta) as object)));
    }
  });

  test.each(NAMES)("%s beside the fields of a message changes none of them", async (name) => {
    for (const [index, value] of [...VALUES, '{"text":"other","mode":"sync","chatId":"other"}'].entries()) {
      const chatId = `beside-${name}-${index}`;
      const answer = await post(`{"${name}":${value},"text":"hello","mode":"async","chatId":"${chatId}"}`);
      expect([answer.status, answer.body.mode, answer.body.chatId]).toEqual([202, "async", chatId]);
      expect(await storedOf(chatId)).toEqual({ text: "hello", mode: "async", meta: "{}" });
    }
  });

  test("are valid as a chatId and a userId", async () => {
    for (const name of NAMES) {
      const answer = await post(JSON.stringify({ text: name, mode: "async", chatId: name, userId: name }));
      expect([answer.status, answer.body.chatId]).toEqual([202, name]);
      expect((await api.drain("fixed", name, "?wait=20000")).texts).toEqual([FIXED]);
    }
  });

  test("are unknown parameters of a query", async () => {
    const query = NAMES.map((name) => `${name}=1&${name}[polluted]=1&${name}.polluted=1`).join("&");
    const answer = await api.drain("fixed", "nothing-there", `?${query}`);
    expectDecent(answer);
    expect(answer.body).toEqual({ ok: true, chatId: "nothing-there", replies: [], cursor: "0", more: false });
  });

  test("have no effect on later calls", async () => {
    const answer = await post('{"text":"hello"}');
    expect([answer.status, answer.body.mode, answer.texts]).toEqual([200, "sync", [FIXED]]);
    expect(answer.text).not.toContain("polluted");
    const health = await api.drain("fixed", "nothing-there");
    expect(Object.keys(health.body).sort()).toEqual(["chatId", "cursor", "more", "ok", "replies"]);
  });
});

/** Sorts keys like Postgres: by length and then by bytes. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const byPosition = ([one]: [string, unknown], [other]: [string, unknown]) =>
    one.length - other.length || (one < other ? -1 : 1);
  return Object.fromEntries(
    Object.entries(value)
      .sort(byPosition)
      .map(([key, child]) => [key, sorted(child)]),
  );
}

describe("415 for a body", () => {
  const json = '{"text":"hello","mode":"async"}';

  test.each([
    ["gzip", gzipSync(json)],
    ["x-gzip", gzipSync(json)],
    ["deflate", deflateSync(json)],
    ["deflate", deflateRawSync(json)],
    ["br", brotliCompressSync(json)],
    ["br, gzip", gzipSync(brotliCompressSync(json))],
    ["compress", Buffer.from(json)],
    ["aes128gcm", Buffer.from(json)],
    ["", Buffer.from(json)],
  ])("with the Content-Encoding %j", async (encoding, body) => {
    expectProblem(await post(body, { "Content-Encoding": encoding }), "unsupported_media_type");
  });

  test("that would decompress without limit", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, " "));
    expectProblem(await post(bomb, { "Content-Encoding": "gzip" }), "unsupported_media_type");
  });

  test.each(["iso-8859-1", "utf-16", "UTF-16LE", "windows-1252", "utf-7", "ebcdic-cp-us"])(
    "in the charset %s",
    async (charset) => {
      const answer = await post(json, { "Content-Type": `application/json; charset=${charset}` });
      expectProblem(answer, "unsupported_media_type");
    },
  );
});

describe("400 invalid_json for a body", () => {
  const json = '{"text":"é","mode":"async"}';
  const utf16 = Buffer.from(json, "utf16le");
  const swapped = Buffer.from(utf16).swap16();

  test.each<[what: string, body: Buffer]>([
    ["in UTF-16, little endian, without a mark", utf16],
    ["in UTF-16, big endian, without a mark", swapped],
    ["in UTF-16, big endian, with a mark", Buffer.concat([Buffer.from([0xfe, 0xff]), swapped])],
    ["in UTF-32", Buffer.from(Array.from(json, (character) => [character.charCodeAt(0), 0, 0, 0]).flat())],
    ["in ISO 8859-1", Buffer.from(json, "latin1")],
    ["with two byte order marks", Buffer.from(`\ufeff\ufeff${json}`)],
    ["with a byte order mark at its end", Buffer.from(`${json}\ufeff`)],
    ["that is compressed and does not say so", gzipSync(json)],
    ["that ends in NUL", Buffer.from(`${json}\u0000`)],
    ["with an overlong encoding", Buffer.from([...Buffer.from('{"text":"'), 0xc0, 0xae, ...Buffer.from('"}')])],
    ["with half a character", Buffer.from([...Buffer.from('{"text":"'), 0xf0, 0x9f, ...Buffer.from('"}')])],
    ["of white space", Buffer.from(" \n\t\r ")],
    ["of NDJSON", Buffer.from(`${json}\n${json}\n`)],
    ["with Infinity", Buffer.from('{"text":"a","timeoutMs":Infinity}')],
    ["with a hexadecimal number", Buffer.from('{"text":"a","timeoutMs":0x10}')],
    ["with a number that begins with 0", Buffer.from('{"text":"a","timeoutMs":010}')],
    ["with a key without quotes", Buffer.from('{text:"a"}')],
  ])("%s", async (_what, body) => {
    expectProblem(await post(body), "invalid_json");
  });
});

describe("timeoutMs in unusual notation", () => {
  test.each([
    "0.5",
    "-1",
    "-0",
    "0",
    "120001",
    "1e309",
    "-1e309",
    "1e-5",
    "1e6",
    "9007199254740993",
    "0.9999999999999999",
  ])("%s is rejected, never rounded or clamped", async (number) => {
    expectProblem(await post(`{"text":"hello","timeoutMs":${number}}`), "invalid_request", ["/timeoutMs"]);
  });

  test.each(['"30000"', '"NaN"', '"Infinity"', '""', "false", "[30000]", '{"ms":1}'])(
    "%s is rejected, since it is not a number",
    async (value) => {
      expectProblem(await post(`{"text":"hello","timeoutMs":${value}}`), "invalid_request", ["/timeoutMs"]);
    },
  );

  test.each(["1", "1e3", "120000", "1.2e5", "120000.0", "12e4"])("%s is a whole number in range", async (number) => {
    expect((await post(`{"text":"hello","mode":"async","timeoutMs":${number}}`)).status).toBe(202);
  });
});

describe("the drain's query in unusual notation", () => {
  const ask = async (query: string): Promise<ApiAnswer> => {
    const answer = await api.drain("fixed", "nothing-there", query);
    expectDecent(answer);
    return answer;
  };

  test.each([
    "wait=1&wait=1",
    "wait=0&wait=60001",
    "wait=&wait=1",
    "wait=1;wait=2",
    "wait=0?peek=1",
    "wait",
    "wait=%00",
    "wait=1%00",
    "wait=%zz",
    "wait=0.5",
    "wait=1e309",
    "wait=-0",
    "wait=1,2",
    "wait=[1]",
    "wait=0000001",
    "w%61it=x",
    "wait=%EF%BC%91",
  ])("?%s is 400", async (query) => {
    expectProblem(await ask(`?${query}`), "invalid_request", ["/wait"]);
  });

  test.each(["after=0&after=1", "after=0&after=0", "after=1e3", "after=0x1", "after=%2B1", "after=9007199254740993"])(
    "?%s is 400",
    async (query) => {
      expectProblem(await ask(`?${query}`), "invalid_request", ["/after"]);
    },
  );

  test.each(["peek=1&peek=1", "peek=1&peek=0", "peek=01"])("?%s is 400", async (query) => {
    expectProblem(await ask(`?${query}`), "invalid_request", ["/peek"]);
  });

  test.each([
    "wait[]=60000",
    "wait[]=1&wait[]=2",
    "wait[0]=x",
    "wait[a]=x",
    "WAIT=x",
    "wait.=x",
    "%",
    "&&&",
    "=1",
    "=",
  ])("?%s has only unknown parameters, and is answered without waiting", async (query) => {
    expect(await ask(`?${query}`)).toMatchObject({ status: 200, body: { replies: [] } });
  });

  test("all of a thousand parameters are read", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `p${index}=1`).join("&");
    expect((await ask(`?${many}`)).status).toBe(200);
  });
});

test("after all of this every process is healthy, and has logged no internal error", async () => {
  await expectHealthy(product);
});
