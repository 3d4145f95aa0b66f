import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { readUnsubscribeToken } from "../../../packages/channel-manager/src/unsubscribe-token.ts";
import { updateCustomer } from "../../../packages/operations/src/index.ts";
import { openMailer, parseSmtpUrl } from "@svc/outbound";
import type { Mailer } from "@svc/outbound";
import type { Queues } from "@svc/queue";
import type { ProjectId } from "@svc/store";
import { startSmtpServer, testLog } from "@svc/testing";
import type { SmtpReceiver } from "@svc/testing";
import type { Work } from "@svc/work";
import { sendEmails } from "../../../apps/pipeline/src/email/send-emails.ts";
import { answeredRun, claimNow, exchange, newMessage, openAndFinish, openTestStore } from "../store/open-test-store.ts";
import type { TestStore } from "../store/open-test-store.ts";

let db: TestStore;
let project: ProjectId;
let smtp: SmtpReceiver;
let mailer: Mailer;
let works: Work<string>;

beforeAll(async () => {
  db = await openTestStore();
  const created = await db.store.projects.insert({ name: "shop", replyEmails: { delayMinutes: 5, recipients: "all" } });
  if (created === null) throw new Error("the project exists already");
  project = created.id;
  await db.store.channelsConfig.update("widget", { project: "shop", allowedOrigins: ["https://shop.example"] });
});
afterAll(() => db.close());
beforeEach(async () => {
  smtp = await startSmtpServer();
  const server = parseSmtpUrl(smtp.url);
  if (server === null) throw new Error("not the URL of a mail server");
  mailer = openMailer(server, { name: "Shop", address: "support@example.com" });
  const config = { consoleUrl: "https://console.example.com", widgetUrl: "https://chat.example.com" };
  // Only sweeps use the queues.
  const push = () => Promise.reject(new Error("no browser is subscribed"));
  const context = { store: db.store, queues: {} as Queues, log: testLog(), mailer, config, push };
  works = sendEmails(context, { delaysMs: [0] });
});
afterEach(async () => {
  await works.stop();
  mailer.close();
  await smtp.close();
});

let count = 0;
const newAddress = () => `mia${++count}@example.com`;
const page = { url: "https://shop.example/lamps?id=7#top", title: "Lamps" };

/** Processes the events of tickets, and creates their customers. */
async function follow(): Promise<void> {
  await db.store.ticketIndex.follow(() => [], { sendsEmails: true });
  while (await db.store.ticketTexts.indexNext(() => ({ ofText: [], ofCustomer: [] })));
}

interface Visit {
  email?: string | undefined;
  userId?: string;
  text?: string;
  pageUrl?: string;
  locale?: string;
}

/** A visitor asks and gets an answer while no browser is connected. Returns the ticket. */
async function ask(
  { email, userId, text = "Is it dimmable?", pageUrl = page.url, locale = "en" }: Visit,
  answer = "Yes, it is.",
) {
  const channelMeta = { page: { url: pageUrl }, locale, ...(email === undefined ? {} : { contact: { email } }) };
  const message = newMessage({ channelId: "widget", userId: userId ?? null, text, channelMeta });
  const { accepted } = await exchange(db.store, project, message, [answer]);
  await follow();
  return { ticketId: accepted.ticketId, chatId: message.chatId, message };
}

const makeDue = (ticketId: string) =>
  db.sql("UPDATE email_notifications SET next_at = now() WHERE ticket_id = $1 AND finished_at IS NULL", [ticketId]);
async function sendDue(ticketId: string): Promise<void> {
  await makeDue(ticketId);
  await works.process(ticketId);
}
const outcomesOf = async (ticketId: string) =>
  (
    await db.sql<{ outcome: string | null }>(
      "SELECT outcome FROM email_notifications WHERE ticket_id = $1 ORDER BY source",
      [ticketId],
    )
  ).map(({ outcome }) => outcome);

describe("a customer who has left gets a reply by email", () => {
  test("once, five minutes later, with the question and a link back, to a verified address", async () => {
    const email = newAddress();
    const { ticketId } = await ask({ userId: email });
    const [row] = await db.sql<{ waits: number }>(
      "SELECT round(extract(epoch FROM next_at - created_at))::integer AS waits FROM email_notifications WHERE ticket_id = $1",
      [ticketId],
    );
    expect(row?.waits).toBeGreaterThan(290);
    await works.process(ticketId);
    expect(smtp.emails).toEqual([]);
    await follow();
    await makeDue(ticketId);
    await Promise.all([works.process(ticketId), works.process(ticketId)]);
    await works.process(ticketId);
    const { parsed, recipients } = await smtp.next();
    expect(smtp.emails).toHaveLength(1);
    expect(recipients).toEqual([email]);
    expect(parsed.html).toBeUndefined();
    expect(parsed.text).toContain("Yes, it is.");
    expect(parsed.text).toContain("> Is it dimmable?");
    expect(parsed.text).toContain(page.url);
    expect(await outcomesOf(ticketId)).toEqual(["sent"]);
  });

  test("with several replies in one email, including those that are not due yet", async () => {
    const { ticketId, message } = await ask({ userId: newAddress() }, "First.");
    const second = await db.store.messages.accept(project, { ...message, text: "And the cable?" });
    const claimed = await claimNow(db.store, project, second.ticketId);
    await makeDue(ticketId);
    await openAndFinish(db.store, answeredRun(claimed, ["Second."]));
    await follow();
    await works.process(ticketId);
    const { parsed } = await smtp.next();
    expect(parsed.text).toMatch(/First\.[^]*Second\./);
    await sendDue(ticketId);
    expect(smtp.emails).toHaveLength(1);
    expect(await outcomesOf(ticketId)).toEqual(["sent", "sent"]);
  });

  test("in the customer's language, with headers for one-click unsubscribe", async () => {
    const { ticketId } = await ask({
      userId: newAddress(),
      text: "Ist die Lampe dimmbar, und wie lang ist das Kabel?",
      locale: "de",
    });
    await sendDue(ticketId);
    const { parsed } = await smtp.next();
    const header = (name: string) => parsed.headers.find(({ key }) => key === name)?.value;
    expect(parsed.subject).toBe("Antwort auf Ihre Nachricht");
    expect(header("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
    const [, token = ""] =
      /^<https:\/\/chat\.example\.com\/unsubscribe\/([\w-]+)\?lang=de>$/.exec(header("list-unsubscribe") ?? "") ?? [];
    expect(readUnsubscribeToken(db.store.sealer, token)?.project).toBe(project);
    expect(readUnsubscribeToken(db.store.sealer, `${token.slice(0, -1)}${token.endsWith("A") ? "Q" : "A"}`)).toBeNull();
    expect(parsed.text).toContain(`https://chat.example.com/unsubscribe/${token}?lang=de`);
  });

  test("with foreign texts that cannot add headers, markup or hidden characters", async () => {
    const text = "Hi\r\n.\r\nBcc: victim@example.com\u202e\u0007 <script>";
    const { ticketId } = await ask({ userId: newAddress(), text }, "<b>Yes</b>\u202e\r\nBcc: x@example.com");
    await sendDue(ticketId);
    const { parsed, raw, recipients } = await smtp.next();
    expect(recipients).toHaveLength(1);
    expect(raw.split(/\r\n\r\n/)[0]).not.toMatch(/^bcc:/im);
    expect(parsed.html).toBeUndefined();
    expect(parsed.text).toContain("> .\n> Bcc: victim@example.com <script>");
    expect(parsed.text).not.toMatch(/[^\P{C}\n]/u);
  });
});

describe("an address from the form, which may be someone else's,", () => {
  test("gets the reply without what the visitor wrote, and a link without query", async () => {
    const email = newAddress();
    const { ticketId } = await ask({ email, text: "Buy pills at evil.example" });
    await sendDue(ticketId);
    const { parsed, recipients } = await smtp.next();
    expect(recipients).toEqual([email]);
    expect(parsed.text).toContain("Yes, it is.");
    expect(parsed.text).toContain("https://shop.example/lamps\n");
    expect(parsed.text).not.toMatch(/evil|id=7/);
  });

  test("gets nothing if the project sends to verified addresses only", async () => {
    await db.store.projects.update(project, { replyEmails: { delayMinutes: 5, recipients: "verified" } });
    const { ticketId } = await ask({ email: newAddress() });
    await sendDue(ticketId);
    await db.store.projects.update(project, { replyEmails: { delayMinutes: 5, recipients: "all" } });
    expect(smtp.emails).toEqual([]);
    expect(await outcomesOf(ticketId)).toEqual(["withdrawn"]);
  });

  test("gets at most three emails in 24 hours, whoever entered it; the others wait", async () => {
    const email = newAddress();
    for (let visitor = 0; visitor < 4; visitor++) {
      const { ticketId } = await ask({ email: visitor % 2 === 0 ? email : email.toUpperCase() });
      await sendDue(ticketId);
      expect(await outcomesOf(ticketId)).toEqual([visitor < 3 ? "sent" : null]);
    }
    expect(smtp.emails).toHaveLength(3);
  });

  test("gets nothing for any customer once the person has unsubscribed, until an operator undoes that", async () => {
    const email = newAddress();
    const first = await ask({ email });
    await sendDue(first.ticketId);
    const { parsed } = await smtp.next();
    const token = /unsubscribe\/([\w-]+)/.exec(parsed.text ?? "")?.[1] ?? "";
    const who = readUnsubscribeToken(db.store.sealer, token);
    if (who === null) throw new Error("the link has no valid token");
    await db.store.emailNotifications.unsubscribe(who.project, who.addressHash);
    const other = await ask({ email });
    await sendDue(other.ticketId);
    expect(await outcomesOf(other.ticketId)).toEqual(["withdrawn"]);
    expect(smtp.emails).toHaveLength(1);

    const operator = { actor: "key:test", keyId: "test", rateLimit: null, scopes: ["tickets:write" as const], project };
    await updateCustomer(
      { store: db.store },
      { ...operator, projectName: "shop" },
      { id: who.customerId },
      { unsubscribed: false },
    );
    const later = await ask({ email });
    await sendDue(later.ticketId);
    expect(await outcomesOf(later.ticketId)).toEqual(["sent"]);
  });

  test("is not unsubscribed by a person who enters the address after an email to their own address", async () => {
    const [own, victim] = [newAddress(), newAddress()];
    const first = await ask({ email: own });
    await sendDue(first.ticketId);
    const { parsed } = await smtp.next();
    const token = /unsubscribe\/([\w-]+)/.exec(parsed.text ?? "")?.[1] ?? "";
    const who = readUnsubscribeToken(db.store.sealer, token);
    if (who === null) throw new Error("the link has no valid token");
    await db.store.customers.update(who.project, { id: who.customerId }, { email: victim, unsubscribed: true });
    await db.store.emailNotifications.unsubscribe(who.project, who.addressHash);
    const other = await ask({ email: victim });
    await sendDue(other.ticketId);
    expect(await outcomesOf(other.ticketId)).toEqual(["sent"]);
  });
});

describe("no email is sent", () => {
  test.each([
    ["of a reply that a browser has fetched", "UPDATE replies SET delivered_at = now() WHERE ticket_id = $1"],
    [
      "of a reply that a browser has shown",
      "INSERT INTO visitors (ticket_id, project_id, read_seq) SELECT id, project_id, 99 FROM tickets WHERE id = $1",
    ],
    [
      "to a blocked customer",
      "UPDATE customers SET is_blocked = true WHERE id = (SELECT customer_id FROM ticket_customers WHERE ticket_id = $1)",
    ],
    ["of spam", "UPDATE tickets SET status = 'spam' WHERE id = $1"],
  ])("%s", async (_what, sql) => {
    const { ticketId } = await ask({ userId: newAddress() });
    await db.sql(sql, [ticketId]);
    await sendDue(ticketId);
    expect(await outcomesOf(ticketId)).toEqual(["withdrawn"]);
    expect(smtp.emails).toEqual([]);
  });

  test("to a customer without an address, and none is recorded for a project that sends none", async () => {
    const { ticketId } = await ask({});
    await sendDue(ticketId);
    expect(await outcomesOf(ticketId)).toEqual(["withdrawn"]);
    await db.store.projects.update(project, { replyEmails: null });
    const silent = await ask({ userId: newAddress() });
    expect(await outcomesOf(silent.ticketId)).toEqual([]);
    await db.store.projects.update(project, { replyEmails: { delayMinutes: 5, recipients: "all" } });
  });

  test("with a link to a page of another site", async () => {
    const { ticketId } = await ask({ userId: newAddress(), pageUrl: "https://evil.example/shop.example" });
    await sendDue(ticketId);
    const { parsed } = await smtp.next();
    expect(parsed.text).not.toContain("evil.example");
  });
});

test("a reply is sent with the same Message-ID after an attempt without a result", async () => {
  const { ticketId } = await ask({ userId: newAddress() });
  smtp.answerWith("cut");
  await sendDue(ticketId);
  const [before] = await db.sql<{ emailId: string }>(
    'SELECT email_id AS "emailId" FROM email_notifications WHERE ticket_id = $1',
    [ticketId],
  );
  smtp.answerWith("accept");
  await sendDue(ticketId);
  const { parsed } = await smtp.next();
  expect(parsed.messageId).toBe(`<${before?.emailId}@example.com>`);
  expect(await outcomesOf(ticketId)).toEqual(["sent"]);
});
