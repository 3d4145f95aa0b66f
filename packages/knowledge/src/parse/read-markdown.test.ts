import { expect, test } from "@jest/globals";
import { readMarkdown } from "./read-markdown.ts";

test("front matter is taken off only when it is some", () => {
  expect(readMarkdown("---\ntitle: A\n---\nText")).toMatchObject({ text: "Text", title: "A" });
  expect(readMarkdown("---\ndate: 2025-01-01\n---\n# B\nText")).toMatchObject({ text: "# B\nText", title: "B" });
  expect(readMarkdown("---\nJust text\n---\nText")).toMatchObject({ text: "---\nJust text\n---\nText", title: null });
  expect(readMarkdown("---\ntitle: [a\n---\nText")).toMatchObject({ text: "---\ntitle: [a\n---\nText" });
  expect(readMarkdown("```\n# code\n```\n\n# **Real** title #")).toMatchObject({ title: "Real title" });
});

test("links that would run a script become their text, also when they are escaped, and code about them stays", () => {
  const source =
    "[a](javascript:x) [b](<JaVaScRiPt:x>) [c](&#106;avascript:x) [d](javascript\\:x) ![e](data:text/html,x) [f](https://a.example) `[g](javascript:x)`";
  expect(readMarkdown(source).text).toBe("a b c d e [f](https://a.example) `[g](javascript:x)`");
  expect(readMarkdown("[x][y]\n\n[y]: javascript:z\n").text).not.toContain("javascript");
});

test("relative links become absolute where it is known what to", () => {
  const source =
    "[a](b.md) [b.md](b.md 'c') ![d](/e.png) [f](https://g.example) [h](#i) [j][k] <https://l.example>\n\n[k]: m.md";
  expect(readMarkdown(source).text).toBe(source);
  expect(readMarkdown(source, { url: "https://x.example/docs/a.md" }).text).toBe(
    "[a](https://x.example/docs/b.md) [b.md](https://x.example/docs/b.md 'c') ![d](https://x.example/e.png) [f](https://g.example) [h](#i) [j][k] <https://l.example>\n\n[k]: https://x.example/docs/m.md",
  );
});

test("the title is the first heading of level 1 outside of code, however many marks there are", () => {
  expect(readMarkdown("```\n# no\n```\n\n# **Yes** #").title).toBe("Yes");
  expect(readMarkdown("~~~~\n~~~\n# no\n~~~~\n# Yes").title).toBe("Yes");
  for (const mark of ["`", "~", "```\n", "#\n"]) expect(readMarkdown(mark.repeat(200_000)).title).toBeNull();
});
