import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/client";
import type { SavedView } from "@svc/contracts";
import { moveStoredViews } from "./views.ts";

/** Creates a storage with these texts. */
function storageOf(texts: Record<string, string>) {
  const kept = new Map(Object.entries(texts));
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    keys: () => [...kept.keys()],
    kept,
  };
}

const vip = JSON.stringify([{ name: "VIP", view: "all", search: { tag: "vip", evil: "x" } }, 7, { name: 1 }]);

describe("views stored in the browser", () => {
  test("are moved to the server once, with unique names, and other entries stay", async () => {
    const storage = storageOf({
      "console.views.ann.north": vip,
      "console.views.ann.south": vip,
      "console.views.bob.north": vip,
      "console.views.ann.east": "{",
    });
    const sent: SavedView[] = [];
    const put = (view: SavedView) => Promise.resolve(sent.push(view));
    await moveStoredViews(storage, "ann", put);
    await moveStoredViews(storage, "ann", put);
    expect(sent).toEqual([
      { name: "VIP", project: "north", view: "all", filters: { tag: "vip" } },
      { name: "VIP (south)", project: "south", view: "all", filters: { tag: "vip" } },
    ]);
    expect([...storage.kept.keys()]).toEqual(["console.views.bob.north"]);
  });

  test("stay if the server rejects them or is unavailable", async () => {
    for (const status of [403, null]) {
      const storage = storageOf({ "console.views.ann.north": vip });
      await moveStoredViews(storage, "ann", () => Promise.reject(new ServiceError("x", "x", { status })));
      expect(storage.kept.get("console.views.ann.north")).toContain('"name":"VIP"');
    }
  });
});
