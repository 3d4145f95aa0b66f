import { expect, test } from "@jest/globals";
import { batched } from "./context.ts";

/** A batched function that records its batches; `release` ends the statement with this item. */
function createRecorder() {
  const batches: string[][] = [];
  const releases = new Map<string, () => void>();
  const call = batched(async (_owner: object, items: string[]) => {
    batches.push(items);
    const [first = ""] = items;
    await new Promise<void>((resolve) => {
      releases.set(first, resolve);
    });
    return items;
  });
  const owner = {};
  return { batches, call: (item: string) => call(owner, item), release: (item: string) => releases.get(item)?.() };
}

/** Resolves after what can run in this turn of the event loop. */
const nextTurn = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });

test("calls that arrive while a statement runs share the next one", async () => {
  const { batches, call, release } = createRecorder();
  const first = call("a");
  await nextTurn();
  const others = [call("b"), call("c")];
  release("a");
  expect(await first).toBe("a");
  while (batches.length < 2) await nextTurn();
  release("b");
  expect(await Promise.all(others)).toEqual(["b", "c"]);
  expect(batches).toEqual([["a"], ["b", "c"]]);
});

test("a statement that waits for a lock does not delay the calls after it", async () => {
  const { batches, call, release } = createRecorder();
  const blocked = call("a");
  await nextTurn();
  for (const item of ["b", "c"]) {
    const other = call(item);
    while (!batches.some(([first]) => first === item)) await nextTurn();
    release(item);
    expect(await other).toBe(item);
  }
  release("a");
  expect(await blocked).toBe("a");
});
