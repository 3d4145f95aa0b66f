import { expect, test } from "@jest/globals";
import { likeness, meaningOf } from "./word-vectors.ts";

const likenessOf = (one: string, other: string) =>
  likeness(meaningOf(one.split(" "), "en"), meaningOf(other.split(" "), "en"));

test("texts about one thing in different words are more alike than texts about different things", () => {
  expect(likenessOf("refund", "reimbursement of money")).toBeGreaterThan(likenessOf("refund", "weather tomorrow"));
  expect(likenessOf("password", "account security")).toBeGreaterThan(likenessOf("password", "delivery of parcels"));
});

test("a form that is not in the list has the meaning of the word without its ending", () => {
  expect(likenessOf("smartphones", "smartphone")).toBeCloseTo(1, 5);
  expect(likenessOf("the same words", "the same words")).toBeCloseTo(1, 5);
});

test("words that are not in the list, and languages without one, have no meaning and are like nothing", () => {
  expect(meaningOf(["zyxgrubl"], "en")).toBeNull();
  expect(meaningOf(["Rechnung"], "de")).toBeNull();
  expect(likeness(null, meaningOf(["refund"], "en"))).toBe(0);
});
