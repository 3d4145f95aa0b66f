import { describe, expect, test, afterAll, beforeAll } from "@jest/globals";
import { isSingleKey, matchKeys, nameKey, READ_MS, createCommandRegistry } from "./command-registry.ts";

const plain = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

describe("keys", () => {
  test("have the same names with Ctrl and Cmd, and letters are lower-case", () => {
    expect(nameKey({ ...plain, key: "K", ctrlKey: true })).toBe("mod+k");
    expect(nameKey({ ...plain, key: "k", metaKey: true })).toBe("mod+k");
    expect(nameKey({ ...plain, key: "J", shiftKey: true })).toBe("shift+j");
  });

  test("of symbols do not include Shift", () => {
    expect(nameKey({ ...plain, key: "?", shiftKey: true })).toBe("?");
    expect(nameKey({ ...plain, key: "#" })).toBe("#");
  });

  test("find their command, the later one of two", () => {
    expect(matchKeys(["j"], ["j", "k", "j"])).toEqual({ kind: "hit", index: 2 });
  });

  test("that start a sequence wait for the rest", () => {
    expect(matchKeys(["g"], ["g i", "j"])).toEqual({ kind: "begin" });
    expect(matchKeys(["g", "i"], ["g i", "j"])).toEqual({ kind: "hit", index: 0 });
    expect(matchKeys(["g", "x"], ["g i", "j"])).toEqual({ kind: "none" });
  });

  test("of a single letter or symbol are recognized, with and without Shift", () => {
    const names = ["a", "shift+e", "!", "?", "shift", "shift+Enter", "Enter", "mod+k", "mod+shift+a", "alt+x", "+"];
    expect(names.filter(isSingleKey)).toEqual(["a", "shift+e", "!", "?", "+"]);
  });

  test("without a command find nothing", () => {
    expect(matchKeys(["z"], ["j", undefined])).toEqual({ kind: "none" });
  });
});

const kept = { Element: globalThis.Element, document: globalThis.document };

beforeAll(() => {
  // A page without a focused element or a dialog.
  Object.assign(globalThis, { Element: EventTarget, document: { querySelector: () => null } });
});
afterAll(() => {
  Object.assign(globalThis, kept);
});

/**
 * Opens a page with `j` that moves, `d` that shows details, and `a` that sends; `press` takes the time since the start.
 */
function openPage() {
  const done: string[] = [];
  const registry = createCommandRegistry();
  const command = (keys: string, isDecision: boolean) => ({
    id: keys,
    title: keys,
    group: "ticket" as const,
    keys,
    isDecision,
    run: () => void done.push(keys),
  });
  registry.add(() => [command("j", false), command("d", false), command("a", true)]);
  const plain = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false, target: null };
  const press = (key: string, timeStamp: number, repeat = false) =>
    registry.press(
      { ...plain, key, timeStamp, repeat, defaultPrevented: false, preventDefault: () => undefined },
      true,
    );
  return { done, press };
}

test("a key is that of the selection if the open ticket has it too, whichever was registered later", () => {
  const done: string[] = [];
  const registry = createCommandRegistry();
  for (const group of ["bulk", "ticket"] as const) {
    registry.add(() => [{ id: group, title: group, group, keys: "!", run: () => void done.push(group) }]);
  }
  const key = { ...plain, key: "!", isComposing: false, target: null, timeStamp: 1_000, repeat: false };
  registry.press({ ...key, defaultPrevented: false, preventDefault: () => undefined }, true);
  expect(done).toEqual(["bulk"]);
});

describe("a key", () => {
  test("that is held counts once, unless it moves through a list", () => {
    const { done, press } = openPage();
    for (const key of ["a", "d", "j"]) for (const at of [5_000, 10_000, 15_000]) press(key, at, at > 5_000);
    expect(done).toEqual(["a", "d", "j", "j", "j"]);
  });

  test("of a decision counts once if it is pressed twice, and again after the next item could be read", () => {
    const { done, press } = openPage();
    for (const at of [1_000, 1_150, 1_000 + READ_MS]) press("a", at);
    for (const at of [5_000, 5_150]) press("d", at);
    expect(done).toEqual(["a", "a", "d", "d"]);
  });
});
