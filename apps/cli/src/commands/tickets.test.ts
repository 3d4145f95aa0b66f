import { expect, test } from "@jest/globals";
import { REVIEW_ACTIONS } from "@svc/contracts";
import { tickets } from "./tickets.ts";

test("there is a command for each action of an operator", () => {
  expect(Object.keys(tickets.commands ?? {})).toEqual(expect.arrayContaining([...REVIEW_ACTIONS]));
});
