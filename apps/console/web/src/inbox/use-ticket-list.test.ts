import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { TicketItem } from "@svc/contracts";
import type { TicketEventData } from "../api/connection.ts";
import { followList, hasUnclearChanges, mergeHead, rowShift } from "./use-ticket-list.ts";
import type { ListUpdate } from "./use-ticket-list.ts";

const ticket = (id: string, version = 1): TicketItem => ({
  id,
  homeProject: "default",
  project: "default",
  channelId: "api",
  chatId: id,
  userId: null,
  customer: null,
  origin: null,
  subject: id,
  status: "open",
  stage: "review",
  priority: "normal",
  assignee: null,
  snooze: null,
  agentId: null,
  confidence: null,
  language: null,
  tags: [],
  channel_meta: {},
  version,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  firstReplyAt: null,
  resolvedAt: null,
  deadline: null,
});
const tickets = (...ids: string[]) => ids.map((id) => ticket(id));
const idsOf = ({ items }: { items: TicketItem[] }) => items.map(({ id }) => id);
const eventIn = (project: string, ...ids: string[]) =>
  new Map<string, TicketEventData>(
    ids.map((ticketId) => [
      ticketId,
      {
        ticketId,
        project,
        version: 2,
        status: "resolved",
        stage: "done",
        assignee: null,
        actor: "x",
        what: [],
        mentions: [],
      },
    ]),
  );

const ticketEvent = (...ids: string[]): ListUpdate => ({ tickets: eventIn("default", ...ids), moved: new Map() });

describe("a list of tickets whose head was refetched", () => {
  const list = { items: tickets("a", "b", "c", "d"), nextCursor: "more" };

  test("starts with the refetched head and contains each ticket once", () => {
    const merged = mergeHead(
      list,
      { items: tickets("c", "a"), nextCursor: "head", isWhole: false },
      { project: "default", update: ticketEvent("c") },
    );
    expect(idsOf(merged)).toEqual(["c", "a", "b", "d"]);
    expect(merged.nextCursor).toBe("more");
  });

  test("loses a changed ticket that is not in the head, because it belongs to another view", () => {
    const merged = mergeHead(
      list,
      { items: tickets("a", "b"), nextCursor: "head", isWhole: false },
      { project: "default", update: ticketEvent("d") },
    );
    expect(idsOf(merged)).toEqual(["a", "b", "c"]);
  });

  test("keeps a ticket whose tags may have changed, and requires the whole list to be refetched", () => {
    const [, , , last] = list.items;
    if (last === undefined) throw new Error("the list is too short");
    const { project, status, stage, assignee } = last;
    const event = { ticketId: "d", project, status, stage, assignee, version: 2, actor: "x", what: [], mentions: [] };
    const update: ListUpdate = { tickets: new Map([["d", event]]), moved: new Map() };
    const head = { items: tickets("a", "b"), nextCursor: "head", isWhole: false };
    expect(idsOf(mergeHead(list, head, { project: "default", update }))).toEqual(["a", "b", "c", "d"]);
    expect(hasUnclearChanges(list, head, update)).toBe(true);
    expect(hasUnclearChanges(list, { items: list.items, nextCursor: null }, update)).toBe(false);
    expect(hasUnclearChanges(list, head, ticketEvent("d"))).toBe(false);
  });

  test("keeps the position of a changed ticket in another sort order, with the values of the update", () => {
    const merged = mergeHead(
      list,
      { items: tickets("a", "b"), nextCursor: "head", isWhole: false },
      { project: "default", update: ticketEvent("d"), sort: "priority" },
    );
    expect(idsOf(merged)).toEqual(["a", "b", "c", "d"]);
    expect(merged.items[3]).toMatchObject({ status: "resolved", stage: "done", version: 2 });
  });

  test("ignores an update that is older than the ticket", () => {
    const newer = { ...list, items: [...tickets("a"), ticket("d", 9)] };
    const merged = mergeHead(
      newer,
      { items: tickets("a"), nextCursor: "head", isWhole: false },
      { project: "default", update: ticketEvent("d"), sort: "priority" },
    );
    expect(merged.items[1]).toMatchObject({ status: "open", version: 9 });
  });

  test("is replaced by the head if that is the whole list, or if they have no ticket in common", () => {
    expect(
      idsOf(
        mergeHead(
          list,
          { items: tickets("d"), nextCursor: null, isWhole: false },
          { project: "default", update: ticketEvent() },
        ),
      ),
    ).toEqual(["d"]);
    expect(
      idsOf(
        mergeHead(
          list,
          { items: tickets("x", "y"), nextCursor: "n", isWhole: false },
          { project: "default", update: ticketEvent() },
        ),
      ),
    ).toEqual(["x", "y"]);
  });

  test("is replaced if everything that was loaded was refetched, so that removed tickets disappear", () => {
    const refetched = { items: tickets("x", "b", "d"), nextCursor: "after d", isWhole: true };
    const merged = mergeHead(list, refetched, { project: "default", update: ticketEvent() });
    expect([idsOf(merged), merged.nextCursor]).toEqual([["x", "b", "d"], "after d"]);
  });

  test("loses a ticket that moved to another project, at any position", () => {
    const head = { items: tickets("a"), nextCursor: "head", isWhole: false };
    const moved = new Map([["c", "default"]]);
    const withoutEvent = { project: "default", update: { tickets: new Map(), moved } };
    expect(idsOf(mergeHead(list, head, withoutEvent))).toEqual(["a", "b", "d"]);
    const withEvent = { project: "default", sort: "priority", update: { tickets: eventIn("north", "c"), moved } };
    expect(idsOf(mergeHead(list, head, withEvent))).toEqual(["a", "b", "d"]);
    // A list of all projects keeps it, with its new project.
    const ofAll = mergeHead(list, head, { ...withEvent, project: null });
    expect(ofAll.items.map(({ id, project }) => `${id} ${project}`)).toEqual([
      "a default",
      "b default",
      "c north",
      "d default",
    ]);
    expect(idsOf(mergeHead(list, head, { ...withoutEvent, project: null }))).toEqual(["a", "b", "d"]);
  });
});

const eventOf = (ticketId: string, version = 1, project = "north"): TicketEventData => ({
  ticketId,
  project,
  version,
  status: "open",
  stage: "review",
  assignee: null,
  actor: "x",
  what: [],
  mentions: [],
});
const HEAD = { items: [], nextCursor: null };

describe("a list that follows events", () => {
  let merged: ListUpdate[];
  let wholes: boolean[];
  let fetches: number;
  let isUnavailable: boolean;
  let isLoading: boolean;

  beforeEach(() => {
    jest.useFakeTimers();
    merged = [];
    wholes = [];
    fetches = 0;
    isUnavailable = false;
    isLoading = false;
  });
  afterEach(() => void jest.useRealTimers());

  const follow = () =>
    followList({
      fetch() {
        fetches += 1;
        return isUnavailable ? Promise.reject(new Error("unavailable")) : Promise.resolve(HEAD);
      },
      isLoading: () => isLoading,
      merge({ isWhole }, update) {
        merged.push(update);
        wholes.push(isWhole);
      },
    });
  const passMs = (ms: number) => jest.advanceTimersByTimeAsync(ms);
  const ids = () => merged.map(({ tickets }) => [...tickets.keys()]);

  test("a burst of updates causes one fetch", async () => {
    const follower = follow();
    for (const id of ["a", "b", "a"]) follower.onTicket(eventOf(id));
    await passMs(10_000);
    expect([fetches, ids()]).toEqual([1, [["a", "b"]]]);
  });

  test("updates that arrive while a page is loading are merged after it", async () => {
    const follower = follow();
    isLoading = true;
    follower.onTicket(eventOf("a"));
    await passMs(5_000);
    expect([fetches, ids()]).toEqual([0, []]);
    isLoading = false;
    await passMs(5_000);
    expect(ids()).toEqual([["a"]]);
  });

  test("a failed fetch is retried with increasing delays, and merges the updates that arrived meanwhile", async () => {
    const follower = follow();
    isUnavailable = true;
    follower.onTicket(eventOf("a"));
    await passMs(60_000);
    expect(fetches).toBeGreaterThan(2);
    expect(fetches).toBeLessThan(8);
    follower.onTicket(eventOf("b"));
    isUnavailable = false;
    await passMs(30_000);
    expect(ids()).toEqual([["a", "b"]]);
  });

  test("a reconnect causes an immediate fetch, without the delay of the retries", async () => {
    const follower = follow();
    isUnavailable = true;
    follower.onTicket(eventOf("a"));
    await passMs(100_000);
    isUnavailable = false;
    follower.refetch();
    await passMs(1_000);
    expect(ids()).toEqual([["a"]]);
  });

  test("after a reconnect the whole list is fetched until that succeeds, then only the head", async () => {
    const follower = follow();
    isUnavailable = true;
    follower.refetch();
    await passMs(1_000);
    follower.onTicket(eventOf("a"));
    isUnavailable = false;
    await passMs(60_000);
    follower.onTicket(eventOf("b"));
    await passMs(1_000);
    expect(wholes).toEqual([true, false]);
  });

  test("a ticket that moved to another project and back stays in the list", async () => {
    const follower = follow();
    follower.onMoved({ ticketId: "a", project: "north" });
    follower.onMoved({ ticketId: "b", project: "north" });
    follower.onTicket(eventOf("b", 2, "south"));
    follower.onTicket(eventOf("a", 3));
    await passMs(1_000);
    expect(merged.map(({ moved }) => [...moved.keys()])).toEqual([["b"]]);
  });

  test("nothing is fetched after the end", async () => {
    const follower = follow();
    follower.onTicket(eventOf("a"));
    follower.end();
    await passMs(10_000);
    expect([fetches, ids()]).toEqual([0, []]);
  });
});

const rows = (letters: string) => letters.split("").map((id) => ({ id }));
const shiftOf = (before: string, after: string) => rowShift(rows(before), { first: 3, last: 6 }, rows(after));

test.each([
  ["new rows above move the visible rows down", "abcdefgh", "xyabcdefgh", 2],
  ["a removed row above moves them up", "abcdefgh", "bcdefgh", -1],
  ["a row above that moves to the top does not move them", "abcdefgh", "cabdefgh", 0],
  ["a row below that moves to the top moves them down", "abcdefgh", "habcdefg", 1],
  ["a visible row that moves to the top does not move the others", "abcdefgh", "dabcefgh", 0],
  ["removed visible rows do not count", "abcdefgh", "xabcfgh", -1],
  ["a list without common rows does not move", "abcdefgh", "stuvw", 0],
  ["an empty list does not move", "abcdefgh", "", 0],
  ["a list that was shorter than the visible rows does not move", "ab", "xab", 0],
])("%s", (_what, before, after, by) => {
  expect(shiftOf(before, after)).toBe(by);
});
