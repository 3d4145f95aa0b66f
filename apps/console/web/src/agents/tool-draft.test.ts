import { describe, expect, test } from "@jest/globals";
import {
  argumentsOf,
  headersOf,
  NEW_TOOLS,
  readNames,
  readParameters,
  withArgumentsOf,
  withMethod,
} from "./tool-draft.ts";

describe("an edited tool", () => {
  test("waits for an operator once its method changes something, and sends its arguments in a body", () => {
    const tool = NEW_TOOLS.http;
    if (tool.type !== "http") throw new Error("The new tool is not of its kind.");
    expect(withMethod(tool, "POST")).toMatchObject({ body: "json", access: "write", approval: "operator" });
    expect(withMethod(tool, "DELETE")).toMatchObject({ body: "none", access: "write", approval: "operator" });
    expect(withMethod(tool, "GET")).toMatchObject({ body: "none", access: "read", approval: "auto" });
  });

  test("gets the arguments in its URL, and keeps the definitions of existing ones", () => {
    const known = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
    expect(withArgumentsOf("https://a.example/{id}/{part}?q={part}", known)).toEqual({
      type: "object",
      properties: { id: { type: "integer" }, part: { type: "string" } },
      required: ["id", "part"],
    });
  });

  test("accepts a JSON object for its parameters, and nothing else", () => {
    expect(readParameters('{"type":"object"}')).toEqual({ type: "object" });
    for (const text of ["", "{", "[]", "null", "1"]) expect(readParameters(text)).toBeNull();
  });

  test("has the arguments in its parameters", () => {
    expect(argumentsOf({ properties: { orderId: { type: "string" }, part: {} } })).toEqual(["orderId", "part"]);
    expect(argumentsOf({ properties: null })).toEqual([]);
  });

  test("omits headers without a name and empty lines", () => {
    expect(
      headersOf([
        { name: " X-Key ", value: "a" },
        { name: " ", value: "b" },
      ]),
    ).toEqual({ "X-Key": "a" });
    expect(readNames(" one \n\n two\none")).toEqual(["one", "two"]);
    expect(readNames(" \n")).toBeNull();
  });
});
