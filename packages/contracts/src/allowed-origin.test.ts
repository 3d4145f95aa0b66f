import { describe, expect, test } from "@jest/globals";
import { isOriginAllowed } from "./allowed-origin.ts";

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
