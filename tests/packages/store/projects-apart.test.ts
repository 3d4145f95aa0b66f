import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { LIMITS, answeredRun, claimNow, exchange, newMessage, openTestStore, textsOf } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let owner: ProjectId;
let stranger: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
  [owner, stranger] = [await db.newProject(), await db.newProject()];
});

afterAll(async () => {
  await db.close();
});

test("another project finds, claims and changes nothing of a message", async () => {
  const { store } = db;
  const { messageId, ticketId } = await store.messages.accept(owner, newMessage());
  expect(await store.messages.findState(stranger, messageId)).toBeNull();
  expect(await store.messages.findMeta(stranger, messageId)).toBeNull();
  expect(await store.messages.findLastMeta(stranger, ticketId)).toBeNull();
  expect(await store.messages.claim(stranger, ticketId)).toBeNull();

  const claimed = await claimNow(store, owner, ticketId);
  await store.tickets.open(owner, claimed);
  const forged = { ...claimed, project: stranger };
  expect(await store.chats.renewLeases([forged])).toEqual(new Set());
  await store.chats.releaseLease(forged);
  await store.chats.saveProgress(stranger, messageId, claimed.leaseId, { forged: true });
  await store.messages.retryLater(forged, { delayMs: 60_000, progress: {}, failure: "forged", counts: false });
  expect(await store.tickets.finish(stranger, answeredRun(forged, ["forged"]))).toBeNull();
  expect(await store.chats.renewLeases([claimed])).toEqual(new Set([claimed.leaseId]));
  const rows = await db.sql("SELECT state, attempts, progress, failure FROM messages WHERE id = $1", [messageId]);
  expect(rows).toEqual([{ state: "received", attempts: 1, progress: null, failure: null }]);
});

test("a run is not finished for another project than that of its message", async () => {
  const { store } = db;
  const { ticketId } = await store.messages.accept(owner, newMessage());
  const claimed = await claimNow(store, owner, ticketId);
  await store.tickets.open(owner, claimed);
  const draft = { text: "draft", markdown: false, sources: [], confidence: 0.1, why: "unsure" };
  for (const change of [{}, { draft }]) {
    expect(await store.tickets.finish(stranger, answeredRun(claimed, ["forged"], change))).toBeNull();
  }
  expect(await store.tickets.finish(owner, answeredRun(claimed, ["answer"]))).not.toBeNull();
});

test("another project finds no ticket and none of its stage changes", async () => {
  const { accepted } = await exchange(db.store, owner, newMessage(), ["answer"]);
  expect(await db.store.tickets.find(owner, accepted.ticketId)).not.toBeNull();
  expect(await db.store.tickets.find(stranger, accepted.ticketId)).toBeNull();
  expect(await db.store.tickets.listMoves(stranger, accepted.ticketId)).toEqual([]);
});

test("another project reads, claims, acknowledges and releases no reply", async () => {
  const { store } = db;
  const instance = newId();
  await store.instances.beat(instance, "api");
  const takeId = newId();
  const { accepted, finished } = await exchange(store, owner, newMessage(), ["answer"]);
  const { messageId, ticketId } = accepted;
  const { toSeq = 0 } = finished.replies ?? {};

  expect(await store.replies.readForCall(stranger, messageId, instance)).toBeNull();
  expect((await store.replies.claimFromBuffer(stranger, ticketId, instance, LIMITS)).replies).toEqual([]);
  expect((await store.replies.readBuffer(stranger, ticketId, 0, LIMITS)).replies).toEqual([]);
  await store.replies.acknowledge(stranger, ticketId, toSeq);
  await store.replies.endCall(stranger, messageId);
  await store.replies.endAnsweredCall(stranger, messageId, [messageId]);

  const page = await store.replies.claimFromBuffer(owner, ticketId, instance, LIMITS, takeId);
  expect(textsOf(page.replies)).toEqual(["answer"]);
  const ids = page.replies.map(({ id }) => id);
  await store.replies.release(stranger, ticketId, takeId);
  expect((await store.replies.readBuffer(owner, ticketId, 0, LIMITS)).replies).toEqual([]);
  for (const id of ids) await store.replies.confirm(stranger, id);
  await store.replies.release(owner, ticketId, takeId);
  expect(textsOf((await store.replies.readBuffer(owner, ticketId, 0, LIMITS)).replies)).toEqual(["answer"]);
});

describe("another project that shares a statement with the owner gets nothing", () => {
  const orders = () => [
    [owner, stranger],
    [stranger, owner],
  ];
  const isOwner = (project: ProjectId) => project === owner;

  test("of the buffers of chats", async () => {
    const instance = newId();
    await db.store.instances.beat(instance, "api");
    for (const projects of orders()) {
      const chats = await Promise.all(
        projects.map(async (project) => {
          const { accepted } = await exchange(db.store, project, newMessage(), [`answer of ${project}`]);
          return { project, ticketId: accepted.ticketId };
        }),
      );
      const pages = await Promise.all(
        chats.map(({ project, ticketId }) => db.store.replies.claimFromBuffer(project, ticketId, instance, LIMITS)),
      );
      expect(pages.map(({ replies }) => textsOf(replies))).toEqual(projects.map((project) => [`answer of ${project}`]));
    }
  });

  test("of the outcome of a call", async () => {
    const instance = newId();
    await db.store.instances.beat(instance, "api");
    for (const projects of orders()) {
      const message = newMessage({ mode: "sync", callInstance: instance });
      const { accepted } = await exchange(db.store, owner, message, ["answer"]);
      const outcomes = await Promise.all(
        projects.map((project) => db.store.replies.readForCall(project, accepted.messageId, instance)),
      );
      expect(outcomes.map((outcome) => outcome !== null)).toEqual(projects.map(isOwner));
    }
  });

  test("of a message to claim", async () => {
    for (const projects of orders()) {
      const { messageId, ticketId } = await db.store.messages.accept(owner, newMessage());
      const claims = await Promise.all(projects.map((project) => db.store.messages.claim(project, ticketId)));
      expect(claims.map((claim) => claim?.messageId)).toEqual(
        projects.map((project) => (isOwner(project) ? messageId : undefined)),
      );
    }
  });
});

test("another project sees and retries no dead letter", async () => {
  const { store } = db;
  const { ticketId, messageId } = await store.messages.accept(owner, newMessage());
  const claimed = await claimNow(store, owner, ticketId);
  await store.tickets.open(owner, claimed);
  await store.tickets.finish(
    owner,
    answeredRun(claimed, [], { state: "failed", stage: "failed", status: "open", failure: "gave up" }),
  );
  expect(await store.messages.listDeadLetters(stranger, 10)).toEqual([]);
  expect(await store.messages.findDeadLetter(stranger, messageId)).toBeNull();
  const refuse = () => {
    throw new Error("a stranger saw the ticket");
  };
  expect(await store.reviews.decide(stranger, ticketId, refuse)).toBeNull();
  expect(await store.reviews.retryUnopened(stranger, ticketId, messageId)).toBe(false);
  expect(await store.messages.findState(owner, messageId)).toBe("failed");
});

test("another project finds, lists and changes no agent", async () => {
  const agent = await db.store.agents.insert(owner, { name: "Guide" });
  expect(await db.store.agents.list(stranger)).toEqual([]);
  expect(await db.store.agents.find(stranger, agent.id)).toBeNull();
  await db.store.agents.addKb(stranger, agent.id, newId());
  expect(await db.store.agents.find(owner, agent.id)).toEqual(agent);
  // Names are unique only within a project.
  expect((await db.store.agents.insert(stranger, { name: "Guide" })).id).not.toBe(agent.id);
});

test("another project finds no knowledge base, and may use its name", async () => {
  const { kb } = await db.store.kbs.ensure(owner, "manual");
  expect(await db.store.kbs.list(stranger)).toEqual([]);
  expect(await db.store.kbs.findAll(stranger, [kb.id])).toEqual([]);
  const other = await db.store.kbs.ensure(stranger, "manual");
  expect(other.created).toBe(true);
  expect(other.kb.id).not.toBe(kb.id);
  expect((await db.store.kbs.findAll(owner, [kb.id, other.kb.id])).map(({ id }) => id)).toEqual([kb.id]);
});

test("another project finds, changes, decides and removes no canned reply and no proposal", async () => {
  const { cannedReplies, proposals } = db.store;
  const { accepted } = await exchange(db.store, owner, newMessage(), ["answer"]);
  const reply = await cannedReplies.insert(owner, { name: "hello", text: "Hello." });
  const id = reply?.id ?? "";
  expect(await cannedReplies.find(stranger, id)).toBeNull();
  expect(await cannedReplies.update(stranger, { id }, { text: "forged" })).toMatchObject({ record: null });
  expect(await cannedReplies.remove(stranger, { id })).toBe(false);
  expect(await cannedReplies.listPage(stranger, { limit: 10 })).toEqual([]);
  expect(await cannedReplies.findTicketFacts(stranger, accepted.ticketId)).toBeNull();
  expect(await cannedReplies.find(owner, id)).toEqual(reply);
  expect(await cannedReplies.findTicketFacts(owner, accepted.ticketId)).not.toBeNull();

  const proposal = await proposals.insert(owner, {
    kbId: newId(),
    documentId: null,
    ticketId: accepted.ticketId,
    action: "add",
    title: "Title",
    question: null,
    before: "",
    after: "Text.",
    baseHash: null,
    createdBy: "test",
  });
  expect(await proposals.find(stranger, proposal.id)).toBeNull();
  expect(await proposals.reject(stranger, proposal.id, { versions: null, by: "eve", reason: null })).toBeNull();
  expect(await proposals.listPage(stranger, { limit: 10, searchesQuestions: true })).toEqual([]);
  expect(await proposals.findQuestion(stranger, accepted.ticketId)).toBeNull();
  expect(await proposals.findOperatorAnswer(stranger, accepted.ticketId)).toBeNull();
  expect(await proposals.find(owner, proposal.id)).toEqual(proposal);
});

test("another project finds no reply of an operator; failed and unsolicited ones are not listed", async () => {
  const { operatorReplies } = db.store;
  const { accepted } = await exchange(db.store, owner, newMessage(), ["answer"]);
  const { ticketId, messageId } = accepted;
  const send = (text: string, covers: string[], failure: string | null) =>
    db.sql(
      `INSERT INTO reviews (id, project_id, ticket_id, kind, actor, author, text, markdown, sources, answers_message_id,
         covers, due_at, finished_at, failure)
       VALUES ($1, $2, $3, 'send', 'ann', 'operator', $4, false, '[]', $5, $6, now(), now(), $7)`,
      [newId(), owner, ticketId, text, messageId, covers, failure],
    );
  await send("sent", [messageId], null);
  await send("failed", [messageId], "it broke");
  await send("unasked", [], null);
  const query = { agentId: newId(), ticketIds: [ticketId], from: null, to: null, limit: 10 };
  const found = await operatorReplies.list(owner, query);
  expect(found).toMatchObject([{ home: owner, ticketId, messageId, text: "sent", decision: "reply" }]);
  expect(found[0]?.questions).toHaveLength(1);
  expect(await operatorReplies.list(stranger, query)).toEqual([]);
  expect(await operatorReplies.list(owner, { ...query, ticketIds: null })).toEqual([]);
  expect([...(await operatorReplies.findTickets(owner, [ticketId]))]).toEqual([ticketId]);
  expect((await operatorReplies.findTickets(stranger, [ticketId])).size).toBe(0);

  await db.sql("UPDATE tickets SET status = 'spam' WHERE id = $1", [ticketId]);
  expect(await operatorReplies.list(owner, query)).toEqual([]);
});
