import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/client";
import type { SavedView } from "@svc/contracts";
import en from "../i18n/en.json" with { type: "json" };
import { createTexts } from "../i18n/texts.ts";
import { chosenFilters, describeFilter, moveStoredViews, queryOf, readInboxSearch, withoutFilters } from "./views.ts";

describe("the inbox's filters", () => {
  test("are parsed from a URL, and nothing else is", () => {
    expect(readInboxSearch({ q: "refund", priority: "high", evil: "x", __proto__: { tag: "y" } })).toEqual({
      q: "refund",
      priority: "high",
    });
  });

  test("accept a number as text, and nothing that is empty, too long or not text", () => {
    expect(readInboxSearch({ q: 4711, tag: " ", userId: "x".repeat(501), language: ["en"] })).toEqual({ q: "4711" });
  });

  test("are counted without the search text and the order", () => {
    expect(chosenFilters({ q: "a", sort: "priority", tag: "b" })).toEqual(["tag"]);
  });

  test("are removed without the order", () => {
    expect(withoutFilters({ projects: "all", q: "a", sort: "dueAt", tag: "b" })).toEqual({
      projects: "all",
      sort: "dueAt",
    });
  });

  test("are described in words, a day as a date, and an invalid day as typed", () => {
    const options = { texts: createTexts("en", en.first), nameOf: (actor: string) => actor, agents: [] };
    expect(describeFilter("priority", "high", options)).toBe("Priority: High");
    expect(describeFilter("createdFrom", "2026-11-21", options)).toBe("Created since: Nov 21, 2026");
    expect(describeFilter("createdTo", "soon", options)).toBe("Created before: soon");
  });

  test("of all projects have no search text, which belongs to one project", () => {
    expect(readInboxSearch({ projects: "all", q: "refund" })).toEqual({ projects: "all", q: "refund" });
    expect(readInboxSearch({ projects: "north" })).toEqual({});
    expect(queryOf({ needsReview: "1" }, { projects: "all", q: "refund", tag: "vip" })).toEqual({
      needsReview: "1",
      allProjects: "1",
      tag: "vip",
    });
  });

  test("use the start of days in the operator's time zone, and leave invalid days to the server", () => {
    expect(queryOf({}, { createdFrom: "2026-11-21", createdTo: "soon", tag: "2026-11-21" })).toEqual({
      createdFrom: new Date("2026-11-21T00:00").toISOString(),
      createdTo: "soon",
      tag: "2026-11-21",
    });
  });

  test("cannot override the filters of a view", () => {
    expect(queryOf({ status: "spam" }, { status: "open", q: "watches" })).toEqual({ status: "spam", q: "watches" });
  });
});

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
