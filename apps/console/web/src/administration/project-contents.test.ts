import { expect, test } from "@jest/globals";
import { contentsOf } from "./project-contents.ts";

const refusal = (what: string) =>
  `This deletes the project doomed and everything in it. ${what} To confirm, send {"confirm":"doomed"}.`;

test("what a project contains is read from the server's refusal to delete it without a confirmation", () => {
  const all =
    "agents: 1, knowledge bases: 2, documents: 30, tickets: 4, API keys: 5, hooks: 6, gaps: 7, proposals: 8, canned replies: 9.";
  expect(contentsOf(refusal(all))).toEqual([
    { label: "nav.agents", count: 1 },
    { label: "knowledge.bases", count: 2 },
    { label: "knowledge.documentsTab", count: 30 },
    { label: "inbox.list", count: 4 },
    { label: "administration.keys", count: 5 },
    { label: "projects.hooks", count: 6 },
    { label: "knowledge.gaps", count: 7 },
    { label: "knowledge.proposals", count: 8 },
    { label: "administration.canned", count: 9 },
  ]);
  expect(contentsOf(refusal("It is empty."))).toEqual([]);
});

test("a project is not said to be empty if it contains something that is unknown here", () => {
  expect(contentsOf(refusal("rockets: 3."))).toBe(refusal("rockets: 3."));
});
