import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { meaningOf, tokenize } from "@svc/text";
import { classifyMessage } from "./classify-message.ts";
import type { MessageKind } from "./classify-message.ts";
import { compilePhrases } from "./match-phrases.ts";
import { compareWithExamples, createTalkRecognizer, trustedRatio } from "./recognize-talk.ts";

/** A direction of length 1 in the plane, by its angle in degrees. */
const at = (degrees: number) =>
  Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180));

const examplesAt = (positions: Partial<Record<MessageKind, readonly number[]>>) =>
  Object.entries(positions).flatMap(([kind, angles]) =>
    angles.map((degrees) => ({ kind: kind as MessageKind, language: "en", embedding: at(degrees) })),
  );

const EXAMPLES = examplesAt({ thanks: [0, 4, 8], complaint: [90, 94, 98], question: [180, 184, 188, 192] });

/** Embeds a text as a direction: "45" is 45 degrees; every example is where its kind is. */
const embedderOf = (positions: (text: string) => number) => ({
  embedQuery: (text: string) => Promise.resolve(at(positions(text))),
  embedQueries: (texts: readonly string[]) => Promise.resolve(texts.map((text) => at(positions(text)))),
});

test("how phrases may begin is known before they are compiled", () => {
  const phrases = {
    greeting: ["[very] good (day|morning)", "<hi> all", "enttäusch~ now"],
    thanks: ["[a] * lot"],
    filler: ["so"],
  };
  const { beginnings } = compilePhrases(phrases, {
    words: { hi: ["hello there", "hey"] },
    isUnspaced: false,
    asides: new Set(["filler"]),
    isBlocked: () => false,
  });
  expect([...beginnings.words].toSorted()).toEqual(["a", "good", "hello", "hey", "lot", "very"]);
  expect(beginnings).toMatchObject({ prefixes: ["enttausch"], isAny: true });
});

describe("compareWithExamples", () => {
  test.each([
    ["thanks", 6],
    ["complaint", 88],
  ])("finds %s next to its examples, far from those with another outcome", (kind, degrees) => {
    const found = compareWithExamples(at(degrees), EXAMPLES);
    expect(found?.example.kind).toBe(kind);
    expect(found?.ratio).toBeLessThan(0.1);
  });

  test.each([140, 150, 185])("has no small ratio between kinds or next to questions (%s degrees)", (degrees) => {
    expect(compareWithExamples(at(degrees), EXAMPLES)?.ratio).toBeGreaterThan(0.8);
  });

  test("does not count one stray example, nor kinds with the same outcome as rivals", () => {
    const stray = [...EXAMPLES, ...examplesAt({ greeting: [186] })];
    expect(compareWithExamples(at(186), stray)?.example.kind).not.toBe("greeting");
    const alike = [...EXAMPLES, ...examplesAt({ greeting: [3, 5] })];
    expect(compareWithExamples(at(4), alike)?.ratio).toBeLessThan(0.1);
  });

  test("tells nothing apart if all embeddings are the same", () => {
    const same = examplesAt({ thanks: [0, 0], question: [0, 0] });
    expect(compareWithExamples(at(0), same)?.ratio).toBe(1);
    expect(compareWithExamples(at(0), [])).toBeNull();
  });
});

test("a model is trusted only below the ratio of its own example questions", () => {
  expect(trustedRatio(EXAMPLES)).toBeCloseTo(0.8);
  const mixed = examplesAt({ thanks: [0, 4, 8], question: [6, 180, 184] });
  expect(trustedRatio(mixed)).toBeLessThan(0.01);
});

describe("a recognizer", () => {
  const THANKS = /lifesaver|appreciate|the trick|my day|obliged|great service/i;
  const positions = (text: string) => (/^\d+/.test(text) ? Number.parseInt(text) : THANKS.test(text) ? 0 : 180);
  const recognizer = createTalkRecognizer(embedderOf(positions), (error) => {
    throw error;
  });

  test("recognizes what is close to examples, in the language of the conversation", async () => {
    expect(await recognizer.recognize("1 star service folks", { language: "en" })).toBeNull();
    const first = { embedQuery: () => Promise.resolve(at(1)), embedQueries: embedderOf(positions).embedQueries };
    const words = createTalkRecognizer(first, () => undefined);
    expect(await words.recognize("much love for everyone here", { language: "en-GB" })).toEqual({
      kind: "thanks",
      language: "en",
    });
  });

  test.each([
    ["asks", "much love, where is my parcel"],
    ["has a question mark", "much love?"],
    ["reports a problem", "much love but the app does not work"],
    ["has digits", "much love from order 4711"],
    ["is long", "much love ".repeat(30)],
  ])("does not take a message for thanks that %s", async (_what, text) => {
    const near = createTalkRecognizer(
      { embedQuery: () => Promise.resolve(at(1)), embedQueries: embedderOf(positions).embedQueries },
      () => undefined,
    );
    expect(await near.recognize(text, { language: "en" })).toBeNull();
  });

  test("embeds the examples once, and again after a failure, which is reported", async () => {
    const errors: unknown[] = [];
    let calls = 0;
    const failing = createTalkRecognizer(
      {
        embedQuery: () => Promise.resolve(at(1)),
        embedQueries: (texts) => {
          calls += 1;
          return calls === 1
            ? Promise.reject(new Error("the server is unavailable"))
            : embedderOf(positions).embedQueries(texts);
        },
      },
      (error) => errors.push(error),
    );
    const ask = () => failing.recognize("much love for everyone here", { language: "en" });
    expect(await ask()).toBeNull();
    expect(errors).toEqual([new Error("the server is unavailable")]);
    expect((await ask())?.kind).toBe("thanks");
    expect((await ask())?.kind).toBe("thanks");
    expect(calls).toBe(2);
  });

  test("recognizes nothing without an embedding of the message", async () => {
    const silent = { embedQuery: () => Promise.resolve(null), embedQueries: embedderOf(positions).embedQueries };
    const none = createTalkRecognizer(silent, () => undefined);
    expect(await none.recognize("much love for everyone here", {})).toBeNull();
  });
});

test("takes no question about the guide for small talk, by the word vectors of the product", async () => {
  const embed = (text: string) =>
    meaningOf(
      tokenize(text).map(({ term }) => term),
      "en",
    );
  const byWords = createTalkRecognizer(
    {
      embedQuery: (text) => Promise.resolve(embed(text)),
      embedQueries: (texts) => Promise.resolve(texts.map(embed)),
    },
    (error) => {
      throw error;
    },
  );
  const file = new URL("../../../../tests/packages/agents/guide-questions.jsonl", import.meta.url);
  const questions = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { text: string; document: string | null })
    .flatMap(({ text, document }) => (document === null ? [] : text))
    .filter((text) => classifyMessage(text).kind === "question");
  expect(questions.length).toBeGreaterThan(50);
  const found = await Promise.all(questions.map((text) => byWords.recognize(text, { language: "en" })));
  expect(questions.filter((_, position) => found[position] !== null)).toEqual([]);
  expect((await byWords.recognize("such a lifesaver, truly appreciated", { language: "en" }))?.kind).toBe("thanks");
});
