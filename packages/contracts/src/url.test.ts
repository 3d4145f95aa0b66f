import { describe, expect, test } from "@jest/globals";
import { explainCertificateError, isOriginAllowed, parseUrl } from "./url.ts";

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
