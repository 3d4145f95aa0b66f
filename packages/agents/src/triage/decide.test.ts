import { describe, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import { testAgent } from "../../../../tests/packages/agents/scripted-model.ts";
import type { Support } from "../answer-question.ts";
import { decide } from "./decide.ts";
import { trainTriage } from "./train-triage.ts";
import { samplesOf } from "./triage-model.ts";
import type { LearnedMessage } from "./triage-model.ts";

const BILLING = testAgent("billing", {
  description: "Invoices, payments and refunds.",
  examples: ["I was charged twice", "Where is my invoice?", "I want my money back"],
});
const TECH = testAgent("tech", {
  description: "Problems with installing and running the software.",
  examples: ["The installer crashes", "It does not start on Windows", "error when I open the app"],
});
const SALES = testAgent("sales", { description: "Plans, prices and discounts for new customers." });
const AGENTS = [BILLING, SALES, TECH];

interface Situation {
  agents?: readonly Agent[];
  learned?: readonly LearnedMessage[];
  currentAgentId?: string | null;
  support?: ReadonlyMap<string, Support>;
}

function choose(text: string, { agents = AGENTS, learned = [], currentAgentId = null, support }: Situation = {}) {
  const model = trainTriage(samplesOf(agents, learned));
  return decide(model, { agents, text, currentAgentId, ...(support === undefined ? {} : { support }) });
}

describe("decide", () => {
  test("no enabled agent: nobody", () => {
    expect(choose("hello", { agents: [] }).agentId).toBeNull();
    const agents = [testAgent("billing", { enabled: false })];
    expect(choose("hello", { agents, currentAgentId: "billing" })).toMatchObject({ agentId: null, confidence: 0 });
  });

  test("one enabled agent: that one, for certain, whatever the text and whatever was learned", () => {
    const agents = [testAgent("off", { enabled: false, examples: ["hello"] }), TECH];
    const learned = [{ agentId: null, text: "hello" }];
    expect(choose("hello", { agents, learned })).toMatchObject({ agentId: "tech", confidence: 1 });
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

  test("a misspelt word counts as the one that was meant", () => {
    expect(choose("invioce")).toMatchObject({ agentId: "billing" });
    expect(choose("the instaler chrashes")).toMatchObject({ agentId: "tech" });
  });

  test("letters without their accents count as those with them", () => {
    const agents = [testAgent("a", { examples: ["Größe ändern"] }), testAgent("b", { examples: ["Farbe wählen"] })];
    expect(choose("GROSSE ANDERN", { agents }).agentId).toBe("a");
    expect(choose("wahlen", { agents }).agentId).toBe("b");
  });

  test("agents that have nothing but a name are told apart by it", () => {
    const agents = [testAgent("card_arrival"), testAgent("exchange_rate")];
    expect(choose("when will my card arrive", { agents }).agentId).toBe("card_arrival");
    expect(choose("what are your exchange rates", { agents }).agentId).toBe("exchange_rate");
  });

  test("the agent that has the conversation keeps it unless the message clearly points elsewhere", () => {
    const inTech = { currentAgentId: "tech" };
    expect(choose("and how long does that take?", inTech).agentId).toBe("tech");
    expect(choose("and what about the invoice of my windows friend who had an error", inTech).agentId).toBe("tech");
    expect(choose("Where is my invoice? I was charged twice.", inTech).agentId).toBe("billing");
  });

  test("an agent that had the conversation and is switched off has no claim to it", () => {
    const agents = [BILLING, SALES, { ...TECH, enabled: false }];
    expect(choose("refund", { agents, currentAgentId: "tech" }).agentId).toBe("billing");
  });

  test("a model that knows agents which are switched off now chooses among the others", () => {
    const model = trainTriage(samplesOf(AGENTS));
    const agents = [BILLING, SALES, { ...TECH, enabled: false }];
    const { agentId } = decide(model, { agents, text: "error on windows", currentAgentId: null });
    expect(["billing", "sales", null]).toContain(agentId);
  });

  test("a message like nothing goes to an agent without a purpose of its own, else to nobody", () => {
    expect(choose("xyzzy")).toMatchObject({ agentId: null, confidence: 0 });
    expect(choose("xyzzy", { agents: [...AGENTS, testAgent("general")] })).toMatchObject({
      agentId: "general",
      confidence: 0,
    });
  });

  test("agents without any word to go by: the first, with no confidence", () => {
    expect(choose("hello", { agents: [testAgent("?"), testAgent("!")] })).toMatchObject({
      agentId: "?",
      confidence: 0,
    });
  });

  test("messages that operators gave to nobody teach that a message is for none of them", () => {
    const weather = ["what is the weather like", "will it rain tomorrow", "how warm is it in Berlin"];
    const learned = weather.map((text) => ({ agentId: null, text }));
    expect(choose("is it going to rain in Berlin tomorrow?", { learned })).toMatchObject({ agentId: null });
    expect(choose("Where is my invoice?", { learned })).toMatchObject({ agentId: "billing" });
  });

  test("messages that operators gave to an agent teach that they are for that agent", () => {
    const learned = [{ agentId: "sales", text: "Do you have an academic licence?" }];
    expect(choose("licence for academics", { learned })).toMatchObject({ agentId: "sales" });
  });

  test("what the knowledge bases have for a message decides where the agents' own words do not", () => {
    const support = new Map([
      ["billing", { confidence: 0.05, odds: 0 }],
      ["tech", { confidence: 0.6, odds: 5 }],
    ]);
    const decision = choose("How do I pair the bluetooth remote?", { support });
    expect(decision).toMatchObject({ agentId: "tech" });
    expect(decision.confidence).toBeGreaterThan(0.8);
    expect(decision.why).toContain("knowledge bases");
  });

  test("a rare word that only one agent's knowledge bases have decides between equals, and is for somebody", () => {
    const support = new Map([
      ["billing", { confidence: 0.05, odds: 0, telling: new Map([["paypal", 0.9]]) }],
      ["tech", { confidence: 0.05, odds: 0, telling: new Map<string, number>() }],
    ]);
    expect(choose("Do you take PayPal?", { support })).toMatchObject({ agentId: "billing" });
    const both = new Map([...support].map(([id, own]) => [id, { ...own, telling: new Map([["paypal", 0.9]]) }]));
    expect(choose("Do you take PayPal?", { support: both })).toMatchObject({ agentId: null });
  });

  test("the clearer the message, the higher the confidence", () => {
    const clear = choose("Where is my invoice?").confidence;
    const vague = choose("My invoice has an error").confidence;
    expect(clear).toBeGreaterThan(0.8);
    expect(clear).toBeLessThanOrEqual(1);
    expect(vague).toBeLessThan(clear);
  });

  test("says why in words, with the runner-up and the closest example", () => {
    expect(choose("where is the invoice").why).toMatch(
      /^billing \(\d+%\), ahead of \w+ \(\d+%\): the closest example is "Where is my invoice\?"\.$/,
    );
  });

  test("the same arguments give the same decision", () => {
    expect(choose("My invoice has an error")).toEqual(choose("My invoice has an error"));
  });

  test.each([
    ["nothing", ""],
    ["letters", "a"],
    ["words", "invoice "],
    ["apostrophes", "a'"],
    ["brackets", "("],
    ["emoji", "😀"],
    ["half an emoji", "\uD83D"],
    ["NUL", "\0"],
    ["letters of a script without spaces", "我"],
  ])("gets through 50,000 characters of %s, in a message and in an example", (_, unit) => {
    const text = unit.repeat(Math.ceil(50_000 / Math.max(1, unit.length)));
    const agents = [BILLING, { ...TECH, examples: [...TECH.examples, text] }];
    for (const { confidence } of [choose(text), choose(text, { agents }), choose("invoice", { agents })]) {
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(1);
    }
  });
});
