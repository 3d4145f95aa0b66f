import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { pickQuotes } from "./pick-quotes.ts";

const pickOfTexts = (texts: string[], question: string, context: { title?: string; headingPath?: string[] } = {}) =>
  pickQuotes(
    { texts, title: context.title ?? "", headingPath: context.headingPath ?? [], markdown: true },
    question.split(" ").map((word) => ({ word, weight: word.length })),
  );

const pick = (text: string, question: string, context: { title?: string; headingPath?: string[] } = {}) => {
  const picked = pickOfTexts([text], question, context);
  return { ...picked, quotes: picked.quotes.map((quote) => quote.text) };
};

const filler = (index: number): string =>
  `Sentence number ${index} goes on about nothing that anybody has ever wanted to know, and it does so at a length that leaves no room for another one of its kind in an answer that is to be read by people who have asked about something else, who have little time to spare, and whose patience, such as it was, came to its end several commas before this one, so that they will have left before they reach its last word, which adds nothing to what the first one had said already, as has been seen before and will be seen again whenever words are paid for by their number and not by their weight.`;
const FILLERS = Array.from({ length: 10 }, (_, index) => filler(index));

const INTRODUCTION = "This page is about operations.";

describe("pickQuotes", () => {
  test("a short passage is quoted whole", () => {
    const text = "Open the settings.\n\nThen choose Security.";
    expect(pick(text, "nothing")).toMatchObject({ text, quotes: [text] });
  });

  test("of a long passage, takes the sentences with the rarest words of the question in reading order", () => {
    const text = [
      ...FILLERS.slice(0, 4),
      "Backups run at night.",
      ...FILLERS.slice(4),
      "A backup is kept for a month.",
    ].join(" ");
    const { text: answer, quotes } = pick(text, "backup night month");
    expect(answer).toBe("Backups run at night. A backup is kept for a month.");
    expect(quotes).toEqual(["Backups run at night.", "A backup is kept for a month."]);
  });

  test("a short answer is filled up with how the passage begins, and with what holds a little of the question", () => {
    const text = [INTRODUCTION, ...FILLERS.slice(0, 4), "Backups run at night.", "The rest of the month is quiet."];
    expect(pick([...text, ...FILLERS.slice(4)].join(" "), "backups night month").text).toBe(
      `${INTRODUCTION} Backups run at night. The rest of the month is quiet.`,
    );
  });

  test("the sentence that answers best ends within the first 560 characters of an answer", () => {
    const before = Array.from({ length: 20 }, (_, index) => `Backup ${index} of a night long gone is of no use to us.`);
    const text = [...before, "Backups run each night at three and are kept for a month."].join(" ");
    const answer = pick(text, "backups night three month").text;
    expect(answer.slice(0, 560)).toContain("Backups run each night at three and are kept for a month.");
  });

  test("what stands side by side in the passage is one quote with what lies between", () => {
    const text = `${FILLERS.join(" ")}\n\nBackups run\nat night.\nA backup is kept.\n\n${FILLERS.join(" ")}`;
    expect(pick(text, "backup night").quotes).toEqual(["Backups run\nat night.\nA backup is kept."]);
  });

  test("where only the heading matches, the answer is how its section begins", () => {
    const { text, share } = pick(FILLERS.join(" "), "restoring backups", { headingPath: ["Restore a backup"] });
    expect(text.startsWith(filler(0))).toBe(true);
    expect(share).toBe(1);
  });

  test("a list comes whole, with the sentence that leads to it", () => {
    const list = "1. Stop the service. It takes a while.\n2. Copy the snapshot.\n\n3. Start it again.";
    const text = `${FILLERS.slice(0, 5).join(" ")}\n\nDo this:\n\n${list}\n\n${FILLERS.slice(5).join(" ")}`;
    expect(pick(text, "copy snapshot").text).toBe(`Do this:\n\n${list}`);
    expect(pick(text.replace("Do this:", "To restore do this:"), "restore").text).toBe(
      `To restore do this:\n\n${list}`,
    );
  });

  test.each([
    ["a table", "| Plan | Price |\n|---|---|\n| Basic | 5 |\n| Team | 20 |"],
    ["a table without bars around", "Plan | Price\n---|---\nBasic | 5\nTeam | 20"],
    ["a code fence", "```sh\n# the price\nsvc price --plan Team\n\nsvc stop\n```"],
  ])("%s comes whole", (_, block) => {
    const text = `${FILLERS.slice(0, 5).join(" ")}\n\n${block}\n\n${FILLERS.slice(5).join(" ")}`;
    expect(pick(text, "price team").text).toBe(block);
  });

  test("a long table keeps its header and the rows that match best", () => {
    const rows = Array.from({ length: 100 }, (_, index) => `| row ${index} | a value that takes some room |`);
    rows[70] = "| quokka | small |";
    const { text, quotes } = pick(["| Animal | Size |", "|---|---|", ...rows].join("\n"), "quokka size");
    expect(text).toBe("| Animal | Size |\n|---|---|\n| quokka | small |");
    expect(quotes.every((quote) => quote.length > 0)).toBe(true);
  });

  test("the share tells how much of the question the best part holds together with title and headings", () => {
    const text = `${FILLERS.join(" ")} Backups are kept.`;
    expect(pick(text, "aaaa bbbb").share).toBe(0);
    expect(pick(text, "backup zzzzzz").share).toBe(0.5);
    expect(pick(text, "backup zzzzzz", { title: "Zzzzzz" }).share).toBe(1);
  });

  test("headings are not quoted, unless there is nothing else", () => {
    const text = `## Backups\n\n${FILLERS.join(" ")}\n\n## Restoring backups\n\nUse the tool for backups.`;
    expect(pick(text, "backups").text).toBe("Use the tool for backups.");
    expect(pick("## Backups", "backups").text).toBe("## Backups");
  });

  test("of a section in several texts, each quote names the text that it stands in", () => {
    const texts = [`${FILLERS.slice(0, 5).join(" ")} Backups run at night.`, `A backup is kept.\n\n${filler(6)}`];
    expect(pickOfTexts(texts, "backup night")).toMatchObject({
      text: "Backups run at night.\n\nA backup is kept.",
      quotes: [
        { text: "Backups run at night.", part: 0 },
        { text: "A backup is kept.", part: 1 },
      ],
    });
  });

  test.each([
    ["strong emphasis", "**Backups run at night. They are kept.**"],
    ["emphasis", "*Backups run at night. They are kept.*"],
    ["a link", "[Backups run. They are kept](https://example.com/a)."],
    ["code", "Backups are made by `run. sh` at night."],
    ["an HTML element", "<p>Backups run at night. They are kept.</p>"],
    ["an HTML element of several paragraphs", "<div>\n\nBackups run at night.\n\nThey are kept.\n\n</div>"],
  ])("%s that spans sentences is not cut", (_, part) => {
    const text = `${FILLERS.slice(0, 2).join(" ")} \n\n${part}\n\n${FILLERS.slice(2).join(" ")}`;
    expect(pick(text, "backups").text).toBe(part);
  });

  test("a mark that nobody closes joins nothing", () => {
    expect(pick(`2 **backups run. ${FILLERS.join(" ")}`, "backups").text).toBe("2 **backups run.");
  });

  test("a link by name comes with its address, and the addresses of other links stay away", () => {
    const definitions = "[guide]: https://example.com/guide\n[other]: https://example.com/other";
    const text = `${FILLERS.join(" ")}\n\nBackups are in [the guide][Guide].\n\n${definitions}`;
    const { text: answer, quotes } = pick(text, "backups");
    expect(answer).toBe("Backups are in [the guide][Guide].\n\n[guide]: https://example.com/guide");
    expect(quotes).toEqual(["Backups are in [the guide][Guide]."]);
  });

  test("what is indented below an item of a list belongs to it", () => {
    const list = "1. Stop it:\n\n   ```sh\n   svc stop\n   ```\n\n2. Copy the snapshot.\n\n   It is large.";
    expect(pick(`${FILLERS.join(" ")}\n\n${list}\n\n${FILLERS.join(" ")}`, "snapshot").text).toBe(list);
  });

  test("of a nested list that is too long, a chosen item comes with those that it is nested in", () => {
    const group = (index: number) =>
      `- Group ${index}\n${Array.from({ length: 10 }, (_, item) => `  - Item ${item} of it does this and that.`).join("\n")}`;
    const list = `${Array.from({ length: 9 }, (_, index) => group(index)).join("\n")}\n- Group ten\n  - The quokka.`;
    const { text } = pick(list, "quokka");
    expect(text.endsWith("\n- Group ten\n  - The quokka.")).toBe(true);
    expect(text.length).toBeLessThanOrEqual(1_200);
  });

  test("a code fence that is too long keeps its first lines and is closed", () => {
    const code = `\`\`\`sh\n${Array.from({ length: 100 }, (_, index) => `svc backup --number ${index}`).join("\n")}\n\`\`\``;
    const { text, quotes } = pick(code, "backup");
    expect(text).toMatch(/^```sh\nsvc backup --number 0\n[^]*\n```$/);
    expect(text.length).toBeLessThanOrEqual(1_210);
    expect(code.startsWith(quotes[0] ?? "?")).toBe(true);
  });

  test("a line break in the middle of a sentence becomes a space, and the quote stays as it is in the document", () => {
    const part = "Backups run\nat night. They are\nkept.";
    const { text, quotes } = pick(`${FILLERS.join(" ")}\n\n${part}\n\n${FILLERS.join(" ")}`, "backups kept");
    expect(text).toBe("Backups run at night. They are kept.");
    expect(quotes).toEqual([part]);
  });

  test("each quote stands in the passage, quotes keep their order, and the answer adds white space and fences only", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "",
        "# One",
        "---",
        "- item one. two",
        "1. first:",
        "> quoted",
        "```",
        "| a | b |",
        "|---|---|",
        "a | b",
        "***",
      ),
      fc.constantFrom(
        "Some text. More text!",
        "Do this:",
        "\u{1F600}",
        "word ".repeat(100),
        "x".repeat(700),
        "  indented",
      ),
      fc.string({ unit: "binary", maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), fc.constantFrom("\n", "\r\n"), (lines, newline) => {
        const text = lines.join(newline);
        const { text: answer, quotes, share } = pick(text, "text first item word");
        let place = 0;
        for (const quote of quotes) {
          place = text.indexOf(quote, place);
          expect(place).not.toBe(-1);
          place += quote.length;
        }
        // Line breaks and marks of quotations behind them may go, fences may come.
        const squash = (shown: string) => shown.replace(/[\s>`]/g, "");
        expect(squash(answer)).toBe(squash(quotes.join("")));
        expect((answer.match(/^ {0,3}```/gm) ?? []).length % 2).toBe(0);
        expect(answer.length).toBeLessThanOrEqual(1_300);
        const halves = [lines.slice(0, 9).join(newline), lines.slice(9).join(newline)];
        for (const { text: quote, part } of pickOfTexts(halves, "text first item word").quotes) {
          expect(halves[part]?.includes(quote)).toBe(true);
        }
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
      }),
    );
  });
});
