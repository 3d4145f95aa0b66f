import { expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import type { EvalLine } from "./eval-line.ts";
import { resolveLines } from "./resolve-lines.ts";

const AGENTS = [
  { id: "a1", name: "billing" },
  { id: "a2", name: "tech" },
] as Agent[];
const DOCUMENTS = [
  { id: "d1", key: "refunds.md", title: "Refunds", url: null },
  { id: "d2", key: "old/refunds.md", title: "Refunds", url: "https://example.com/refunds" },
];

const resolveAll = (...lines: Partial<EvalLine>[]) =>
  resolveLines(
    lines.map((line, index) => ({ text: "x", chat: [], line: index + 1, ...line })),
    { agents: AGENTS, documents: DOCUMENTS },
  );

test("agents are known by name and id", () => {
  const { lines } = resolveAll({ agent: "tech" }, { agent: "a1" }, { agent: null }, {});
  expect(lines.map(({ agentId }) => agentId)).toEqual(["a2", "a1", null, undefined]);
});

test("documents are known by id, key, URL and title; a title stands for all that have it", () => {
  const names = ["d1", "old/refunds.md", "https://example.com/refunds", "Refunds"];
  const [line, none, unsaid] = resolveAll({ document: names }, { document: null }, {}).lines;
  expect(line?.documents?.map(({ ids }) => ids)).toEqual([["d1"], ["d2"], ["d2"], ["d1", "d2"]]);
  expect([none?.documents, unsaid?.documents]).toEqual([null, undefined]);
});

test("a line without an id has its number for one", () => {
  expect(resolveAll({ id: "mine" }, {}).lines.map(({ id }) => id)).toEqual(["mine", "2"]);
});

test("what is unknown is reported with what may have been meant, all of it at once", () => {
  const { faults } = resolveAll({ agent: "biling", document: ["refund.md", "quokka"] }, { agent: "quokka" });
  expect(faults).toEqual([
    { line: 1, fault: 'agent: no agent is named "biling"; did you mean "billing"?' },
    {
      line: 1,
      fault: expect.stringMatching(/^document: no document is named "refund\.md"; did you mean "refunds\.md" or /),
    },
    { line: 1, fault: 'document: no document is named "quokka"' },
    { line: 2, fault: 'agent: no agent is named "quokka"' },
  ]);
});
