import { describe, expect, test } from "@jest/globals";
import { pageIdOf, scopeOfFolder, scopeOfSitemap } from "./sync-source.ts";

describe("documents of a folder are those", () => {
  const isOfSource = scopeOfFolder("docs/api");
  test.each(["docs/api/a.md", "docs/api/b/c.md"])("in it: %s", (key) => expect(isOfSource(key)).toBe(true));
  test.each(["docs/api.md", "docs/apis/a.md", "docs/a.md", "https://x.example/docs/api/a", "/docs/api/a.md"])(
    "and not %s",
    (key) => expect(isOfSource(key)).toBe(false),
  );
  test("also if it is the root folder", () => expect(scopeOfFolder("/")("/etc/a.md")).toBe(true));
});

describe("pages of a sitemap are those", () => {
  const all = ["https://example.com/", "https://www.example.com/a", "http://example.com/docs/b"];

  test("of the whole site if it is at the root", () => {
    for (const sitemap of ["https://example.com", "https://www.example.com/sitemap.xml"]) {
      const isOfSource = scopeOfSitemap(sitemap, ["https://example.com/docs/x"]);
      expect(all.map(isOfSource)).toEqual([true, true, true]);
    }
  });

  test("in its own folder and below if it lists no others", () => {
    const isOfSource = scopeOfSitemap("https://example.com/docs/sitemap.xml", ["https://example.com/docs/x"]);
    expect(all.map(isOfSource)).toEqual([false, false, true]);
    expect(isOfSource("https://example.com/docs2/x")).toBe(false);
  });

  test("of the whole site if it lists pages elsewhere", () => {
    const isOfSource = scopeOfSitemap("https://example.com/maps/1.xml", ["https://example.com/docs/x"]);
    expect(all.map(isOfSource)).toEqual([true, true, true]);
  });

  test.each([
    "https://other.example/docs/x",
    "https://docs.example.com/x",
    "https://example.com:8443/x",
    "docs/x.md",
    "https:",
  ])("and never %s", (key) => expect(scopeOfSitemap("https://example.com", [])(key)).toBe(false));
});

test("a page is the same with http and https, and with and without www.; paths are compared exactly", () => {
  expect(pageIdOf("http://www.example.com/a?b")).toBe(pageIdOf("https://example.com/a?b"));
  expect(pageIdOf("https://example.com/a?b")).not.toBe(pageIdOf("https://example.com/a"));
  expect([pageIdOf("docs/a.md"), pageIdOf("https:")]).toEqual(["docs/a.md", "https:"]);
});
