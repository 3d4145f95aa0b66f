import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { sourceUrl } from "./source-url.ts";

const PAGE = "https://example.com/guide";

describe("sourceUrl", () => {
  test.each([
    ["a short sentence whole", "Backups run at night.", "Backups%20run%20at%20night."],
    [
      "a long one by its first and last words",
      "Backups of all databases run each night at three and are kept for a month on another machine.",
      "Backups%20of%20all%20databases%20run%20each,for%20a%20month%20on%20another%20machine.",
    ],
    ["several lines by the first and the last", "One two.\n\nThree four.", "One%20two.,Three%20four."],
    ["what has a meaning in a fragment encoded", "a, b & e-mail (c)", "a%2C%20b%20%26%20e%2Dmail%20%28c%29"],
    ["Markdown as its reader sees it", "- **Open** the [`settings`](https://a.example/b).", "Open%20the%20settings."],
    ["a table by its first cell and its last row", "| Plan | Price |\n|---|---|\n| Pro | 5 |", "Plan,Pro"],
  ])("a quote of a web page is linked to: %s", (_, quote, fragment) => {
    expect(sourceUrl(PAGE, { quote })).toBe(`${PAGE}#:~:text=${fragment}`);
  });

  test("a quote of a paged document is linked to by its page", () => {
    expect(sourceUrl("https://example.com/a.pdf", { quote: "One.", page: 7 })).toBe("https://example.com/a.pdf#page=7");
  });

  test.each([
    ["has a fragment of its own", `${PAGE}#setup`],
    ["is that of a file", "https://example.com/a.docx?v=2"],
    ["is no web address", "file:///a.html"],
    ["is none", "see the handbook"],
  ])("an address that %s stays as it is", (_, url) => {
    expect(sourceUrl(url, { quote: "One.", page: null })).toBe(url);
  });

  test("whatever is quoted, the address is a valid one of the same page", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (quote) => {
        const url = sourceUrl(PAGE, { quote });
        expect(url === PAGE || url.startsWith(`${PAGE}#:~:text=`)).toBe(true);
        expect(url).toMatch(/^[\w\-.~:/#=,%]+$/);
      }),
    );
  });
});
