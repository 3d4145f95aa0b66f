import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Project } from "@svc/store";
import { startEmbeddingServer, waitFor } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createKbClient, documentOf } from "./support/create-kb-client.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import type { ReviewClient } from "./support/create-review-client.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const HOURS = "# Opening hours\n\nThe shop opens at nine in the morning.";
const OWN_HANDOFF = "One of our florists will answer you here.";
const OWN_GERMAN = "Eine Floristin antwortet Ihnen hier.";

let product: Product;
let api: ApiClient;
let reviews: ReviewClient;
let shop: Project;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  reviews = createReviewClient(product, "shop");
  await product.store.projects.ensure("shop");
  const kbs = createKbClient(product, "shop");
  const kb = await kbs.makeKb();
  await kbs.settled(kb.id, documentOf(await kbs.add(kb.id, { text: HOURS })).id);
  shop = await addProject(product.store, "shop", {
    kbIds: [kb.id],
    description: "When the shop is open, and where it is",
    reviewPolicy: "auto_if",
    autoThreshold: 0.3,
  });
});

afterAll(() => product?.stop());

/** Sends a message as a call of mode sync. */
const ask = (text: string, chatId: string = randomUUID()) => api.send("shop", { text, chatId, mode: "sync" });

async function countGaps(): Promise<number> {
  const url = `${api.baseUrl()}/api/v1/admin/gaps`;
  const { body } = await callApi(url, { key: product.adminKey, project: "shop" });
  return (body as unknown as { items: unknown[] }).items.length;
}

describe("a message that contains no question for the documents", () => {
  test.each([
    ["en", "Thanks, that solved it!", "You're welcome!"],
    ["de", "Super, vielen Dank, das hat geklappt!", "Gern geschehen!"],
    ["fr", "Merci beaucoup pour votre aide", "Avec plaisir"],
    ["es", "mil gracias por la ayuda", "¡De nada!"],
    ["ja", "ありがとうございました、助かりました", "どういたしまして"],
    ["zh", "谢谢，问题解决了", "不客气"],
    ["ar", "شكرا جزيلا لكم", ""],
    ["en", "are you a bot?", "I'm an automated assistant"],
    ["de", "bist du ein Mensch oder ein Roboter?", "Ich bin ein automatischer Assistent"],
    ["pl", "czy rozmawiam z człowiekiem?", "Jestem automatycznym asystentem"],
    ["uk", "ви робот?", "Я автоматичний помічник"],
  ])("gets a reply in its language (%s: %s), and causes no review and no gap", async (_language, text, beginning) => {
    const gaps = await countGaps();
    const answer = await ask(text);
    expect([answer.status, answer.replies.map(({ author }) => author)]).toEqual([200, ["agent"]]);
    expect(answer.texts[0]?.startsWith(beginning)).toBe(true);
    expect(answer.replies[0]).toMatchObject({ sources: [] });
    const ticket = await reviews.untilIn(String(answer.body.ticketId), "done");
    expect(ticket).toMatchObject({ status: "pending", draft: null });
    expect(await countGaps()).toBe(gaps);
  });

  test.each(["what can you do for me?", "Was kannst du alles?", "¿en qué puedes ayudarme?"])(
    "%s gets a reply with the agents' names, without their internal descriptions",
    async (text) => {
      const answer = await ask(text);
      expect(answer.status).toBe(200);
      expect(answer.texts[0]).toMatch(/^- shop-agent$/m);
      expect(answer.texts[0]).not.toContain("When the shop is open");
    },
  );

  test.each([
    ["I am so disappointed with you.", "Thank you for your message."],
    ["Ich bin wirklich sehr enttäuscht von euch.", "Vielen Dank für Ihre Nachricht."],
    ["Je voudrais parler à un conseiller", "Merci pour votre message."],
    ["estoy muy decepcionado con el servicio", "Gracias por tu mensaje."],
    ["Quero falar com um atendente", "Obrigado pela sua mensagem."],
    ["אני ממש מאוכזבת", "תודה על הפנייה."],
    ["服务太差了", "感谢您的留言。"],
  ])("%s is handed over to a person, with the handoff text in its language and no gap", async (text, beginning) => {
    const gaps = await countGaps();
    const answer = await ask(text);
    expect([answer.status, answer.body.status]).toEqual([202, "in_review"]);
    expect(answer.replies.map(({ author }) => author)).toEqual(["system"]);
    expect(answer.texts[0]?.startsWith(beginning)).toBe(true);
    expect(await countGaps()).toBe(gaps);
  });

  test("an acknowledgement after an answer gets a short reply, and after an operator's reply none", async () => {
    const chatId = randomUUID();
    const answered = await ask("When does the shop open in the morning?", chatId);
    expect(answered.texts.join()).toMatch(/nine/);
    const acknowledged = await ask("ok, got it", chatId);
    expect([acknowledged.status, acknowledged.texts]).toEqual([200, [expect.stringMatching(/anything else/)]]);
    const ticketId = String(answered.body.ticketId);
    await reviews.decide(ticketId, "reply", { json: { text: "We also open at noon on Sundays." } });
    await reviews.untilIn(ticketId, "done");
    const thanks = await ask("Thanks!", chatId);
    expect([thanks.status, thanks.body.status, thanks.replies]).toEqual([202, "pending", []]);
    expect(await reviews.read(ticketId)).toMatchObject({ stage: "done", status: "pending", draft: null });
    // A message to that operator waits for that operator.
    await ask("the one in Main Street", chatId);
    expect(await reviews.untilHeld(ticketId, 1)).toMatchObject({ stage: "review", status: "open" });
  });
});

describe("a conversation that waits for an operator", () => {
  test("is answered if the answer is certain; waiting questions stay in review, and nothing is left without a reply", async () => {
    const chatId = randomUUID();
    const held = await ask("Do you deliver wedding bouquets to Iceland?", chatId);
    expect(held.status).toBe(202);
    const ticketId = String(held.body.ticketId);
    const { draft } = await reviews.untilIn(ticketId, "review");

    const answered = await ask("When does the shop open in the morning?", chatId);
    expect([answered.status, answered.replies.map(({ author }) => author)]).toEqual([200, ["agent"]]);
    expect(answered.texts.join()).toMatch(/nine/);
    const waiting = await reviews.untilIn(ticketId, "review");
    expect(waiting).toMatchObject({ status: "open", draft: { text: draft?.text, covers: draft?.covers } });

    const added = await ask("Do you also wrap them in blue paper with ribbons?", chatId);
    expect([added.status, added.texts]).toEqual([202, [expect.stringMatching(/added this to your request/)]]);
    const both = await reviews.untilHeld(ticketId, 2);
    expect(both.draft?.covers).toHaveLength(2);

    // Who asks whether anyone is there waits for a person, and is not asked for a question once more.
    const gaps = await countGaps();
    for (const [index, text] of ["Hello??", "are you there"].entries()) {
      const asked = await ask(text, chatId);
      expect([text, asked.status, asked.texts]).toEqual([text, 202, [expect.stringMatching(/added this to your/)]]);
      const still = await reviews.untilHeld(ticketId, 3 + index);
      expect(still.draft?.text).toBe(both.draft?.text);
      // It asks nothing, so it says nothing about the confidence of the draft.
      expect([still.confidence, still.draft?.confidence]).toEqual([both.confidence, both.draft?.confidence]);
    }
    expect(await countGaps()).toBe(gaps);
    expect((await ask("Thanks!", chatId)).texts).toEqual([expect.stringMatching(/^You're welcome!/)]);

    // An operator has the ticket now: the agent is silent.
    await reviews.decide(ticketId, "takeover");
    const silent = await ask("When does the shop open in the morning?", chatId);
    expect([silent.status, silent.replies]).toEqual([202, []]);
  });

  test("approves the draft for the waiting questions after another question was answered", async () => {
    const chatId = randomUUID();
    const { body } = await ask("Do you deliver wedding bouquets to Iceland?", chatId);
    const ticketId = String(body.ticketId);
    await ask("When does the shop open in the morning?", chatId);
    const { version } = await reviews.untilIn(ticketId, "review");
    const edited = await reviews.decide(ticketId, "edit", { json: { text: "We do." }, ifMatch: version });
    expect(edited.status).toBe(200);
    const done = await reviews.untilIn(ticketId, "done");
    expect(done.messages.map(({ state }) => state)).toEqual(["answered", "answered"]);
  });
});

test("a project's own handoff texts apply by language; an empty one sends nothing in any language", async () => {
  const change = (json: object) =>
    callApi(`${api.baseUrl()}/api/v1/projects/${shop.id}`, { method: "PATCH", key: product.adminKey, json });
  const changed = await change({ handoffText: OWN_HANDOFF, handoffTexts: { de: OWN_GERMAN } });
  expect(changed.body).toMatchObject({ item: { handoffTexts: { de: OWN_GERMAN } } });
  await untilHandoff("Can somebody call me?", OWN_HANDOFF);
  expect((await ask("Kann ich bitte einen Mitarbeiter sprechen?")).texts).toEqual([OWN_GERMAN]);
  expect((await ask("Chcę rozmawiać z człowiekiem")).texts[0]).toMatch(/^Dziękujemy/);
  await change({ handoffText: "" });
  await untilHandoff("Can somebody call me?", undefined);
  await untilHandoff("Kann ich bitte einen Mitarbeiter sprechen?", undefined);
});

test("recognizes small talk in other words if embeddings are configured, and holds it otherwise", async () => {
  const thanks = "lifesavers, you have made my day";
  const wish = "put me through, one of those colleagues";
  expect((await ask(thanks)).status).toBe(202);
  const server = await startEmbeddingServer({ synonyms: [["lifesaver", "lifesavers"]] });
  try {
    await product.restart({ SVC_EMBEDDINGS_BASE_URL: server.baseUrl, SVC_EMBEDDINGS_MODEL: "test-model" });
    const gaps = await countGaps();
    const answer = await ask(thanks);
    expect([answer.status, answer.texts]).toEqual([200, [expect.stringMatching(/^You're welcome!/)]]);
    const ticket = await reviews.untilIn(String(answer.body.ticketId), "done");
    expect(ticket).toMatchObject({ status: "pending", draft: null });
    const forPerson = await ask(wish);
    expect([forPerson.status, forPerson.body.status]).toEqual([202, "in_review"]);
    expect(await countGaps()).toBe(gaps);

    // A question that the documents answer with certainty is not compared, and another question is still held.
    expect((await ask("When does the shop open in the morning?")).texts.join()).toMatch(/nine/);
    const held = await ask("Which soil does an orchid need in winter?");
    expect([held.status, held.body.status]).toEqual([202, "in_review"]);
    expect(await countGaps()).toBe(gaps + 1);

    const { ticketId } = answer.body;
    await reviews.decide(String(ticketId), "takeover");
    const silent = await ask(thanks, String(answer.body.chatId));
    expect([silent.status, silent.replies]).toEqual([202, []]);
    expect(await reviews.read(String(ticketId))).toMatchObject({ draft: null });
  } finally {
    await server.close();
  }
});

/** Settings are cached for a moment: asks until they are in use. */
async function untilHandoff(text: string, expected: string | undefined): Promise<void> {
  await waitFor(async () => (await ask(text)).texts[0] === expected, { what: "the hand-off text to be in use" });
}
