import { expect, test } from "@jest/globals";
import { KB_LIMITS } from "@svc/contracts";
import { KB_BOUNDS } from "./kb.ts";

test("the bounds that the help names are those of the contract", () => {
  const { pagesMaxCount, pagesDefaultCount, hitsMaxCount, hitsDefaultCount } = KB_LIMITS;
  expect(KB_BOUNDS).toEqual({
    maxPages: pagesMaxCount,
    defaultPages: pagesDefaultCount,
    maxHits: hitsMaxCount,
    defaultHits: hitsDefaultCount,
  });
});
