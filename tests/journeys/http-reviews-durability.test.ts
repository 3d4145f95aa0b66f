import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { localAdministrator } from "@svc/auth";
import { LIMITS } from "@svc/contracts";
import type { TicketDetail } from "@svc/contracts";
import { reviewTicket } from "@svc/operations";
import { QueueDownError } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { Project } from "@svc/store";
import { startWebhookReceiver, testLog, waitFor, queryDatabase } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { callbackView } from "./support/callback-view.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createReviewClient, deliveryIdOf, messageIdOf, ticketOf } from "./support/create-review-client.ts";
import type { ReviewClient } from "./support/create-review-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { callbackOf } from "./support/expect-signed.ts";
import { holdTable } from "./support/hold-table.ts";
import { plantPoison } from "./support/plant-poison.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const DRAFT = "This is always the draft.";
const HANDOFF = "A person will look at it.";
const AUTOMATIC = "An answer of the agent alone.";
const POISON = "a message that the service fails at";
const UNSENDABLE = "A reply that cannot be committed.";

let product: Product;
let api: ApiClient;
/** Clients of the projects `held` and `auto`. */
let reviews: ReviewClient;
let autos: ReviewClient;
let receiver: WebhookReceiver;
/** Holds every answer, and has a handoff text. */
let held: Project;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  reviews = createReviewClient(product, "held");
  autos = createReviewClient(product, "auto");
  const { store } = product;
  held = await addProject(store, "held", { fixedReply: DRAFT, reviewPolicy: "review" }, { handoffText: HANDOFF });
  await addProject(store, "auto", { fixedReply: AUTOMATIC }, { handoffText: "" });
  receiver = await startWebhookReceiver();
});

afterAll(async () => {
  await receiver?.close();
  await product?.stop();
});

const cures = new Set<() => Promise<unknown>>();
afterEach(async () => {
  for (const cure of cures) await cure();
  cures.clear();
});

/**
 * Makes every message with the text `POISON` fail until the returned function is called, at the latest until the end of
 * the test.
 */
async function poison(): Promise<() => Promise<void>> {
  const { cure } = await plantPoison(product.databaseUrl, POISON);
  cures.add(cure);
  return cure;
}

/** Likewise makes Postgres reject every reply with the text `UNSENDABLE`. */
async function rejectReplies(): Promise<() => Promise<unknown>> {
  const cure = () => queryDatabase(product.databaseUrl, "DROP TRIGGER IF EXISTS test_refusal ON replies");
  cures.add(cure);
  await queryDatabase(
    product.databaseUrl,
    `CREATE OR REPLACE FUNCTION test_refusal() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'planted fault'; END $$;
     CREATE TRIGGER test_refusal BEFORE INSERT ON replies FOR EACH ROW
       WHEN (NEW.text = '${UNSENDABLE}') EXECUTE FUNCTION test_refusal()`,
  );
  return cure;
}

/** Waits until the newest message of each of these tickets is a dead letter; its five attempts are seconds apart. */
async function untilFailed(ticketIds: string[]): Promise<void> {
  const areFailed = async () => {
    const rows = await queryDatabase<{ state: string }>(
      product.databaseUrl,
      `WITH hurried AS (
         UPDATE messages SET not_before = now(), due_at = now() WHERE ticket_id = ANY ($1) AND not_before > now()
       )
       SELECT DISTINCT ON (ticket_id) state FROM messages WHERE ticket_id = ANY ($1) ORDER BY ticket_id, seq DESC`,
      [ticketIds],
    );
    return rows.every(({ state }) => state === "failed");
  };
  await waitFor(areFailed, { what: `dead letters in ${ticketIds.join()}`, timeoutMs: 40_000 });
}

/** Returns the texts of agents and operators that a ticket's customer was sent, in the order of the chat. */
const sentIn = ({ replies }: TicketDetail) =>
  replies.flatMap((reply) => (reply.author !== "system" && reply.type === "message" ? [reply.text] : []));

describe("a committed decision", () => {
  /** Approves in a process whose queue is unavailable. */
  async function approveUnannounced() {
    const { store } = product;
    const { chatId, ticketId, ticket } = await reviews.heldChat();
    const publish = () => Promise.reject(new QueueDownError());
    const deps = { store, log: testLog(), queues: { publish } as unknown as Queues };
    await reviewTicket.approve(deps, localAdministrator(held), { id: ticketId, versions: [ticket.version] }, {});
    return { chatId, ticketId };
  }

  test("is carried out even without an announcement because the queue is unavailable", async () => {
    const { chatId, ticketId } = await approveUnannounced();
    await reviews.untilIn(ticketId, "done");
    expect((await reviews.drained(chatId)).texts).toEqual([HANDOFF, DRAFT]);
  });

  test("is carried out once even if its worker crashes, or continues too late", async () => {
    const { chatId, ticketId } = await approveUnannounced();
    const mine = await product.store.reviews.claim(held.id, ticketId);
    if (mine === null) throw new Error("the product was faster than its sweeper can be");
    expect(await reviews.read(ticketId)).toMatchObject({ stage: "delivering" });
    const stuck = await reviews.decide(ticketId, "reply", { json: { text: "Another one." } });
    expectProblem(stuck, "version_conflict");
    await reviews.untilIn(ticketId, "done");
    expect(await product.store.reviews.finishSend(mine, [])).toBeNull();
    expect((await reviews.drained(chatId)).texts).toEqual([HANDOFF, DRAFT]);
  });

  test("survives a crash of every process while its reply is committed, and the reply exists once", async () => {
    const chats = await Promise.all(Array.from({ length: 4 }, () => reviews.heldChat()));
    const ticketIds = chats.map(({ ticketId }) => ticketId);
    const countUnfinished = async () => {
      const rows = await queryDatabase<{ isClaimed: boolean }>(
        product.databaseUrl,
        `SELECT c.lease_id IS NOT NULL AS "isClaimed" FROM reviews JOIN chats c USING (ticket_id)
         WHERE ticket_id = ANY ($1) AND finished_at IS NULL`,
        [ticketIds],
      );
      return { all: rows.length, begun: rows.filter(({ isClaimed }) => isClaimed).length };
    };
    const letGo = await holdTable(product.databaseUrl, "replies", "writers");
    try {
      const answers = await Promise.all(
        chats.map(({ ticketId, ticket }, index) =>
          reviews.decide(ticketId, "approve", { ifMatch: ticket.version, replica: index }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      await waitFor(async () => (await countUnfinished()).begun === 4, { what: "workers that have the decisions" });
      await Promise.all(product.composition.processes.map((running) => running.kill("SIGKILL")));
      expect(await countUnfinished()).toEqual({ all: 4, begun: 4 });
    } finally {
      await letGo();
    }
    await Promise.all(product.composition.processes.map((killed) => killed.start()));
    for (const { chatId, ticketId } of chats) {
      expect(sentIn(await reviews.untilIn(ticketId, "done"))).toEqual([DRAFT]);
      expect((await reviews.drained(chatId)).texts).toEqual([HANDOFF, DRAFT]);
    }
    expect(await countUnfinished()).toEqual({ all: 0, begun: 0 });
  });
});

describe("a message that could not be processed", () => {
  /** Sends such a message, into a new chat in which the agent has answered before. */
  async function sendPoison(more: object) {
    const chatId = randomUUID();
    const first = await api.send("auto", { text: "hello", chatId, mode: "async" });
    await autos.drained(chatId);
    await api.drain("auto", chatId);
    const headers = { "Idempotency-Key": randomUUID() };
    const send = () => api.send("auto", { text: POISON, chatId, ...more }, { headers });
    const ticketId = String(first.body.ticketId);
    // A sync call gets its response only when the message has failed.
    const sent = send();
    await autos.until(ticketId, ({ messages }) => messages.length === 2, "have two messages");
    return { chatId, ticketId, sent: () => sent, repeat: send };
  }

  test("stays visible if its customer writes again, and is answered by a retry in its own mode", async () => {
    const cure = await poison();
    const [sync, async, webhook] = await Promise.all([
      sendPoison({ mode: "sync", timeoutMs: 30_000 }),
      sendPoison({ mode: "async" }),
      sendPoison({ webhookUrl: receiver.url() }),
    ]);
    const chats = [sync, async, webhook];
    const ticketIds = chats.map(({ ticketId }) => ticketId);
    await untilFailed(ticketIds);
    for (const { chatId, ticketId, sent } of chats) {
      const answer = await sent();
      expect([answer.status, answer.replies]).toEqual([202, []]);
      expect(await autos.read(ticketId)).toMatchObject({ stage: "failed", status: "open" });

      const later = await api.send("auto", { text: "and this?", chatId, mode: "sync", timeoutMs: 30_000 });
      expect([later.status, later.texts]).toEqual([200, [AUTOMATIC]]);
      const ticket = await autos.read(ticketId);
      expect(ticket.stage).toBe("failed");
      expect(ticket.messages.map(({ state }) => state)).toEqual(["answered", "failed", "answered"]);
    }
    const [url = ""] = product.composition.apiUrls;
    const list = await callApi(`${url}/api/v1/admin/tickets?stage=failed`, { key: product.adminKey, project: "auto" });
    const listed = (list.body as unknown as { items: { id: string }[] }).items.map(({ id }) => id);
    expect(listed.toSorted()).toEqual(ticketIds.toSorted());

    await cure();
    for (const { ticketId } of chats) {
      expect((await autos.decide(ticketId, "retry")).status).toBe(200);
      expect(sentIn(await autos.untilIn(ticketId, "done"))).toEqual([AUTOMATIC, AUTOMATIC, AUTOMATIC]);
      expectProblem(await autos.decide(ticketId, "retry"), "invalid_request");
    }
    const repeat = await sync.repeat();
    expect([repeat.status, repeat.texts]).toEqual([200, [AUTOMATIC]]);
    expect((await api.drain("auto", async.chatId)).texts).toEqual([AUTOMATIC]);
    const final = await receiver.next((request) => callbackOf(request).type === "message.completed");
    const deliveryId = deliveryIdOf(await webhook.sent());
    expect(callbackOf(final)).toMatchObject({ deliveryId, replies: [{ text: AUTOMATIC }] });
    expect(receiver.requests.map((request) => callbackOf(request).type)).toEqual([
      "message.failed",
      "message.completed",
    ]);
  });

  test("412: is in no draft, so that none is approved without it; it is retried, or an operator answers it", async () => {
    const cure = await poison();
    const chats = await Promise.all([reviews.heldChat(), reviews.heldChat()]);
    const failed: string[] = [];
    for (const { chatId } of chats) {
      failed.push(messageIdOf(await api.send("held", { text: POISON, chatId, mode: "async" })));
    }
    await untilFailed(chats.map(({ ticketId }) => ticketId));
    for (const { ticketId, sent } of chats) {
      const { stage, version, draft } = await reviews.read(ticketId);
      expect([stage, draft?.covers, draft?.isStale]).toEqual(["review", [messageIdOf(sent)], true]);
      expectProblem(await reviews.decide(ticketId, "approve", { ifMatch: version }), "version_conflict");
    }

    const [first, second] = chats;
    expect((await reviews.decide(first.ticketId, "reply", { json: { text: "Here you are." } })).status).toBe(200);
    const answered = await reviews.untilIn(first.ticketId, "done");
    expect(answered.messages.map(({ state }) => state)).toEqual(["answered", "answered"]);
    expect(sentIn(answered)).toEqual(["Here you are."]);

    await cure();
    expect((await reviews.decide(second.ticketId, "retry")).status).toBe(200);
    const { draft, version } = await reviews.untilHeld(second.ticketId, 2);
    expect(draft?.covers).toEqual([messageIdOf(second.sent), failed[1]]);
    expect((await reviews.decide(second.ticketId, "approve", { ifMatch: version })).status).toBe(200);
    expect(sentIn(await reviews.untilIn(second.ticketId, "done"))).toEqual([draft?.text]);
  });
});

test("a reply that could not be committed in five attempts becomes a dead letter, and is sent once by a retry", async () => {
  const cure = await rejectReplies();
  const waiting = await reviews.heldChat();
  const unasked = await reviews.heldChat();
  await reviews.decide(unasked.ticketId, "approve", { ifMatch: unasked.ticket.version });
  await reviews.untilIn(unasked.ticketId, "done");
  const chats = [
    { ...waiting, rest: "review", sent: [UNSENDABLE] },
    { ...unasked, rest: "failed", sent: [DRAFT, UNSENDABLE] },
  ] as const;
  for (const { ticketId } of chats) {
    expect((await reviews.decide(ticketId, "reply", { json: { text: UNSENDABLE } })).status).toBe(200);
  }
  const isGivenUp = async () => {
    const rows = await queryDatabase<{ isOver: boolean; attempts: number; failure: string | null }>(
      product.databaseUrl,
      `WITH hurried AS (
         UPDATE reviews SET not_before = now(), due_at = now() WHERE ticket_id = ANY ($1) AND not_before > now()
       )
       SELECT finished_at IS NOT NULL AS "isOver", attempts, failure FROM reviews
       WHERE ticket_id = ANY ($1) AND text = $2`,
      [chats.map(({ ticketId }) => ticketId), UNSENDABLE],
    );
    return rows.every(({ isOver }) => isOver) && rows;
  };
  const over = await waitFor(isGivenUp, { what: "the decisions to be given up", timeoutMs: 40_000 });
  const givenUp = { attempts: LIMITS.maxAttempts, failure: expect.stringMatching(/planted fault/) };
  expect(over).toEqual([expect.objectContaining(givenUp), expect.objectContaining(givenUp)]);
  for (const { ticketId, rest } of chats) expect((await reviews.read(ticketId)).stage).toBe(rest);
  expect(await reviews.read(waiting.ticketId)).toMatchObject({ draft: { text: DRAFT }, messages: [{ state: "held" }] });

  await cure();
  for (const { ticketId, sent } of chats) {
    const answer = await reviews.decide(ticketId, "retry");
    expect([answer.status, ticketOf(answer).stage]).toEqual([200, "delivering"]);
    expect(sentIn(await reviews.untilIn(ticketId, "done"))).toEqual(sent);
    expectProblem(await reviews.decide(ticketId, "retry"), "invalid_request");
  }
});

test("a failing receiver gets the callback of the review before the one with the answer", async () => {
  const ownReceiver = await startWebhookReceiver({ answer: { status: 503 } });
  try {
    const { ticketId, ticket } = await reviews.heldChat({ webhookUrl: ownReceiver.url() });
    const view = callbackView(product, held.id);
    const [first] = await waitFor(
      async () => {
        const made = await view.listIn(ticketId);
        return made.length > 0 && made;
      },
      { what: "the callback of the review" },
    );
    const id = first?.id ?? "";
    await view.untilTried(id, 1);
    await reviews.decide(ticketId, "approve", { ifMatch: ticket.version });
    await reviews.untilIn(ticketId, "done");
    ownReceiver.answerWith({ status: 204 });
    await view.hurry(id);
    await ownReceiver.next((request) => callbackOf(request).type === "message.completed");
    expect(ownReceiver.requests.map((request) => callbackOf(request).type)).toEqual([
      "message.in_review",
      "message.in_review",
      "message.completed",
    ]);
  } finally {
    await ownReceiver.close();
  }
});
