import { describe, expect, test } from "@jest/globals";
import { growText, textOf } from "./grow-text.ts";

describe("what a reader is sent of a text that grows", () => {
  test.each([
    ["nothing, where it has all of it", "abc", "abc", null],
    ["what is new", "ab", "abc", { offset: 2, text: "c" }],
    ["what is new after a character of two units", "🚚", "🚚!", { offset: 2, text: "!" }],
    ["all of it, where it is another one", "abc", "abd", { offset: 0, text: "abd" }],
    ["all of it, where it is shorter", "abc", "a", { offset: 0, text: "a" }],
    ["that there is none any more", "abc", "", { offset: 0, text: "" }],
    ["all of it, where it is not known what it has", null, "", { offset: 0, text: "" }],
  ])("%s", (_what, before, text, delta) => {
    expect(growText("m", before, text)).toEqual(delta === null ? null : { messageId: "m", ...delta });
  });

  test("and in the end what the first message among the replies says", () => {
    const replies = [{ type: "attachment" }, { type: "message", text: "a" }, { type: "message", text: "b" }];
    expect([textOf(replies), textOf([])]).toEqual(["a", ""]);
  });
});
