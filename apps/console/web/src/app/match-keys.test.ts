import { describe, expect, test } from "@jest/globals";
import { isSingleKey, matchKeys, nameKey } from "./match-keys.ts";

const plain = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

describe("keys", () => {
  test("are named the same with Ctrl and Cmd, and letters are small", () => {
    expect(nameKey({ ...plain, key: "K", ctrlKey: true })).toBe("mod+k");
    expect(nameKey({ ...plain, key: "k", metaKey: true })).toBe("mod+k");
    expect(nameKey({ ...plain, key: "J", shiftKey: true })).toBe("shift+j");
  });

  test("that are signs do not need Shift named", () => {
    expect(nameKey({ ...plain, key: "?", shiftKey: true })).toBe("?");
    expect(nameKey({ ...plain, key: "#" })).toBe("#");
  });

  test("find their command, the later registered of two", () => {
    expect(matchKeys(["j"], ["j", "k", "j"])).toEqual({ kind: "hit", index: 2 });
  });

  test("that begin a sequence wait for the rest", () => {
    expect(matchKeys(["g"], ["g i", "j"])).toEqual({ kind: "begin" });
    expect(matchKeys(["g", "i"], ["g i", "j"])).toEqual({ kind: "hit", index: 0 });
    expect(matchKeys(["g", "x"], ["g i", "j"])).toEqual({ kind: "none" });
  });

  test("of a single letter or sign can be told from others, with Shift or not", () => {
    const names = ["a", "shift+e", "!", "?", "shift", "shift+Enter", "Enter", "mod+k", "mod+shift+a", "alt+x", "+"];
    expect(names.filter(isSingleKey)).toEqual(["a", "shift+e", "!", "?", "+"]);
  });

  test("that nothing has find nothing", () => {
    expect(matchKeys(["z"], ["j", undefined])).toEqual({ kind: "none" });
  });
});
