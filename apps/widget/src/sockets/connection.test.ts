import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { VISITOR_FRAMES } from "@svc/contracts";
import { readFrame } from "./connection.ts";

describe("a frame of a visitor", () => {
  test("needs a type and its data; all other fields are ignored", () => {
    expect(readFrame({ type: "read", data: { seq: 3, more: 1 }, id: "x", ts: "y" })).toEqual({
      frame: { type: "read", data: { seq: 3 } },
    });
    expect(readFrame({ v: 1, type: "hello" })).toEqual({ frame: { type: "hello", data: { sinceSeq: 0 } } });
  });

  test.each([
    ["nothing", null, "JSON object"],
    ["a list", [], "JSON object"],
    ["another version", { v: 2, type: "read", data: { seq: 0 } }, "version 1"],
    ["a type of the server", { type: "reply", data: {} }, "Unknown frame type"],
    ["a name of JavaScript", { type: "constructor", data: {} }, "Unknown frame type"],
    ["a place below 0", { type: "read", data: { seq: -1 } }, "/data/seq"],
    ["a place that is no number", { type: "read", data: { seq: "1" } }, "/data/seq"],
    ["an id that could be guessed", { type: "hello", data: { visitorId: "1" } }, "/data/visitorId"],
  ])("that is %s is an error with an explanation", (_what, sent, detail) => {
    expect(readFrame(sent)).toEqual({
      error: { code: "invalid_request", detail: expect.stringContaining(detail), clientMessageId: null },
    });
  });

  test("that is an invalid message is identified by its id, if that is valid", () => {
    const errorOf = (clientMessageId: unknown) => readFrame({ type: "message", data: { text: "", clientMessageId } });
    expect(errorOf("m-1")).toMatchObject({ error: { clientMessageId: "m-1" } });
    for (const id of ["", " ", "x".repeat(101), 1, null, "\n"]) {
      expect(errorOf(id)).toMatchObject({ error: { clientMessageId: null } });
    }
  });

  test("may be any value", () => {
    const type = fc.oneof(fc.constantFrom(...Object.keys(VISITOR_FRAMES)), fc.string());
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.record({ type, data: fc.anything() })), (sent) => {
        const read = readFrame(sent);
        expect("frame" in read || read.error.detail !== "").toBe(true);
      }),
    );
  });
});
