import { describe, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import { answerQuestion } from "../answer-question.ts";
import type { AnswerModel, HistoryMessage, Passage } from "../answer.ts";
import { ModelError } from "../models/model-error.ts";
import {
  TEST_AGENT,
  answerModelOf,
  scriptModel,
  searchOf,
  testPassage,
} from "../../../../tests/packages/agents/scripted-model.ts";
import type {
  ModelScript,
  ScriptedAnswer,
  ScriptedOpinions,
} from "../../../../tests/packages/agents/scripted-model.ts";

const NIGHT = "Backups run every night at 2:00.";
const KEPT = "They are kept for 30 days, then deleted.";

const supported = { text: "Your backups run every night at 2:00.", citations: [{ passage: 1, quote: NIGHT }] };
const kept = { text: "They are kept for 30 days.", citations: [{ passage: 1, quote: "kept for 30 days" }] };
const invented = { text: "The backups are encrypted with a key that only you know.", citations: [] };

interface Asked {
  question?: string;
  hits?: Passage[];
  agent?: Partial<Agent>;
  history?: HistoryMessage[];
  more?: Partial<AnswerModel>;
  opinions?: ScriptedOpinions;
}

/** Asks about backups by a model that answers by the script. */
async function ask(script: ModelScript | ScriptedAnswer, asked: Asked = {}) {
  const { question = "When do backups run?", hits = [testPassage()], agent = {}, history = [], more = {} } = asked;
  const opinions = { verdict: "yes" as const, ...asked.opinions };
  const { model, requests } = scriptModel(typeof script === "function" ? script : () => script, opinions);
  const { answerModel, heard } = answerModelOf(model, more);
  const { search, calls } = searchOf(...hits);
  const answer = await answerQuestion({
    agent: { ...TEST_AGENT, ...agent },
    text: question,
    history,
    search,
    model: answerModel,
  });
  return { answer, requests, heard: heard(), calls };
}

/** A passage that holds none of the question. */
const ELSEWHERE = testPassage({ score: 0.2, headingPath: ["Manual"], text: "Invoices are sent by mail." });

describe("an answer with a model", () => {
  test("is what the passages support, with quotes that stand in the documents word for word", async () => {
    const text = "Backups run **every night** at 2:00.\nThey're kept for “30 days”.";
    const { answer, heard } = await ask(
      {
        claims: [
          { text: "Hello!" },
          {
            text: "Backups run every night at 2:00.",
            citations: [{ passage: 1, quote: "backups run every night at 2:00" }],
          },
          { text: "They are kept for 30 days.", citations: [{ passage: 1, quote: 'They’re kept for "30 days".' }] },
        ],
      },
      { hits: [testPassage({ text, url: "https://acme.example/manual" })] },
    );
    expect(answer).toMatchObject({
      text: "Hello! Backups run every night at 2:00. They are kept for 30 days.",
      markdown: true,
      model: { fallback: null, usage: { model: "test:scripted" } },
    });
    expect(answer.model).not.toHaveProperty("mustReview");
    expect(answer.sources.map(({ quote }) => quote)).toEqual([
      "Backups run **every night** at 2:00.",
      "They're kept for “30 days”.",
    ]);
    for (const { quote, url } of answer.sources) {
      expect(text).toContain(quote);
      expect(url).toContain("https://acme.example/manual#:~:text=");
    }
    expect(heard).toBe(answer.text);
  });

  test("is surer than the search alone when all of it is supported, and less sure when not all is", async () => {
    const statistical = (await ask({ claims: [invented] })).answer.confidence / 0.8;
    const whole = await ask({ claims: [supported] });
    const partly = await ask({ claims: [supported, kept, invented] });
    expect(whole.answer.confidence).toBeGreaterThan(statistical);
    expect(partly.answer.confidence).toBeLessThan(statistical);
    expect(partly.answer.text).toBe("Your backups run every night at 2:00. They are kept for 30 days.");
    expect(partly.heard).toBe(partly.answer.text);
    expect(partly.answer.why).toContain(invented.text);
  });

  test.each<[string, ScriptedAnswer["claims"]]>([
    ["no citation", [supported, invented, { ...invented, text: "Nobody at Acme can ever read what they hold." }]],
    [
      "a quote that stands nowhere",
      [
        supported,
        {
          text: "Backups of databases run every hour in addition.",
          citations: [{ passage: 1, quote: "Backups of databases run every hour" }],
        },
      ],
    ],
    [
      "a passage that is not there",
      [supported, { text: "Backups of databases run every hour, too.", citations: [{ passage: 7, quote: NIGHT }] }],
    ],
    ["a number of its own", [supported, { ...kept, text: "They are kept for 90 days, whatever your plan says." }]],
    [
      "a quote about something else",
      [
        supported,
        { text: "Refunds are paid to every customer without any question.", citations: [{ passage: 1, quote: NIGHT }] },
      ],
    ],
  ])("waits for a person, whole and with the sentence named, where too much has %s", async (_what, claims = []) => {
    const { answer, heard } = await ask({ claims });
    expect(answer.model).toMatchObject({ mustReview: true });
    expect(answer.text).toBe(claims.map(({ text }) => text).join(" "));
    expect(answer.why).toContain(`Not supported: "${claims[1]?.text ?? ""}"`);
    expect(heard).toBe("");
  });

  test("that nothing supports gives way to quotes where they are sure enough, else to a person", async () => {
    const sure = await ask({ claims: [invented] });
    expect(sure.answer).toMatchObject({ text: `${NIGHT} ${KEPT}`, model: { fallback: expect.any(String) } });
    expect(sure.answer.model).not.toHaveProperty("mustReview");
    expect(sure.heard).toBe(sure.answer.text);
    const unsure = await ask({ claims: [invented] }, { hits: [ELSEWHERE] });
    expect(unsure.answer.model).toMatchObject({ mustReview: true });
    expect(unsure.heard).toBe("");
  });

  test("that the model does not have waits for a person, however good the quotes are that are its draft", async () => {
    const { answer, heard } = await ask({ answered: false, claims: [supported] });
    expect(answer).toMatchObject({
      text: `${NIGHT} ${KEPT}`,
      confidence: 0,
      model: { mustReview: true, fallback: expect.stringContaining("do not answer") },
    });
    expect(heard).toBe("");
  });

  test.each(["no", "unsure"] as const)("loses a claim in other words if the second opinion is: %s", async (verdict) => {
    const nightly = { text: "Backups start at 2:00 each night.", citations: [{ passage: 1, quote: NIGHT }] };
    const confirmed = await ask({ claims: [supported, nightly] });
    expect(confirmed.answer.text).toBe(`${supported.text} ${nightly.text}`);
    expect(confirmed.answer.model?.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 });
    const { answer, requests, heard } = await ask({ claims: [supported, nightly] }, { opinions: { verdict } });
    expect(answer.text).not.toBe(confirmed.answer.text);
    expect(heard).not.toContain(nightly.text);
    const [asked] = requests.filter(({ schemaName }) => schemaName === "verdicts");
    expect(asked?.messages[0]?.text).toContain(nightly.text);
    expect(asked?.messages[0]?.text).not.toContain(supported.text);
  });

  test("asks for no second opinion about what words decide", async () => {
    const never = { text: "Your backups never run at 2:00.", citations: [{ passage: 1, quote: NIGHT }] };
    const { answer, requests } = await ask({ claims: [supported, never] });
    expect(requests.map(({ schemaName }) => schemaName)).not.toContain("verdicts");
    expect(answer.why).toContain(never.text);
  });

  test("is searched for in other words where the customer's find too little", async () => {
    const queries = ["When do backups run?", "Wann laufen Backups?"];
    const unsure = { hits: [ELSEWHERE], opinions: { queries } };
    const { calls, requests } = await ask({ claims: [supported] }, unsure);
    expect(calls.map(([query]) => query)).toEqual(expect.arrayContaining(queries));
    expect(requests.map(({ schemaName }) => schemaName)).toEqual(["query", "answer"]);
    const sure = await ask({ claims: [supported] });
    expect(sure.requests.map(({ schemaName }) => schemaName)).toEqual(["answer"]);
  });

  test("of a model that asks for a person waits for one", async () => {
    const { answer, heard } = await ask({ needsPerson: true, claims: [supported] });
    expect(answer).toMatchObject({ text: supported.text, needsPerson: true });
    expect(heard).toBe("");
    expect((await ask({ needsPerson: true, answered: false })).answer).toMatchObject({ needsPerson: true });
  });

  test("is the quotes when the model fails, and its fault is for operators alone", async () => {
    const { answer, heard } = await ask((request) => {
      request.onPartial?.({ answered: true, needsPerson: false, claims: [supported, {}] });
      throw new ModelError("cut", "the provider said: secret-of-the-provider");
    });
    expect(answer.text).toBe(`${NIGHT} ${KEPT}`);
    expect(heard).toBe(answer.text);
    expect(answer.why).toContain("(cut)");
    expect(answer.why).not.toContain("secret-of-the-provider");
    expect(answer.model?.fallback).toContain("secret-of-the-provider");
  });

  test("is not asked for where there is nothing to answer from", async () => {
    const { answer, requests } = await ask({ claims: [supported] }, { hits: [] });
    expect(requests.map(({ schemaName }) => schemaName)).toEqual(["query"]);
    expect(answer).toMatchObject({ text: null });
    expect(answer).not.toHaveProperty("model");
  });

  test("passes on complete claims alone, and says again what a model says again", async () => {
    const daily = { text: "Backups run at 2:00 every night.", citations: [{ passage: 1, quote: NIGHT }] };
    const pieces: string[] = [];
    const { answer } = await ask(
      (request) => {
        request.onPartial?.({ answered: true, needsPerson: false, claims: [supported, { text: "The" }] });
        // The second attempt starts over: its text replaces that of the first.
        request.onPartial?.({ answered: true });
        return { claims: [daily, supported] };
      },
      { more: { onText: ({ offset, text }) => pieces.push(`${offset}:${text}`) } },
    );
    expect(pieces).toEqual([`0:${supported.text}`, `0:${daily.text}`, `${daily.text.length}: ${supported.text}`]);
    expect(answer.text).toBe(`${daily.text} ${supported.text}`);
  });

  test("passes nothing on from a promise of a person on", async () => {
    const promise = { text: "A colleague will call you about the backups.", citations: [{ passage: 1, quote: NIGHT }] };
    const pieces: string[] = [];
    const script = () => ({ claims: [supported, promise, kept] });
    await ask(script, { more: { onText: ({ text }) => pieces.push(text) } });
    expect(pieces[0]).toBe(supported.text);
    // The whole is said at the end: what becomes of it, the gate decides.
    expect(pieces.length).toBeLessThanOrEqual(2);
  });

  test("looks for passages in the agent's knowledge bases only, and in none where it has none", async () => {
    const { calls } = await ask({ claims: [supported] });
    expect(new Set(calls.map(([, kbIds]) => kbIds.join()))).toEqual(new Set(["kb"]));
    const tool = { name: "clock", description: "", parameters: {}, execute: () => Promise.resolve("It is 5 o'clock.") };
    const bare = await ask({ answered: false }, { agent: { kbIds: [] }, more: { tools: [tool] } });
    expect(bare.calls).toEqual([]);
    expect(bare.requests).toHaveLength(1);
  });

  test("can cite what a tool has answered, which is no source", async () => {
    const tool = {
      name: "find_order",
      description: "",
      parameters: {},
      execute: () => Promise.resolve("Order 4711 was shipped on 3 May to Berlin."),
    };
    const shipped = {
      text: "Your order 4711 was shipped on 3 May.",
      citations: [{ passage: 1, quote: "Order 4711 was shipped on 3 May" }],
    };
    const { answer } = await ask(
      async ({ tools = [], signal }) => {
        const said = await tools[0]?.execute({}, { callId: "1", signal });
        expect(said).toContain("passage 1, a result]\nOrder 4711");
        return { claims: [shipped] };
      },
      { question: "Where is order 4711?", agent: { kbIds: [] }, more: { tools: [tool] } },
    );
    expect(answer).toMatchObject({ text: shipped.text, sources: [] });
    expect(answer.confidence).toBeGreaterThan(0.5);
  });

  test.each([
    ["too many claims", Array.from({ length: 101 }, () => supported)],
    [
      "too long an answer",
      Array.from({ length: 99 }, () => ({ ...supported, text: `${supported.text} ${"x".repeat(300)}` })),
    ],
  ])("with %s is none", async (_what, claims) => {
    expect((await ask({ claims })).answer.model?.fallback).toContain("too_long");
  });

  test("joins list items by lines", async () => {
    const quote = [{ passage: 1, quote: NIGHT }];
    const { answer } = await ask({
      claims: [
        { text: "Here is how:" },
        { text: "- Backups run every night.", citations: quote },
        { text: "- They run at 2:00.", citations: quote },
        { text: "I hope this helps!" },
      ],
    });
    expect(answer.text).toBe("Here is how:\n\n- Backups run every night.\n- They run at 2:00.\n\nI hope this helps!");
  });
});
