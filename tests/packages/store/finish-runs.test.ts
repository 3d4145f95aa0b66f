import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { countChars } from "@svc/contracts";
import type { StageMove } from "@svc/contracts";
import { newId } from "@svc/store";
import type { ClaimedMessage, ProjectId, RunOutcome } from "@svc/store";
import {
  LIMITS,
  answeredRun,
  claimNow,
  exchange,
  newMessage,
  openTestStore,
  textReply,
  textsOf,
} from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(async () => {
  await db.close();
});

const MOVE: StageMove = { at: "2026-01-01T00:00:00Z", actor: "pipeline", from: "received", to: "triage", why: "test" };

/** Accepts a message into a chat, claims it and opens its ticket. */
async function startRun(project: ProjectId, chatId: string, text = "question"): Promise<ClaimedMessage> {
  const { ticketId } = await db.store.messages.accept(project, newMessage({ chatId, text }));
  const claimed = await claimNow(db.store, project, ticketId);
  await db.store.tickets.open(project, claimed);
  return claimed;
}

/** Returns all rows that a run could have written for a ticket. */
async function tracesOf(ticketId: string) {
  const [row] = await db.sql<{ replies: number; events: number; drafts: number; last_seq: number; states: string[] }>(
    `SELECT (SELECT count(*)::int FROM replies WHERE ticket_id = $1) AS replies,
       (SELECT count(*)::int FROM ticket_events WHERE ticket_id = $1) AS events,
       (SELECT count(*)::int FROM drafts WHERE ticket_id = $1) AS drafts,
       (SELECT last_seq::int FROM chats WHERE ticket_id = $1) AS last_seq,
       (SELECT array_agg(state ORDER BY seq) FROM messages WHERE ticket_id = $1) AS states`,
    [ticketId],
  );
  return row;
}

test("a finished run commits message, ticket, event and replies together and releases the lease", async () => {
  const project = await db.newProject();
  const agentId = newId();
  const message = await startRun(project, "all of it");
  const source = { title: "Guide", documentId: "d", chunkId: "c", quote: "q" };
  const finished = await db.store.tickets.finish(
    project,
    answeredRun(message, [], {
      agentId,
      confidence: 0.75,
      language: "en",
      moves: [MOVE],
      trace: { triageMs: 1 },
      replies: [
        { item: { ...textReply("**yes**"), markdown: true, sources: [source] }, author: "agent" },
        {
          item: { type: "attachment", filename: "t.xlsx", mime: "application/x", content: Buffer.from([0, 255, 10]) },
          author: "agent",
        },
      ],
    }),
  );
  expect(finished).toMatchObject({ replies: { fromSeq: 2, toSeq: 3 }, hasMore: false });
  // The replies returned to a waiting call must match the stored ones.
  const { replies } = await db.store.replies.readBuffer(project, message.ticketId, 1, LIMITS);
  expect(finished?.stored).toEqual(replies);
  expect(await db.store.messages.findState(project, message.messageId)).toBe("answered");
  expect(await db.store.tickets.find(project, message.ticketId)).toMatchObject({
    stage: "done",
    status: "pending",
    agentId,
  });
  expect(await db.store.tickets.listMoves(project, message.ticketId)).toEqual([MOVE]);
  const page = await db.store.replies.readBuffer(project, message.ticketId, 0, LIMITS);
  const position = {
    id: expect.any(String),
    ticketId: message.ticketId,
    inReplyTo: message.messageId,
    author: "agent",
    createdAt: expect.any(Date),
  };
  expect(page.replies).toEqual([
    { ...position, seq: 2, type: "message", text: "**yes**", markdown: true, sources: [source] },
    {
      ...position,
      seq: 3,
      type: "attachment",
      filename: "t.xlsx",
      mime: "application/x",
      content: Buffer.from([0, 255, 10]),
    },
  ]);
  const rows = await db.sql(
    "SELECT lease_id, first_reply_at IS NOT NULL AS replied FROM chats JOIN tickets ON id = ticket_id WHERE id = $1",
    [message.ticketId],
  );
  expect(rows).toEqual([{ lease_id: null, replied: true }]);
});

test("a run that has lost its lease changes nothing: no state, no reply, no event, no draft", async () => {
  const project = await db.newProject();
  const draft = { text: "draft", markdown: false, sources: [], confidence: 0.1, why: "unsure" };
  for (const change of [{}, { draft, state: "held" as const, stage: "review" as const }]) {
    const first = await startRun(project, `lost ${newId()}`);
    await db.expireLease(first.ticketId);
    const second = await claimNow(db.openAnother(), project, first.ticketId);
    const before = await tracesOf(first.ticketId);
    expect(
      await db.store.tickets.finish(project, answeredRun(first, ["late"], { ...change, moves: [MOVE] })),
    ).toBeNull();
    expect(await tracesOf(first.ticketId)).toEqual(before);
    // The run of the lease's current holder is not affected.
    expect(await db.store.tickets.finish(project, answeredRun(second, ["in time"]))).toMatchObject({
      replies: { fromSeq: 2, toSeq: 2 },
    });
    expect(await tracesOf(first.ticketId)).toEqual({
      replies: 1,
      events: 1,
      drafts: 0,
      last_seq: 2,
      states: ["answered"],
    });
  }
});

test("if the former and the current holder of a lease finish in one statement, only the current holder's run is committed", async () => {
  const project = await db.newProject();
  for (const texts of [[], ["answer"]]) {
    const loser = await startRun(project, `both ${texts.length}`);
    await db.expireLease(loser.ticketId);
    const winner = await claimNow(db.store, project, loser.ticketId);
    const outcomes = await Promise.all([
      db.store.tickets.finish(
        project,
        answeredRun(loser, texts, { state: "failed", stage: "failed", failure: "late", trace: { by: "loser" } }),
      ),
      db.store.tickets.finish(project, answeredRun(winner, texts, { trace: { by: "winner" } })),
    ]);
    expect(outcomes.map((outcome) => outcome !== null)).toEqual([false, true]);
    expect(await tracesOf(loser.ticketId)).toEqual({
      replies: texts.length,
      events: 1,
      drafts: 0,
      last_seq: 1 + texts.length,
      states: ["answered"],
    });
    const events = await db.sql("SELECT data FROM ticket_events WHERE ticket_id = $1", [loser.ticketId]);
    expect(events).toEqual([{ data: { by: "winner" } }]);
  }
});

test("finishing a run is idempotent", async () => {
  const project = await db.newProject();
  const message = await startRun(project, "twice");
  const run = answeredRun(message, ["answer"]);
  const outcomes = [await db.store.tickets.finish(project, run), await db.store.tickets.finish(project, run)];
  expect(outcomes.map((outcome) => outcome !== null)).toEqual([true, false]);
  expect(await tracesOf(message.ticketId)).toMatchObject({ replies: 1, events: 1, last_seq: 2 });
});

test("replies get consecutive sequence numbers, in the order of the run", async () => {
  const project = await db.newProject();
  const chatId = "places";
  const first = await startRun(project, chatId);
  await db.store.messages.accept(project, newMessage({ chatId, text: "meanwhile" }));
  const finished = await db.store.tickets.finish(project, answeredRun(first, ["a", "b", "c"]));
  expect(finished).toMatchObject({ replies: { fromSeq: 3, toSeq: 5 }, hasMore: true });
  const second = await claimNow(db.store, project, first.ticketId);
  expect(second).toMatchObject({ text: "meanwhile", seq: 2 });
  expect(await db.store.tickets.finish(project, answeredRun(second, ["d"]))).toMatchObject({
    replies: { fromSeq: 6, toSeq: 6 },
  });
  const { replies } = await db.store.replies.readBuffer(project, first.ticketId, 0, LIMITS);
  expect(replies.map(({ seq }) => seq)).toEqual([3, 4, 5, 6]);
  expect(textsOf(replies)).toEqual(["a", "b", "c", "d"]);
  expect(replies.map(({ inReplyTo }) => inReplyTo)).toEqual([...Array(3).fill(first.messageId), second.messageId]);
});

test("runs of many chats that finish concurrently do not mix their replies", async () => {
  const project = await db.newProject();
  const runs = await Promise.all(Array.from({ length: 40 }, (_, index) => startRun(project, `apart ${index}`)));
  const finished = await Promise.all(
    runs.map((run, index) =>
      db.store.tickets.finish(project, answeredRun(run, Array(index % 3).fill(`answer ${index}`))),
    ),
  );
  for (const [index, run] of runs.entries()) {
    const count = index % 3;
    expect(finished[index]?.replies).toEqual(count === 0 ? null : { fromSeq: 2, toSeq: 1 + count });
    const { replies } = await db.store.replies.readBuffer(project, run.ticketId, 0, LIMITS);
    expect(textsOf(replies)).toEqual(Array(count).fill(`answer ${index}`));
  }
});

test("a run that cannot be stored affects no other one of the same batch, and keeps its lease", async () => {
  const project = await db.newProject();
  const runs = await Promise.all(Array.from({ length: 5 }, (_, index) => startRun(project, `harm ${index}`)));
  const outcomes = await Promise.allSettled(
    runs.map((run, index) => db.store.tickets.finish(project, answeredRun(run, [index === 2 ? "NUL \u0000" : "fine"]))),
  );
  expect(outcomes.map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  const bad = runs[2];
  if (bad === undefined) throw new Error("there is a third run");
  expect(await tracesOf(bad.ticketId)).toMatchObject({ replies: 0, events: 0, last_seq: 1, states: ["received"] });
  expect(await db.store.chats.renewLeases([bad])).toEqual(new Set([bad.leaseId]));
});

test("the drafts of several messages are one draft, with all answers and all reasons", async () => {
  const project = await db.newProject();
  const chatId = "drafts";
  const messages: string[] = [];
  let ticketId = "";
  for (const [index, text] of ["first draft", "second draft", "", "second draft"].entries()) {
    const message = await startRun(project, chatId, `for the ${text}`);
    ({ ticketId } = message);
    messages.push(message.messageId);
    const source = { documentId: "faq", chunkId: text, title: text, quote: text };
    const sources = text === "" ? [] : [source];
    const draft = { text, markdown: index === 1, sources, confidence: 0.75 - index / 8, why: `doubt ${index}` };
    const run = answeredRun(message, [], { state: "held", stage: "review", status: "open", draft });
    expect(await db.store.tickets.finish(project, run)).not.toBeNull();
    expect(await db.store.messages.findState(project, message.messageId)).toBe("held");
  }
  const columns = "project_id, text, markdown, confidence, why, covers, jsonb_array_length(sources) AS sources";
  expect(await db.sql(`SELECT ${columns} FROM drafts WHERE ticket_id = $1`, [ticketId])).toEqual([
    {
      project_id: project,
      text: "first draft\n\nsecond draft",
      markdown: true,
      confidence: 0.375,
      why: "doubt 0; doubt 1; doubt 2; doubt 3",
      covers: messages,
      sources: 2,
    },
  ]);
});

test("the confidence of a ticket is that of its draft, else of its last answer; small talk has none, and is no reply", async () => {
  const project = await db.newProject();
  const held = (confidence: number | null) => ({
    state: "held" as const,
    stage: "review" as const,
    status: "open" as const,
    draft: { text: "Perhaps.", markdown: false, sources: [], confidence, why: "unsure" },
    confidence,
  });
  const talk = { confidence: null };
  const steps: [change: Partial<RunOutcome>, shown: number | null, replied: boolean][] = [
    [talk, null, false],
    [{ confidence: 0.75 }, 0.75, true],
    [talk, 0.75, true],
    [held(null), null, true],
    [held(0.5), 0.5, true],
    [held(null), 0.5, true],
    [{ confidence: 0.875, stage: "review", status: "open" }, 0.5, true],
    [{ ...talk, stage: "review", status: "open" }, 0.5, true],
    [held(0.25), 0.25, true],
    [held(0.375), 0.25, true],
  ];
  for (const [index, [change, shown, replied]] of steps.entries()) {
    const message = await startRun(project, "confidence");
    await db.store.tickets.finish(project, answeredRun(message, change.state === "held" ? [] : ["Yes."], change));
    const [ticket] = await db.sql(
      `SELECT t.confidence, first_reply_at IS NOT NULL AS replied, d.confidence AS draft
       FROM tickets t LEFT JOIN drafts d ON d.ticket_id = t.id WHERE t.id = $1`,
      [message.ticketId],
    );
    expect([index, ticket]).toEqual([index, expect.objectContaining({ confidence: shown, replied })]);
    if (index >= 3) expect([index, ticket]).toEqual([index, expect.objectContaining({ draft: shown })]);
  }
});

test("a ticket stays in failed while one of its messages is a dead letter, even if a later one was answered", async () => {
  const project = await db.newProject();
  const broken = await startRun(project, "seen");
  const { ticketId } = broken;
  const failed = { state: "failed", stage: "failed", status: "open", failure: "broken" } as const;
  await db.store.tickets.finish(project, answeredRun(broken, [], failed));
  const moves: StageMove[] = [
    { ...MOVE, from: "failed", to: "received" },
    { ...MOVE, from: "delivering", to: "done", why: "the reply is committed" },
  ];
  await db.store.tickets.finish(project, answeredRun(await startRun(project, "seen"), ["an answer"], { moves }));
  expect(await db.store.tickets.find(project, ticketId)).toMatchObject({ stage: "failed", status: "pending" });
  expect(await db.store.tickets.listMoves(project, ticketId)).toEqual([
    moves[0],
    { ...moves[1], to: "failed", why: expect.stringContaining("another message has failed") },
  ]);
  // Review takes precedence.
  const held = { state: "held", stage: "review", status: "open" } as const;
  await db.store.tickets.finish(project, answeredRun(await startRun(project, "seen"), [], held));
  expect(await db.store.tickets.find(project, ticketId)).toMatchObject({ stage: "review" });
});

test("a ticket is opened by its first message, gets the later ones, and reopens after it was resolved", async () => {
  const project = await db.newProject();
  const chatId = "one ticket";
  const open = async (text: string, channelMeta: Record<string, unknown>) => {
    const { ticketId } = await db.store.messages.accept(project, newMessage({ chatId, text, channelMeta }));
    const claimed = await claimNow(db.store, project, ticketId);
    const ticket = await db.store.tickets.open(project, claimed);
    await db.store.tickets.finish(project, answeredRun(claimed, [], { stage: ticket.stage, status: ticket.status }));
    return ticket;
  };
  const first = await open("  Where is my parcel?\nIt was sent on Monday.", { shop: 1, lang: "en" });
  expect(first).toMatchObject({
    homeProject: project,
    project,
    channelId: "api",
    chatId,
    subject: "Where is my parcel?",
    status: "open",
    stage: "received",
    version: 1,
  });
  await db.sql("UPDATE tickets SET status = 'resolved', resolved_at = now() WHERE id = $1", [first.id]);
  const second = await open("Another question", { lang: "de" });
  expect(second).toMatchObject({ id: first.id, subject: first.subject, status: "open", version: 3 });
  const rows = await db.sql("SELECT channel_meta, resolved_at FROM tickets WHERE id = $1", [first.id]);
  expect(rows).toEqual([{ channel_meta: { shop: 1, lang: "de" }, resolved_at: null }]);
});

test("a long first line becomes a truncated subject, without splitting a character", async () => {
  const project = await db.newProject();
  const { ticketId } = await db.store.messages.accept(project, newMessage({ text: "👩".repeat(500) }));
  const ticket = await db.store.tickets.open(project, await claimNow(db.store, project, ticketId));
  expect(countChars(ticket.subject)).toBe(120);
  expect(ticket.subject).toBe("👩".repeat(120));
});

test("only a reply of an agent or a person counts as the first reply", async () => {
  const project = await db.newProject();
  const chatId = "first reply";
  const handoff = await startRun(project, chatId);
  await db.store.tickets.finish(
    project,
    answeredRun(handoff, [], { replies: [{ item: textReply("a person will answer"), author: "system" }] }),
  );
  const firstReplyAt = () => db.sql("SELECT first_reply_at FROM tickets WHERE id = $1", [handoff.ticketId]);
  expect(await firstReplyAt()).toEqual([{ first_reply_at: null }]);
  await exchange(db.store, project, newMessage({ chatId }), ["the answer"]);
  const [first] = await firstReplyAt();
  expect(first).toEqual({ first_reply_at: expect.any(Date) });
  await exchange(db.store, project, newMessage({ chatId }), ["another answer"]);
  expect(await firstReplyAt()).toEqual([first]);
});
