import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { openMailer, parseSmtpUrl } from "@svc/outbound";
import type { Mailer } from "@svc/outbound";
import type { Queues } from "@svc/queue";
import type { ProjectId } from "@svc/store";
import { startSmtpServer, testLog, waitFor } from "@svc/testing";
import type { SmtpReceiver } from "@svc/testing";
import type { Work } from "@svc/work";
import { sendEmails } from "../../../apps/pipeline/src/email/send-emails.ts";
import { exchange, newMessage, openTestStore } from "../store/open-test-store.ts";
import type { TestStore } from "../store/open-test-store.ts";

let db: TestStore;
let project: ProjectId;
let smtp: SmtpReceiver;
let mailer: Mailer;
let works: Work<string>;

beforeAll(async () => {
  db = await openTestStore();
  project = await db.newProject();
});
afterAll(() => db.close());
beforeEach(async () => {
  smtp = await startSmtpServer();
  ({ mailer, works } = open(smtp.url));
});
afterEach(async () => {
  await works.stop();
  mailer.close();
  await smtp.close();
});

/** Starts email delivery of one process with a mail server. */
function open(url: string) {
  const server = parseSmtpUrl(url);
  if (server === null) throw new Error("not the URL of a mail server");
  const opened = openMailer(server, { name: "Example support", address: "support@example.com" });
  // Only sweeps use the queues.
  const push = () => Promise.reject(new Error("no browser is subscribed"));
  const context = { store: db.store, queues: {} as Queues, log: testLog(), mailer: opened, push };
  const config = { consoleUrl: "https://console.example.com", widgetUrl: "https://chat.example.com" };
  return { mailer: opened, works: sendEmails({ ...context, config }, { delaysMs: [0] }) };
}

let count = 0;
/** Creates an operator of the project. */
async function newOperator(notifications: object = {}, role: "operator" | "viewer" = "operator") {
  const email = `ann${++count}@example.com`;
  const record = await db.store.operators.insert({ email, name: `Ann ${count}`, roles: [{ project, role }] });
  if (record === null) throw new Error("the address is taken");
  await db.sql("UPDATE operators SET notifications = $2 WHERE id = $1", [record.id, JSON.stringify(notifications)]);
  return { id: record.id, email };
}

async function newTicket(subject = "Where is my parcel?"): Promise<string> {
  const { accepted } = await exchange(db.store, project, newMessage({ text: subject }), []);
  return accepted.ticketId;
}

/** Records an event of a ticket and processes it, and makes its notifications due. */
async function happen(ticketId: string, data: object, { actor = "key:1", moves = [] as object[] } = {}) {
  await db.sql("INSERT INTO ticket_events (ticket_id, project_id, actor, data, moves) VALUES ($1, $2, $3, $4, $5)", [
    ticketId,
    project,
    actor,
    JSON.stringify(data),
    JSON.stringify(moves),
  ]);
  await db.store.ticketIndex.follow(() => [], { sendsEmails: true });
  await makeDue();
}
const makeDue = () => db.sql("UPDATE email_notifications SET next_at = now() WHERE finished_at IS NULL");

async function assign(ticketId: string, operatorId: string, actor?: string): Promise<void> {
  const assignee = `operator:${operatorId}`;
  await db.sql("UPDATE tickets SET assignee = $2 WHERE id = $1", [ticketId, assignee]);
  await happen(ticketId, { assignee }, { actor });
}

const statesOf = (operatorId: string) =>
  db.sql<{ kind: string; outcome: string | null }>(
    "SELECT kind, outcome FROM email_notifications WHERE operator_id = $1 ORDER BY kind, source",
    [operatorId],
  );

describe("an operator gets an email", () => {
  test("once when another operator assigns a ticket, however often its event is read", async () => {
    const { id, email } = await newOperator();
    const ticketId = await newTicket();
    await assign(ticketId, id);
    await db.store.ticketIndex.follow(() => [], { sendsEmails: true });
    await Promise.all([works.process(id), works.process(id)]);
    await works.process(id);
    expect(smtp.emails.map(({ recipients }) => recipients)).toEqual([[email]]);
    const { parsed } = await smtp.next();
    expect(parsed.subject).toMatch(/Assigned to you: Where is my parcel\?$/);
    expect(parsed.from).toEqual({ name: "Example support", address: "support@example.com" });
    expect(parsed.text).toContain(`/inbox/all/${ticketId}`);
    expect(parsed.html).toBeUndefined();
    expect(await statesOf(id)).toEqual([{ kind: "assigned", outcome: "sent" }]);
  });

  test("with all events that concern them, and none for their own actions or disabled events", async () => {
    const { id } = await newOperator({ mentioned: false, needsReview: true });
    const first = await newTicket();
    await assign(first, id);
    await db.sql("UPDATE tickets SET stage = 'review' WHERE id = $1", [first]);
    await happen(first, {}, { moves: [{ to: "review" }] });
    await happen(first, { note: "Look", mentions: [id] });
    await assign(await newTicket(), id, `operator:${id}`);
    await works.process(id);
    const { parsed } = await smtp.next();
    expect(parsed.subject).toMatch(/^2 notifications: /);
    expect(smtp.emails).toHaveLength(1);
    expect((await statesOf(id)).map(({ kind }) => kind)).toEqual(["assigned", "needs_review"]);
  });

  test("when a note mentions them, with its text as plain lines that cannot add headers", async () => {
    const { id } = await newOperator({}, "viewer");
    const ticketId = await newTicket();
    const subject = "Hi\r\nBcc: victim@example.com\u202e\u0007 <script>";
    await db.sql("UPDATE tickets SET subject = $2 WHERE id = $1", [ticketId, subject]);
    const note = "First\r\n.\r\nBcc: x@example.com\n\n<b>bold</b>\u202e";
    await happen(ticketId, { note, mentions: [id] });
    await works.process(id);
    const { parsed, raw, recipients } = await smtp.next();
    expect(recipients).toHaveLength(1);
    expect(parsed.bcc).toBeUndefined();
    expect(parsed.headers.map(({ key }) => key)).not.toContain("bcc");
    expect(raw.split(/\r\n\r\n/)[0]).not.toMatch(/^bcc:/im);
    expect(/\p{C}/u.test(parsed.subject ?? "")).toBe(false);
    expect(parsed.text).toContain("> .\n> Bcc: x@example.com\n> \n> <b>bold</b>");
  });
});

describe("an email is withdrawn", () => {
  test("if the ticket was assigned to another operator meanwhile", async () => {
    const [ann, ben] = [await newOperator(), await newOperator()];
    const ticketId = await newTicket();
    await assign(ticketId, ann.id);
    await assign(ticketId, ben.id);
    await works.process(ann.id);
    expect(await statesOf(ann.id)).toEqual([{ kind: "assigned", outcome: "withdrawn" }]);
    expect(smtp.emails).toEqual([]);
  });

  test("if the operator has opened the ticket, lost the role or been disabled", async () => {
    const [ann, ben, kim] = [await newOperator(), await newOperator(), await newOperator()];
    const sessionId = "018f0000-0000-7000-8000-000000000001";
    await db.sql("INSERT INTO operator_sessions (id, operator_id, hash) VALUES ($1, $2, '\\x01')", [sessionId, ann.id]);
    for (const { id } of [ann, ben, kim]) {
      const ticketId = await newTicket();
      await assign(ticketId, id);
      if (id !== ann.id) continue;
      const shown = { operatorId: id, ticketId, isTyping: false };
      await db.store.operatorPresence.put(project, { sessionId, tab: "a" }, shown);
      await db.store.operatorPresence.remove({ sessionId, tab: "a" });
    }
    await db.store.operators.update(ben.id, { roles: [] }, null);
    await db.store.operators.update(kim.id, { disabled: true }, null);
    for (const { id } of [ann, ben, kim]) {
      await works.process(id);
      expect(await statesOf(id)).toEqual([{ kind: "assigned", outcome: "withdrawn" }]);
    }
    expect(smtp.emails).toEqual([]);
  });
});

describe("an email waits", () => {
  test("until the quiet hours end", async () => {
    const hour = new Date().getUTCHours();
    const time = (offset: number) => `${String((hour + offset + 24) % 24).padStart(2, "0")}:00`;
    const { id } = await newOperator({ quietHours: [time(-1), time(2)] });
    await assign(await newTicket(), id);
    await works.process(id);
    expect(smtp.emails).toEqual([]);
    const [row] = await db.sql<{ waits: boolean; attempts: number }>(
      "SELECT next_at > now() AS waits, attempts FROM email_notifications WHERE operator_id = $1",
      [id],
    );
    expect(row).toEqual({ waits: true, attempts: 0 });
  });
});

describe("a failing mail server loses nothing", () => {
  test.each([
    ["is down", "cut"],
    ["rejects the sender", { rejectAt: "sender", code: 550 }],
    ["rejects the text for now", { rejectAt: "text", code: 451 }],
  ] as const)("if it %s: the email is sent later, with the same Message-ID", async (_what, script) => {
    const { id } = await newOperator();
    await assign(await newTicket(), id);
    smtp.answerWith(script);
    await works.process(id);
    await waitFor(async () => (await db.store.emailNotifications.readState()).failing > 0, {
      what: "a failed attempt",
    });
    const [before] = await db.sql<{ emailId: string }>(
      'SELECT email_id AS "emailId" FROM email_notifications WHERE operator_id = $1',
      [id],
    );
    smtp.answerWith("accept");
    await makeDue();
    await works.process(id);
    const { parsed } = await smtp.next();
    expect(parsed.messageId).toBe(`<${before?.emailId}@example.com>`);
    expect(await statesOf(id)).toEqual([{ kind: "assigned", outcome: "sent" }]);
  });

  test("and a rejected recipient is not retried", async () => {
    const { id } = await newOperator();
    await assign(await newTicket(), id);
    smtp.answerWith({ rejectAt: "recipient", code: 550 });
    await works.process(id);
    expect(await statesOf(id)).toEqual([{ kind: "assigned", outcome: "failed" }]);
  });
});

test("without a mail server, events leave no notifications", async () => {
  const { id } = await newOperator();
  const ticketId = await newTicket();
  await db.sql("INSERT INTO ticket_events (ticket_id, project_id, actor, data) VALUES ($1, $2, 'key:1', $3)", [
    ticketId,
    project,
    JSON.stringify({ mentions: [id] }),
  ]);
  await db.store.ticketIndex.follow(() => []);
  expect(await statesOf(id)).toEqual([]);
});

test("a digest is sent once a day, and not to an operator without open work", async () => {
  const { id } = await newOperator({ digest: true });
  const ticketId = await newTicket();
  await db.store.ticketIndex.follow(() => []);
  await db.sql("UPDATE ticket_list SET assignee = $2, status = 'open' WHERE ticket_id = $1", [
    ticketId,
    `operator:${id}`,
  ]);
  expect(await db.store.emailNotifications.insertDigest(id, "2026-11-29")).toBe(true);
  expect(await db.store.emailNotifications.insertDigest(id, "2026-11-29")).toBe(false);
  await works.process(id);
  const { parsed } = await smtp.next();
  expect(parsed.subject).toBe("Open work on 2026-11-29");
  expect(parsed.text).toMatch(/: 1 assigned to you, 0 to review, 0 overdue/);

  const idle = await newOperator({ digest: true });
  await db.store.emailNotifications.insertDigest(idle.id, "2026-11-29");
  await works.process(idle.id);
  expect(await statesOf(idle.id)).toEqual([{ kind: "digest", outcome: "withdrawn" }]);
});
