import { describe, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import { chooseAgent } from "./choose-agent.ts";

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

const BILLING = agent("billing", {
  description: "Invoices, payments and refunds.",
  examples: ["I was charged twice", "Where is my invoice?", "I want my money back"],
});
const TECH = agent("tech", {
  description: "Problems with installing and running the software.",
  examples: ["The installer crashes", "It does not start on Windows", "error when I open the app"],
});
const SALES = agent("sales", { description: "Plans, prices and discounts for new customers." });
const AGENTS = [BILLING, SALES, TECH];

const choose = (text: string, currentAgentId: string | null = null, agents = AGENTS) =>
  chooseAgent({ agents, text, currentAgentId });

describe("chooseAgent", () => {
  test("no enabled agent: nobody", () => {
    expect(choose("hello", null, []).agentId).toBeNull();
    expect(choose("hello", "billing", [agent("billing", { enabled: false })])).toMatchObject({
      agentId: null,
      confidence: 0,
    });
  });

  test("one enabled agent: that one, for certain, whatever the text", () => {
    const agents = [agent("off", { enabled: false, examples: ["hello"] }), TECH];
    expect(choose("hello", null, agents)).toMatchObject({ agentId: "tech", confidence: 1 });
  });

  test.each([
    ["Why was I charged two times this month?", "billing"],
    ["refund please", "billing"],
    ["the app shows an error on windows", "tech"],
    ["Installation problem", "tech"],
    ["Is there a discount on the plan?", "sales"],
  ])("%s goes to %s, by description and examples, in any form of the words", (text, agentId) => {
    expect(choose(text).agentId).toBe(agentId);
  });

  test("an agent with a fixed reply is chosen like any other", () => {
    const agents = [TECH, agent("hours", { description: "Opening hours.", fixedReply: "Nine to five." })];
    expect(choose("What are your opening hours?", null, agents).agentId).toBe("hours");
  });

  test("the agent that has the conversation keeps it unless the message clearly points elsewhere", () => {
    expect(choose("and how long does that take?", "tech").agentId).toBe("tech");
    expect(choose("and what about the invoice of my windows friend who had an error", "tech").agentId).toBe("tech");
    expect(choose("Where is my invoice? I was charged twice.", "tech").agentId).toBe("billing");
  });

  test("an agent that had the conversation and is switched off has no claim to it", () => {
    const agents = [BILLING, SALES, { ...TECH, enabled: false }];
    expect(choose("refund", "tech", agents).agentId).toBe("billing");
  });

  test("a message like nothing goes to an agent without a purpose of its own, else to the first, with no confidence", () => {
    expect(choose("xyzzy")).toMatchObject({ agentId: "billing", confidence: 0 });
    expect(choose("xyzzy", null, [...AGENTS, agent("general")])).toMatchObject({ agentId: "general", confidence: 0 });
  });

  test("the clearer the message, the higher the confidence", () => {
    const clear = choose("Where is my invoice?").confidence;
    const vague = choose("My invoice has an error").confidence;
    expect(clear).toBeGreaterThan(0.8);
    expect(clear).toBeLessThanOrEqual(1);
    expect(vague).toBeLessThan(clear);
  });

  test("says why in words, with the runner-up", () => {
    expect(choose("refund").why).toMatch(
      /^billing \(likeness [\d.]+; next \w+ [\d.]+\) is what the message is most like\.$/,
    );
  });

  test("the same arguments give the same choice", () => {
    expect(choose("My invoice has an error")).toEqual(choose("My invoice has an error"));
  });

  test.each([
    ["letters", "a"],
    ["words", "invoice "],
    ["apostrophes", "a'"],
    ["brackets", "("],
    ["emoji", "😀"],
  ])("gets through 50,000 characters of %s", (_, unit) => {
    const { confidence } = choose(unit.repeat(50_000 / unit.length));
    expect(confidence).toBeGreaterThanOrEqual(0);
    expect(confidence).toBeLessThanOrEqual(1);
  });
});
