import { afterAll, describe, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import { asProjectId } from "@svc/store";
import { TEST_AGENT } from "../grounded/scripted-model.ts";
import type { SearchResult } from "../answer.ts";
import type { LanguageModel } from "../models/language-model.ts";
import { ModelError } from "../models/model-error.ts";
import { chooseAmongProjects } from "./choose-among-projects.ts";
import type { PoolChoice } from "./choose-among-projects.ts";
import { openTriageModels } from "./open-triage-models.ts";
import { createAgentPool } from "./triage-model.ts";
import type { PooledProject } from "./triage-model.ts";

const agent = (name: string, change: Partial<Agent> = {}): Agent => ({ ...TEST_AGENT, id: name, name, ...change });

const PLANTS = agent("plants", {
  description: "Flowers and trees",
  examples: ["my rose dies", "how often do I water a fern"],
});
const TREES = agent("trees", { description: "Old trees", examples: ["an oak has fallen", "can I cut the old elm"] });
const POTS = agent("pots", { description: "Pots and pans", examples: ["the pan sticks", "which pot for rice"] });

const project = (id: string, agents: Agent[], learned: PooledProject["learned"] = []): PooledProject => ({
  id,
  agents,
  learned,
});
const GARDEN = project("garden", [PLANTS, TREES]);
const KITCHEN = project("kitchen", [POTS]);

const NOTHING: SearchResult = { hits: [], bestPossible: 0, words: [] };

/** What a search for its question finds where the one sentence answers it. */
const ANSWER: SearchResult = {
  hits: [
    {
      documentId: "d",
      chunkId: "c",
      title: "Watering",
      headingPath: ["Watering"],
      text: "Water the orchid twice a week.",
      markdown: true,
      score: 9,
    },
  ],
  bestPossible: 10,
  words: [
    { word: "water", weight: 3 },
    { word: "orchid", weight: 4 },
  ],
  passageCount: 20,
  languages: ["en"],
};

const closing: (() => void)[] = [];
afterAll(() => closing.forEach((close) => close()));

function choose(text: string, projects: PooledProject[], change: Partial<PoolChoice> = {}) {
  const models = openTriageModels((error) => {
    throw error;
  });
  closing.push(() => models.close());
  const search = () => (_query: string, kbGroups: string[][]) => Promise.resolve(kbGroups.map(() => NOTHING));
  return chooseAmongProjects({
    models,
    pool: createAgentPool()(projects),
    home: "home",
    text,
    search,
    adviser: null,
    ...change,
  });
}

function adviserThat(said: unknown): PoolChoice["adviser"] {
  const model: LanguageModel = {
    id: "test:scripted",
    chat() {
      if (said instanceof Error) return Promise.reject(said);
      const usage = { model: "test:scripted", inputTokens: 1, outputTokens: 1, costUsd: null };
      return Promise.resolve({ output: said as never, usage });
    },
  };
  const { signal } = new AbortController();
  return { model, project: asProjectId("00000000-0000-7000-8000-000000000001"), ticketId: "t", signal };
}

describe("chooseAmongProjects", () => {
  test("chooses the agent that fits best and its project, and names no other one", async () => {
    const chosen = await choose("how often do I water my rose", [KITCHEN, GARDEN]);
    expect(chosen).toMatchObject({ agentId: "plants", project: "garden" });
    expect(chosen.why).toContain("plants");
    expect(chosen.why).not.toMatch(/pots|trees|kitchen/);
    expect(await choose("the pan sticks to the pot", [KITCHEN, GARDEN])).toMatchObject({ project: "kitchen" });
  });

  test("chooses nobody where nothing fits well enough, or nobody is enabled", async () => {
    const nobody = { agentId: null, project: null };
    expect(await choose("zorgle quux blarg", [KITCHEN, GARDEN])).toMatchObject(nobody);
    expect(await choose("my rose dies", [project("empty", [agent("off", { enabled: false })])])).toMatchObject(nobody);
    expect(await choose("my rose dies", [])).toMatchObject(nobody);
  });

  test("the only agent anywhere gets all of its own project, and of others what it fits", async () => {
    const nobody = { agentId: null, project: null };
    expect(await choose("zorgle quux blarg", [KITCHEN], { home: "kitchen" })).toMatchObject({ agentId: "pots" });
    expect(await choose("zorgle quux blarg", [KITCHEN])).toMatchObject(nobody);
    expect(await choose("the pan sticks", [KITCHEN])).toMatchObject({ agentId: "pots", project: "kitchen" });
  });

  test("goes by whose knowledge bases have what it is about, each asked in its own project", async () => {
    const asked: string[] = [];
    const chosen = await choose(
      "how often do I water the orchid",
      [project("one", [agent("a", { kbIds: ["k1"] })]), project("two", [agent("b", { kbIds: ["k2"] })])],
      {
        search: (id) => (_query, kbGroups) => {
          asked.push(`${id}:${kbGroups.join()}`);
          return Promise.resolve(kbGroups.map(() => (id === "two" ? ANSWER : NOTHING)));
        },
      },
    );
    expect(asked).toEqual(["one:k1", "two:k2"]);
    expect(chosen).toMatchObject({ agentId: "b", project: "two" });
  });

  test("learns from what people have decided, but not that something was for nobody of one project", async () => {
    const text = "the compost steams";
    const learned = (agentId: string | null) => Array.from({ length: 4 }, () => ({ agentId, text }));
    const projects = [project("garden", [PLANTS], learned("plants")), project("kitchen", [POTS], learned(null))];
    expect(await choose(text, projects)).toMatchObject({ agentId: "plants", project: "garden" });
  });

  test("asks a model where statistics are unsure; one that fails or names nobody changes nothing", async () => {
    const text = "zorgle quux blarg";
    const chosen = await choose(text, [GARDEN, KITCHEN], { adviser: adviserThat({ agent: "3" }) });
    expect(chosen).toMatchObject({ agentId: "pots", project: "kitchen", model: { fallback: null } });
    expect(chosen.why).not.toMatch(/plants|trees/);
    for (const said of [{ agent: "none" }, new ModelError("unreachable", "it is away")]) {
      const adviser = adviserThat(said);
      expect(await choose(text, [GARDEN, KITCHEN], { adviser })).toMatchObject({ agentId: null, project: null });
    }
  });
});

describe("createAgentPool", () => {
  test("gives each agent the same share of the examples where there are too many", () => {
    const examples = Array.from({ length: 30_000 }, (_, index) => `example ${index}`);
    const { agents } = createAgentPool()([project("p", [agent("a", { examples }), agent("b", { examples })]), KITCHEN]);
    expect(agents.map((one) => one.examples.length)).toEqual([6_665, 6_665, 2]);
  });

  test("keeps what was learned as it is while nothing of it changes", () => {
    const pool = createAgentPool();
    const learned = [{ agentId: "plants", text: "moss" }];
    const first = pool([project("garden", [PLANTS], learned), KITCHEN]);
    expect(pool([project("garden", [PLANTS], learned), KITCHEN]).learned).toBe(first.learned);
    expect(pool([project("garden", [PLANTS], [...learned]), KITCHEN]).learned).not.toBe(first.learned);
  });
});
