import { describe, expect, test } from "@jest/globals";
import { parseEvalLines } from "./parse-eval-lines.ts";

const parseOne = (line: object) => parseEvalLines(JSON.stringify(line));
const faultsOf = (line: unknown) => parseEvalLines(JSON.stringify(line)).faults.map(({ fault }) => fault);

describe("a line", () => {
  test("may say only what is asked; the rest stays unsaid", () => {
    const [line] = parseOne({ text: "hello" }).lines;
    expect(line).toEqual({ text: "hello", chat: [], line: 1 });
  });

  test("tells what is not said from what is none", () => {
    const [line] = parseOne({ text: "hello", agent: null, document: null, answer: null }).lines;
    expect(line).toMatchObject({ agent: null, document: null, answer: null });
  });

  test("takes one or a list, and earlier messages in two forms", () => {
    const chat = ["first", { author: "agent", text: "second" }, { text: "third" }];
    const [line] = parseOne({ text: "x", id: 7, document: "a.md", answer: ["b", "c"], chat }).lines;
    expect(line).toMatchObject({
      id: "7",
      document: ["a.md"],
      answer: ["b", "c"],
      chat: [
        { author: "customer", text: "first" },
        { author: "agent", text: "second" },
        { author: "customer", text: "third" },
      ],
    });
  });

  test.each([
    [[1], /must be one object/],
    ["text", /must be one object/],
    [null, /must be one object/],
    [{}, /text: must be a string/],
    [{ text: " \n" }, /text: must not be empty/],
    [{ text: "x".repeat(50_001) }, /text: must have at most 50000 characters/],
    [{ text: "x", agent: 5 }, /agent: must be the name or ID of an agent/],
    [{ text: "x", document: [] }, /document: must contain at least one: a document's key, title, URL or ID/],
    [{ text: "x", answer: { a: 1 } }, /answer: must be text that the answer must contain/],
    [{ text: "x", answer: ["**"] }, /answer: must not be empty or only whitespace/],
    [{ text: "x", chat: "y" }, /chat: must be a list/],
    [{ text: "x", chat: [{ author: "bot", text: "y" }] }, /chat\.0: must be a string or/],
    [{ text: "x", id: {} }, /id: must be a string or a number/],
  ])("that is wrong is reported with what is needed: %j", (line, fault) => {
    expect(faultsOf(line)).toEqual([expect.stringMatching(fault)]);
  });
});

describe("a file", () => {
  test("has all of its faults reported at once, with their lines; empty lines do not count", () => {
    const { lines, faults } = parseEvalLines('{"text":"a"}\r\n\n{oops}\n{"text":5}\n  \n{"text":"b"}\n');
    expect(lines.map(({ line, text }) => [line, text])).toEqual([
      [1, "a"],
      [6, "b"],
    ]);
    expect(faults.map(({ line }) => line)).toEqual([3, 4]);
  });

  test("has every id once", () => {
    const { lines, faults } = parseEvalLines('{"text":"a","id":1}\n{"text":"b","id":"1"}');
    expect(lines).toHaveLength(1);
    expect(faults).toEqual([{ line: 2, fault: "id: already used in line 1" }]);
  });

  test("may have fields of its own, which are counted", () => {
    const { faults, unknownFields } = parseEvalLines('{"text":"a","anwser":1}\n{"text":"b","anwser":2,"by":"me"}');
    expect(faults).toEqual([]);
    expect([...unknownFields]).toEqual([
      ["anwser", 2],
      ["by", 1],
    ]);
  });

  test("may be empty", () => {
    expect(parseEvalLines(" \n\n")).toMatchObject({ lines: [], faults: [] });
  });
});
