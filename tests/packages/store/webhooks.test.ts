import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { WEBHOOK_LIMITS } from "@svc/contracts";
import type { EventType } from "@svc/contracts";
import { newId } from "@svc/store";
import type { ProjectId, Webhook } from "@svc/store";
import { waitFor } from "@svc/testing";
import { Client } from "pg";
import { answeredRun, claimNow, newMessage, openAndFinish, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(() => db.close());

beforeEach(async () => {
  project = await db.newProject();
});

const NEW = {
  description: "",
  url: "https://example.com/",
  secret: { sealed: "sealed" },
  channels: [],
  agentIds: [],
  priorities: [],
  isActive: true,
  createdBy: "test",
};

async function addWebhook(events: EventType[], of = project): Promise<Webhook> {
  const webhook = await db.store.webhooks.insert(of, { ...NEW, events });
  if (webhook === null) throw new Error("the webhook was not made");
  return webhook;
}

/** Answers a message of a chat; returns its ticket. */
async function answer(chatId: string, of = project): Promise<string> {
  const { store } = db;
  const { ticketId } = await store.messages.accept(of, newMessage({ chatId }));
  await openAndFinish(store, answeredRun(await claimNow(store, of, ticketId), ["Yes."]));
  return ticketId;
}

/** Processes events until all committed ones are done. */
const settle = () =>
  waitFor(
    async () => {
      while (await db.store.ticketIndex.follow(() => []));
      return !(await db.store.dueWork.find()).ticketEvents;
    },
    { what: "the events to be followed" },
  );

const deliveriesOf = ({ id }: Webhook) =>
  db.sql<{ id: string; type: string; subject: string; sequence: string; event: string }>(
    `SELECT id, type, subject_id AS subject, ticket_id AS sequence, message_id AS event FROM deliveries
     WHERE webhook_id = $1 ORDER BY place`,
    [id],
  );

describe("events of tickets", () => {
  test("are sent once to each webhook that selects them, with one id, in a separate sequence", async () => {
    const one = await addWebhook(["ticket.replied", "ticket.created"]);
    const other = await addWebhook(["ticket.created"]);
    const ticketId = await answer("chat");
    await settle();
    await settle();
    const made = await deliveriesOf(one);
    expect(made.map(({ type, subject }) => [type, subject])).toEqual([
      ["ticket.created", ticketId],
      ["ticket.replied", ticketId],
    ]);
    const [created] = await deliveriesOf(other);
    expect(created?.event).toBe(made[0]?.event);
    // Callbacks of the chat, and other webhooks, do not wait for them.
    expect(new Set([ticketId, created?.sequence, ...made.map(({ sequence }) => sequence)]).size).toBe(3);
    expect(await db.store.deliveries.claim(project, ticketId)).toBeNull();
    const claimed = await db.store.deliveries.claim(project, made[0]?.sequence ?? "");
    expect(claimed).toMatchObject({ id: made[0]?.id, event: { webhookId: one.id, subjectId: ticketId } });
  });

  test("are not lost if their transaction commits after later ones", async () => {
    const webhook = await addWebhook(["ticket.replied", "ticket.rated"]);
    const ticketId = await answer("late");
    await settle();
    const client = new Client({ connectionString: db.url });
    await client.connect();
    try {
      await client.query("BEGIN");
      await client.query(
        `INSERT INTO ticket_events (ticket_id, project_id, actor, data)
         VALUES ($1, $2, 'visitor', '{"decision": "rate", "score": 5}')`,
        [ticketId, project],
      );
      const later = await answer("later");
      // The later one waits too: processing it would skip the uncommitted one.
      for (let step = 0; step < 3; step += 1) await db.store.ticketIndex.follow(() => []);
      expect((await deliveriesOf(webhook)).map(({ type }) => type)).toEqual(["ticket.replied"]);
      await client.query("COMMIT");
      await settle();
      expect((await deliveriesOf(webhook)).map(({ type, subject }) => [type, subject])).toEqual([
        ["ticket.replied", ticketId],
        ["ticket.rated", ticketId],
        ["ticket.replied", later],
      ]);
    } finally {
      await client.end();
    }
  });

  test("before a webhook was created or activated, and of other projects, are not sent", async () => {
    const other = await db.newProject();
    await answer("before");
    await settle();
    const webhook = await addWebhook(["ticket.created"]);
    await answer("elsewhere", other);
    await settle();
    const { id } = webhook;
    await db.store.webhooks.update(project, { id }, { isActive: false });
    await answer("inactive");
    await db.store.webhooks.update(project, { id }, { isActive: true });
    await settle();
    expect(await deliveriesOf(webhook)).toEqual([]);
    const seen = await answer("active");
    await settle();
    expect((await deliveriesOf(webhook)).map(({ subject }) => subject)).toEqual([seen]);
  });
});

describe("deliveries of events", () => {
  test("are deleted with their webhook, their attempts too", async () => {
    const webhook = await addWebhook(["ticket.created"]);
    await answer("deleted");
    await settle();
    const [made] = await deliveriesOf(webhook);
    const claimed = await db.store.deliveries.claim(project, made?.sequence ?? "");
    if (claimed === null) throw new Error("nothing was claimed");
    expect(await db.store.deliveries.begin(claimed)).toMatchObject({ webhook: { isActive: true } });
    expect(await db.store.webhooks.remove(project, { id: webhook.id })).toBe(true);
    expect(await deliveriesOf(webhook)).toEqual([]);
    const attempts = await db.sql("SELECT 1 FROM delivery_attempts WHERE delivery_id = $1", [made?.id]);
    expect(attempts).toEqual([]);
  });

  test("are deleted with the erased conversation", async () => {
    const webhook = await addWebhook(["ticket.created"]);
    const ticketId = await answer("erased");
    await settle();
    expect(await deliveriesOf(webhook)).toHaveLength(1);
    await db.store.erasures.erase(project, ticketId);
    expect(await deliveriesOf(webhook)).toEqual([]);
    expect(await db.store.webhooks.findTicketEvent(ticketId, 1)).toBeNull();
  });

  test("are deleted some time after they are finished, and not before", async () => {
    const webhook = await addWebhook(["ticket.created"]);
    for (const chatId of ["old", "new", "pending"]) await answer(chatId);
    await settle();
    const [old, recent, pending] = await deliveriesOf(webhook);
    const finish = (id: string | undefined, days: number) =>
      db.sql("UPDATE deliveries SET state = 'delivered', finished_at = now() - $2 * interval '1 day' WHERE id = $1", [
        id,
        days,
      ]);
    await finish(old?.id, WEBHOOK_LIMITS.keptDays + 1);
    await finish(recent?.id, WEBHOOK_LIMITS.keptDays - 1);
    expect(await db.store.webhooks.deleteOldDeliveries(100)).toBe(1);
    expect((await deliveriesOf(webhook)).map(({ id }) => id)).toEqual([recent?.id, pending?.id]);
  });
});

test("a project has a limited number of webhooks", async () => {
  await Promise.all(
    Array.from({ length: WEBHOOK_LIMITS.maxCount + 2 }, () =>
      db.store.webhooks.insert(project, { ...NEW, events: ["ticket.created"] }),
    ),
  );
  const all = await db.store.webhooks.listPage(project, { limit: 100 });
  expect(all).toHaveLength(WEBHOOK_LIMITS.maxCount);
  expect(await db.store.webhooks.find(await db.newProject(), all[0]?.id ?? newId())).toBeNull();
});
