import { afterAll, describe, expect, test } from "@jest/globals";
import { keepTriageModels } from "@svc/agents";
import type { Agent } from "@svc/contracts";
import type { SearchHit } from "@svc/knowledge";
import { askProduct } from "./ask-product.ts";
import type { AskedProject } from "./ask-product.ts";
import type { ResolvedLine } from "./eval-lines.ts";

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

/** A project whose search finds the passage about pairing in the knowledge base of tech; what was searched for is noted. */
function projectOf(agents: Agent[], onlyAgent: Agent | null = null) {
  const searches: { query: string; kbIds: readonly string[] }[] = [];
  const search: AskedProject["search"] = (query, kbIds) => {
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
  const project: AskedProject = {
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

const line = (change: Partial<ResolvedLine>): ResolvedLine => ({ line: 1, id: "1", text: "x", chat: [], ...change });

const BILLING = agent("billing", { kbIds: ["kb-billing"], examples: ["Where is my invoice?", "I was charged twice"] });
const TECH = agent("tech", { kbIds: ["kb-tech"], examples: ["How do I pair the remote?", "The remote is broken"] });

describe("askProduct", () => {
  test("answers from what the chosen agent's knowledge bases have", async () => {
    const { project } = projectOf([BILLING, TECH]);
    const asked = await askProduct(project, line({ text: "How do I pair my remote?" }));
    expect(asked.agent?.name).toBe("tech");
    expect(asked.answer).toMatchObject({
      text: expect.stringContaining("three seconds"),
      sources: [{ chunkId: "c1" }],
    });
    expect(asked.ranked).toEqual([]);
  });

  test("ranks documents in the knowledge bases of the agent that the line names, where it names a document", async () => {
    const { project } = projectOf([BILLING, TECH]);
    const search: AskedProject["search"] = (query, kbIds, limit) =>
      project.search(kbIds.length === 1 ? "remote" : query, kbIds, limit);
    const documents = [{ name: "Pairing", ids: ["d-pairing"] }];
    const wanted = line({ text: "Where is my invoice?", documents });
    const named = await askProduct({ ...project, search }, { ...wanted, agentId: "tech" });
    expect({ agent: named.agent?.name, ranked: named.ranked }).toEqual({ agent: "billing", ranked: ["d-pairing"] });
    expect((await askProduct({ ...project, search }, wanted)).ranked).toEqual([]);
  });

  test("asks the given agent whatever the message is, also one that is switched off", async () => {
    const off = { ...TECH, enabled: false };
    const { project } = projectOf([BILLING, off], off);
    expect((await askProduct(project, line({ text: "Where is my invoice?" }))).agent).toBe(off);
  });

  test("hands over what no agent is for, and what an agent fails at", async () => {
    expect(await askProduct(projectOf([]).project, line({}))).toMatchObject({ agent: null, answer: { text: null } });
    const { project, searches } = projectOf([TECH]);
    let calls = 0;
    const search: AskedProject["search"] = (...args) => {
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

  test("knows the chat: the agent that has it keeps it, and a question may go on with the one before", async () => {
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
