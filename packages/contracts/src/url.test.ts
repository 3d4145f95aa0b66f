import { expect, test } from "@jest/globals";
import { parseUrl } from "./url.ts";

test("a URL is a URL however many were read before, also with letters in its host", () => {
  for (let count = 0; count < 50_000; count += 1) parseUrl(`https://example${count % 10}.com/`);
  expect(parseUrl("https://b\u00fccher.example/")?.href).toBe("https://xn--bcher-kva.example/");
});

test("a relative one needs a base, and what is none is null", () => {
  expect(parseUrl("/a", "https://example.com/b")?.href).toBe("https://example.com/a");
  for (const text of ["/a", "", "https://", "//x"]) expect(parseUrl(text)).toBeNull();
});
