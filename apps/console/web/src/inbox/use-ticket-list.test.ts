import { expect, test } from "@jest/globals";
import { rowShift } from "./use-ticket-list.ts";

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
