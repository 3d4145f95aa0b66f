import { expect, test, describe } from "@jest/globals";
import { parseUrl, isOriginAllowed } from "./url.ts";

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
