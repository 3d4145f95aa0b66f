import { expect, test } from "@jest/globals";
import { contentsOf } from "./project-contents.ts";

test("what a project contains is read from the server's refusal to delete it without a confirmation", () => {
  const refusal =
    "This deletes the project doomed and everything in it. agents: 1, knowledge bases: 2, API keys: 13. To …";
  expect(contentsOf(refusal)).toEqual([
    { label: "nav.agents", count: 1 },
    { label: "knowledge.bases", count: 2 },
    { label: "administration.keys", count: 13 },
  ]);
  expect(contentsOf("This deletes the project doomed and everything in it. It is empty. To …")).toEqual([]);
});
