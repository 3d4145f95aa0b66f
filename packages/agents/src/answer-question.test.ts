import { describe, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import type { Passage, Search, SearchResult } from "./answer.ts";
import { answerQuestion } from "./answer-question.ts";

const AGENT: Agent = {
  id: "a",
  name: "assistant",
  description: "",
  instructions: "",
  model: null,
  kbIds: ["kb"],
  examples: [],
  reviewPolicy: "auto_if",
  autoThreshold: 0.5,
  fixedReply: null,
  tools: [],
  enabled: true,
  version: 1,
};

const passage = (change: Partial<Passage>): Passage => ({
  documentId: "d",
  chunkId: "c",
  title: "Manual",
  headingPath: ["Manual", "Backups"],
  text: "Backups run at night. They are kept for a month.",
  markdown: true,
  score: 5,
  ...change,
});

const found = (...hits: Passage[]): SearchResult => ({
  hits,
  bestPossible: 10,
  words: [{ word: "backups", weight: 5 }],
});

/** A search with this result, and what it was asked. */
function searchFor(result: SearchResult): { search: Search; calls: Parameters<Search>[] } {
  const calls: Parameters<Search>[] = [];
  const search: Search = (...args) => {
    calls.push(args);
    return Promise.resolve(result);
  };
  return { search, calls };
}

const ask = (text: string, result: SearchResult, agent: Partial<Agent> = {}) =>
  answerQuestion({ agent: { ...AGENT, ...agent }, text, search: searchFor(result).search });

describe("answerQuestion", () => {
  test("answers in the document's words and names the source", async () => {
    expect(await ask("When do backups run?", found(passage({ url: "https://example.com/m" })))).toEqual({
      text: "Backups run at night. They are kept for a month.",
      markdown: true,
      sources: [
        {
          title: "Manual",
          url: "https://example.com/m",
          documentId: "d",
          chunkId: "c",
          quote: "Backups run at night. They are kept for a month.",
        },
      ],
      confidence: 0.9,
      why: expect.stringContaining('"Manual › Backups"'),
    });
  });

  test("a passage of plain text makes an answer of plain text", async () => {
    expect(await ask("When do backups run?", found(passage({ markdown: false })))).toMatchObject({ markdown: false });
  });

  test.each([
    [5, 0.9],
    [4, 0.8],
    [2.5, 0.5],
  ])("a score of %d out of 10 gives a confidence of %d", async (score, confidence) => {
    expect((await ask("backups", found(passage({ score })))).confidence).toBeCloseTo(confidence);
  });

  test("says nothing when the best passage has next to nothing of the question", async () => {
    const answer = await ask("backups", found(passage({ score: 1 })));
    expect(answer).toMatchObject({ text: null, sources: [], confidence: 0.2 });
    expect(answer.why).toContain("too little of the question");
  });

  test("says nothing when nothing is found, and names the words that were searched for", async () => {
    const answer = await ask("Do zebras fly?", { hits: [], bestPossible: 9, words: [{ word: "zebras", weight: 4 }] });
    expect(answer).toMatchObject({ text: null, sources: [], confidence: 0 });
    expect(answer.why).toContain('"zebras"');
    expect((await ask("?!", { hits: [], bestPossible: 0, words: [] })).why).toContain("no words to search for");
  });

  test("of the first passages, takes the one with the better sentence when the scores are close", async () => {
    const vague = passage({ chunkId: "vague", headingPath: [], text: "Ask somebody else.", score: 5 });
    const exact = passage({ chunkId: "exact", headingPath: [], score: 4.5 });
    expect((await ask("backups", found(vague, exact))).sources[0]?.chunkId).toBe("exact");
  });

  test("a fixed reply is answered to anything, for certain and without a search", async () => {
    const { search, calls } = searchFor(found());
    const agent = { ...AGENT, fixedReply: "We are **closed**." };
    for (const text of ["hello", "When do backups run?"]) {
      const answer = await answerQuestion({ agent, text, search });
      expect(answer).toMatchObject({ text: "We are **closed**.", markdown: true, sources: [], confidence: 1 });
    }
    expect(calls).toEqual([]);
  });

  test("small talk is answered for itself, without a search", async () => {
    const { search, calls } = searchFor(found());
    const answer = await answerQuestion({ agent: AGENT, text: "Guten Morgen!", search });
    expect(answer).toMatchObject({ text: "Hallo! Wie kann ich Ihnen helfen?", sources: [] });
    expect(answer.confidence).toBeGreaterThan(0.9);
    expect(calls).toEqual([]);
  });

  test("an agent without a knowledge base says so", async () => {
    expect(await ask("backups", found(passage({})), { kbIds: [] })).toMatchObject({
      text: null,
      why: expect.stringContaining("assistant has no knowledge base"),
    });
  });

  test("searches the agent's knowledge bases for the customer's words", async () => {
    const { search, calls } = searchFor(found(passage({})));
    const agent = { ...AGENT, kbIds: ["one", "two"] };
    await answerQuestion({ agent, text: "When do backups run?", search });
    expect(calls).toEqual([["When do backups run?", ["one", "two"], 5]]);
  });

  test("a question that goes on with the last one is searched together with it, a new one is not", async () => {
    const { search, calls } = searchFor(found(passage({})));
    const history = [
      { author: "customer" as const, text: "How do I install it on Linux?" },
      { author: "agent" as const, text: "Use the package." },
    ];
    const texts = ["And on Windows?", "What about macOS?", "When do backups run?"];
    for (const text of texts) await answerQuestion({ agent: AGENT, text, history, search });
    expect(calls.map(([query]) => query)).toEqual([
      "How do I install it on Linux?\nAnd on Windows?",
      "How do I install it on Linux?\nWhat about macOS?",
      "When do backups run?",
    ]);
    await answerQuestion({ agent: AGENT, text: "And on Windows?", search });
    expect(calls.at(-1)?.[0]).toBe("And on Windows?");
  });

  test("an error of the search is the caller's to see", async () => {
    const search: Search = () => Promise.reject(new Error("the store is away"));
    await expect(answerQuestion({ agent: AGENT, text: "backups", search })).rejects.toThrow("the store is away");
  });

  test.each([
    ["hashes", "#"],
    ["backticks", "`"],
    ["bars", "|"],
    ["colons", ":"],
    ["asterisks", "*"],
    ["list markers", "- "],
    ["empty lines", "\n"],
    ["quotation marks", ">"],
    ["full stops", ". "],
  ])("gets through a question and a passage of 50,000 %s", async (_, unit) => {
    const text = unit.repeat(50_000 / unit.length);
    const answer = await ask(text, found(passage({ text }), passage({ text: `${text} backups` })));
    expect(answer.confidence).toBeLessThanOrEqual(1);
  });

  test("gets through 400 words against a passage of 8,000 characters", async () => {
    const words = Array.from({ length: 400 }, (_, index) => ({ word: `backupword${index}`, weight: 1 }));
    const text = Array.from({ length: 600 }, (_, index) => `backupwords${index}`).join(" ");
    const result = { hits: [passage({ text })], bestPossible: 10, words };
    expect((await ask("backups", result)).text).not.toBeNull();
  });
});
