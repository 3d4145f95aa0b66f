import { describe, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import { createReceiverLoad } from "./receiver-load.ts";
import type { CountedTry } from "./receiver-load.ts";

type Load = ReturnType<typeof createReceiverLoad>;

/** A try that must be let in. */
function enter(load: Load, url: string): CountedTry {
  const entered = load.enter(url);
  if ("waitMs" in entered) throw new Error(`a try of ${url} has to wait`);
  return entered;
}

/** How long a try has to wait; null when it is let in. */
function waitOf(load: Load, url: string): number | null {
  const entered = load.enter(url);
  return "waitMs" in entered ? entered.waitMs : null;
}

describe("tries on their way", () => {
  test("of one receiver are limited, whatever the path, and others have their own", () => {
    const load = createReceiverLoad({ aReceiver: 2, all: 100 });
    const first = enter(load, "https://slow.example/one");
    enter(load, "https://slow.example/two?three");
    expect(waitOf(load, "https://slow.example:443/four")).toBeGreaterThan(0);
    for (const url of ["https://fast.example/", "http://slow.example/", "https://slow.example:8443/"]) {
      expect(waitOf(load, url)).toBeNull();
    }
    first.leave();
    expect(waitOf(load, "https://slow.example/five")).toBeNull();
    expect(waitOf(load, "https://slow.example/six")).toBeGreaterThan(0);
  });

  test("of all receivers together are limited too", () => {
    const load = createReceiverLoad({ aReceiver: 3, all: 3 });
    const urls = ["a", "b", "c", "d", "e", "f"].map((name) => `https://${name}.example/`);
    const tries = urls.slice(0, 3).map((url) => enter(load, url));
    expect(waitOf(load, urls[0] ?? "")).toBeGreaterThan(0);
    // One that has nothing on its way need not wait for others that hang, up to twice as many.
    for (const url of urls.slice(3)) tries.push(enter(load, url));
    expect(waitOf(load, "https://g.example/")).toBeGreaterThan(0);
    for (const { leave } of tries) leave();
    expect(waitOf(load, "https://g.example/")).toBeNull();
  });

  test("wait longer the more have to wait, and not for ever; one that is over in good time ends that", () => {
    const load = createReceiverLoad({ aReceiver: 1, all: 100 });
    const url = "https://slow.example/";
    const first = enter(load, url);
    const waits = Array.from({ length: 1_000 }, () => waitOf(load, url) ?? 0);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits[0]).toBeLessThan(waits[1] ?? 0);
    expect(waits.at(-1)).toBeLessThanOrEqual(120_000);
    first.leave();
    enter(load, url);
    expect(waitOf(load, url)).toBe(waits[0]);
  });
});

test("a receiver is slow while a try takes long, and not any more when that is over", async () => {
  const load = createReceiverLoad();
  const url = "https://slow.example/";
  const first = enter(load, url);
  expect(first.isSlow).toBe(false);
  await waitFor(
    () => {
      const another = enter(load, url);
      another.leave();
      return another.isSlow;
    },
    { what: "the receiver to count as slow" },
  );
  expect(enter(load, "https://fast.example/").isSlow).toBe(false);
  first.leave();
  expect(enter(load, url).isSlow).toBe(false);
});
