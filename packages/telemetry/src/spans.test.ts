import { describe, expect, test } from "@jest/globals";
import { formatTraceparent, parseTraceparent, traceIdOf } from "./spans.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

describe("a traceparent", () => {
  test("is read, and written as it was", () => {
    for (const flags of ["00", "01"]) {
      const text = `00-${TRACE}-${SPAN}-${flags}`;
      const position = parseTraceparent(text);
      expect(position).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: flags === "01" });
      expect(position === null ? null : formatTraceparent(position)).toBe(text);
      expect(traceIdOf(text)).toBe(TRACE);
    }
  });

  test("of a later version is read as far as this one goes", () => {
    expect(parseTraceparent(`cc-${TRACE}-${SPAN}-09-what-comes-later`)).toMatchObject({ isSampled: true });
  });

  test.each([
    undefined,
    "",
    "00",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-0`,
    `00-${TRACE}-${SPAN}-01\n`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  ])("that is none is as if it was not there: %j", (text) => {
    expect(parseTraceparent(text)).toBeNull();
    expect(traceIdOf(text)).toBeUndefined();
  });
});
