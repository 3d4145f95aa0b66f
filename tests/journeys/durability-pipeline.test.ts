import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { localAdministrator } from "@svc/auth";
import { isLegalMove } from "@svc/contracts";
import { listDeadLetters, retryDeadLetter } from "@svc/operations";
import { newId } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { testLog, waitFor } from "@svc/testing";
import { holdTable } from "./support/hold-table.ts";
import { openPipelines } from "./support/open-pipelines.ts";
import type { Pipelines } from "./support/open-pipelines.ts";
import { plantPoison } from "./support/plant-poison.ts";

const FIXED = "This is always the answer.";
const HANDOFF = "A person will look at it.";
/** Reply to a further message of the sender. */
const ADDED = "Thank you, I've added this to your request. A member of our team will reply here.";

let world: Pipelines;

/** An agent that always gives the same answer, without review. */
const ANSWERS = { fixedReply: FIXED, reviewPolicy: "auto" } as const;
/** An agent whose answers always wait for review. */
const ASKS = { fixedReply: FIXED, reviewPolicy: "review" } as const;

const stateIs = (messageId: string, ...states: string[]) =>
  waitFor(async () => states.includes((await world.readMessage(messageId))?.state ?? ""), {
    what: `message ${messageId} to be ${states.join(" or ")}`,
    timeoutMs: 30_000,
  });

/** Waits until this many attempts to process a message have failed. */
const isTried = (messageId: string, attempts: number) =>
  waitFor(
    async () => {
      const message = await world.readMessage(messageId);
      return message !== undefined && message.attempts >= attempts && message.notBefore !== null;
    },
    { what: `try ${attempts} of ${messageId} to fail`, timeoutMs: 30_000 },
  );

/** Makes a message fail until it is a dead letter, without the delays between its attempts. */
const becomesDeadLetter = (messageId: string) =>
  waitFor(
    async () => {
      await world.hurry(messageId);
      return (await world.readMessage(messageId))?.state === "failed";
    },
    { what: `message ${messageId} to become a dead letter`, timeoutMs: 30_000 },
  );

async function principalOf(project: ProjectId) {
  const found = await world.store.projects.find(project);
  if (found === null) throw new Error("the project is gone");
  return localAdministrator(found);
}

const readTicket = async (project: ProjectId, ticketId: string) => {
  const ticket = await world.store.tickets.find(project, ticketId);
  if (ticket === null) throw new Error(`ticket ${ticketId} is not open`);
  return ticket;
};

const readDraft = async (ticketId: string) =>
  (
    await world.sql<{ text: string; why: string; covers: string[] }>("SELECT * FROM drafts WHERE ticket_id = $1", [
      ticketId,
    ])
  )[0];

beforeAll(async () => {
  world = await openPipelines();
  // Two replicas, as if in two processes.
  await world.start();
  await world.start();
});

afterAll(() => world.close());

describe("messages of a chat", () => {
  test("are answered in order, each once, by any number of pipelines, while many arrive at once", async () => {
    const project = await world.newProject(ANSWERS);
    const chats = Array.from({ length: 8 }, (_, index) => `chat-${index}`);
    const rounds = Array.from({ length: 12 }, (_, index) => index);
    const sent = await Promise.all(
      rounds.flatMap((round) => chats.map((chatId) => world.send(project, chatId, `message ${round}`))),
    );
    await Promise.all(sent.map(({ messageId }) => stateIs(messageId, "answered")));
    for (const ticketId of new Set(sent.map((message) => message.ticketId))) {
      const own = sent.filter((message) => message.ticketId === ticketId).sort((a, b) => a.seq - b.seq);
      const replies = await world.listReplies(ticketId);
      expect(replies.map(({ inReplyTo }) => inReplyTo)).toEqual(own.map(({ messageId }) => messageId));
    }
  });

  test("are found even without an announcement", async () => {
    const project = await world.newProject(ANSWERS);
    const { messageId } = await world.send(project, "never-announced", "hello", { isAnnounced: false });
    await stateIs(messageId, "answered");
  });

  test("wait for the previous one, without blocking other chats", async () => {
    const slow = await world.newSearchingProject({ handoffText: "" });
    const quick = await world.newProject(ANSWERS);
    const release = await holdTable(world.databaseUrl, "kb_postings");
    let first: Awaited<ReturnType<typeof world.send>>;
    let second: typeof first;
    try {
      first = await world.send(slow, "slow", "this takes long");
      second = await world.send(slow, "slow", "this has to wait");
      const others = await Promise.all(
        Array.from({ length: 10 }, (_, index) => world.send(quick, `quick-${index}`, "quick")),
      );
      await Promise.all(others.map(({ messageId }) => stateIs(messageId, "answered")));
      expect(await world.readMessage(first.messageId)).toMatchObject({ state: "received", attempts: 1 });
      expect(await world.readMessage(second.messageId)).toMatchObject({ state: "received", attempts: 0 });
    } finally {
      await release();
    }
    await Promise.all([first, second].map(({ messageId }) => stateIs(messageId, "held")));
    expect((await readDraft(first.ticketId))?.covers).toEqual([first.messageId, second.messageId]);
  });
});

describe("a message that cannot be processed", () => {
  test("is attempted five times with growing delays, then becomes a dead letter; the next one of its chat is answered", async () => {
    const project = await world.newProject(ANSWERS);
    const text = `poison ${newId()}`;
    const poison = await plantPoison(world.databaseUrl, text);
    await stateIs((await world.send(project, "poisoned", "before")).messageId, "answered");
    // Delays of its attempts, however short they are.
    await world.sql(
      `CREATE TABLE test_waits (until timestamptz NOT NULL);
       CREATE OR REPLACE FUNCTION test_note_wait() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN INSERT INTO test_waits VALUES (NEW.not_before); RETURN NULL; END $$;
       CREATE TRIGGER test_note_wait AFTER UPDATE OF not_before ON messages FOR EACH ROW
         WHEN (NEW.text = '${text}' AND NEW.not_before IS DISTINCT FROM OLD.not_before AND NEW.not_before IS NOT NULL)
         EXECUTE FUNCTION test_note_wait()`,
    );
    const bad = await world.send(project, "poisoned", text);
    const next = await world.send(project, "poisoned", "after");

    await waitFor(async () => (await world.readMessage(bad.messageId))?.state === "failed", {
      what: "the dead letter",
      timeoutMs: 60_000,
    });
    expect((await world.readMessage(bad.messageId))?.attempts).toBe(5);
    const waits = await world.sql<{ until: Date }>("SELECT until FROM test_waits ORDER BY until");
    const [one = 0, two = 0, three = 0, four = 0] = waits.map(({ until }) => until.getTime());
    expect(waits).toHaveLength(4);
    // After each of the first four attempts: 1, 2, 4 and 8 seconds, on the clock of the database.
    expect([two - one >= 2_000, three - two >= 4_000, four - three >= 8_000]).toEqual([true, true, true]);

    await stateIs(next.messageId, "answered");
    const replies = await world.listReplies(bad.ticketId);
    expect(replies.map(({ inReplyTo }) => inReplyTo)).not.toContain(bad.messageId);
    expect(replies.at(-1)).toMatchObject({ inReplyTo: next.messageId, text: FIXED });
    await poison.cure();
  });

  test("is shown to operators with its error, and leaves its ticket in stage failed, still open", async () => {
    const project = await world.newProject(ANSWERS);
    const text = `poison ${newId()}`;
    const poison = await plantPoison(world.databaseUrl, text);
    await stateIs((await world.send(project, "seen", "before")).messageId, "answered");
    const bad = await world.send(project, "seen", text);
    await becomesDeadLetter(bad.messageId);
    expect((await world.readMessage(bad.messageId))?.attempts).toBe(5);
    const letters = await listDeadLetters({ store: world.store }, await principalOf(project));
    expect(letters).toEqual([
      {
        kind: "message",
        messageId: bad.messageId,
        ticketId: bad.ticketId,
        channelId: "api",
        chatId: "seen",
        text,
        failure: expect.stringContaining("planted fault"),
        failedAt: expect.any(Date),
      },
    ]);
    expect(await readTicket(project, bad.ticketId)).toMatchObject({ stage: "failed", status: "open" });
    expect((await world.store.tickets.listMoves(project, bad.ticketId)).at(-1)).toMatchObject({ to: "failed" });
    const stranger = await world.newProject(ANSWERS);
    expect(await listDeadLetters({ store: world.store }, await principalOf(stranger))).toEqual([]);
    await poison.cure();
  });

  test("is answered once if an operator retries it after the error is fixed", async () => {
    const project = await world.newProject(ANSWERS);
    const text = `poison ${newId()}`;
    const poison = await plantPoison(world.databaseUrl, text);
    const bad = await world.send(project, "again", text);
    await becomesDeadLetter(bad.messageId);
    const next = await world.send(project, "again", "after");
    await stateIs(next.messageId, "answered");
    const operator = await principalOf(project);
    const deps = { store: world.store, queues: world.queues, log: testLog() };

    // Retried while the error persists, it has five new attempts.
    await retryDeadLetter(deps, operator, bad.messageId);
    await isTried(bad.messageId, 1);
    await becomesDeadLetter(bad.messageId);
    expect((await world.readMessage(bad.messageId))?.attempts).toBe(5);

    await poison.cure();
    await retryDeadLetter(deps, operator, bad.messageId);
    await expect(retryDeadLetter(deps, operator, bad.messageId)).rejects.toMatchObject({ code: "not_found" });
    await stateIs(bad.messageId, "answered");
    expect(await listDeadLetters({ store: world.store }, operator)).toEqual([]);
    expect((await world.listReplies(bad.ticketId)).map(({ inReplyTo }) => inReplyTo)).toEqual([
      next.messageId,
      bad.messageId,
    ]);
  });

  test("does not change a ticket marked as spam", async () => {
    const project = await world.newProject(ANSWERS);
    const text = `poison ${newId()}`;
    const poison = await plantPoison(world.databaseUrl, text);
    const first = await world.send(project, "spam", "before");
    await stateIs(first.messageId, "answered");
    await world.sql("UPDATE tickets SET status = 'spam' WHERE id = $1", [first.ticketId]);
    await becomesDeadLetter((await world.send(project, "spam", text)).messageId);
    expect(await readTicket(project, first.ticketId)).toMatchObject({ stage: "failed", status: "spam" });
    await poison.cure();
    // No agent processes its further messages.
    const next = await world.send(project, "spam", "Buy this!");
    await stateIs(next.messageId, "rejected");
    const [event] = await world.sql<{ moves: { to: string }[]; data: { triage: object | null } }>(
      "SELECT moves, data FROM ticket_events WHERE message_id = $1 ORDER BY id DESC LIMIT 1",
      [next.messageId],
    );
    expect(event?.data.triage).toBeNull();
    expect(event?.moves.map(({ to }) => to)).toEqual(["received", "review", "failed"]);
  });

  test("becomes a dead letter if it crashes every process that works on it", async () => {
    const project = await world.newProject(ANSWERS);
    const release = await holdTable(world.databaseUrl, "agents");
    const { messageId } = await world.send(project, "killer", "hello");
    await waitFor(async () => (await world.readMessage(messageId))?.attempts === 1, { what: "the first try" });
    // Five processes have crashed with it, the last one while it ran exclusively, and their leases have expired.
    await world.sql(
      `WITH crashed AS (
         INSERT INTO processes (id, app, host, pid, memory_bytes, heard_at, crashed_at)
         SELECT gen_random_uuid(), 'pipeline', 'a-host', 1, 1, now() - interval '1 minute', now()
         FROM generate_series(1, 5) RETURNING id
       )
       UPDATE messages SET due_at = now(), expired_leases = (
         SELECT jsonb_agg(jsonb_build_object('process', id, 'group', 1, 'until', now())) FROM crashed
       ) WHERE id = $1`,
      [messageId],
    );
    await world.sql("UPDATE chats SET lease_id = NULL, lease_until = NULL WHERE chat_id = 'killer'");
    await release();
    await stateIs(messageId, "failed");
    const [letter] = await listDeadLetters({ store: world.store }, await principalOf(project));
    expect(letter).toMatchObject({ messageId, failure: expect.stringContaining("crashed 5 times") });
  });

  test("leaves a conversation with the operator who handles it", async () => {
    const project = await world.newProject(ASKS, { handoffText: HANDOFF });
    const text = `poison ${newId()}`;
    const first = await world.send(project, "promised", "please help");
    await stateIs(first.messageId, "held");
    const poison = await plantPoison(world.databaseUrl, text);
    const bad = await world.send(project, "promised", text);
    await becomesDeadLetter(bad.messageId);
    await poison.cure();
    const next = await world.send(project, "promised", "are you there?");
    await stateIs(next.messageId, "held", "answered");
    expect((await world.listReplies(first.ticketId)).map((reply) => reply.text)).toEqual([HANDOFF, ADDED]);
    expect((await readDraft(first.ticketId))?.covers).toEqual([first.messageId, next.messageId]);
    expect(await readTicket(project, first.ticketId)).toMatchObject({ stage: "review", status: "open" });
  });
});

describe("a stage that ran", () => {
  test("is not repeated if a later one fails: its result is stored between attempts", async () => {
    const project = await world.newProject({ ...ANSWERS, fixedReply: "the first answer" });
    await world.sql(
      `CREATE OR REPLACE FUNCTION test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'planted fault'; END $$;
       CREATE TRIGGER test_refuse BEFORE INSERT ON replies FOR EACH ROW
         WHEN (NEW.text = 'the first answer') EXECUTE FUNCTION test_refuse()`,
    );
    const { messageId, ticketId } = await world.send(project, "kept", "hello");
    await isTried(messageId, 2);
    // On a busy machine the next attempts would all fail before the agent has changed.
    await world.sql(
      "UPDATE messages SET not_before = now() + interval '1 h', due_at = now() + interval '1 h' WHERE id = $1",
      [messageId],
    );
    expect(await world.readMessage(messageId)).toMatchObject({
      progress: { triage: { agentId: expect.any(String) }, answer: { text: "the first answer" } },
    });
    // From now on the agent would give another answer.
    await world.sql("UPDATE agents SET fixed_reply = 'another answer', version = version + 1 WHERE project_id = $1", [
      project,
    ]);
    await waitFor(
      async () => {
        const other = await world.send(project, `probe-${newId()}`, "hello");
        // The trigger rejects it as long as the agent has not changed.
        await waitFor(
          async () => {
            const probe = await world.readMessage(other.messageId);
            return probe?.state === "answered" || (probe?.attempts ?? 0) > 0;
          },
          { what: "the first try of a probe" },
        );
        return (await world.listReplies(other.ticketId))[0]?.text === "another answer";
      },
      { what: "the agent to say something else", timeoutMs: 20_000 },
    );
    await world.sql("DROP TRIGGER test_refuse ON replies");
    await world.hurry(messageId);
    await stateIs(messageId, "answered");
    expect((await world.listReplies(ticketId)).map(({ text }) => text)).toEqual(["the first answer"]);
  });
});

describe("an agent that fails", () => {
  test("is no error for the customer: the message is handed over to a person, and the customer is notified", async () => {
    const project = await world.newSearchingProject({ handoffText: HANDOFF });
    const bad = await world.send(project, "agent-fails", "what is it?", { isAnnounced: false });
    // The agent cannot read the result of an earlier attempt.
    await world.sql("UPDATE messages SET progress = $2 WHERE id = $1", [
      bad.messageId,
      JSON.stringify({ passages: { hits: [{}], bestPossible: 1, words: [] } }),
    ]);
    await stateIs(bad.messageId, "held");
    expect(await readTicket(project, bad.ticketId)).toMatchObject({ stage: "review", status: "open" });
    expect(await world.listReplies(bad.ticketId)).toEqual([
      { seq: 2, text: HANDOFF, author: "system", inReplyTo: bad.messageId },
    ]);
    expect(await readDraft(bad.ticketId)).toMatchObject({
      text: "",
      why: expect.stringContaining("failed"),
      covers: [bad.messageId],
    });
  });
});

describe("a worker that has lost its lease", () => {
  /** Another worker claims a chat, as if the first one had not renewed its lease in time. */
  async function takeOver(ticketId: string): Promise<string> {
    const leaseId = newId();
    await world.sql("UPDATE chats SET lease_id = $2, lease_until = now() + interval '1 hour' WHERE ticket_id = $1", [
      ticketId,
      leaseId,
    ]);
    return leaseId;
  }

  const holderOf = async (ticketId: string) =>
    (await world.sql<{ id: string }>("SELECT lease_id AS id FROM chats WHERE ticket_id = $1", [ticketId]))[0]?.id;

  /** Lets every pipeline process a few messages, so that the late worker has certainly continued. */
  async function lateWorkersHaveGoneOn(): Promise<void> {
    const project = await world.newSearchingProject({ handoffText: "" });
    for (let round = 0; round < 5; round++) {
      await stateIs((await world.send(project, `after-${round}`, "what is it?")).messageId, "held");
    }
  }

  test("changes nothing, not even in its last step", async () => {
    const project = await world.newProject(ANSWERS);
    const release = await holdTable(world.databaseUrl, "replies", "writers");
    const { messageId, ticketId } = await world.send(project, "last-step", "hello");
    await waitFor(
      async () =>
        (await world.sql("SELECT 1 FROM pg_locks WHERE relation = 'replies'::regclass AND NOT granted")).length > 0,
      { what: "the worker to be about to finish" },
    );
    const thief = await takeOver(ticketId);
    await release();
    await lateWorkersHaveGoneOn();
    expect(await world.readMessage(messageId)).toMatchObject({ state: "received", attempts: 1 });
    expect(await world.listReplies(ticketId)).toEqual([]);
    expect(await world.store.tickets.listMoves(project, ticketId)).toEqual([]);
    expect(await holderOf(ticketId)).toBe(thief);

    await world.sql("UPDATE chats SET lease_until = now() WHERE ticket_id = $1", [ticketId]);
    await stateIs(messageId, "answered");
    expect((await world.listReplies(ticketId)).map(({ text }) => text)).toEqual([FIXED]);
  });

  test("changes nothing in the middle of its work", async () => {
    const project = await world.newSearchingProject({ handoffText: HANDOFF });
    const release = await holdTable(world.databaseUrl, "kb_postings");
    const { messageId, ticketId } = await world.send(project, "middle", "what is a parcel?");
    await waitFor(async () => (await world.readMessage(messageId))?.attempts === 1, { what: "the first worker" });
    const thief = await takeOver(ticketId);
    await release();
    await lateWorkersHaveGoneOn();
    expect(await world.readMessage(messageId)).toMatchObject({ state: "received", attempts: 1 });
    expect(await world.listReplies(ticketId)).toEqual([]);
    expect(await readDraft(ticketId)).toBeUndefined();
    expect(await holderOf(ticketId)).toBe(thief);

    await world.sql("UPDATE chats SET lease_until = now() WHERE ticket_id = $1", [ticketId]);
    await stateIs(messageId, "held");
    expect((await world.listReplies(ticketId)).map(({ text }) => text)).toEqual([HANDOFF]);
    expect((await readDraft(ticketId))?.covers).toEqual([messageId]);
  });
});

describe("a conversation that an operator handles", () => {
  test("in review: unsure answers are held, and the draft covers every waiting message", async () => {
    const project = await world.newProject(ASKS, { handoffText: HANDOFF });
    const first = await world.send(project, "review", "one");
    await stateIs(first.messageId, "held");
    expect(await readTicket(project, first.ticketId)).toMatchObject({ stage: "review", status: "open" });
    expect(await readDraft(first.ticketId)).toMatchObject({ text: FIXED, covers: [first.messageId] });
    const { version } = await readTicket(project, first.ticketId);
    const second = await world.send(project, "review", "two");
    const third = await world.send(project, "review", "three");
    await stateIs(third.messageId, "held");
    expect((await world.listReplies(first.ticketId)).map(({ text, author }) => ({ text, author }))).toEqual([
      { text: HANDOFF, author: "system" },
      { text: ADDED, author: "system" },
      { text: ADDED, author: "system" },
    ]);
    const ticket = await readTicket(project, first.ticketId);
    expect(ticket).toMatchObject({ stage: "review", status: "open" });
    // A new message makes the draft stale for an operator who is viewing it.
    expect(ticket.version).toBeGreaterThan(version);
    expect((await readDraft(first.ticketId))?.covers).toEqual([first.messageId, second.messageId, third.messageId]);
  });

  test("assigned: nothing is sent automatically, not even the handoff text", async () => {
    const project = await world.newProject(ANSWERS, { handoffText: HANDOFF });
    const first = await world.send(project, "assigned", "one");
    await stateIs(first.messageId, "answered");
    await world.sql("UPDATE tickets SET assignee = 'ada', version = version + 1 WHERE id = $1", [first.ticketId]);
    const second = await world.send(project, "assigned", "two");
    const third = await world.send(project, "assigned", "three");
    await stateIs(third.messageId, "held");
    expect((await world.listReplies(first.ticketId)).map(({ inReplyTo }) => inReplyTo)).toEqual([first.messageId]);
    expect(await readDraft(first.ticketId)).toMatchObject({
      text: FIXED,
      why: expect.stringContaining("ada"),
      covers: [second.messageId, third.messageId],
    });
    expect(await readTicket(project, first.ticketId)).toMatchObject({ assignee: "ada", stage: "review" });
  });
});

describe("a ticket", () => {
  test("that was resolved is reopened by a message of its customer, and answered", async () => {
    const project = await world.newProject(ANSWERS);
    const first = await world.send(project, "resolved", "one");
    await stateIs(first.messageId, "answered");
    expect(await readTicket(project, first.ticketId)).toMatchObject({ status: "pending", stage: "done" });
    await world.sql("UPDATE tickets SET status = 'resolved', resolved_at = now() WHERE id = $1", [first.ticketId]);
    const release = await holdTable(world.databaseUrl, "replies", "writers");
    const second = await world.send(project, "resolved", "two");
    await waitFor(async () => (await readTicket(project, first.ticketId)).status === "open", {
      what: "the ticket to be open",
    });
    await release();
    await stateIs(second.messageId, "answered");
    expect(await readTicket(project, first.ticketId)).toMatchObject({ status: "pending", stage: "done" });
    const [row] = await world.sql("SELECT resolved_at FROM tickets WHERE id = $1", [first.ticketId]);
    expect(row).toEqual({ resolved_at: null });
  });

  // Must be last: it checks everything that the other tests have created.
  test("makes only allowed transitions, each from the stage of the previous one, and is in the stage of the last one", async () => {
    const tickets = await world.sql<{ id: string; home: ProjectId; stage: string }>(
      "SELECT id, home_project_id AS home, stage FROM tickets",
    );
    expect(tickets.length).toBeGreaterThan(20);
    for (const { id, home, stage } of tickets) {
      const moves = await world.store.tickets.listMoves(home, id);
      const illegal = moves.filter(({ from, to }) => !isLegalMove(from, to));
      expect(illegal).toEqual([]);
      const path = [...moves.map(({ from }) => from), stage];
      expect(path).toEqual(["received", ...moves.map(({ to }) => to)]);
    }
  });
});
