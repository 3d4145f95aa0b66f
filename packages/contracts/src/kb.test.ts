import { describe, expect, test } from "@jest/globals";
import { KB_LIMITS, documentInputSchema, fileFactsSchema } from "./kb.ts";

const MAX = KB_LIMITS.urlMaxChars;
const SITE = "https://example.com/";

/** Pointers and codes of what is wrong. */
function errorsOf(input: unknown): { path: PropertyKey[]; code: unknown }[] {
  const issues = documentInputSchema.safeParse(input).error?.issues ?? [];
  return issues.map((issue) => ({ path: issue.path, code: "params" in issue ? issue.params?.["code"] : issue.code }));
}

describe.each(["url", "sitemap"])("the %s of a document", (field) => {
  test("is any web address that stays short enough when it is written in ASCII", () => {
    for (const url of [SITE, "http://127.0.0.1:8080/a?b#c", `${SITE}${"a".repeat(MAX - SITE.length)}`, `${SITE}見`]) {
      expect(errorsOf({ [field]: url })).toEqual([]);
    }
  });

  test.each([
    ["grows when its characters are percent-encoded", `${SITE}${"見".repeat(1_900)}`],
    ["is long and shrinks when it is resolved", `${SITE}${"見".repeat(1_900)}/../`],
    ["is long", `${SITE}${"a".repeat(MAX - SITE.length + 1)}`],
  ])("is refused where it %s", (_what, url) => {
    expect(errorsOf({ [field]: url })).toEqual([{ path: [field], code: "too_long" }]);
  });

  test.each(["https://user:secret@example.com/", "https://user@example.com/", "ftp://example.com/", "example.com"])(
    "is refused as %s",
    (url) => {
      expect(errorsOf({ [field]: url })).toEqual([{ path: [field], code: "invalid_url" }]);
    },
  );
});

test("the URL of a text or a file has no password either, which would be shown as its key", () => {
  const url = "https://user:secret@example.com/";
  expect(errorsOf({ url, text: "hello" })).toEqual([{ path: ["url"], code: "invalid_url" }]);
  expect(fileFactsSchema.safeParse({ url }).success).toBe(false);
});
