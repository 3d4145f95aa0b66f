import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { addDocument, ensureKb } from "@svc/knowledge";
import { startFakeModel, testLog } from "@svc/testing";
import type { FakeModel, ModelRequest } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import type { ReviewClient } from "./support/create-review-client.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const HANDOFF = "A person will look at it.";
const DEPOSIT = "The deposit for a city bicycle is €80, for an electric bicycle €250.";
const HANDBOOK = `# Bicycle hire

## Deposit and payment

${DEPOSIT} American Express is not accepted.

## Rental terms

You rent bicycles by the day, and we rent out child seats, too. Chains, brake pads and tyres are not covered by the insurance.

## Returns

You can return goods within 30 days. The customer pays the return freight for a bicycle.

## Delivery

Delivery to Germany takes four to six working days. Delivery to Spain takes eight to ten working days.
`;

let product: Product;
let model: FakeModel;
let api: ApiClient;
let reviews: ReviewClient;

/** The model's response to each kind of request: an answer, other words, a second opinion. */
interface Script {
  answer: { answered?: boolean; text?: string; quote?: string };
  queries?: string[];
  verdict?: "yes" | "no" | "unsure";
}

/** Returns the name of the response schema of a request. */
function schemaNameOf(request: ModelRequest): string {
  const { response_format: format } = request as { response_format?: { json_schema?: { name?: string } } };
  return format?.json_schema?.name ?? "";
}

const isAsked = (name: string) => model.requests().some((request) => schemaNameOf(request) === name);

function play({ answer: { answered = true, text, quote = "" }, queries = [], verdict = "unsure" }: Script): void {
  model.mock.clearRequests();
  model.answerWith((request) => {
    const name = schemaNameOf(request);
    if (name === "query") return { queries };
    if (name === "verdicts") return { verdicts: [{ claim: 1, difference: "", verdict }] };
    const claims = text === undefined ? [] : [{ text, citations: [{ passage: passageWith(request, quote), quote }] }];
    return { answered, needsPerson: false, claims };
  });
}

/** Returns the number of the passage that contains a quote, in the messages of a request. */
function passageWith(request: ModelRequest, quote: string): number {
  const asked = JSON.stringify(request.messages);
  const before = asked.slice(0, Math.max(0, asked.indexOf(quote)));
  return Number([...before.matchAll(/begin passage (\d+)/g)].at(-1)?.[1] ?? 1);
}

beforeAll(async () => {
  model = await startFakeModel();
  product = await startProduct({ env: { SVC_LLM_BASE_URL: model.baseUrl, SVC_LLM_MODEL: "gpt-test" } });
  const { store } = product;
  api = createApiClient(product);
  reviews = createReviewClient(product, "hire");
  const project = await addProject(store, "hire", {}, { handoffText: HANDOFF });
  const { kb } = await ensureKb({ store }, project.id, "handbook");
  const document = { key: "handbook.md", text: HANDBOOK, mime: "text/markdown" } as const;
  await addDocument({ store, log: testLog() }, project.id, kb.id, document);
  const [agent] = await store.agents.list(project.id);
  await store.agents.update(project.id, { id: agent?.id ?? "" }, { kbIds: [kb.id] });
});

afterAll(async () => {
  await product?.stop();
  await model?.close();
});

const ask = (text: string) => api.send("hire", { text, chatId: randomUUID() });

describe("with a model", () => {
  test.each([
    ["Can I pay with American Express?", "Yes, American Express is accepted.", "American Express is not accepted."],
    [
      "Are brake pads covered by the insurance?",
      "Chains, brake pads and tyres are covered by the insurance.",
      "Chains, brake pads and tyres are not covered by the insurance.",
    ],
    [
      "Who pays the return freight for a bicycle?",
      "We pay the return freight for a bicycle.",
      "The customer pays the return freight for a bicycle.",
    ],
    [
      "How long does delivery to Spain take?",
      "Delivery to Spain takes four to six working days.",
      "Delivery to Germany takes four to six working days.",
    ],
    [
      "Can I return goods?",
      "You can return goods within 30 days, and we pick the bicycle up at your home.",
      "You can return goods within 30 days.",
    ],
    [
      "Can I return goods?",
      "You can return goods within 30 days, and you must give us your password.",
      "You can return goods within 30 days.",
    ],
    ["How much is the deposit?", "The deposit for an electric bicycle is €80.", DEPOSIT],
  ])("a false claim with a true quote is not sent: %s %s", async (question, text, quote) => {
    play({ answer: { text, quote } });
    expect((await ask(question)).text).not.toContain(text);
  });

  test("a claim in other words is sent if a second opinion confirms it, and held otherwise", async () => {
    const said = { text: "For a city bike you leave €80 as security.", quote: DEPOSIT };
    play({ answer: said, verdict: "yes" });
    expect((await ask("How much is the deposit for a city bicycle?")).texts).toEqual([said.text]);
    play({ answer: said, verdict: "no" });
    expect((await ask("How much is the deposit for a city bicycle?")).texts).not.toContain(said.text);
    expect(isAsked("verdicts")).toBe(true);
  });

  test("a claim in the words of its quote needs no second opinion", async () => {
    play({ answer: { text: "The deposit for a city bicycle is €80.", quote: DEPOSIT } });
    expect((await ask("How much is the deposit for a city bicycle?")).texts).toEqual([
      "The deposit for a city bicycle is €80.",
    ]);
    expect(isAsked("verdicts")).toBe(false);
  });

  test("if it reports that the passages do not answer, the question is handed over to a person, with the quote as the draft", async () => {
    const question = "Do you rent out bicycles by the day with a surfboard?";
    play({ answer: { text: "You rent bicycles by the day.", quote: "You rent bicycles by the day" }, verdict: "yes" });
    expect(await ask(question)).toMatchObject({ status: 200 });
    play({ answer: { answered: false } });
    const held = await ask(question);
    expect(held).toMatchObject({ status: 202, body: { status: "in_review" }, texts: [HANDOFF] });
    const { draft } = await reviews.read(String(held.body.ticketId), "hire");
    expect(draft?.why).toContain("do not answer the question");
    expect(draft?.text).toContain("You rent bicycles by the day");
  });

  test("a German question is searched for in English, and answered in German if its claim is confirmed", async () => {
    const question = "Wie hoch ist die Kaution für ein Stadtrad?";
    const queries = ["How much is the deposit for a city bicycle?"];
    const said = { text: "Die Kaution für ein Stadtrad beträgt 80 €.", quote: DEPOSIT };
    play({ answer: said, queries, verdict: "yes" });
    const answer = await ask(question);
    expect(answer).toMatchObject({ status: 200, texts: [said.text] });
    expect(answer.replies[0]).toMatchObject({ sources: [{ title: "Bicycle hire", quote: DEPOSIT }] });
    const asked = model.requests().find((request) => schemaNameOf(request) === "query");
    expect(JSON.stringify(asked)).toContain("Languages of the documents: en.");

    play({ answer: said, queries, verdict: "unsure" });
    expect((await ask(question)).texts).not.toContain(said.text);
    play({ answer: { ...said, text: "Die Kaution für ein Stadtrad beträgt 250 $." }, queries, verdict: "yes" });
    expect((await ask(question)).text).not.toContain("250 $");
  });
});
