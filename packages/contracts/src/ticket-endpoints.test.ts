import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { statsInputSchema } from "./stats.ts";
import { TICKET_SORTS, encodeTicketCursor, ticketListSchema } from "./ticket-endpoints.ts";

const ID = "0190b5a0-9e8f-7c1d-8000-0123456789ab";

/** Returns the fields of a query for tickets that have errors. */
function errorsOf(input: Record<string, unknown>): string[] {
  const parsed = ticketListSchema(input["sort"]).safeParse(input);
  return [...new Set(parsed.error?.issues.map(({ path }) => path.join(".")) ?? [])];
}

describe("the query of the list of tickets", () => {
  test("asks for the newest changes of all tickets by default", () => {
    expect(ticketListSchema(undefined).parse({})).toEqual({ limit: 50, sort: "-updatedAt", after: undefined });
  });

  test("takes times with an offset, also one whose plus has become a space, and days of UTC", () => {
    for (const [text, time] of [
      ["2026-11-21", "2026-11-21T00:00:00.000Z"],
      ["2026-11-21T01:00:00+01:00", "2026-11-21T00:00:00.000Z"],
      ["2026-11-21T01:00:00 01:00", "2026-11-21T00:00:00.000Z"],
      ["2026-11-21T00:00:00.5Z", "2026-11-21T00:00:00.500Z"],
    ]) {
      const { createdFrom } = ticketListSchema(undefined).parse({ createdFrom: text });
      expect({ text, time: createdFrom?.toISOString() }).toEqual({ text, time });
    }
    for (const updatedTo of ["", "now", "2026-02-30", "2026-11-21T01:00:00", "1", 5, ["2026-11-21"]]) {
      expect({ updatedTo, errors: errorsOf({ updatedTo }) }).toEqual({ updatedTo, errors: ["updatedTo"] });
    }
  });

  test("goes on after a cursor of its own order only", () => {
    for (const sort of TICKET_SORTS) {
      const cursor = encodeTicketCursor(sort, { value: 5, id: ID });
      expect(ticketListSchema(sort).parse({ sort, cursor }).after).toEqual({ value: 5, id: ID });
      for (const other of TICKET_SORTS) {
        expect(errorsOf({ sort: other, cursor })).toEqual(other === sort ? [] : ["cursor"]);
      }
    }
  });

  test("is accepted or rejected, whatever the input, and never throws", () => {
    const names = ["sort", "q", "limit", "cursor", "status", "agentId", "tag", "createdFrom", "needsReview"];
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.anything(), (name, value) => {
        expect(errorsOf({ [name]: value }).every((error) => [name, "cursor"].includes(error))).toBe(true);
      }),
    );
  });
});

describe("the query of the statistics", () => {
  const NOW = new Date("2026-11-21T12:00:00Z");
  const schema = statsInputSchema(NOW);

  test("asks for the last 30 days by default, or for the 30 days before a given end", () => {
    expect(schema.parse({})).toEqual({ from: new Date("2026-10-22T12:00:00Z"), to: NOW, timeZone: "UTC" });
    expect(schema.parse({ to: "2026-01-31" }).from.toISOString()).toBe("2026-01-01T00:00:00.000Z");
  });

  test("is at most 366 days, and begins before it ends", () => {
    expect(schema.safeParse({ from: "2025-11-20T12:00:00Z" }).success).toBe(true);
    for (const from of ["2025-11-20T11:59:59Z", "2026-11-21T12:00:00Z", "2027-01-01"]) {
      expect({ from, paths: schema.safeParse({ from }).error?.issues.map(({ path }) => path) }).toEqual({
        from,
        paths: [["from"]],
      });
    }
  });
});
