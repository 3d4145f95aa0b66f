import { describe, expect, test } from "@jest/globals";
import { openStorage } from "../storage.ts";
import { openOutbox } from "./outbox.ts";
import type { Locks, OutboxItem } from "./outbox.ts";

/** The storage that the tabs of one browser share, and its clock. */
function createBrowser() {
  const kept: Record<string, string> = {};
  const methods = {
    getItem: (key: string) => kept[key] ?? null,
    setItem: (key: string, value: string) => void (kept[key] = value),
    removeItem: (key: string) => void delete kept[key],
  };
  const host = {
    // As in browsers, the names of stored items are own keys.
    localStorage: new Proxy(methods, {
      ownKeys: () => Object.keys(kept),
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    }) as unknown as globalThis.Storage,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  };
  let now = 1_700_000_000_000;
  return {
    kept,
    moveClock: (byMs: number) => void (now += byMs),
    openTab: (id: string, locks: Locks = null) => openOutbox(openStorage(host, "key"), id, { locks, now: () => now }),
  };
}

const item = (id: string): OutboxItem => ({
  message: { text: `Text ${id}`, clientMessageId: id },
  files: [],
  at: 0,
  fault: null,
});
const idsOf = (items: OutboxItem[]) => items.map(({ message }) => message.clientMessageId);
const always = () => true;

describe("unsent messages of a tab", () => {
  test("are claimed once, in order and before newer ones, when the tab closes", async () => {
    const browser = createBrowser();
    const old = browser.openTab("old");
    for (const id of ["1", "2", "3"]) old.put(item(id));
    const heir = browser.openTab("heir");
    heir.put(item("4"));
    expect(await heir.adopt(always)).toEqual([]);
    old.release();
    expect(idsOf(await heir.adopt(always))).toEqual(["1", "2", "3"]);
    expect(idsOf(heir.list())).toEqual(["1", "2", "3", "4"]);
    expect(await browser.openTab("late").adopt(always)).toEqual([]);
    old.reclaim();
    expect(old.list()).toEqual([]);
  });

  test("are claimed after a crash, when the tab has sent no heartbeat for a while", async () => {
    const browser = createBrowser();
    browser.openTab("crashed").put(item("1"));
    const heir = browser.openTab("heir");
    browser.moveClock(14_000);
    expect(await heir.adopt(always)).toEqual([]);
    browser.moveClock(2_000);
    expect(idsOf(await heir.adopt(always))).toEqual(["1"]);
  });

  test("are claimed if the clock was set back meanwhile", async () => {
    const browser = createBrowser();
    browser.openTab("crashed").put(item("1"));
    browser.moveClock(-86_400_000);
    expect(idsOf(await browser.openTab("heir").adopt(always))).toEqual(["1"]);
  });

  test("are deleted if they cannot be read", async () => {
    const browser = createBrowser();
    browser.kept["svc:key:out:a"] = "{";
    browser.kept["svc:key:out:b"] = '{"until":0,"items":[{"message":null,"files":[]}]}';
    browser.kept["svc:other:out:c"] = "of another key";
    expect(await browser.openTab("heir").adopt(always)).toEqual([]);
    expect(Object.keys(browser.kept)).toEqual(["svc:other:out:c"]);
  });

  test("are not claimed by a tab that is itself closing", async () => {
    const browser = createBrowser();
    const old = browser.openTab("old");
    old.put(item("1"));
    old.release();
    const locks = { request: (_name: string, work: () => void) => Promise.resolve(work()) };
    const going = browser.openTab("going", locks);
    expect(await going.adopt(() => false)).toEqual([]);
    expect(idsOf(await browser.openTab("heir").adopt(always))).toEqual(["1"]);
  });
});
