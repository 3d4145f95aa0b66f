import { describe, expect, test } from "@jest/globals";
import { checkNode } from "./check-environment.ts";

describe("the check of Node.js", () => {
  test.each([
    ["18.20.4", "fail"],
    ["20.18.9", "fail"],
    ["20.19.0", "ok"],
    ["22.0.0", "ok"],
    ["24.1.0", "ok"],
  ])("version %s: %s", (version, status) => {
    expect(checkNode(version).status).toBe(status);
  });
});
