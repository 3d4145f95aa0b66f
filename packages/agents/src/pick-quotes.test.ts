import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { pickQuotes } from "./pick-quotes.ts";

const pick = (text: string, question: string, context: { title?: string; headingPath?: string[] } = {}) =>
  pickQuotes(
    { text, title: context.title ?? "", headingPath: context.headingPath ?? [] },
    question.split(" ").map((word) => ({ word, weight: word.length })),
  );

const filler = (index: number): string =>
  `Sentence number ${index} goes on about nothing that anybody has ever wanted to know.`;
const FILLERS = Array.from({ length: 10 }, (_, index) => filler(index));

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

  test("a table that is too long keeps its header and its best rows, in their order", () => {
    const rows = Array.from({ length: 100 }, (_, index) => `| row ${index} | a value that takes some room |`);
    rows[70] = "| quokka | small |";
    const { text, quotes } = pick(["| Animal | Size |", "|---|---|", ...rows].join("\n"), "quokka size");
    expect(text.startsWith("| Animal | Size |\n|---|---|\n| row 0 |")).toBe(true);
    expect(text.endsWith("|\n| quokka | small |")).toBe(true);
    expect(text.length).toBeLessThanOrEqual(1_250);
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

  test("each quote stands in the passage, quotes keep their order, and the answer holds nothing else", () => {
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
        let rest = answer;
        for (const quote of quotes) {
          place = text.indexOf(quote, place);
          expect(place).not.toBe(-1);
          place += quote.length;
          expect(rest.includes(quote)).toBe(true);
          rest = rest.slice(rest.indexOf(quote) + quote.length);
        }
        expect(rest).toBe("");
        expect(answer.length - quotes.join("").length).toBeLessThanOrEqual(2 * quotes.length);
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
      }),
    );
  });
});
