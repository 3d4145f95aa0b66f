import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { READ_MS, createCommandRegistry } from "./command-registry.ts";

const kept = { Element: globalThis.Element, document: globalThis.document };

beforeAll(() => {
  // A page without anything that has the focus, and without a dialog.
  Object.assign(globalThis, { Element: EventTarget, document: { querySelector: () => null } });
});
afterAll(() => {
  Object.assign(globalThis, kept);
});

/** A page with `j` that moves, `d` that shows details, and `a` that sends; `press` says how long after the start. */
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

describe("a key", () => {
  test("that is held counts once, unless it moves through a list", () => {
    const { done, press } = openPage();
    for (const key of ["a", "d", "j"]) for (const at of [5_000, 10_000, 15_000]) press(key, at, at > 5_000);
    expect(done).toEqual(["a", "d", "j", "j", "j"]);
  });

  test("that decides something counts once where it is pressed twice, and again once what came next could be read", () => {
    const { done, press } = openPage();
    for (const at of [1_000, 1_150, 1_000 + READ_MS]) press("a", at);
    for (const at of [5_000, 5_150]) press("d", at);
    expect(done).toEqual(["a", "a", "d", "d"]);
  });
});
