import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { Decision, ProjectId, ReviewState, SendWork } from "@svc/store";
import { waitFor } from "@svc/testing";
import { Client } from "pg";
import {
  LIMITS,
  answeredRun,
  claimNow,
  newMessage,
  openTestStore,
  reviveLetter,
  textReply,
  textsOf,
} from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
  project = await db.newProject();
});

afterAll(async () => {
  await db.close();
});

const DRAFT = { text: "The draft.", markdown: false, sources: [], confidence: 0.4, why: "not sure" };

/** Creates a chat with one message that waits for review. */
async function heldChat(more: Parameters<typeof newMessage>[0] = {}) {
  const { store } = db;
  const { messageId, ticketId } = await store.messages.accept(project, newMessage(more));
  const message = await claimNow(store, project, ticketId);
  await store.tickets.open(project, message);
  const held = { state: "held", stage: "review", status: "open", draft: DRAFT } as const;
  await store.tickets.finish(project, answeredRun(message, [], held));
  return { messageId, ticketId };
}

/** Returns a decision that only makes the given changes. */
function decision({ ticket }: ReviewState, change: Partial<Decision>): Decision {
  return {
    action: "note",
    actor: "tester",
    ticket,
    why: "tested",
    data: {},
    waiting: "stay",
    dropsDraft: false,
    interrupts: true,
    work: null,
    lessons: [],
    ...change,
  };
}

/** Returns an operator's reply to all waiting messages. */
const replyTo = ({ waiting, newest }: ReviewState): SendWork => ({
  kind: "send",
  author: "operator",
  text: "Mine.",
  markdown: false,
  sources: [],
  fileIds: [],
  resolves: false,
  covers: waiting.map(({ id }) => id),
  answers: (waiting.at(-1) ?? newest)?.id ?? null,
});

/** Decides to send a text. */
const decideToSend = (ticketId: string) =>
  db.store.reviews.decide(project, ticketId, (state) =>
    decision(state, { action: "reply", ticket: { ...state.ticket, stage: "delivering" }, work: replyTo(state) }),
  );

/** Claims a decision that no other worker can claim. */
async function claimDecision(ticketId: string) {
  const review = await db.store.reviews.claim(project, ticketId);
  if (review === null) throw new Error("there is no decision to carry out");
  return review;
}

/** Waits until this many statements of this database wait for a lock. */
const untilWaiting = (count: number) =>
  waitFor(
    async () => {
      const waiting = await db.sql(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return waiting.length === count;
    },
    { what: `${count} statements that wait for the chat` },
  );

const sent = () => [{ item: textReply("Mine."), author: "operator" as const }];

async function textsIn(ticketId: string): Promise<string[]> {
  return textsOf((await db.store.replies.readBuffer(project, ticketId, 0, LIMITS)).replies);
}

describe("a decision", () => {
  test("is carried out once: of two successive workers, by the one with the valid lease", async () => {
    const { messageId, ticketId } = await heldChat();
    await decideToSend(ticketId);
    const slow = await claimDecision(ticketId);
    expect(await db.store.reviews.claim(project, ticketId)).toBeNull();
    await db.expireLease(ticketId);
    const quick = await claimDecision(ticketId);
    expect(quick).toMatchObject({ reviewId: slow.reviewId, attempts: 1, lapses: 1, crashes: 0 });
    expect(await db.store.reviews.finishSend(quick, sent())).toMatchObject({ replies: { fromSeq: 2, toSeq: 2 } });
    expect(await db.store.reviews.finishSend(slow, sent())).toBeNull();
    expect(await db.store.reviews.giveUp(slow, "too late")).toBe(false);
    expect(await textsIn(ticketId)).toEqual(["Mine."]);
    expect(await db.store.messages.findState(project, messageId)).toBe("answered");
    expect(await db.store.tickets.find(project, ticketId)).toMatchObject({ stage: "done", status: "pending" });
    expect(await db.store.reviews.claim(project, ticketId)).toBeNull();
  });

  test("resolves the ticket with its reply, unless another message is waiting", async () => {
    const { ticketId } = await heldChat({ chatId: "resolved-with-reply" });
    const decideToResolve = () =>
      db.store.reviews.decide(project, ticketId, (state) =>
        decision(state, {
          action: "reply",
          ticket: { ...state.ticket, stage: "delivering", assignee: "ada" },
          work: { ...replyTo(state), resolves: true },
        }),
      );
    await db.sql(`UPDATE tickets SET before_close = '{"status": "open", "stage": "review"}' WHERE id = $1`, [ticketId]);
    await decideToResolve();
    await db.store.reviews.finishSend(await claimDecision(ticketId), sent());
    expect(await db.store.ticketDetails.find(project, ticketId)).toMatchObject({
      status: "resolved",
      stage: "done",
      assignee: "ada",
      resolvedAt: expect.any(Date),
    });
    // Undoing this closing does not restore what an earlier one has ended.
    const closed = await db.sql("SELECT before_close FROM tickets WHERE id = $1", [ticketId]);
    expect(closed).toEqual([{ before_close: null }]);
    await heldChat({ chatId: "resolved-with-reply" });
    expect(await db.store.tickets.find(project, ticketId)).toMatchObject({ status: "open", assignee: null });
    await decideToResolve();
    await db.sql("UPDATE messages SET covered_by = NULL WHERE ticket_id = $1", [ticketId]);
    await db.sql("UPDATE reviews SET covers = '{}', answers_message_id = NULL WHERE ticket_id = $1", [ticketId]);
    await db.store.reviews.finishSend(await claimDecision(ticketId), sent());
    expect(await db.store.tickets.find(project, ticketId)).toMatchObject({ status: "open", stage: "review" });
  });

  test("snoozes the ticket until a time, or until its customer writes", async () => {
    const { store } = db;
    const snooze = (ticketId: string, until: Date | "reply") =>
      store.reviews.decide(project, ticketId, (state) =>
        decision(state, { action: "snooze", snooze: until, interrupts: false }),
      );
    const listed = async (snoozed: boolean) => {
      await store.ticketIndex.follow(() => []);
      const query = { sort: "-updatedAt", limit: 100, words: null, snoozed, after: undefined } as const;
      const { tickets } = await store.ticketList.listPage(project, query);
      return tickets.map(({ id }) => id);
    };
    const { ticketId: byTime } = await heldChat({ chatId: "snoozed-by-time" });
    const { ticketId: byReply } = await heldChat({ chatId: "snoozed-by-reply" });
    const until = new Date(Date.now() + 3_600_000);
    await snooze(byTime, until);
    await snooze(byReply, "reply");
    expect(await store.ticketDetails.find(project, byTime)).toMatchObject({ isSnoozed: true, snoozedUntil: until });
    expect(await store.ticketDetails.find(project, byReply)).toMatchObject({ isSnoozed: true, snoozedUntil: null });
    expect(await store.ticketIndex.wakeSnoozed()).toBe(0);
    expect((await listed(true)).toSorted()).toEqual([byTime, byReply].toSorted());
    expect(await listed(false)).not.toContain(byTime);

    await db.sql("UPDATE tickets SET snoozed_until = now() WHERE id = $1", [byTime]);
    expect(await store.ticketIndex.wakeSnoozed()).toBe(1);
    await heldChat({ chatId: "snoozed-by-reply" });
    expect(await listed(true)).toEqual([]);
    expect(await listed(false)).toEqual(expect.arrayContaining([byTime, byReply]));
    const events = await db.sql("SELECT data FROM ticket_events WHERE ticket_id = $1 AND actor = 'service'", [byTime]);
    expect(events).toEqual([{ data: { decision: "unsnooze" } }]);
  });

  test("precedes the messages of its chat, which continue when it has ended", async () => {
    const { ticketId } = await heldChat({ chatId: "first-come" });
    await decideToSend(ticketId);
    const { messageId } = await db.store.messages.accept(project, newMessage({ chatId: "first-come" }));
    expect(await db.store.messages.claim(project, ticketId)).toBeNull();
    await db.store.reviews.finishSend(await claimDecision(ticketId), sent());
    expect((await claimNow(db.store, project, ticketId)).messageId).toBe(messageId);
  });

  test("claims the chat from the current run, which changes nothing and does not count as an attempt", async () => {
    const { ticketId } = await heldChat({ chatId: "interrupted" });
    await db.store.messages.accept(project, newMessage({ chatId: "interrupted" }));
    const run = await claimNow(db.store, project, ticketId);
    await db.store.tickets.open(project, run);
    await db.store.chats.saveProgress(project, run.messageId, run.leaseId, { triage: {} });
    const assign = (state: ReviewState) => decision(state, { ticket: { ...state.ticket, assignee: "Ada" } });
    expect(await db.store.reviews.decide(project, ticketId, assign)).not.toBeNull();
    expect(await db.store.tickets.finish(project, answeredRun(run, ["too late"]))).toBeNull();
    const again = await claimNow(db.store, project, ticketId);
    expect(again).toMatchObject({ messageId: run.messageId, attempts: 1, progress: null });
    expect(await textsIn(ticketId)).toEqual([]);
  });

  test("changes nothing if it is not allowed", async () => {
    const { ticketId } = await heldChat();
    const before = await db.store.tickets.find(project, ticketId);
    const refuse = () => {
      throw new Error("refused");
    };
    await expect(db.store.reviews.decide(project, ticketId, refuse)).rejects.toThrow("refused");
    expect(await db.store.tickets.find(project, ticketId)).toEqual(before);
    expect(await db.store.reviews.decide(await db.newProject(), ticketId, refuse)).toBeNull();
    expect(await db.store.reviews.decide(project, newId(), refuse)).toBeNull();
  });

  test("includes a message that was accepted while it waited for the chat", async () => {
    const { messageId, ticketId } = await heldChat({ chatId: "close" });
    const check = async () => {
      let seen: boolean | null = null;
      await db.store.reviews.decide(project, ticketId, (state) => {
        seen = state.hasReceived;
        return decision(state, {});
      });
      return seen;
    };
    expect(await check()).toBe(false);
    const holder = new Client({ connectionString: db.url });
    await holder.connect();
    try {
      await holder.query("BEGIN");
      await holder.query("SELECT FROM chats WHERE ticket_id = $1 FOR UPDATE", [ticketId]);
      const waiting = check();
      await untilWaiting(1);
      // Not through the store, which would wait for the chat too, in an undefined order.
      await holder.query(
        `INSERT INTO messages SELECT (jsonb_populate_record(m, jsonb_build_object(
           'id', gen_random_uuid(), 'seq', m.seq + 1, 'state', 'received'))).* FROM messages m WHERE m.id = $1`,
        [messageId],
      );
      await holder.query("COMMIT");
      expect(await waiting).toBe(true);
    } finally {
      await holder.end();
    }
  });

  test("has the waiting messages, those that the draft covers, and whether a handoff was announced", async () => {
    const { store } = db;
    const { messageId, ticketId } = await heldChat({ chatId: "seen" });
    const next = await store.messages.accept(project, newMessage({ chatId: "seen" }));
    const run = await claimNow(store, project, ticketId);
    await store.tickets.open(project, run);
    await store.tickets.finish(project, answeredRun(run, [], { state: "failed", stage: "review", failure: "broken" }));
    const check = async () => {
      const states: ReviewState[] = [];
      await store.reviews.decide(project, ticketId, (state) => {
        states.push(state);
        return decision(state, {});
      });
      return states[0];
    };
    expect(await check()).toMatchObject({
      draft: { covers: [messageId] },
      waiting: [
        { id: messageId, state: "held" },
        { id: next.messageId, state: "failed" },
      ],
      newest: { id: next.messageId },
      isPersonPromised: false,
    });
    await db.sql(
      `INSERT INTO replies (id, project_id, ticket_id, seq, in_reply_to, author, type, text, markdown)
       VALUES (gen_random_uuid(), $1, $2, 99, $3, 'system', 'message', 'A person comes.', false)`,
      [project, ticketId, messageId],
    );
    expect(await check()).toMatchObject({ isPersonPromised: true });
  });
});

test("a dead letter of a ticket that was moved to another project belongs to that project", async () => {
  const { store } = db;
  const { messageId, ticketId } = await heldChat();
  const other = await db.newProject();
  await db.sql("UPDATE messages SET state = 'failed', finished_at = now() WHERE id = $1", [messageId]);
  await store.reviews.decide(project, ticketId, (state) =>
    decision(state, { ticket: { ...state.ticket, project: other, stage: "failed" } }),
  );
  const lettersOf = async (id: ProjectId) =>
    (await store.messages.listDeadLetters(id, 200)).map((letter) => letter.messageId);
  expect([await lettersOf(other), (await lettersOf(project)).includes(messageId)]).toEqual([[messageId], false]);
  expect(await reviveLetter(store, project, messageId)).toBe(false);
  // Its processing continues in the original project.
  expect(await store.messages.findDeadLetter(other, messageId)).toMatchObject({ project, ticketId });
  expect(await reviveLetter(store, other, messageId)).toBe(true);
  expect(await store.tickets.find(project, ticketId)).toMatchObject({ project: other, stage: "received" });
});

test("a dead letter without a ticket is retried, and one with a ticket is decided", async () => {
  const { store } = db;
  const { messageId, ticketId } = await store.messages.accept(project, newMessage());
  const run = await claimNow(store, project, ticketId);
  await store.tickets.finish(project, answeredRun(run, [], { state: "failed", stage: "failed", failure: "broken" }));
  expect(await store.messages.findDeadLetter(project, messageId)).toMatchObject({ ticketId, isOpened: false });
  expect(await store.reviews.retryUnopened(project, ticketId, messageId)).toBe(true);
  expect(await store.reviews.retryUnopened(project, ticketId, messageId)).toBe(false);
  const again = await claimNow(store, project, ticketId);
  expect(again).toMatchObject({ messageId, attempts: 1 });
  await store.tickets.open(project, again);
  await store.tickets.finish(project, answeredRun(again, [], { state: "failed", stage: "failed", failure: "broken" }));
  expect(await store.messages.findDeadLetter(project, messageId)).toMatchObject({ isOpened: true });
  expect(await store.reviews.retryUnopened(project, ticketId, messageId)).toBe(false);
});

test("dead letters that are retried during decisions and ends of runs cause no deadlock", async () => {
  const { messageId, ticketId } = await heldChat({ chatId: "crowded" });
  await db.sql("UPDATE messages SET state = 'failed' WHERE id = $1", [messageId]);
  const other = db.openAnother();
  const rounds = await Promise.allSettled(
    Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0 ? reviveLetter(other, project, messageId) : decideToSend(ticketId),
    ),
  );
  expect(rounds.filter(({ status }) => status === "rejected")).toEqual([]);
  // Either it is received again or a reply covers it; both together would block it forever.
  const rows = await db.sql("SELECT 1 FROM messages WHERE id = $1 AND state = 'received' AND covered_by IS NOT NULL", [
    messageId,
  ]);
  expect(rows).toEqual([]);
});

describe("a decision that fails", () => {
  test("counts an attempt with its failure, not with its claim", async () => {
    const { ticketId } = await heldChat();
    await decideToSend(ticketId);
    const countFailed = async () => {
      const [row] = await db.sql<{ attempts: number }>("SELECT attempts FROM reviews WHERE ticket_id = $1", [ticketId]);
      return row?.attempts;
    };
    const review = await claimDecision(ticketId);
    expect(review.attempts).toBe(1);
    expect(await countFailed()).toBe(0);
    await db.store.reviews.retryLater(review, { delayMs: 0, failure: "planted", counts: true });
    expect(await countFailed()).toBe(1);
  });

  test("waits for its next attempt, and is due for the sweeper then", async () => {
    const { ticketId } = await heldChat();
    await decideToSend(ticketId);
    const review = await claimDecision(ticketId);
    await db.store.reviews.retryLater(review, { delayMs: 60_000, failure: "planted", counts: true });
    expect(await db.store.reviews.claim(project, ticketId)).toBeNull();
    const due = () =>
      db.store.reviews.claimDue(1_000).then((found) => found.filter((item) => item.ticketId === ticketId));
    expect(await due()).toEqual([]);
    await db.sql("UPDATE reviews SET not_before = now(), due_at = now() WHERE id = $1", [review.reviewId]);
    expect(await due()).toEqual([{ project, ticketId, reviewId: review.reviewId, attempts: 1 }]);
    expect(await due()).toEqual([]);
    const again = await claimDecision(ticketId);
    await db.store.reviews.retryLater(again, { delayMs: 0, failure: "store away", counts: false });
    expect((await claimDecision(ticketId)).attempts).toBe(2);
  });

  test("fails permanently after five attempts without side effects", async () => {
    const { messageId, ticketId } = await heldChat();
    await decideToSend(ticketId);
    // A text that cannot be stored: PostgreSQL allows no NUL characters.
    const broken = [{ item: textReply("a\u0000b"), author: "operator" as const }];
    for (const attempts of [1, 2, 3, 4, 5]) {
      const review = await claimDecision(ticketId);
      expect(review.attempts).toBe(attempts);
      await expect(db.store.reviews.finishSend(review, broken)).rejects.toThrow(/0x00/);
      expect(await textsIn(ticketId)).toEqual([]);
      expect(await db.store.messages.findState(project, messageId)).toBe("held");
      const retry = { delayMs: 0, failure: "not to be stored", counts: true };
      if (attempts < 5) await db.store.reviews.retryLater(review, retry);
      else expect(await db.store.reviews.giveUp(review, "not to be stored")).toBe(true);
    }
    expect(await db.store.reviews.claim(project, ticketId)).toBeNull();
    expect(await db.store.tickets.find(project, ticketId)).toMatchObject({ stage: "review", status: "open" });
    const moves = await db.store.tickets.listMoves(project, ticketId);
    expect(moves.at(-1)).toMatchObject({ from: "delivering", to: "review", why: "not to be stored" });
    // The text can be sent again.
    await decideToSend(ticketId);
    await db.store.reviews.finishSend(await claimDecision(ticketId), sent());
    expect(await textsIn(ticketId)).toEqual(["Mine."]);
  });

  test("that fails permanently leaves its messages waiting with the draft, and its text for a retry", async () => {
    const { messageId, ticketId } = await heldChat();
    await decideToSend(ticketId);
    expect(await db.store.reviews.giveUp(await claimDecision(ticketId), "planted")).toBe(true);
    expect(await db.store.tickets.find(project, ticketId)).toMatchObject({ stage: "review" });
    let seen: ReviewState | null = null;
    await db.store.reviews.decide(project, ticketId, (state) => {
      seen = state;
      return decision(state, {});
    });
    expect(seen).toMatchObject({
      draft: { text: "The draft." },
      waiting: [{ id: messageId, state: "held" }],
      failed: { text: "Mine.", covers: [messageId] },
      isUnderWay: false,
    });
    expect(await db.store.messages.claim(project, ticketId)).toBeNull();
  });

  test("without covered messages leaves its ticket failed", async () => {
    const { ticketId } = await heldChat();
    await decideToSend(ticketId);
    await db.store.reviews.finishSend(await claimDecision(ticketId), sent());
    await decideToSend(ticketId);
    await db.store.reviews.giveUp(await claimDecision(ticketId), "planted");
    expect(await db.store.tickets.find(project, ticketId)).toMatchObject({ stage: "failed" });
  });
});
