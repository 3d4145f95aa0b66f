import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { TicketNews } from "../api/live.ts";
import { followList } from "./follow-list.ts";
import type { ListNews } from "./follow-list.ts";

const newsOf = (ticketId: string, version = 1, project = "north"): TicketNews => ({
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

let merged: ListNews[];
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
    merge({ isWhole }, news) {
      merged.push(news);
      wholes.push(isWhole);
    },
  });
const passMs = (ms: number) => jest.advanceTimersByTimeAsync(ms);
const ids = () => merged.map(({ tickets }) => [...tickets.keys()]);

test("many news at once are one look", async () => {
  const follower = follow();
  for (const id of ["a", "b", "a"]) follower.tell(newsOf(id));
  await passMs(10_000);
  expect([reads, ids()]).toEqual([1, [["a", "b"]]]);
});

test("what is told while a page is being loaded is merged in after it", async () => {
  const follower = follow();
  isLoading = true;
  follower.tell(newsOf("a"));
  await passMs(5_000);
  expect([reads, ids()]).toEqual([0, []]);
  isLoading = false;
  await passMs(5_000);
  expect(ids()).toEqual([["a"]]);
});

test("a head that cannot be read is read again, later and later, with all that was told meanwhile", async () => {
  const follower = follow();
  isAway = true;
  follower.tell(newsOf("a"));
  await passMs(60_000);
  expect(reads).toBeGreaterThan(2);
  expect(reads).toBeLessThan(8);
  follower.tell(newsOf("b"));
  isAway = false;
  await passMs(30_000);
  expect(ids()).toEqual([["a", "b"]]);
});

test("a line that is open again is a reason to look at once", async () => {
  const follower = follow();
  isAway = true;
  follower.tell(newsOf("a"));
  await passMs(100_000);
  isAway = false;
  follower.look();
  await passMs(1_000);
  expect(ids()).toEqual([["a"]]);
});

test("where news may have been missed all is read, until that has worked, and the head alone after it", async () => {
  const follower = follow();
  isAway = true;
  follower.look();
  await passMs(1_000);
  follower.tell(newsOf("a"));
  isAway = false;
  await passMs(60_000);
  follower.tell(newsOf("b"));
  await passMs(1_000);
  expect(wholes).toEqual([true, false]);
});

test("a ticket that has gone and come back is not gone", async () => {
  const follower = follow();
  follower.tellGone({ ticketId: "a", project: "north" });
  follower.tellGone({ ticketId: "b", project: "north" });
  follower.tell(newsOf("b", 2, "south"));
  follower.tell(newsOf("a", 3));
  await passMs(1_000);
  expect(merged.map(({ gone }) => [...gone.keys()])).toEqual([["b"]]);
});

test("nothing is read after the end", async () => {
  const follower = follow();
  follower.tell(newsOf("a"));
  follower.end();
  await passMs(10_000);
  expect([reads, ids()]).toEqual([0, []]);
});
