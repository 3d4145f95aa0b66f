import { describe, expect, test, afterAll } from "@jest/globals";
import { openTriageModels } from "@svc/agents";
import type { Agent } from "@svc/contracts";
import type { SearchHit } from "@svc/knowledge";
import { isSent, badnessOf, isInAnswer, judgeLine, askProduct } from "./judge-line.ts";
import type { LineResult, JudgedLine, EvaluatedProject } from "./judge-line.ts";
import { normalizeAnswer } from "./eval-lines.ts";
import type { ResolvedLine } from "./eval-lines.ts";

const agentOf = (name: string, change: Partial<Agent> = {}): Agent => ({
  id: name,
  name,
  description: "",
  instructions: "",
  model: null,
  kbIds: [],
  examples: [],
  reviewPolicy: "auto",
  autoThreshold: 0.5,
  fixedReply: null,
  assignment: "none",
  tools: [],
  enabled: true,
  version: 1,
  ...change,
});

const models = openTriageModels((error) => {
  throw error;
});
afterAll(() => models.close());

const PAIRING: SearchHit = {
  documentId: "d-pairing",
  kbId: "kb-tech",
  chunkId: "c1",
  title: "Pairing",
  ordinal: 0,
  headingPath: [],
  text: "Hold the button of the remote for three seconds to pair the remote.",
  markdown: false,
  score: 9,
};

let projects = 0;

const line = (change: Partial<ResolvedLine>): ResolvedLine => ({ line: 1, id: "1", text: "x", chat: [], ...change });

const BILLING = agentOf("billing", {
  kbIds: ["kb-billing"],
  examples: ["Where is my invoice?", "I was charged twice"],
});
const TECH = agentOf("tech", { kbIds: ["kb-tech"], examples: ["How do I pair the remote?", "The remote is broken"] });

describe("askProduct", () => {
  test("answers from the chosen agent's knowledge bases", async () => {
    const { project } = projectOf([BILLING, TECH]);
    const asked = await askProduct(project, line({ text: "How do I pair my remote?" }));
    expect(asked.agent?.name).toBe("tech");
    expect(asked.answer).toMatchObject({
      text: expect.stringContaining("three seconds"),
      sources: [{ chunkId: "c1" }],
    });
    expect(asked.ranked).toEqual([]);
  });

  test("ranks documents in the knowledge bases of the line's agent if the line names a document", async () => {
    const { project } = projectOf([BILLING, TECH]);
    const search: EvaluatedProject["search"] = (query, kbIds, limit) =>
      project.search(kbIds.length === 1 ? "remote" : query, kbIds, limit);
    const documents = [{ name: "Pairing", ids: ["d-pairing"] }];
    const wanted = line({ text: "Where is my invoice?", documents });
    const named = await askProduct({ ...project, search }, { ...wanted, agentId: "tech" });
    expect({ agent: named.agent?.name, ranked: named.ranked }).toEqual({ agent: "billing", ranked: ["d-pairing"] });
    expect((await askProduct({ ...project, search }, wanted)).ranked).toEqual([]);
  });

  test("asks the given agent for any message, even if it is disabled", async () => {
    const off = { ...TECH, enabled: false };
    const { project } = projectOf([BILLING, off], off);
    expect((await askProduct(project, line({ text: "Where is my invoice?" }))).agent).toBe(off);
  });

  test("hands over if no agent matches or the agent fails", async () => {
    expect(await askProduct(projectOf([]).project, line({}))).toMatchObject({ agent: null, answer: { text: null } });
    const { project, searches } = projectOf([TECH]);
    let calls = 0;
    const search: EvaluatedProject["search"] = (...args) => {
      calls += 1;
      return calls === 1 ? project.search(...args) : Promise.reject(new Error("no such index"));
    };
    const chat = [
      { author: "customer" as const, text: "How do I pair the remote?" },
      { author: "agent" as const, text: "Hold the button." },
    ];
    const asked = await askProduct({ ...project, search }, line({ text: "And with Windows?", chat }));
    expect(asked.answer).toMatchObject({ text: null, why: "The agent failed: Error: no such index" });
    expect(searches).toHaveLength(1);
  });

  test("uses the chat: its agent keeps it, and a question may refer to the previous one", async () => {
    const { project, searches } = projectOf([BILLING, TECH]);
    const chat = [{ author: "customer" as const, text: "How do I pair the remote?" }];
    const asked = await askProduct(project, line({ text: "And with Windows?", chat }));
    expect(asked.agent?.name).toBe("tech");
    expect(searches.some(({ query }) => /pair/.test(query) && /windows/i.test(query))).toBe(true);
  });

  test("changes neither the line nor the agents", async () => {
    const { project } = projectOf([BILLING, TECH]);
    const given = line({ text: "hello", chat: [{ author: "customer", text: "hi" }] });
    const before = structuredClone({ given, agents: project.agents });
    await askProduct(project, given);
    expect({ given, agents: project.agents }).toEqual(before);
  });
});

test.each([
  ["Refunds take **five  days**.", "Five days"],
  ["Refunds take\nfive days.", "take five"],
  ["Set `SVC_API_PORT` first.", "SVC_API_PORT"],
  ["ﬁve ５ days", "five 5"],
  ["C++ and C#", "c++"],
  ["It costs 15 or 5 euros.", "5 euros"],
])("%j contains %j", (answer, wanted) => {
  expect(isInAnswer(answer, wanted)).toBe(true);
});

test.each([
  ["It takes 15 days.", "5 days"],
  ["It takes 50 days.", "take 5"],
  ["C and D", "c++"],
  ["anything", "**"],
])("%j does not contain %j", (answer, wanted) => {
  expect(isInAnswer(answer, wanted)).toBe(false);
});

test("does not search for punctuation alone", () => {
  expect([normalizeAnswer("** `"), normalizeAnswer("€")]).toEqual(["", "€"]);
});

/** Returns the product's result for a line: billing answers with sufficient confidence. */
function askedOf(change: Partial<LineResult> = {}, answer: Partial<LineResult["answer"]> = {}): LineResult {
  return {
    agent: agentOf("billing"),
    triage: { confidence: 0.8, why: "" },
    ranked: [],
    answer: { text: "It takes five days.", confidence: 0.7, why: "", sources: [], ...answer },
    ms: 1,
    ...change,
  };
}

const judge = (change: Partial<ResolvedLine>, asked: LineResult = askedOf(), hasTriage = true): JudgedLine =>
  judgeLine(line(change), asked, hasTriage);

test("does not judge fields that a line does not have", () => {
  expect(judge({})).toMatchObject({ agent: null, retrieval: null, answer: null, isAsExpected: null });
});

describe("triage", () => {
  test.each([
    ["billing", "billing", true],
    ["tech", "billing", false],
    [null, "billing", false],
    [null, null, true],
    ["billing", null, false],
  ])("wanted %s, got %s: %s", (agentId, got, isRight) => {
    const asked = askedOf({ agent: got === null ? null : agentOf(got) });
    expect(judge({ agentId }, asked)).toMatchObject({ agent: { isRight }, isAsExpected: isRight });
  });

  test("is not judged if the agent was given", () => {
    expect(judge({ agentId: "tech" }, askedOf(), false)).toMatchObject({ agent: null, isAsExpected: null });
  });
});

describe("retrieval", () => {
  const documents = [
    { name: "Refunds", ids: ["d1", "d2"] },
    { name: "returns.md", ids: ["d3"] },
  ];

  test("finds a document by any of its ids, and counts each expected one once", () => {
    const { retrieval } = judge({ documents }, askedOf({ ranked: ["d9", "d2", "d1", "d3"] }));
    expect(retrieval).toEqual({ wanted: ["Refunds", "returns.md"], ranked: ["d9", "Refunds", "returns.md"], place: 2 });
  });

  test("is as expected if an expected document is among the first three", () => {
    expect(judge({ documents }, askedOf({ ranked: ["a", "b", "d1"] })).isAsExpected).toBe(true);
    expect(judge({ documents }, askedOf({ ranked: ["a", "b", "c", "d1"] })).isAsExpected).toBe(false);
    expect(judge({ documents })).toMatchObject({ retrieval: { place: null }, isAsExpected: false });
  });
});

describe("an answer", () => {
  test("is right with any of the texts, wrong without, and handed over below the confidence threshold", () => {
    const answers = ["5 days", "Five days"];
    expect(judge({ answers }).answer).toMatchObject({ outcome: "right", isRight: true });
    expect(judge({ answers: ["six"] }).answer).toMatchObject({ outcome: "wrong", isRight: false });
    const agent = agentOf("billing", { reviewPolicy: "auto_if" });
    expect(judge({ answers }, askedOf({ agent }, { confidence: 0.49 })).answer).toMatchObject({
      outcome: "handed_over",
      isTextRight: true,
      isRight: false,
    });
  });

  test.each([{ answers: null }, { documents: null }])("must be handed over with %j", (line) => {
    expect(judge(line).answer).toMatchObject({ outcome: "wrong", expectsHandover: true, isRight: false });
    expect(judge(line, askedOf({}, { text: null })).answer).toMatchObject({ outcome: "handed_over", isRight: true });
  });

  test("without a document may still be expected, as for a greeting", () => {
    expect(judge({ documents: null, answers: ["five"] }).answer).toMatchObject({ outcome: "right", isRight: true });
  });

  test.each([
    ["auto", 0, true],
    ["auto_if", 0.5, true],
    ["auto_if", 0.49, false],
    ["review", 0.5, true],
    ["review", 0.49, false],
  ] as const)("of an agent with %s that is %d sure is sent: %s", (reviewPolicy, confidence, sent) => {
    const { answer } = askedOf({}, { confidence });
    expect(isSent(agentOf("billing", { reviewPolicy }), answer)).toBe(sent);
    expect(isSent(agentOf("billing", { reviewPolicy }), { ...answer, text: null })).toBe(false);
    expect(isSent(null, answer)).toBe(false);
  });
});

test("a confident wrong answer is worse than a wrong agent, which is worse than a low-ranked document", () => {
  const wrong = (confidence: number) => badnessOf(judge({ answers: ["six"] }, askedOf({}, { confidence })));
  const down = (position: number) =>
    badnessOf(
      judge(
        { documents: [{ name: "d", ids: ["d"] }] },
        askedOf({ ranked: [...Array.from({ length: position - 1 }, (_, index) => `x${index}`), "d"] }),
      ),
    );
  const order = [wrong(0.9), wrong(0.6), badnessOf(judge({ agentId: "tech" })), down(9), down(4), down(3)];
  expect(order.toSorted((a, b) => b - a)).toEqual(order);
  expect(order.at(-1)).toBe(0);
});

/** A project whose search finds the passage about pairing in the knowledge base of tech; it records the queries. */
function projectOf(agents: Agent[], onlyAgent: Agent | null = null) {
  const searches: { query: string; kbIds: readonly string[] }[] = [];
  const search: EvaluatedProject["search"] = (query, kbIds) => {
    searches.push({ query, kbIds });
    const words = [...new Set(query.toLowerCase().match(/\w+/g))].map((word) => ({ word, weight: 1 }));
    return Promise.resolve({
      hits: kbIds.includes("kb-tech") && /pair|remote/.test(query) ? [PAIRING] : [],
      bestPossible: 10,
      words,
      passageCount: 1_000,
      languages: ["en"],
    });
  };
  const project: EvaluatedProject = {
    models,
    project: `p${projects++}`,
    agents,
    learned: [],
    onlyAgent,
    search,
    searchWords: (query, kbGroups, limit) => Promise.all(kbGroups.map((kbIds) => search(query, kbIds, limit))),
  };
  return { project, searches };
}
