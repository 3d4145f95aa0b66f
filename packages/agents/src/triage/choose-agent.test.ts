import { afterAll, describe, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import { chooseAgent } from "./choose-agent.ts";
import type { AgentChoice, SupportingPassages } from "./choose-agent.ts";
import { keepTriageModels } from "./keep-triage-models.ts";

const agent = (name: string, change: Partial<Agent> = {}): Agent => ({
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
  tools: [],
  enabled: true,
  version: 1,
  ...change,
});

const models = keepTriageModels((error) => {
  throw error;
});
afterAll(() => models.close());

const NOTHING: SupportingPassages = { hits: [], bestPossible: 0 };
let projects = 0;

function choose(agents: Agent[], text: string, change: Partial<AgentChoice> = {}) {
  const search = () => Promise.resolve(NOTHING);
  return chooseAgent({ models, project: `p${projects++}`, agents, text, currentAgentId: null, search, ...change });
}

describe("chooseAgent", () => {
  test("asks neither a model nor the knowledge bases when there is at most one enabled agent", async () => {
    const never = () => Promise.reject(new Error("it must not be asked"));
    const asking = { models: { modelOf: never, close() {} }, search: never };
    const only = agent("only", { kbIds: ["k"] });
    expect(await choose([only, agent("off", { enabled: false, kbIds: ["o"] })], "hello", asking)).toMatchObject({
      agentId: "only",
      confidence: 1,
    });
    expect((await choose([], "hello", asking)).agentId).toBeNull();
  });

  test("an agent whose knowledge bases have what a message is about gets it", async () => {
    const agents = [agent("audio", { kbIds: ["a"] }), agent("video", { kbIds: ["v", "w"] })];
    const asked: string[][] = [];
    const decision = await choose(agents, "How do I pair the remote?", {
      search: (kbIds) => {
        asked.push(kbIds);
        const hits = [
          { kbId: "w", score: 6 },
          { kbId: "a", score: 1 },
        ];
        return Promise.resolve({ hits, bestPossible: 10 });
      },
    });
    expect(decision).toMatchObject({ agentId: "video" });
    expect(asked).toEqual([["a", "v", "w"]]);
  });

  test("knowledge bases that all agents share say nothing about them and are not searched", async () => {
    const agents = [
      agent("billing", { kbIds: ["k", "l"], examples: ["Where is my invoice?"] }),
      agent("tech", { kbIds: ["l", "k"], examples: ["The app crashes"] }),
    ];
    const search = () => Promise.reject(new Error("it must not be asked"));
    expect((await choose(agents, "the app crashed", { search })).agentId).toBe("tech");
  });

  test("chooses among the agents of many projects as among those of one", async () => {
    const agents = ["shop", "bank", "garage"].flatMap((project) =>
      ["billing", "tech"].map((name) =>
        agent(`${project} ${name}`, { description: `${name === "tech" ? "Problems" : "Invoices"} of the ${project}.` }),
      ),
    );
    expect((await choose(agents, "my invoice of the garage is wrong", { project: "all" })).agentId).toBe(
      "garage billing",
    );
  });
});
