import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Deadline, DeadlineFacts, ProjectId } from "@svc/store";
import { waitFor } from "@svc/testing";
import { answeredRun, claimNow, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
  project = await db.newProject();
  await db.store.projects.update(project, { slaTargets: [{ firstReplyMinutes: 30 }] });
});
afterAll(() => db.close());

const DRAFT = { text: "The draft.", markdown: false, sources: [], confidence: 0.4, why: "not sure" };

/** Processes a message of a chat, which is then held for review, or is answered. */
async function processMessage(chatId: string, outcome: "held" | "answered", of = project): Promise<string> {
  const { store } = db;
  const { ticketId } = await store.messages.accept(of, newMessage({ chatId }));
  const message = await claimNow(store, of, ticketId);
  await store.tickets.open(of, message);
  const held = { state: "held", stage: "review", status: "open", draft: DRAFT } as const;
  await store.tickets.finish(of, outcome === "held" ? answeredRun(message, [], held) : answeredRun(message, ["Yes."]));
  return ticketId;
}

/** Processes events until `ticketId` was passed to `deadlinesOf`; returns the facts of each call. */
async function follow(ticketId: string, deadlinesOf: (facts: DeadlineFacts) => Deadline[]): Promise<DeadlineFacts> {
  const seen: DeadlineFacts[] = [];
  await waitFor(
    async () => {
      await db.store.ticketIndex.follow((facts) => {
        if (facts.ticketId !== ticketId) return [];
        seen.push(facts);
        return deadlinesOf(facts);
      });
      return seen.length > 0;
    },
    { what: "the ticket to be followed" },
  );
  const [facts] = seen;
  if (facts === undefined) throw new Error("the ticket was not followed");
  return facts;
}

const dueIn = (ms: number) => (facts: DeadlineFacts) => [
  { kind: "first_reply" as const, startedAt: facts.waitingSince ?? facts.updatedAt, dueAt: new Date(Date.now() + ms) },
];
const breachesOf = (ticketId: string) =>
  db.sql<{ data: Record<string, unknown> }>(
    "SELECT data FROM ticket_events WHERE ticket_id = $1 AND data ->> 'decision' = 'sla_breached'",
    [ticketId],
  );
const listed = async (overdue?: boolean) => {
  const query = { sort: "dueAt", limit: 100, words: null, after: undefined, overdue } as const;
  return (await db.store.ticketList.listPage(project, query)).tickets;
};

describe("deadlines", () => {
  test("are computed from the oldest message without a reply, and shown in lists with the most urgent first", async () => {
    const later = await processMessage("later", "held");
    const facts = await follow(later, dueIn(3_600_000));
    const [message] = await db.sql<{ createdAt: Date }>(
      'SELECT created_at AS "createdAt" FROM messages WHERE ticket_id = $1',
      [later],
    );
    expect(facts).toMatchObject({
      stage: "review",
      firstReplyAt: null,
      resolutionStartedAt: null,
      slaTargets: [{ firstReplyMinutes: 30 }],
      businessHours: null,
    });
    expect(facts.waitingSince).toEqual(message?.createdAt);
    // An agent's answer to another question does not end the wait.
    await processMessage("later", "answered");
    expect((await follow(later, dueIn(3_600_000))).waitingSince).toEqual(message?.createdAt);
    const none = await processMessage("none", "answered");
    expect((await follow(none, () => [])).waitingSince).toBeNull();
    const sooner = await processMessage("sooner", "held");
    await follow(sooner, dueIn(60_000));

    const tickets = await listed();
    expect(tickets.map(({ id }) => id)).toEqual([sooner, later, none]);
    expect(tickets.map(({ deadline }) => deadline?.kind ?? null)).toEqual(["first_reply", "first_reply", null]);
    expect(await listed(true)).toEqual([]);
  });

  test("that have passed are recorded once, with an event, and are overdue until they end", async () => {
    const ticketId = await processMessage("late", "held");
    await follow(ticketId, dueIn(-1_000));
    expect((await db.store.dueWork.find()).deadlines).toBe(true);
    expect(await db.store.ticketIndex.recordBreaches()).toBe(1);
    expect(await db.store.ticketIndex.recordBreaches()).toBe(0);
    expect((await db.store.dueWork.find()).deadlines).toBe(false);
    expect(await breachesOf(ticketId)).toEqual([
      { data: { decision: "sla_breached", target: "first_reply", dueAt: expect.any(String) } },
    ]);
    expect((await listed(true)).map(({ id }) => id)).toEqual([ticketId]);

    await processMessage("late", "answered");
    await follow(ticketId, () => []);
    expect(await listed(true)).toEqual([]);
    expect(await db.store.ticketIndex.recordBreaches()).toBe(0);
    expect(await breachesOf(ticketId)).toHaveLength(1);
  });

  test("are not recorded as passed while a change of the ticket is not processed", async () => {
    const ticketId = await processMessage("answered-in-time", "held");
    await follow(ticketId, dueIn(-1_000));
    await processMessage("answered-in-time", "answered");
    expect(await db.store.ticketIndex.recordBreaches()).toBe(0);
    await follow(ticketId, () => []);
    expect(await db.store.ticketIndex.recordBreaches()).toBe(0);
    expect(await breachesOf(ticketId)).toEqual([]);
  });

  test("are not read for tickets of a project without targets", async () => {
    const other = await db.newProject();
    const without = await processMessage("without", "held", other);
    const withTargets = await processMessage("with", "held");
    const seen: string[] = [];
    await waitFor(
      async () => {
        await db.store.ticketIndex.follow(({ ticketId }) => {
          seen.push(ticketId);
          return [];
        });
        return seen.includes(withTargets);
      },
      { what: "the ticket to be followed" },
    );
    expect(seen).not.toContain(without);
    expect(await db.sql("SELECT FROM ticket_deadlines WHERE ticket_id = $1", [without])).toEqual([]);
  });
});
