import { describe, expect, test } from "@jest/globals";
import en from "../i18n/en.json" with { type: "json" };
import { createTexts } from "../i18n/texts.ts";
import { chosenFilters, describeFilter, queryOf, readInboxSearch } from "./inbox-search.ts";

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
