import { describe, expect, test } from "@jest/globals";
import { invalidRequest } from "./problem.ts";

const issue = (path: PropertyKey[], message = "must have at most 5 characters", code = "too_big") => ({
  path,
  message,
  code,
});

describe("the faults of a request", () => {
  test("are each told with a JSON Pointer (RFC 6901) into what was sent", () => {
    const error = invalidRequest([
      issue(["text"]),
      issue(["meta", "a/b~c", 0]),
      issue([]),
      issue(["", " "]),
      issue(["~1"]),
    ]);
    expect(error.code).toBe("invalid_request");
    expect(error.errors?.map(({ pointer }) => pointer)).toEqual(["/text", "/meta/a~1b~0c/0", "", "// ", "/~01"]);
  });

  test("have the code of our own check where it names one, else that of the schema", () => {
    const errors = invalidRequest([
      { ...issue(["a"], "x", "custom"), params: { code: "malformed_text" } },
      { ...issue(["b"], "x", "custom"), params: { code: 5 } },
      issue(["c"], "x", "custom"),
      issue(["d"], "x", "invalid_type"),
    ]).errors;
    expect(errors?.map(({ code }) => code)).toEqual(["malformed_text", "invalid", "invalid", "invalid_type"]);
  });

  test("are told in words: the first, and how many more there are", () => {
    expect(invalidRequest([issue(["text"])], "The message").message).toBe(
      "The message is not valid: /text must have at most 5 characters.",
    );
    expect(invalidRequest([issue([], "must be an object"), issue(["a"]), issue(["b"])]).message).toBe(
      "The request must be an object (and 2 more).",
    );
    expect(invalidRequest([]).message).toBe("The request is not valid.");
  });
});
