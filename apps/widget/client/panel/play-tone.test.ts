import { expect, test } from "@jest/globals";
import { playTone } from "./play-tone.ts";

test("a browser without audio stays silent, and the panel keeps working", () => {
  // Node.js has no AudioContext, like some browsers.
  expect("AudioContext" in globalThis).toBe(false);
  expect(playTone).not.toThrow();
});
