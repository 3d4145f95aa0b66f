import { expect, test } from "@jest/globals";
import { rowsMoved } from "./use-ticket-list.ts";

const rows = (letters: string) => letters.split("").map((id) => ({ id }));
const moved = (before: string, after: string) => rowsMoved(rows(before), { first: 3, last: 6 }, rows(after));

test.each([
  ["new rows above move what is read down", "abcdefgh", "xyabcdefgh", 2],
  ["a row of the top that has gone moves it up", "abcdefgh", "bcdefgh", -1],
  ["a row above that comes to the top does not move it", "abcdefgh", "cabdefgh", 0],
  ["a row below that comes to the top moves it down", "abcdefgh", "habcdefg", 1],
  ["the first row in sight that comes to the top does not take the others along", "abcdefgh", "dabcefgh", 0],
  ["rows in sight that have gone leave it to the others", "abcdefgh", "xabcfgh", -1],
  ["a list that has nothing in common stays", "abcdefgh", "stuvw", 0],
  ["an empty list stays", "abcdefgh", "", 0],
  ["a list that was shorter stays", "ab", "xab", 0],
])("%s", (_what, before, after, by) => {
  expect(moved(before, after)).toBe(by);
});
