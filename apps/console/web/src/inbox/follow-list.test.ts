import { describe, expect, test, afterEach, beforeEach, jest } from "@jest/globals";
import type { TicketItem } from "@svc/contracts";
import type { TicketEventData } from "../api/live.ts";
import { followList, hasUnclear, mergeHead } from "./follow-list.ts";
import type { ListUpdate } from "./follow-list.ts";

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

const ticketEvent = (...ids: string[]): ListUpdate => ({ tickets: eventIn("default", ...ids), gone: new Map() });

describe("a list of tickets whose head was read anew", () => {
  const list = { items: tickets("a", "b", "c", "d"), nextCursor: "more" };

  test("has what is new at its head and each ticket once", () => {
    const merged = mergeHead(
      list,
      { items: tickets("c", "a"), nextCursor: "head", isWhole: false },
      { project: "default", update: ticketEvent("c") },
    );
    expect(idsOf(merged)).toEqual(["c", "a", "b", "d"]);
    expect(merged.nextCursor).toBe("more");
  });

  test("loses what has changed and is not in the head: it belongs to another view now", () => {
    const merged = mergeHead(
      list,
      { items: tickets("a", "b"), nextCursor: "head", isWhole: false },
      { project: "default", update: ticketEvent("d") },
    );
    expect(idsOf(merged)).toEqual(["a", "b", "c"]);
  });

  test("keeps a ticket of which only tags may have changed, and says that the whole list is to be read", () => {
    const [, , , last] = list.items;
    if (last === undefined) throw new Error("the list is too short");
    const { project, status, stage, assignee } = last;
    const event = { ticketId: "d", project, status, stage, assignee, version: 2, actor: "x", what: [], mentions: [] };
    const update: ListUpdate = { tickets: new Map([["d", event]]), gone: new Map() };
    const head = { items: tickets("a", "b"), nextCursor: "head", isWhole: false };
    expect(idsOf(mergeHead(list, head, { project: "default", update }))).toEqual(["a", "b", "c", "d"]);
    expect(hasUnclear(list, head, update)).toBe(true);
    expect(hasUnclear(list, { items: list.items, nextCursor: null }, update)).toBe(false);
    expect(hasUnclear(list, head, ticketEvent("d"))).toBe(false);
  });

  test("keeps the place of what has changed where it is in another order, as the update say it is", () => {
    const merged = mergeHead(
      list,
      { items: tickets("a", "b"), nextCursor: "head", isWhole: false },
      { project: "default", update: ticketEvent("d"), sort: "priority" },
    );
    expect(idsOf(merged)).toEqual(["a", "b", "c", "d"]);
    expect(merged.items[3]).toMatchObject({ status: "resolved", stage: "done", version: 2 });
  });

  test("keeps what is newer than the update", () => {
    const newer = { ...list, items: [...tickets("a"), ticket("d", 9)] };
    const merged = mergeHead(
      newer,
      { items: tickets("a"), nextCursor: "head", isWhole: false },
      { project: "default", update: ticketEvent("d"), sort: "priority" },
    );
    expect(merged.items[1]).toMatchObject({ status: "open", version: 9 });
  });

  test("is the head where that is all there is, or where nothing is left of the list", () => {
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

  test("is what was read where all that was loaded was read: what has gone unnoticed is not in it", () => {
    const read = { items: tickets("x", "b", "d"), nextCursor: "after d", isWhole: true };
    const merged = mergeHead(list, read, { project: "default", update: ticketEvent() });
    expect([idsOf(merged), merged.nextCursor]).toEqual([["x", "b", "d"], "after d"]);
  });

  test("loses what another project has now, wherever it stands", () => {
    const head = { items: tickets("a"), nextCursor: "head", isWhole: false };
    const gone = new Map([["c", "default"]]);
    const inNoSight = { project: "default", update: { tickets: new Map(), gone } };
    expect(idsOf(mergeHead(list, head, inNoSight))).toEqual(["a", "b", "d"]);
    const inSight = { project: "default", sort: "priority", update: { tickets: eventIn("north", "c"), gone } };
    expect(idsOf(mergeHead(list, head, inSight))).toEqual(["a", "b", "d"]);
    // In a list of all projects it has only another project.
    const ofAll = mergeHead(list, head, { ...inSight, project: null });
    expect(ofAll.items.map(({ id, project }) => `${id} ${project}`)).toEqual([
      "a default",
      "b default",
      "c north",
      "d default",
    ]);
    expect(idsOf(mergeHead(list, head, { ...inNoSight, project: null }))).toEqual(["a", "b", "d"]);
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

let merged: ListUpdate[];
let wholes: boolean[];
let reads: number;
let isAway: boolean;
let isLoading: boolean;

beforeEach(() => {
  jest.useFakeTimers();
  merged = [];
  wholes = [];
  reads = 0;
  isAway = false;
  isLoading = false;
});
afterEach(() => void jest.useRealTimers());

const follow = () =>
  followList({
    read() {
      reads += 1;
      return isAway ? Promise.reject(new Error("away")) : Promise.resolve(HEAD);
    },
    isLoading: () => isLoading,
    merge({ isWhole }, update) {
      merged.push(update);
      wholes.push(isWhole);
    },
  });
const passMs = (ms: number) => jest.advanceTimersByTimeAsync(ms);
const ids = () => merged.map(({ tickets }) => [...tickets.keys()]);

test("many update at once are one look", async () => {
  const follower = follow();
  for (const id of ["a", "b", "a"]) follower.tell(eventOf(id));
  await passMs(10_000);
  expect([reads, ids()]).toEqual([1, [["a", "b"]]]);
});

test("what is told while a page is being loaded is merged in after it", async () => {
  const follower = follow();
  isLoading = true;
  follower.tell(eventOf("a"));
  await passMs(5_000);
  expect([reads, ids()]).toEqual([0, []]);
  isLoading = false;
  await passMs(5_000);
  expect(ids()).toEqual([["a"]]);
});

test("a head that cannot be read is read again, later and later, with all that was told meanwhile", async () => {
  const follower = follow();
  isAway = true;
  follower.tell(eventOf("a"));
  await passMs(60_000);
  expect(reads).toBeGreaterThan(2);
  expect(reads).toBeLessThan(8);
  follower.tell(eventOf("b"));
  isAway = false;
  await passMs(30_000);
  expect(ids()).toEqual([["a", "b"]]);
});

test("a line that is open again is a reason to look at once", async () => {
  const follower = follow();
  isAway = true;
  follower.tell(eventOf("a"));
  await passMs(100_000);
  isAway = false;
  follower.refetch();
  await passMs(1_000);
  expect(ids()).toEqual([["a"]]);
});

test("where update may have been missed all is read, until that has worked, and the head alone after it", async () => {
  const follower = follow();
  isAway = true;
  follower.refetch();
  await passMs(1_000);
  follower.tell(eventOf("a"));
  isAway = false;
  await passMs(60_000);
  follower.tell(eventOf("b"));
  await passMs(1_000);
  expect(wholes).toEqual([true, false]);
});

test("a ticket that has gone and come back is not gone", async () => {
  const follower = follow();
  follower.reportGone({ ticketId: "a", project: "north" });
  follower.reportGone({ ticketId: "b", project: "north" });
  follower.tell(eventOf("b", 2, "south"));
  follower.tell(eventOf("a", 3));
  await passMs(1_000);
  expect(merged.map(({ gone }) => [...gone.keys()])).toEqual([["b"]]);
});

test("nothing is read after the end", async () => {
  const follower = follow();
  follower.tell(eventOf("a"));
  follower.end();
  await passMs(10_000);
  expect([reads, ids()]).toEqual([0, []]);
});
