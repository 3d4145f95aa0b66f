import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import {
  countChars,
  explainCertificateError,
  hasControlCharacters,
  isMalformedText,
  isOriginAllowed,
  messageText,
  parseUrl,
  wellFormedString,
} from "./limits.ts";

const ALLOWED = ["https://shop.example", "https://*.partner.example", "http://localhost:8080"];

describe("a list of sites", () => {
  test.each([
    "https://shop.example",
    "https://a.partner.example",
    "https://a.b.partner.example",
    "http://localhost:8080",
  ])("lets %s in", (origin) => {
    expect(isOriginAllowed(origin, ALLOWED)).toBe(true);
  });

  test.each([
    "http://shop.example",
    "https://shop.example:8443",
    "https://shop.example.evil.example",
    "https://evil-shop.example",
    "https://partner.example",
    "https://evilpartner.example",
    "https://a.partner.example.evil.example",
    "https://a.partner.example:8443",
    "http://a.partner.example",
    "http://localhost",
    "https://shop.example/",
    "https://shop.example/path",
    "https://user@shop.example",
    "null",
    "",
    "shop.example",
    "javascript:alert(1)",
    "file://",
  ])("keeps %j out", (origin) => {
    expect(isOriginAllowed(origin, ALLOWED)).toBe(false);
  });

  test("that is empty lets all in, and calls without a site pass any", () => {
    expect(isOriginAllowed("https://evil.example", [])).toBe(true);
    expect(isOriginAllowed("null", [])).toBe(true);
    expect(isOriginAllowed(undefined, ALLOWED)).toBe(true);
  });
});

test("a URL is a URL however many were read before, also with letters in its host", () => {
  for (let count = 0; count < 50_000; count += 1) parseUrl(`https://example${count % 10}.com/`);
  expect(parseUrl("https://b\u00fccher.example/")?.href).toBe("https://xn--bcher-kva.example/");
});

test("a relative one needs a base, and what is none is null", () => {
  expect(parseUrl("/a", "https://example.com/b")?.href).toBe("https://example.com/a");
  for (const text of ["/a", "", "https://", "//x"]) expect(parseUrl(text)).toBeNull();
});

const errorWith = (code: string) => Object.assign(new Error("planted"), { code });

describe("an error of a certificate is explained in words", () => {
  test.each([
    ["SELF_SIGNED_CERT_IN_CHAIN", /not trusted.*NODE_EXTRA_CA_CERTS/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /not trusted.*NODE_EXTRA_CA_CERTS/],
    ["CERT_HAS_EXPIRED", /expired/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /different host name/],
  ])("%s", (code, words) => {
    expect(explainCertificateError(errorWith(code))).toMatch(words);
  });

  test("also where PostgreSQL has no TLS at all", () => {
    expect(explainCertificateError(new Error("The server does not support SSL connections"))).toMatch(
      /does not support TLS/,
    );
  });

  test("but no other error is", () => {
    expect(explainCertificateError(errorWith("ECONNREFUSED"))).toBeNull();
    expect(explainCertificateError("text")).toBeNull();
  });
});

const HIGH = "\ud83d";
const LOW = "\ude00";
const SMILE = HIGH + LOW;

/** Strings of any UTF-16 units, half of them surrogates, so that pairs and lone ones are both common. */
const anyUnits = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff })))
  .map((units) => String.fromCharCode(...units));

describe("a character", () => {
  test.each([
    ["", 0],
    ["abc", 3],
    [SMILE, 1],
    [`a${SMILE}b`, 3],
    ["e\u0301", 2],
    [HIGH, 1],
    [LOW + HIGH, 2],
    [HIGH + SMILE + LOW, 3],
  ])("is a code point: %j has %i", (text, count) => {
    expect(countChars(text)).toBe(count);
  });

  test("is counted as the language counts it, whatever the text", () => {
    fc.assert(fc.property(anyUnits, (text) => countChars(text) === Array.from(text).length));
  });
});

describe("a text that cannot be stored or sent", () => {
  test.each(["\u0000", "a\u0000b", HIGH, LOW, `a${HIGH}`, `${LOW}a`, LOW + HIGH, HIGH + SMILE])(
    "%j is found out",
    (text) => {
      expect(isMalformedText(text)).toBe(true);
      expect(wellFormedString.safeParse(text).error?.issues).toEqual([
        expect.objectContaining({ code: "custom", params: { code: "malformed_text" } }),
      ]);
    },
  );

  test.each(["", "a", SMILE, "\u0001", "\uffff", "\ufeff", "שלום", "a\nb"])("%j is none", (text) => {
    expect(isMalformedText(text)).toBe(false);
    expect(wellFormedString.parse(text)).toBe(text);
  });

  test("is exactly one with NUL, or one that UTF-8 does not bring back", () => {
    const comesBack = (text: string) => Buffer.from(text, "utf8").toString("utf8") === text;
    fc.assert(fc.property(anyUnits, (text) => isMalformedText(text) === (text.includes("\u0000") || !comesBack(text))));
  });
});

test("control characters are those of C0 and C1 and DEL, and nothing else", () => {
  const isControl = (code: number) => code < 0x20 || (code >= 0x7f && code <= 0x9f);
  for (let code = 0; code <= 0xffff; code++) {
    const text = `a${String.fromCharCode(code)}b`;
    // Compared before it is expected: 65,536 expectations would take longer than all else.
    if (hasControlCharacters(text) !== isControl(code)) expect({ code, isControl: !isControl(code) }).toBe("right");
  }
});

describe("the text of a message", () => {
  const schema = messageText(10);
  const codesOf = (value: unknown) => {
    const issues = schema.safeParse(value).error?.issues ?? [];
    return issues.map((issue) => (issue.code === "custom" ? (issue.params?.["code"] as unknown) : issue.code));
  };

  test.each([
    ["a", []],
    [" a ", []],
    ["a".repeat(10), []],
    [SMILE.repeat(10), []],
    ["a".repeat(11), ["too_long"]],
    [SMILE.repeat(11), ["too_long"]],
    ["", ["too_short"]],
    [" \t\r\n\u00a0\u2003\u2028\ufeff", ["too_short"]],
    ["\u200ba", []],
    ["\u2764\ufe0f", []],
    [`${"a".repeat(11)}\u0000`, ["malformed_text"]],
    [HIGH, ["malformed_text"]],
    [5, ["invalid_type"]],
    [null, ["invalid_type"]],
    [undefined, ["invalid_type"]],
    [["a"], ["invalid_type"]],
  ])("%j has the errors %j", (value, codes) => {
    expect(codesOf(value)).toEqual(codes);
  });

  test.each(["\u200b", "\u2060", "\u3164", "\u00ad", "\u2800", "\ufe0f\u200d", "\u{e0041}", " \u200b\n"])(
    "%j, which is invisible, is rejected",
    (text) => {
      expect(codesOf(text)).toEqual(["too_short"]);
    },
  );

  test("comes through as it is: not trimmed, not normalized", () => {
    fc.assert(
      fc.property(anyUnits, (text) => {
        const parsed = messageText(100).safeParse(text);
        return !parsed.success || parsed.data === text;
      }),
    );
    expect(schema.parse("  e\u0301\n")).toBe("  e\u0301\n");
  });
});
