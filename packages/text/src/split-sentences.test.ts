import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { cutText, splitSentences } from "./split-sentences.ts";

describe("cutText", () => {
  describe("cutText", () => {
    test.each([
      ["a text that fits is returned as it is", " fits ", 6, " fits "],
      ["at the last sentence that fits", "First one. Second one. Third one.", 25, "First one. Second one."],
      ["not at an abbreviation", "We met Dr. Smith yesterday evening.", 16, "We met Dr. Smith"],
      [
        "at a word when a sentence would leave less than half",
        "Yes. A long sentence without an end",
        20,
        "Yes. A long sentence",
      ],
      ["at a word exactly at the limit", "hello world again", 11, "hello world"],
      ["before a code fence that does not fit", "Run this command.\n\n```\nnpm install\n```", 30, "Run this command."],
      ["within a word when there is no other way", "Donaudampfschifffahrt", 5, "Donau"],
      ["within a text of a script without spaces", "設定を開きます保存をクリック", 5, "設定を開き"],
      ["before an emoji that would be cut", "ab👩‍👩‍👧", 5, "ab"],
      ["before a flag that would be cut", "🇩🇪🇫🇷🇮🇹", 9, "🇩🇪🇫🇷"],
      ["before an accent that would be cut off", "abe\u0301", 3, "ab"],
      ["to nothing when nothing may stay", "text", 0, ""],
      ["to nothing below zero", "text", -1, ""],
    ])("cuts %s", (_title, text, maxChars, expected) => expect(cutText(text, maxChars)).toBe(expected));

    const words = fc.array(
      fc.oneof(fc.string({ unit: "grapheme", maxLength: 8 }), fc.constantFrom(". ", " ", "\n", "👩‍👩‍👧", "🇩🇪", "e\u0301")),
    );
    const texts = words.map((parts) => parts.join(""));

    test("gives a beginning of the text, of at most that length, well-formed", () => {
      fc.assert(
        fc.property(texts, fc.integer({ min: 0, max: 60 }), (text, maxChars) => {
          const cut = cutText(text, maxChars);
          expect(text.startsWith(cut)).toBe(true);
          expect(cut.length).toBeLessThanOrEqual(maxChars);
          if (text.isWellFormed()) expect(cut.isWellFormed()).toBe(true);
        }),
        { numRuns: 1_000 },
      );
    });

    test("cuts no grapheme that fits", () => {
      const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });
      fc.assert(
        fc.property(texts, fc.integer({ min: 40, max: 60 }), (text, maxChars) => {
          const cut = cutText(text, maxChars);
          const boundaries = new Set([text.length, ...[...segmenter.segment(text)].map(({ index }) => index)]);
          // White space at the end is dropped unit by unit: CR LF is one grapheme.
          expect(boundaries.has(cut.length) || /\s/.test(text.charAt(cut.length))).toBe(true);
        }),
      );
    });

    test("who goes on with the rest gets through any text, a giant grapheme too", () => {
      const giant = `a${"\u0301".repeat(50_000)}`;
      let rest = giant;
      let rounds = 0;
      for (; rest !== ""; rounds += 1) rest = rest.slice(cutText(rest, 4_096).length);
      expect(rounds).toBe(Math.ceil(giant.length / 4_096));
    });
  });
});

function textsOf(text: string): string[] {
  return splitSentences(text).map((sentence) => sentence.text);
}

/** Texts of what sentences and Markdown are made of, so that rare combinations come up often. */
const markdown = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ". ",
        "! ",
        "? ",
        "… ",
        "。",
        "। ",
        "\n",
        "\n\n",
        "\r\n",
        "- ",
        "1. ",
        "# ",
        "> ",
        "```",
        "| ",
        "---",
      ),
      fc.constantFrom(
        "Dr.",
        "z. B.",
        "e.g.",
        "No. 5",
        "3.14",
        "word",
        "Word",
        "WORD",
        "漢字",
        "слово",
        "👩‍👩‍👧",
        '"',
        "(",
        ")",
        "**",
      ),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(""));

describe("offsets", () => {
  test("each sentence is its slice of the text, in order, and only white space lies between them", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        let position = 0;
        for (const { text: sentence, start, end } of splitSentences(text)) {
          expect(text.slice(start, end)).toBe(sentence);
          expect(sentence).toBe(sentence.trim());
          expect(sentence).not.toBe("");
          expect(text.slice(position, start).trim()).toBe("");
          position = end;
        }
        expect(text.slice(position).trim()).toBe("");
      }),
      { numRuns: 2_000 },
    );
  });

  test("a text of well-formed characters gives well-formed sentences", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        for (const sentence of textsOf(text)) expect(sentence).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  test.each(["", " ", "\n\n\t\r\n"])("%j has no sentence", (text) => expect(splitSentences(text)).toEqual([]));
});

describe("ends of sentences", () => {
  test.each<[string, string[]]>([
    ["One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]],
    ["Is it?! Yes... No… Maybe", ["Is it?!", "Yes...", "No…", "Maybe"]],
    ["Wait... what? I see… now", ["Wait... what?", "I see… now"]],
    ["Well . . . that is it. Good", ["Well . . . that is it.", "Good"]],
    [
      'He said "Stop!" and left. "Why?" she asked. "Go." They went.',
      ['He said "Stop!" and left.', '"Why?" she asked.', '"Go."', "They went."],
    ],
    ["„Gut.“ Sie ging. «Bien.» Il part.", ["„Gut.“", "Sie ging.", "«Bien.»", "Il part."]],
    ["(See below.) Then go on.", ["(See below.)", "Then go on."]],
    ["**Important.** Read this. _Really._ Yes.", ["**Important.**", "Read this.", "_Really._", "Yes."]],
    ["It works.[1] Next one.", ["It works.[1]", "Next one."]],
    ["Thanks! 😊 I have a question. 👩‍👩‍👧 OK", ["Thanks! 😊", "I have a question. 👩‍👩‍👧", "OK"]],
    ["¿Dónde está? ¡Aquí! Gracias.", ["¿Dónde está?", "¡Aquí!", "Gracias."]],
    ["Click it.\n![Image](a.png)", ["Click it.", "![Image](a.png)"]],
    ["We use .NET. .NET is fine.", ["We use .NET.", ".NET is fine."]],
  ])("%j", (text, sentences) => expect(textsOf(text)).toEqual(sentences));
});

describe("no end of a sentence", () => {
  test.each([
    "Dr. Smith and Mrs. Jones met Prof. Lee in St. Louis.",
    "Use a tool, e.g. Docker, i.e. Containers, for it.",
    "It costs 3.14 or 1.000,50 or .5 of it.",
    "Version 2.0.1 of example.com/a?b=c is out.",
    "See No. 5, Fig. 3 and pp. 10 of it.",
    "J. R. R. Tolkien, John F. Kennedy and Roe v. Wade.",
    "The U.S. Army and the Apple Inc. Store were there.",
    "Books, pens, etc. are here.",
    "Am 3. Oktober im 18. Jahrhundert.",
    "Das gilt z. B. Montags bzw. Dienstags, d. h. ca. 5 mal, vgl. Abs. 3.",
    "M. Dupont et Mme. Durand, p. ex. Paul.",
    "El Sr. García y la Dra. López.",
    "Il sig. Rossi e il dott. Bianchi.",
    "Dhr. Jansen koopt bijv. Kaas.",
    "Т. е. см. Рисунок и ул. Ленина.",
    "Inż. Kowalski lubi np. Kraków.",
  ])("within %j", (text) => expect(textsOf(text)).toEqual([text]));
});

describe("an abbreviation that ends a sentence all the same", () => {
  test.each<[string, string[]]>([
    ["We live in the U.S. The weather is good.", ["We live in the U.S.", "The weather is good."]],
    ["It opens at 9 a.m. Bring a pen.", ["It opens at 9 a.m.", "Bring a pen."]],
    ["Pens etc. Then books.", ["Pens etc.", "Then books."]],
    ["No. I do not.", ["No.", "I do not."]],
    ["So do I. Then we left.", ["So do I.", "Then we left."]],
    ["Please help me. My printer is broken.", ["Please help me.", "My printer is broken."]],
    ["It costs 5. Please pay.", ["It costs 5.", "Please pay."]],
  ])("%j", (text, sentences) => expect(textsOf(text)).toEqual(sentences));
});

describe("languages", () => {
  test.each<[string, string[]]>([
    ["設定を開きます。「保存」をクリック！終わり", ["設定を開きます。", "「保存」をクリック！", "終わり"]],
    ["你好。我的订单呢？谢谢", ["你好。", "我的订单呢？", "谢谢"]],
    ["मेरा ऑर्डर कहाँ है? यह नहीं आया। धन्यवाद", ["मेरा ऑर्डर कहाँ है?", "यह नहीं आया।", "धन्यवाद"]],
    ["यह है. वह है.", ["यह है.", "वह है."]],
    ["كيف ذلك؟ لم يصل. شكرا", ["كيف ذلك؟", "لم يصل.", "شكرا"]],
    ["Πού είναι; Δεν έφτασε. Εντάξει", ["Πού είναι;", "Δεν έφτασε.", "Εντάξει"]],
    ["Բարեւ։ Շնորհակալ եմ։", ["Բարեւ։", "Շնորհակալ եմ։"]],
    ["one; two; Three.", ["one; two; Three."]],
  ])("%j", (text, sentences) => expect(textsOf(text)).toEqual(sentences));

  test("a text that begins in lower case need not capitalise its sentences", () => {
    expect(textsOf("my printer is broken. it does not print, e.g. pdf files. what now? thanks")).toEqual([
      "my printer is broken.",
      "it does not print, e.g. pdf files.",
      "what now?",
      "thanks",
    ]);
  });
});

describe("Markdown", () => {
  test("headings, items, quotations, rows and paragraphs end a sentence; each says what it is", () => {
    const text = [
      "# First. Heading",
      "Text that goes",
      "on. And ends",
      "- item one",
      "- item two. More",
      "1. Open it. Then",
      "2) Close it",
      "",
      "Title",
      "=====",
      "> Quoted. Text",
      "| a. | b |",
      "|---|---|",
      "***",
      "Hard  ",
      "break",
    ].join("\n");
    expect(splitSentences(text).map((sentence) => [sentence.kind, sentence.text])).toEqual([
      ["heading", "# First. Heading"],
      ["prose", "Text that goes\non."],
      ["prose", "And ends"],
      ["prose", "- item one"],
      ["prose", "- item two."],
      ["prose", "More"],
      ["prose", "1. Open it."],
      ["prose", "Then"],
      ["prose", "2) Close it"],
      ["heading", "Title\n====="],
      ["prose", "> Quoted."],
      ["prose", "Text"],
      ["table", "| a. | b |"],
      ["mark", "|---|---|"],
      ["mark", "***"],
      ["prose", "Hard"],
      ["prose", "break"],
    ]);
  });

  test.each([
    "```js\na. B\n\n# c\n```",
    "~~~\n```\nA. B\n~~~",
    "````\n```\nA. B\n````",
    "- ```\n  A. B\n  ```",
    "```\nnever. Closed",
  ])("the code fence %j stays whole", (fence) => {
    expect(splitSentences(`Before.\n${fence}`).map(({ kind, text }) => [kind, text])).toEqual([
      ["prose", "Before."],
      ["code", fence],
    ]);
  });

  test("what only looks like a fence is text", () => {
    expect(textsOf("```a``` is code. Then text.")).toEqual(["```a``` is code.", "Then text."]);
  });

  test("a rule below a sentence makes no heading of it", () => {
    expect(splitSentences("Best regards, and so on.\n---\nJohn").map(({ kind }) => kind)).toEqual([
      "prose",
      "mark",
      "prose",
    ]);
  });

  test("a line that begins with a year is no list item, an enumeration within a line ends after each item", () => {
    expect(textsOf("It began in\n1986. It was good.")).toEqual(["It began in\n1986.", "It was good."]);
    expect(textsOf("Steps: 1. Open it. 2. Close it.")).toEqual(["Steps: 1. Open it.", "2. Close it."]);
  });

  test.each(["\n", "\r\n", "\r", "\u2028"])("lines may end with %j", (newline) => {
    expect(textsOf(["# A", "b", "", "c"].join(newline))).toEqual(["# A", "b", "c"]);
  });
});

/** In one pass, this takes no time; in one for each character it would take minutes, whichever of these it is. */
const HOSTILE_CHARS = process.env["SVC_SOAK"] === "1" ? 200_000 : 50_000;

test(`hostile texts of ${HOSTILE_CHARS} characters are done in one pass`, () => {
  const parts = [
    ".",
    ". ",
    "a",
    " ",
    "\t",
    "`",
    "```\n",
    "~~~\n",
    ">",
    "!) ",
    "(",
    ".(",
    "\n",
    "* ",
    "|",
    "| -",
    "#",
    "1.",
    "漢",
  ];
  const more = [
    "🇩🇪",
    "👩‍👩‍👧",
    ";",
    ".[1",
    "1. a\n",
    "z. B. ",
    "\ud800",
    "a\u0301",
    "\u0301",
    "- ",
    "-",
    "=\n",
    "Dr. ",
    '."',
    "I. ",
    "![",
  ];
  for (const part of [...parts, ...more]) {
    for (const tail of ["", "x", "`", "😀"]) {
      const text = `. ${part.repeat(HOSTILE_CHARS / part.length)}${tail}`;
      expect(splitSentences(text).at(-1)?.end).toBe(text.trimEnd().length);
    }
  }
});

test("a line of millions of marks exhausts no stack", () => {
  for (const mark of ["_", "-", "=", "*", "~", "- "]) {
    const text = mark.repeat(3_000_000 / mark.length);
    expect(splitSentences(text).at(-1)?.end).toBe(text.trimEnd().length);
  }
});
