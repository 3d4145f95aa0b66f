import { afterEach, describe, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import { testAgent } from "../../../../tests/packages/agents/scripted-model.ts";
import { decide } from "./decide.ts";
import { openTriageModels } from "./open-triage-models.ts";
import type { TriageModels } from "./open-triage-models.ts";
import type { LearnedMessage } from "./triage-model.ts";

const agent = (name: string, examples: string[], version = 1) => testAgent(name, { examples, version });

const BILLING = agent("billing", ["I was charged twice", "Where is my invoice?"]);
const TECH = agent("tech", ["The installer crashes", "error when I open the app"]);

const kept: TriageModels[] = [];

/** The models of a process; a fault in the background fails the test. */
function replica(): TriageModels {
  const models = openTriageModels((error) => {
    throw error;
  });
  kept.push(models);
  return models;
}

afterEach(() => {
  for (const models of kept.splice(0)) models.close();
});

async function choose(models: TriageModels, text: string, agents: Agent[], learned?: LearnedMessage[]) {
  const model = await models.modelOf("project", learned === undefined ? { agents } : { agents, learned });
  return decide(model, { agents, text, currentAgentId: null }).agentId;
}

describe("openTriageModels", () => {
  test("an example that is added counts for the next message, on every replica", async () => {
    const replicas = [replica(), replica()];
    for (const models of replicas)
      expect(await choose(models, "Where is my invoice?", [BILLING, TECH])).toBe("billing");
    const taught = agent("tech", [...TECH.examples, "my flimflam wobbles"], 2);
    for (const models of replicas) expect(await choose(models, "flimflam wobbles", [BILLING, taught])).toBe("tech");
  });

  test("an agent that is added, changed or removed counts for the next message", async () => {
    const models = replica();
    const sales = agent("sales", ["Is there a discount for students?"]);
    expect(await choose(models, "student discount", [BILLING, TECH])).not.toBe("sales");
    expect(await choose(models, "student discount", [BILLING, sales, TECH])).toBe("sales");
    expect(await choose(models, "student discount", [agent("billing", ["student discount"], 2), TECH])).toBe("billing");
  });

  test("what operators decide counts for the next message", async () => {
    const models = replica();
    const learned = [{ agentId: "tech", text: "Will it rain tomorrow?" }];
    expect(await choose(models, "will it rain tomorrow", [BILLING, TECH])).toBeNull();
    expect(await choose(models, "will it rain tomorrow", [BILLING, TECH], learned)).toBe("tech");
  });

  test("is trained once for messages that come together, and kept while nothing changes", async () => {
    const models = replica();
    const knowledge = { agents: [BILLING, TECH] };
    const [one, other] = await Promise.all([models.modelOf("p", knowledge), models.modelOf("p", knowledge)]);
    expect(one).toBe(other);
    expect(await models.modelOf("p", { agents: [{ ...BILLING }, { ...TECH }] })).toBe(one);
    expect(await models.modelOf("q", knowledge)).not.toBe(one);
  });

  test("many changes at once are learned in the background while the model that there is serves on", async () => {
    const models = replica();
    const before = await models.modelOf("project", { agents: [BILLING, TECH] });
    const many = Array.from({ length: 80 }, (_, index) => `gadget number ${index}`);
    const agents = [BILLING, agent("tech", many, 2)];
    expect(await models.modelOf("project", { agents })).toBe(before);
    let model = before;
    while (model === before) {
      await new Promise((resolve) => setImmediate(resolve));
      model = await models.modelOf("project", { agents });
    }
    expect(decide(model, { agents, text: "gadget number 7", currentAgentId: null }).agentId).toBe("tech");
  });

  test("a first training that is cut off fails the call that waits for it, and nothing else", async () => {
    const models = replica();
    const waiting = models.modelOf("project", {
      agents: [
        BILLING,
        agent(
          "tech",
          Array.from({ length: 500 }, (_, i) => `text ${i}`),
        ),
      ],
    });
    models.close();
    await expect(waiting).rejects.toThrow("aborted");
  });
});
