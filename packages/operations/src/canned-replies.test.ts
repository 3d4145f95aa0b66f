import { describe, expect, test } from "@jest/globals";
import { fillVariables } from "@svc/contracts";
import { escapeMarkdown } from "./canned-replies.ts";

const escaped = (value: string, before = "About ") => escapeMarkdown(value, before, { isInTable: false });

describe("a value in a canned reply", () => {
  test.each([
    "The frame is scratched. Here is order #4733!",
    "Ada Lovelace (ada@example.com)",
    "AT&T - new phone: +49 30 1234/5",
    "order_4733 = 2 × $5 | a > b",
    "-20 % on 1.5 m",
  ])("stays as it is if Markdown shows it verbatim: %s", (value) => {
    expect(escaped(value)).toBe(value);
    expect(escaped(value, "")).toBe(value);
  });

  test.each([
    ["*bold* _it_ ~x~ `code`", "\\*bold\\* \\_it\\_ \\~x\\~ \\`code\\`"],
    ["[x](javascript:alert(1))", "\\[x\\](javascript:alert(1))"],
    ["![x](https://evil.example/x.png)", "!\\[x\\](https\\://evil.example/x.png)"],
    ["<img src=x onerror=alert(1)> &lt;b&gt;", "\\<img src=x onerror=alert(1)> \\&lt;b\\&gt;"],
    ["see www.evil.example or https://evil.example", "see www\\.evil.example or https\\://evil.example"],
    ["{{operator.name}} \\", "\\{\\{operator.name\\}\\} \\\\"],
    ["a\n# head\u2028- list", "a # head - list"],
  ])("is escaped where it would be Markdown: %j", (value, text) => expect(escaped(value)).toBe(text));

  test.each([
    ["# head", "\\# head"],
    ["#\u00a0head", "\\#\u00a0head"],
    ["- item", "\\- item"],
    ["---", "\\---"],
    ["===", "\\==="],
    ["1. item", "1\\. item"],
    ["> quote", "\\> quote"],
    ["|-|", "\\|-|"],
    ["-|-", "\\-|-"],
  ])("begins no block at the beginning of a line: %s", (value, text) => {
    for (const before of ["", "> ", "- "]) expect(escaped(value, before)).toBe(text);
    expect(escaped(value)).toBe(value);
  });

  test("makes no table with the value before it, and takes time in proportion to the text", () => {
    const fill = (text: string, values: Record<string, string>) =>
      fillVariables(text, (name, before) => escaped(values[name] ?? "", before));
    expect(fill("{{a}}\n{{b}}", { a: "x|y", b: "-|-" })).toBe("x|y\n\\-|-");
    expect(fill("See [it]({{a}}{{b}}", { a: "x", b: "y) [z" })).toBe("See [it](xy\\) \\[z");
    const startedAt = performance.now();
    fill("](".repeat(5_000) + "{{a}}".repeat(8_000), { a: "](<".repeat(60) });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test("cannot leave a link, make another one within its text, or leave a cell", () => {
    expect(escaped("[x](y)", "See [")).toBe("\\[x\\]\\(y\\)");
    expect(escaped("x) [y", "[Order](https://shop.example/")).toBe("x\\) \\[y");
    expect(escapeMarkdown("a | b", "| ", { isInTable: true })).toBe("a \\| b");
  });
});
