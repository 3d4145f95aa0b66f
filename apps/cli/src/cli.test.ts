import { describe, expect, test } from "@jest/globals";
import { describeCall } from "./cli.ts";

describe("advice names the command as the user calls it", () => {
  test("through npm in the repository, where paths are relative to the user's folder", () => {
    const env = { npm_lifecycle_event: "svc", INIT_CWD: "/repo/docs" };
    expect(describeCall({ env, workingFolder: "/repo", program: "/repo/scripts/start.mjs" })).toEqual({
      env,
      folder: "/repo/docs",
      self: "npm run svc --",
      silentSelf: "npm run --silent svc --",
      startWith: "npm start",
    });
  });

  test("by its own name elsewhere, also when another program that npm runs calls it", () => {
    const env = { npm_lifecycle_event: "test", INIT_CWD: "/elsewhere" };
    const called = describeCall({ env, workingFolder: "/somewhere", program: "/app/apps/cli/dist/main.js" });
    expect(called).toEqual({ env, folder: "/somewhere", self: "svc", silentSelf: "svc", startWith: "svc up" });
  });
});
