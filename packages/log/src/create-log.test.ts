import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { LOG_LEVELS, createLog, redactText } from "./create-log.ts";
import type { Log, LogLevel } from "./create-log.ts";

/** Returns what `use` writes to a log. */
function written(use: (log: Log) => void, level: LogLevel = "debug"): string {
  const parts: string[] = [];
  use(createLog({ level, name: "test", destination: { write: (part) => void parts.push(part) } }));
  return parts.join("");
}

/** The lines of a log, parsed. */
function linesOf(text: string): Record<string, unknown>[] {
  expect(text.endsWith("\n")).toBe(true);
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const PLANTED = "Pl4nted-s3cret.value~x";
const KEY = "svc_0123456789ABCDEFGHIJKLMNOPQRSTUVabcdef";

const SECRET_FIELDS = [
  "authorization",
  "cookie",
  "key",
  "apiKey",
  "api_key",
  "x-api-key",
  "password",
  "secret",
  "webhookSecret",
  "botToken",
  "secretKey",
  "visitorId",
  "x-visitor-id",
];

/** Texts with the planted secret, as they occur in requests, settings and errors of libraries. */
const TEXTS: Record<string, string> = {
  "a bearer token": `Authorization: Bearer ${PLANTED}`,
  "a bearer token, in small letters and after a tab": `authorization: bearer\t${PLANTED}, and more`,
  "a key in a query string": `GET /api/v1/messages?apiKey=${PLANTED}&wait=0`,
  "a key as a later parameter": `/x?wait=0&api_key=${PLANTED}`,
  "a token in a query string": `https://example.com/hook?token=${PLANTED}`,
  "a secret in a query string": `https://example.com/hook?a=1&secret=${PLANTED}#end`,
  "a visitor's id in a query string": `/api/widget/ws?visitorId=${PLANTED}&apiKey=${PLANTED}`,
  "a URL with a password": `postgres://svc:${PLANTED}@db.example:5432/svc`,
  "a URL with a password and no user": `redis://:${PLANTED}@cache:6379`,
  "the URL of a file store": `s3://key:${PLANTED}@s3.example:9000/bucket?tls=false`,
  "a URL whose password has an @": `postgres://svc:first@${PLANTED}@db/svc`,
};

/** The positions of a text in a line. */
const PATHS: Record<string, (log: Log, text: string) => void> = {
  "the message": (log, text) => log.info(text),
  "a field": (log, text) => log.info({ url: text }, "called"),
  "a field far down": (log, text) => log.info({ a: { b: [{ c: { url: text } }] } }, "called"),
  "a field of a child": (log, text) => log.child({ url: text }).info({}, "called"),
  "an error's message and stack": (log, text) => log.error({ error: new Error(text) }, "failed"),
  "an error by itself": (log, text) => log.error(new Error(text)),
  "an error as err": (log, text) => log.error({ err: new Error(text) }, "failed"),
  "an error that is a string": (log, text) => log.error({ error: text }, "failed"),
  "the cause of a cause": (log, text) => {
    log.error({ error: new Error("outer", { cause: new Error("middle", { cause: new Error(text) }) }) }, "failed");
  },
  "a cause that is a string": (log, text) => log.error({ error: new Error("outer", { cause: text }) }, "failed"),
};

describe.each(Object.entries(PATHS))("%s", (_place, write) => {
  test.each(Object.entries(TEXTS))("never shows %s", (_what, text) => {
    const output = written((log) => write(log, text));
    expect(output).not.toContain(PLANTED);
    expect(output).toContain("[redacted]");
    expect(linesOf(output)).toHaveLength(1);
  });

  test("never shows one of our keys, wherever it stands in the text", () => {
    const output = written((log) => write(log, `the key "${KEY}" and ${KEY}.`));
    expect(output).not.toContain(KEY.slice(0, 10));
    expect(linesOf(output)).toHaveLength(1);
  });

  test("never shows one of our webhook secrets", () => {
    const output = written((log) => write(log, "the secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/ab== signs"));
    expect(output).not.toContain("MfKQ9r8G");
    expect(output).toContain("whsec_[redacted] signs");
  });

  test("never shows the token of a bot, wherever it stands in an address", () => {
    const token = `5012345678:${"AAE-x_".repeat(6)}`;
    const output = written((log) => write(log, `GET https://api.telegram.org/bot${token}/getMe failed`));
    expect(output).not.toContain("AAE-x_");
    expect(output).toContain("/bot[redacted bot token]/getMe failed");
  });
});

describe.each(SECRET_FIELDS)("the field %s", (field) => {
  test.each<[string, object]>([
    ["first", { [field]: PLANTED }],
    ["second", { headers: { [field]: PLANTED } }],
    ["third", { request: { headers: { [field]: PLANTED } } }],
    ["third, in a list,", { keys: [{ [field]: PLANTED }] }],
  ])("never shows its value at the %s level", (_level, fields) => {
    for (const output of [written((log) => log.info(fields, "x")), written((log) => log.child(fields).info({}, "x"))]) {
      expect(output).not.toContain(PLANTED);
      expect(output).toContain("[redacted]");
    }
  });

  test("never shows a value that is no text", () => {
    expect(written((log) => log.info({ [field]: { deep: [PLANTED] } }, "x"))).not.toContain(PLANTED);
  });
});

test("what is no secret stays as it is", () => {
  const fields = {
    keys: 3,
    keyId: "0190",
    url: "https://example.com/a?wait=5#x",
    mail: "a@b.example",
    time2: "12:30:00",
  };
  const [line] = linesOf(written((log) => log.info(fields, "the bearer of news")));
  expect(line).toMatchObject({ ...fields, level: "info", app: "test", msg: expect.any(String) });
});

describe("an error", () => {
  test("is logged with its class, text, code, stack and causes", () => {
    const cause = Object.assign(new TypeError("inner"), { code: "ECONNREFUSED" });
    const [line] = linesOf(written((log) => log.error({ error: new RangeError("outer", { cause }) }, "failed")));
    expect(line).toMatchObject({
      level: "error",
      msg: "failed",
      error: {
        type: "RangeError",
        message: "outer",
        stack: expect.stringContaining("create-log.test"),
        cause: { type: "TypeError", message: "inner", code: "ECONNREFUSED" },
      },
    });
  });

  test("that is its own cause is logged", () => {
    const error = new Error("round");
    error.cause = error;
    expect(linesOf(written((log) => log.error({ error }, "failed")))).toHaveLength(1);
  });

  test.each([undefined, null, 1, {}, []])("that is %j is logged", (error) => {
    expect(linesOf(written((log) => log.error({ error }, "failed")))).toHaveLength(1);
  });
});

describe("a hostile text", () => {
  const forged = '{"level":"error","msg":"forged"}';
  const texts: Record<string, string> = {
    "line feeds": `a\n${forged}\n`,
    "carriage returns": `a\r${forged}\r\n`,
    "separators of Unicode": `a\u2028${forged}\u2029b\u0085c`,
    "quotes and braces": `"}\n${forged},{"`,
    backslashes: `\\"\\\\n\\u000a${forged}\\`,
    "commands of the terminal": "\u001b[2J\u001b]0;title\u0007\u009b31m\u0008\u007f\u0000",
    "lone surrogates": "\ud800 \udc00",
  };

  test.each(Object.entries(texts))("with %s stays in one line and comes back whole", (_what, text) => {
    const output = written((log) => log.info({ text, [text]: 1 }, text));
    // No control character, and no line end that any reader recognizes, except the log's own.
    expect(Array.from(output).filter((character) => /[\p{Cc}\p{Zl}\p{Zp}]/u.test(character))).toEqual(["\n"]);
    const lines = linesOf(output);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: "info", msg: text, text });
  });

  test("never breaks the JSON of its line, even where something in it is redacted", () => {
    const starts = fc.constantFrom("Bearer ", "?key=", "&token=", "://u:", "svc_abcdef");
    const ends = fc.constantFrom('"', "\\", "\n", "\t", "\b", ",", " ", "/", ":", "@", "a", "😀", "\u0000", "\u0085");
    const hostile = fc.array(fc.oneof(starts, ends), { maxLength: 30 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(hostile, hostile, (text, other) => {
        const [line, ...further] = linesOf(
          written((log) => log.info({ text, other, error: new Error(other), [other]: text }, text)),
        );
        expect(line).toMatchObject({ level: "info", app: "test" });
        expect(further).toEqual([]);
      }),
    );
  });
});

describe("redacting a text", () => {
  test("takes keys for keys, and names of tools for names", () => {
    const names = "svc_search_kb svc_summarize_notes svc_submit_issue";
    expect(redactText(`${names} ${KEY} ${KEY}_a`)).toBe(`${names} svc_[redacted] svc_[redacted]_a`);
  });

  test("a second time changes nothing", () => {
    for (const text of Object.values(TEXTS)) {
      const once = redactText(text);
      expect(redactText(once)).toBe(once);
    }
  });

  test("of a megabyte that is made to be slow comes to an end", () => {
    for (const piece of ["://a:", "bearer ", "?key=\\", "svc_", "://@", "a@", "\\\\"]) {
      expect(redactText(piece.repeat(1_000_000 / piece.length)).length).toBeGreaterThan(0);
    }
  });
});

describe("a level", () => {
  const writeAll = (log: Log) => {
    for (const level of ["error", "warn", "info", "debug"] as const) log[level]({}, level);
  };

  test.each<[LogLevel, string[]]>([
    ["silent", []],
    ["error", ["error"]],
    ["warn", ["error", "warn"]],
    ["info", ["error", "warn", "info"]],
    ["debug", ["error", "warn", "info", "debug"]],
  ])("of %s lets %j through, by name", (level, expected) => {
    const output = written(writeAll, level);
    expect(output === "" ? [] : linesOf(output).map((line) => line["level"])).toEqual(expected);
  });

  test("is known for each that can be configured", () => {
    expect(LOG_LEVELS.toSorted()).toEqual(["debug", "error", "info", "silent", "warn"]);
  });
});

test("every line has a time in RFC 3339 and no address or process of the machine", () => {
  const [line] = linesOf(written((log) => log.info({ a: 1 }, "x")));
  expect(Object.keys(line ?? {}).toSorted()).toEqual(["a", "app", "level", "msg", "time"]);
  expect(line?.["time"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});
