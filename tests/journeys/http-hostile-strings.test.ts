import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { callApi } from "./support/call-api.ts";
import { expectDecent } from "./support/expect-decent.ts";
import { expectHealthy } from "./support/expect-healthy.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { NAUGHTY_STRINGS } from "./support/naughty-strings.ts";
import { exchangeRaw } from "./support/open-raw-connection.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Number of concurrent calls. */
const CONCURRENCY = 8;

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  await addProject(product.store, "fixed", { fixedReply: FIXED });
});

afterAll(() => product.stop());

/**
 * Returns the naughty strings for a position in a request other than a message field: all of them in a soak test,
 * otherwise every third, with different ones for each position.
 */
const sharedOut = (position: 0 | 1 | 2) =>
  NAUGHTY_STRINGS.filter((_, index) => process.env["SVC_SOAK"] === "1" || index % 3 === position);

/** Runs a check for naughty strings, several concurrently; a failure names its string. */
async function forEachNaughty(
  check: (text: string) => Promise<void>,
  texts: readonly string[] = NAUGHTY_STRINGS,
): Promise<void> {
  const entries = texts.entries();
  const work = async () => {
    for (const [index, text] of entries) {
      try {
        await check(text);
      } catch (error) {
        throw new Error(`naughty string ${index}, ${JSON.stringify(text)}: ${String(error)}`, { cause: error });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

const countChars = (text: string) => Array.from(text).length;
const isWhole = (text: string) => text.isWellFormed() && !text.includes("\u0000");

/** Rules of the contract for a string in each position, written independently of the service. */
const IS_ALLOWED = {
  text: (text: string) => isWhole(text) && /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u.test(text),
  chatId: (id: string) =>
    isWhole(id) &&
    id !== "" &&
    countChars(id) <= 200 &&
    !/\p{Cc}/u.test(id) &&
    ![".", ".."].includes(id) &&
    !id.startsWith("issue:"),
  userId: (id: string) => isWhole(id) && id !== "" && countChars(id) <= 200,
  meta: isWhole,
} satisfies Record<string, (text: string) => boolean>;
type Field = keyof typeof IS_ALLOWED;

/**
 * Returns a message with a string in these fields; in meta as a key and as a value, at the top level and deeply nested.
 */
function messageWith(naughty: string, fields: readonly Field[]): Record<string, unknown> {
  const values = {
    text: naughty,
    chatId: naughty,
    userId: naughty,
    meta: { [naughty]: naughty, list: [{ [naughty]: [naughty] }] },
  };
  const chosen = Object.fromEntries(fields.map((field) => [field, values[field]]));
  return { text: "hello", mode: "async", ...chosen };
}

async function post(message: Record<string, unknown>): Promise<ApiAnswer> {
  const answer = await api.send("fixed", message);
  expectDecent(answer);
  return answer;
}

const ALL_FIELDS = Object.keys(IS_ALLOWED) as Field[];
const allowedFields = (naughty: string) => ALL_FIELDS.filter((field) => IS_ALLOWED[field](naughty));

describe("each naughty string", () => {
  /** The accepted messages, each with its string and response. */
  const taken: { naughty: string; answer: ApiAnswer }[] = [];

  test("in every field of a message is accepted, or rejected with exactly the fields that do not allow it", async () => {
    await forEachNaughty(async (naughty) => {
      const allowed = allowedFields(naughty);
      const invalid = ALL_FIELDS.filter((field) => !allowed.includes(field));
      if (invalid.length > 0) {
        const pointers = invalid.map((field) => `/${field}`);
        expectProblem(await post(messageWith(naughty, ALL_FIELDS)), "invalid_request", pointers);
      }
      const answer = await post(messageWith(naughty, allowed));
      expect(answer.status).toBe(202);
      taken.push({ naughty, answer });
    });
  });

  test("as text, userId and meta is stored as it was sent", async () => {
    const rows = await queryDatabase<{ ticket_id: string; text: string; user_id: string | null; meta: object }>(
      product.databaseUrl,
      "SELECT ticket_id, text, user_id, channel_meta - 'userId' AS meta FROM messages",
    );
    const stored = new Map(rows.map(({ ticket_id, ...message }) => [ticket_id, message]));
    for (const { naughty, answer } of taken) {
      const sent = messageWith(naughty, allowedFields(naughty));
      expect(stored.get(answer.body.ticketId ?? "")).toEqual({
        text: sent["text"],
        user_id: sent["userId"] ?? null,
        meta: sent["meta"] ?? {},
      });
    }
    expect(taken.length).toBe(NAUGHTY_STRINGS.length);
  });

  test("as chatId is returned as it was sent, in the response and by the drainUrl", async () => {
    const answers = new Map(taken.map(({ naughty, answer }) => [naughty, answer]));
    await forEachNaughty(async (naughty) => {
      const answer = answers.get(naughty);
      if (answer === undefined || !IS_ALLOWED.chatId(naughty)) return;
      const { chatId, drainUrl = "" } = answer.body;
      expect(chatId).toBe(naughty);
      // RFC 3986: unescaped characters are plain ASCII, and the last segment is the chatId alone.
      expect(drainUrl).toMatch(/^\/api\/v1\/messages\/[\w.~!'()*%-]+$/);
      expect(decodeURIComponent(drainUrl.slice("/api/v1/messages/".length))).toBe(naughty);
      expect(answer.headers.get("location")).toBe(drainUrl);

      const url = `${api.baseUrl(1)}${drainUrl}?wait=20000`;
      const drained = await callApi(url, { key: product.adminKey, project: "fixed" });
      expectDecent(drained);
      expect([drained.status, drained.body.chatId, drained.texts]).toEqual([200, naughty, [FIXED]]);
    });
  });

  test("in the path is a valid chatId or an error", async () => {
    await forEachNaughty(async (naughty) => {
      const path = naughty.toWellFormed();
      const answer = await callApi(`${api.baseUrl()}/api/v1/messages/-${encodeURIComponent(path)}`, {
        key: product.adminKey,
        project: "fixed",
      });
      expectDecent(answer);
      if (IS_ALLOWED.chatId(`-${path}`)) expect([answer.status, answer.body.chatId]).toEqual([200, `-${path}`]);
      else expectProblem(answer, "invalid_request", ["/chatId"]);
    }, sharedOut(0));
  });

  test("in the query is a valid value or an error", async () => {
    const isValid: Record<string, RegExp> = { after: /^\d{1,15}$/, peek: /^[01]$/ };
    await forEachNaughty(async (naughty) => {
      const value = naughty.toWellFormed();
      for (const [name, pattern] of Object.entries(isValid)) {
        const answer = await api.drain("fixed", "nothing-there", `?${name}=${encodeURIComponent(value)}`);
        expectDecent(answer);
        if (pattern.test(value)) expect(answer.status).toBe(200);
        else expectProblem(answer, "invalid_request", [`/${name}`]);
      }
    }, sharedOut(1));
  });

  test("in an unused header is ignored, unless the header is invalid", async () => {
    await forEachNaughty(async (naughty) => {
      const names = ["X-Request-Id", "X-Forwarded-For", "traceparent", "User-Agent", "Accept-Language", "Cookie"];
      const answer = await sendWith("GET /api/v1/messages/headers", names, naughty);
      expect([200, 400]).toContain(answer.status);
      // Spaces and tabs around the value of a header are not part of it.
      const value = naughty.replaceAll(/^[ \t]+|[ \t]+$/g, "");
      const isToken = /^[\w.:-]{1,128}$/.test(value);
      expect(answer.headers.get("x-request-id")).toMatch(isToken ? value : UUID);
    });
  });

  test("as Idempotency-Key identifies a call, so that its retry gets the same response, or is rejected", async () => {
    // The cheapest response that is stored for retries: a validation error.
    const body = JSON.stringify({ text: "" });
    let named = 0;
    await forEachNaughty(async (naughty) => {
      const ask = () => sendWith("POST /api/v1/messages", ["Idempotency-Key"], naughty, body);
      const [first, second] = [await ask(), await ask()];
      expect([first.status, second.status]).toEqual([400, 400]);
      const isNamed = first.body.errors?.[0]?.pointer === "/text";
      if (isNamed) named++;
      expect(second.body.errors).toEqual(first.body.errors);
      expect(second.headers.get("idempotent-replayed")).toBe(isNamed ? "true" : null);
    }, sharedOut(2));
    expect(named).toBeGreaterThan(sharedOut(2).length / 2);
  });
});

/** Sends a raw request with a string in some headers, as UTF-8 bytes. */
async function sendWith(line: string, names: readonly string[], naughty: string, body?: string): Promise<ApiAnswer> {
  const head = [
    `${line} HTTP/1.1`,
    "Host: x",
    `X-Api-Key: ${product.adminKey}`,
    "x-svc-project: fixed",
    ...(body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${body.length}`]),
    ...names.map((name) => `${name}: ${naughty}`),
    "Connection: close",
  ];
  const { answers } = await exchangeRaw(api.baseUrl(), Buffer.from(`${head.join("\r\n")}\r\n\r\n${body ?? ""}`));
  const [answer] = answers;
  if (answer === undefined) throw new Error("there was no answer");
  expectDecent(answer);
  expect(answer.headers.get("x-injected")).toBeNull();
  return answer;
}

test("after all of this every process is healthy, and has logged no internal error", async () => {
  await expectHealthy(product);
  expect((await api.send("fixed", { text: "still there?" })).texts).toEqual([FIXED]);
});
