import { describe, expect, test } from "@jest/globals";
import { chunkDocument } from "./chunk-document.ts";
import { rewriteDocument } from "./add-documents.ts";

const kept = (text: string, mime = "text/markdown") =>
  chunkDocument({ text, mime }).chunks.map((chunk) => ({ ...chunk, page: null }));
const document = (mime = "text/markdown") => ({ key: "guide.md", title: "Guide", url: null, mime });

const GUIDE = `# Shipping

We ship to most of Europe.

## Iceland

We do not ship to Iceland. Ask us about Greenland.

- Parcels take ten days.
- Letters take five.

## Prices

| To | Price |
| --- | --- |
| France | 5 |
| Norway | 9 |

### Large parcels

Ask us.
`;

describe("a document that is rewritten", () => {
  test("has other words in one place and is the same everywhere else", () => {
    const change = { before: "We do not ship to Iceland.", after: "We ship to Iceland within ten days." };
    const rewritten = rewriteDocument(document(), kept(GUIDE), change);
    expect(rewritten).toMatchObject({ key: "guide.md", title: "Guide", mime: "text/markdown" });
    const expected = kept(GUIDE.replace(change.before, change.after));
    const cut = kept(rewritten?.text ?? "");
    expect(cut.map(({ headingPath, text }) => ({ headingPath, text }))).toEqual(
      expected.map(({ headingPath, text }) => ({ headingPath, text })),
    );
  });

  test("may be long, with sections of several passages, or plain text", () => {
    const prose = Array.from({ length: 60 }, (_, index) => `Sentence number ${index} says something of its own.`);
    const long = `# Long\n\n${prose.slice(0, 30).join(" ")}\n\n${prose.slice(30).join(" ")}\n`;
    const change = { before: "Sentence number 41 says something of its own.", after: "It says something else." };
    expect(kept(long).length).toBeGreaterThan(1);
    expect(rewriteDocument(document(), kept(long), change)?.text).toContain(change.after);
    const plain = long.replace("# Long\n\n", "");
    const rewritten = rewriteDocument(document("text/plain"), kept(plain, "text/plain"), change);
    expect(rewritten?.text).toContain(change.after);
  });

  test.each([
    ["the words do not stand in it", GUIDE, "nowhere"],
    ["the words stand in it twice", "One. Two.\n\nOne. Three.", "One."],
    ["there are no words", GUIDE, " "],
    ["it has sections of one name that follow each other", "# A\n\nOne.\n\n# A\n\nTwo.", "nothing"],
  ])("null: %s", (_, text, before) => {
    expect(rewriteDocument(document(), kept(text), { before, after: "x" })).toBeNull();
  });

  test("null: it has pages", () => {
    const chunks = kept(GUIDE).map((chunk) => ({ ...chunk, page: 1 }));
    expect(rewriteDocument(document(), chunks, { before: "Ask us.", after: "x" })).toBeNull();
  });
});
