import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { jsonPartOf, readJsonOutput } from "./chat-with-model.ts";

const FENCED = 'Here it is:\n```json\n{"a": [1, 2]}\n```\nAnything else?';

describe("the JSON of an answer", () => {
  test.each([
    ["alone", '{"a": [1, 2]}'],
    ["in a fence", FENCED],
    ["in a fence without a name", '```\n{"a": [1, 2]}\n```'],
    ["between words", 'The answer is {"a": [1, 2]}. Bye.'],
    ["after thoughts that have JSON in them", '<think>maybe {"a": 3}?</think>\n{"a": [1, 2]}'],
  ])("is read %s", (_, text) => {
    expect(readJsonOutput(text)).toEqual({ a: [1, 2] });
  });

  test.each(["", "no", "{", '{"a": 1', "<think>{}", "[link](https://example.com)"])("is none in %j", (text) => {
    expect(readJsonOutput(text)).toBeUndefined();
  });

  test("is found as far as it has come", () => {
    expect(jsonPartOf('{"a": [1], "b')).toBe('{"a": [1], "b');
    expect(jsonPartOf('Sure:\n```json\n{"a": [1')).toBe('{"a": [1');
    expect(jsonPartOf("<think>{hm")).toBe("");
    expect(jsonPartOf("Sure")).toBe("");
  });

  test("is read back whatever it says", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const json = JSON.stringify(value);
        expect(JSON.stringify(readJsonOutput(json))).toBe(json);
      }),
    );
  });

  test("of any text is read without an error", () => {
    fc.assert(fc.property(fc.string(), (text) => void readJsonOutput(text)));
  });
});
