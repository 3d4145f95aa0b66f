import { afterAll, describe, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import { testAgent } from "../grounded/scripted-model.ts";
import { chooseAgent } from "./choose-agent.ts";
import type { SearchResult } from "../answer.ts";
import type { AgentChoice } from "./choose-agent.ts";
import { openTriageModels } from "./open-triage-models.ts";

const models = openTriageModels((error) => {
  throw error;
});
afterAll(() => models.close());

const NOTHING: SearchResult = { hits: [], bestPossible: 0, words: [] };
const PAIRING: SearchResult = {
  hits: [
    {
      documentId: "d",
      chunkId: "c",
      title: "Pairing the remote",
      headingPath: ["Pairing the remote"],
      text: "Hold the button of the remote for three seconds to pair it.",
      markdown: true,
      score: 9,
    },
  ],
  bestPossible: 10,
  words: [
    { word: "pair", weight: 4 },
    { word: "remote", weight: 3 },
  ],
  passageCount: 20,
  languages: ["en"],
};

let projects = 0;

function choose(agents: Agent[], text: string, change: Partial<AgentChoice> = {}) {
  const search = (_query: string, kbGroups: string[][]) => Promise.resolve(kbGroups.map(() => NOTHING));
  return chooseAgent({ models, project: `p${projects++}`, agents, text, currentAgentId: null, search, ...change });
}

describe("chooseAgent", () => {
  test("asks neither a model nor the knowledge bases when there is at most one enabled agent", async () => {
    const never = () => Promise.reject(new Error("it must not be asked"));
    const asking = { models: { modelOf: never, close() {} }, search: never };
    const only = testAgent("only", { kbIds: ["k"] });
    expect(await choose([only, testAgent("off", { enabled: false, kbIds: ["o"] })], "hello", asking)).toMatchObject({
      agentId: "only",
      confidence: 1,
    });
    expect((await choose([], "hello", asking)).agentId).toBeNull();
  });

  test("of agents whose knowledge bases say the same in words, the one with the more similar passages gets it", async () => {
    const agents = [testAgent("audio", { kbIds: ["a"] }), testAgent("video", { kbIds: ["v"] })];
    const withSimilarity = (similarities: readonly number[]): SearchResult => ({
      ...PAIRING,
      hits: similarities.flatMap((similarity) => PAIRING.hits.map((hit) => ({ ...hit, similarity }))),
    });
    const found = (kbIds: readonly string[]) => withSimilarity(kbIds.includes("v") ? [0.6, 0.5] : [0.3, 0.2]);
    const decision = await choose(agents, "How do I pair the remote?", {
      search: (_query, kbGroups) => Promise.resolve(kbGroups.map(found)),
    });
    const byWords = await choose(agents, "How do I pair the remote?", {
      search: (_query, kbGroups) => Promise.resolve(kbGroups.map(() => PAIRING)),
    });
    expect(decision).toMatchObject({ agentId: "video" });
    expect(decision.confidence).toBeGreaterThan(byWords.confidence);
  });

  test("an agent whose knowledge bases answer a message gets it; each agent's are searched by themselves", async () => {
    const agents = [testAgent("audio", { kbIds: ["a"] }), testAgent("video", { kbIds: ["v", "w"] })];
    const asked: string[][][] = [];
    const decision = await choose(agents, "How do I pair the remote?", {
      search: (_query, kbGroups) => {
        asked.push(kbGroups);
        return Promise.resolve(kbGroups.map((kbIds) => (kbIds.includes("w") ? PAIRING : NOTHING)));
      },
    });
    expect(decision).toMatchObject({ agentId: "video" });
    expect(asked).toEqual([[["a"], ["v", "w"]]]);
  });

  test("knowledge bases that all agents share say nothing about them and are not searched", async () => {
    const agents = [
      testAgent("billing", { kbIds: ["k", "l"], examples: ["Where is my invoice?"] }),
      testAgent("tech", { kbIds: ["l", "k"], examples: ["The app crashes"] }),
    ];
    const search = () => Promise.reject(new Error("it must not be asked"));
    expect((await choose(agents, "the app crashed", { search })).agentId).toBe("tech");
  });

  test("chooses among the agents of many projects as among those of one", async () => {
    const agents = ["shop", "bank", "garage"].flatMap((project) =>
      ["billing", "tech"].map((name) =>
        testAgent(`${project} ${name}`, {
          description: `${name === "tech" ? "Problems" : "Invoices"} of the ${project}.`,
        }),
      ),
    );
    expect((await choose(agents, "my invoice of the garage is wrong", { project: "all" })).agentId).toBe(
      "garage billing",
    );
  });
});
