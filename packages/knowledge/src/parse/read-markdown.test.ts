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
  expect(readMarkdown(source).text).toBe("a b.md d [f](https://g.example) h [j][k] <https://l.example>");
  expect(readMarkdown(source, { url: "https://x.example/docs/a.md" }).text).toBe(
    "[a](https://x.example/docs/b.md) [b.md](https://x.example/docs/b.md 'c') d [f](https://g.example) [h](#i) [j][k] <https://l.example>\n\n[k]: https://x.example/docs/m.md",
  );
});

test("the title is the first heading of level 1 outside of code, however many marks there are", () => {
  expect(readMarkdown("```\n# no\n```\n\n# **Yes** #").title).toBe("Yes");
  expect(readMarkdown("~~~~\n~~~\n# no\n~~~~\n# Yes").title).toBe("Yes");
  for (const mark of ["`", "~", "```\n", "#\n"]) expect(readMarkdown(mark.repeat(200_000)).title).toBeNull();
});

test("markup that only the generator of a site reads is no text", () => {
  const text = (source: string) => readMarkdown(source).text;
  expect(text("+++\ntitle = 'A'\n+++\nText")).toBe("Text");
  expect(
    text('{% callout info %}\nUse {{ links.x }} [Update]({{site.baseurl}}/a/){:target="_blank"}.\n{% endcallout %}'),
  ).toBe("Use Update.");
  expect(
    text(
      '![plan](a.png)\n\nClick <span class="btn">**Save**</span>.<br>\n<p align="center">Done &rarr; next&nbsp;step.</p>',
    ),
  ).toBe("Click **Save**.  \nDone → next step.");
  expect(text("import Tabs from '@theme/Tabs';\n\n<Tabs>\n:::tip Good to know\nYes.\n:::\n</Tabs>")).toBe(
    "**Good to know**\n\nYes.",
  );
  expect(text('!!! note "Members"\n    Sign in.\n\n    - One\n\nNext.')).toBe(
    "**Members**\n\nSign in.\n\n- One\n\nNext.",
  );
  expect(text("> [!WARNING]\n> Hot.")).toBe("> Hot.");
  expect(text("### Q: Can I?\n\n**A:** You can. [More](more.md), [all](https://a.example/).")).toBe(
    "### Can I?\n\nYou can. More, [all](https://a.example/).",
  );
  expect(text("<!-- hidden -->{% comment %}x{% endcomment %}Open the ![gear](g.svg) menu.")).toBe(
    "Open the gear menu.",
  );
  expect(text("| a | b |\n|---|---|\n| <b>1</b><br>2 | ![y.png](y.png) |")).toBe("| a | b |\n|---|---|\n| 1 2 | |");
});

test("code and placeholders stay as they are, and a text of markup only stays whole", () => {
  for (const source of [
    "```html\n<span>{{ a.b }}</span> ![x](y)\n```",
    "Write `<span>{{ a.b }}</span>` and `[a](b.md)`.",
    "Use {{name}} or <itemid>, 3 < 4 & 5 &lt; 6.",
    "![only](image.png)",
  ])
    expect(readMarkdown(source).text).toBe(source);
  for (const mark of ["`", "{%", "<a ", "![", "<!--", "[a](", "&", "{{a."])
    expect(readMarkdown(`x ${mark.repeat(100_000)}`).text.length).toBeGreaterThan(2);
});
