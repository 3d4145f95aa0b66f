import { describe, expect, test } from "@jest/globals";
import { singleFlight } from "./counters.ts";

/** Calls that end when the test ends them. */
function heldCalls() {
  const begun: { name: string; size: number; end: (result: string) => void; fail: (error: Error) => void }[] = [];
  const share = singleFlight<string>();
  const call = (name: string) =>
    share(
      name,
      (size) =>
        new Promise((end, fail) => {
          begun.push({ name, size, end, fail });
        }),
    );
  return { begun, call, sizes: () => begun.map(({ name, size }) => `${name} ${size}`) };
}

/** Runs everything that is ready to continue. */
const runPending = () => new Promise((resolve) => setImmediate(resolve));

describe("callers who share calls", () => {
  test("are served at once when they are alone, one after the other", async () => {
    const { begun, call, sizes } = heldCalls();
    for (const result of ["one", "two"]) {
      const calling = call("a");
      begun.at(-1)?.end(result);
      expect(await calling).toEqual({ result, size: 1, position: 1 });
    }
    expect(sizes()).toEqual(["a 1", "a 1"]);
  });

  test("who come during a call are one call after it, and know their places in the order of their coming", async () => {
    const { begun, call, sizes } = heldCalls();
    const first = call("a");
    const later = [call("a"), call("a"), call("a")];
    await runPending();
    expect(sizes()).toEqual(["a 1"]);
    begun[0]?.end("one");
    expect(await first).toEqual({ result: "one", size: 1, position: 1 });
    expect(sizes()).toEqual(["a 1", "a 3"]);
    const last = call("a");
    begun[1]?.end("two");
    expect(await Promise.all(later)).toEqual([1, 2, 3].map((position) => ({ result: "two", size: 3, position })));
    begun[2]?.end("three");
    expect(await last).toEqual({ result: "three", size: 1, position: 1 });
  });

  test("of different names do not wait for each other", async () => {
    const { begun, call, sizes } = heldCalls();
    const [held, other] = [call("a"), call("b")];
    expect(sizes()).toEqual(["a 1", "b 1"]);
    begun[1]?.end("b");
    expect(await other).toMatchObject({ result: "b" });
    begun[0]?.end("a");
    await held;
  });

  test("share a failure, and those after them are served all the same", async () => {
    const { begun, call } = heldCalls();
    const first = call("a");
    const both = [call("a"), call("a")];
    begun[0]?.end("one");
    await first;
    begun[1]?.fail(new Error("broken"));
    for (const outcome of await Promise.allSettled(both)) expect(outcome).toMatchObject({ status: "rejected" });
    const after = call("a");
    begun[2]?.end("again");
    expect(await after).toMatchObject({ result: "again" });
  });
});
