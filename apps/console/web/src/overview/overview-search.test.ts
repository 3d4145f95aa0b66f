import { expect, test } from "@jest/globals";
import { errorOfDates, nameDay, readOverviewSearch, timesOf } from "./overview-search.ts";

const AGENT = "0190f0f0-1111-7222-8333-444455556666";

test("a URL is parsed, and invalid parameters are ignored", () => {
  expect(readOverviewSearch({ days: 7, channel: "widget", agent: AGENT })).toEqual({
    days: 7,
    channel: "widget",
    agent: AGENT,
  });
  expect(readOverviewSearch({ days: "8", channel: "fax", agent: "'", from: "2026-02-30", to: "2026-03-01" })).toEqual(
    {},
  );
  expect(readOverviewSearch({ from: "2026-11-01" })).toEqual({});
});

test("days are complete, including the last one, and ordered", () => {
  expect(timesOf({ from: "2026-11-01", to: "2026-11-02" }, 0)).toEqual({
    from: new Date(2026, 10, 1).toISOString(),
    to: new Date(2026, 10, 3).toISOString(),
  });
  expect(nameDay(new Date(2026, 0, 5))).toBe("2026-01-05");
  expect(errorOfDates("2026-11-01", "2026-11-01")).toBeNull();
  expect(errorOfDates("2026-11-02", "2026-11-01")).toBe("order");
  expect(errorOfDates("", "2026-11-01")).toBe("order");
  expect(errorOfDates("2025-01-01", "2026-11-01")).toBe("long");
});

test("without days the last thirty are used", () => {
  expect(timesOf({}, Date.parse("2026-11-30T12:00:00Z"))).toEqual({ from: "2026-10-31T12:00:00.000Z" });
});
