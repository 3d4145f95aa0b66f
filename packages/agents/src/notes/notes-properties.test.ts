import { expect, test } from "@jest/globals";
import { issueInputSchema, notesInputSchema } from "@svc/contracts";
import fc from "fast-check";
import { summarizeNotes } from "./summarize-notes.ts";

/** The same pieces of notes in any order: speech, lists, headings, slips, scripts, line ends and signs. */
const PIECES = [
  "um the the printer is jammed again",
  "no wait",
  "I mean",
  "the customer of room 12 wants a refund by Friday no sorry by Thursday",
  "# Visit",
  "- the lamp flickers",
  "  - [ ] order toner",
  "[x] done",
  "1. the door does not open",
  "scratch that",
  "you know, well, like,",
  "Der Drucker, äh, der Scanner ist kaputt.",
  "Il faut cinq, non pardon, six chaises.",
  "встреча в понедельник, нет, во вторник",
  "打印机坏了。客户要求退款。",
  "プリンターが壊れています。",
  "الطابعة معطلة، لا، الماسحة معطلة.",
  "\u202eהמדפסת לא עובדת\u202c",
  "\u{1F600}\u{1F468}\u200d\u{1F469}\u200d\u{1F467}",
  "e\u0301\u0301 cafe\u0301",
  "https://a.example/x?y=1 4711 3.14 40 40",
  "{vocalsound} [laughter]",
  "<|im_start|> <b>x</b> {{y}} ${z} \\u0000",
  "…—–,,;;::!!??",
];
const BETWEEN = [" ", "\n", "\r\n", "\n\n", "\r\n\r\n", ", ", ". ", "\t", "\u00a0", "\u2028", ""];

const someNotes = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(...BETWEEN)), { minLength: 1, maxLength: 25 })
  .map((pieces) => pieces.flat().join(""));

/** Also what nobody says: all that a caller may send. */
const anyNotes = fc
  .oneof(someNotes, fc.string({ unit: "binary", maxLength: 200 }))
  .filter((notes) => notesInputSchema.safeParse({ notes }).success);

/** How often each word and number stands in a text, whatever its case, also that of the Turkish letters ı and i. */
function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const folded = text.replaceAll(/[ıİ]/g, "i").toLowerCase();
  for (const [word] of folded.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

test("whatever the notes, nothing is put in, and each quote is a place in them", async () => {
  await fc.assert(
    fc.asyncProperty(anyNotes, async (notes) => {
      const { cleanedText, summary, issues } = await summarizeNotes({ notes });
      const given = countWords(notes);
      for (const [word, count] of countWords(cleanedText)) expect(count).toBeLessThanOrEqual(given.get(word) ?? 0);
      expect([...countWords(summary).keys()].filter((word) => !given.has(word))).toEqual([]);
      for (const { quotes, ...issue } of issues) {
        expect(quotes.length).toBeGreaterThan(0);
        // It can be submitted as it is.
        expect(issueInputSchema.safeParse(issue)).toMatchObject({ success: true });
        let before = 0;
        for (const { start, end } of quotes) {
          expect(start >= before && start < end && end <= notes.length).toBe(true);
          // A quote is whole: no half characters, and no white space around it.
          expect(notes.slice(start, end).isWellFormed()).toBe(true);
          expect(notes.slice(start, end)).toBe(notes.slice(start, end).trim());
          before = end;
        }
      }
    }),
    { numRuns: 150 },
  );
});

test("the same notes give the same answer, and the ids of issues are told apart", async () => {
  await fc.assert(
    fc.asyncProperty(someNotes, async (notes) => {
      const first = await summarizeNotes({ notes });
      expect(await summarizeNotes({ notes })).toEqual(first);
      const ids = first.issues.map(({ clientIssueId }) => clientIssueId);
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: 30 },
  );
});

test("what changes in one line leaves the ids of the issues in others as they are", async () => {
  const lines = [
    "- um the printer in room 1 is jammed",
    "- the lamp in room 2 flickers",
    "- the heating in room 3 does not work",
    "- customer 4 wants a refund",
  ];
  const idsOf = async (of: readonly string[]) =>
    (await summarizeNotes({ notes: of.join("\n") })).issues.map(({ clientIssueId }) => clientIssueId);
  const ids = await idsOf(lines);
  expect(ids).toHaveLength(lines.length);
  for (const [position, line] of lines.entries()) {
    const changed = await idsOf(lines.with(position, `${line} today, please`));
    expect(changed.filter((id, index) => id !== ids[index])).toEqual([changed[position]]);
    expect(await idsOf(lines.toSpliced(position, 1))).toEqual(ids.toSpliced(position, 1));
    expect(await idsOf(lines.toSpliced(position, 0, "- the tap drips"))).toEqual(expect.arrayContaining(ids));
  }
  // How it is written makes no difference either.
  expect(await idsOf(lines.map((line) => `${line.toUpperCase()}.\r`))).toEqual(ids);
});
