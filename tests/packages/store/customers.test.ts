import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { CustomerListQuery } from "@svc/contracts";
import { newId } from "@svc/store";
import type { CustomerRecord, NewMessage, ProjectId } from "@svc/store";
import { waitFor } from "@svc/testing";
import { answeredRun, exchange, newMessage, openTestStore } from "./open-test-store.ts";
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

/** Does the work of the pipeline's sweep until nothing is left to process. */
async function follow(): Promise<void> {
  const isSettled = async () => {
    while (await db.store.ticketIndex.follow(() => []));
    while (await db.store.ticketTexts.indexNext(() => ({ ofText: [], ofCustomer: [] })));
    const [state] = await db.sql<{ behind: boolean }>(
      "SELECT settled_id < (SELECT coalesce(max(id), 0) FROM ticket_events) AS behind FROM ticket_index",
    );
    return state?.behind === false;
  };
  await waitFor(isSettled, { what: "every event to be followed", timeoutMs: 30_000 });
}

/** Accepts a message and answers it, without processing its events; returns its ticket. */
async function say(change: Partial<NewMessage>): Promise<string> {
  const { accepted } = await exchange(db.store, project, newMessage(change), ["Hi."]);
  return accepted.ticketId;
}

const list = async (query: Partial<CustomerListQuery> = {}): Promise<CustomerRecord[]> =>
  (await db.store.customers.listPage(project, { limit: 50, ...query } as CustomerListQuery)).customers;

/** Returns the customer of a ticket, which must have one. */
async function customerOf(ticketId: string): Promise<CustomerRecord> {
  const ticket = await db.store.ticketDetails.find(project, ticketId);
  const customer = ticket?.customer ? await db.store.customers.find(project, ticket.customer.id) : null;
  if (customer === null) throw new Error(`ticket ${ticketId} has no customer`);
  return customer;
}

const visitor = (name: string, change: Partial<NewMessage> = {}): Partial<NewMessage> => ({
  channelId: "widget",
  chatId: `v_${name}`,
  mode: null,
  ...change,
});

describe("customers", () => {
  test("are created from each channel's data, with a stable friendly name per identity", async () => {
    const contact = { name: "Jonas Weber", email: "jonas@weber.example" };
    const tickets = [
      await say(visitor("1", { channelMeta: { contact } })),
      await say({ userId: "u-42", channelMeta: { customer: { phone: "+49 30 1234", timeZone: "Europe/Berlin" } } }),
      await say({
        channelId: "messenger",
        mode: null,
        userId: "77",
        channelMeta: { telegram: { from: { name: "Олена" } } },
      }),
      await say({ chatId: "form 7", channelMeta: { email: "kim@example.org" } }),
    ];
    const [anonymous, issue] = [await say({}), await say({ chatId: `issue:${newId()}`, userId: "mcp" })];
    await follow();
    const customers = await Promise.all(tickets.map(customerOf));
    expect(customers).toMatchObject([
      { name: "Jonas Weber", email: "jonas@weber.example", identities: [{ kind: "visitor", value: "v_1" }] },
      {
        externalId: "u-42",
        phone: "+49 30 1234",
        timeZone: "Europe/Berlin",
        identities: [{ kind: "user", value: "u-42" }],
      },
      { name: "Олена", externalId: null, identities: [{ kind: "telegram", value: "77" }] },
      { email: "kim@example.org", identities: [{ kind: "chat", value: "form 7" }] },
    ]);
    for (const { alias } of customers) expect(alias).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+$/);
    for (const ticketId of [anonymous, issue]) {
      expect((await db.store.ticketDetails.find(project, ticketId))?.customer).toBeNull();
    }
    expect((await list()).map(({ id }) => id).toSorted()).toEqual(customers.map(({ id }) => id).toSorted());

    const [, user] = customers;
    await db.store.erasures.erase(project, tickets[1] ?? "");
    expect(await db.store.customers.find(project, user?.id ?? "")).toBeNull();
    const again = await say({ userId: "u-42" });
    await follow();
    expect((await customerOf(again)).alias).toBe(user?.alias);
  });

  test("need no write for a message without new data, and are idempotent", async () => {
    const ticketId = await say({ userId: "u-1", chatId: "c", channelMeta: { name: "Ada" } });
    await follow();
    const rows = () => db.sql("SELECT xmin::text, ctid::text, * FROM customers WHERE project_id = $1", [project]);
    const links = () => db.sql("SELECT xmin::text FROM ticket_customers WHERE ticket_id = $1", [ticketId]);
    const before = [await rows(), await links()];
    await say({ userId: "u-1", chatId: "c" });
    await follow();
    await db.sql("INSERT INTO ticket_text_queue (ticket_id) VALUES ($1)", [ticketId]);
    await follow();
    expect([await rows(), await links()]).toEqual(before);
  });

  test("are one per user over all chats and channels, whatever the case of an email address", async () => {
    const tickets = [
      await say({ userId: "Maria@Kellerbau.example" }),
      await say(visitor("2", { userId: "maria@kellerbau.example" })),
      await say({ channelMeta: { userId: "MARIA@kellerbau.example" } }),
    ];
    await follow();
    const ids = (await Promise.all(tickets.map(customerOf))).map(({ id }) => id);
    expect(new Set(ids).size).toBe(1);
    const page = await db.store.ticketList.listPage(project, {
      limit: 10,
      sort: "-updatedAt",
      words: null,
      after: undefined,
      customerId: ids[0],
    });
    expect(page.tickets.map(({ id }) => id).toSorted()).toEqual(tickets.toSorted());
  });

  test("are one for conversations that are followed together, with the newest facts", async () => {
    const chat = (chatId: string, customer: object) => say({ chatId, userId: "u-7", channelMeta: { customer } });
    const tickets = [
      await chat("first", { name: "Ina", phone: "+49 30 1" }),
      await chat("second", { name: "Ina Vogt" }),
      await chat("third", { name: "Ina Vogt-Lang", timeZone: "Europe/Berlin" }),
    ];
    const other = await say({ chatId: "fourth", userId: "u-8" });
    await follow();
    const customers = await Promise.all(tickets.map(customerOf));
    expect(new Set(customers.map(({ id }) => id)).size).toBe(1);
    expect(customers[0]).toMatchObject({ name: "Ina Vogt-Lang", phone: "+49 30 1", timeZone: "Europe/Berlin" });
    expect((await customerOf(other)).id).not.toBe(customers[0]?.id);
  });

  test("are one per person for conversations of many people that are followed together", async () => {
    const returning = await say({ chatId: "known", userId: "p-0", channelMeta: { name: "P 0" } });
    await follow();
    const people = Array.from({ length: 12 }, (_, index) => index % 6);
    const tickets: string[] = [];
    for (const [index, person] of people.entries())
      tickets.push(
        await say({ chatId: `p-${index}`, userId: `p-${person}`, channelMeta: { phone: `+49 30 ${person}` } }),
      );
    await follow();
    const customers = await Promise.all(tickets.map(customerOf));
    expect(customers.map(({ externalId, phone }) => [externalId, phone])).toEqual(
      people.map((person) => [`p-${person}`, `+49 30 ${person}`]),
    );
    expect(customers[0]).toMatchObject({ id: (await customerOf(returning)).id, name: "P 0" });
    expect(await list()).toHaveLength(6);
  });

  test("are two if two users sign in at the same time in browsers of one unknown visitor", async () => {
    const [first, second] = [await say(visitor("7")), await say(visitor("8"))];
    await follow();
    const unknown = (await customerOf(first)).id;
    await db.store.customers.merge(project, unknown, (await customerOf(second)).id);
    const again = (name: string, userId: string) =>
      say(visitor(`${name}_again`, { userId, channelMeta: { firstChatId: `v_${name}` } }));
    const tickets = [await again("7", "u-a"), await again("8", "u-b")];
    await follow();
    const customers = await Promise.all(tickets.map(customerOf));
    expect(customers.map(({ externalId }) => externalId)).toEqual(["u-a", "u-b"]);
    expect(customers.filter(({ id }) => id === unknown)).toHaveLength(1);
  });

  test("are not joined by an unverified address from a form", async () => {
    const email = "boss@example.org";
    const tickets = [await say({ userId: email }), await say(visitor("3", { channelMeta: { contact: { email } } }))];
    await follow();
    const [first, second] = await Promise.all(tickets.map(customerOf));
    expect(second?.id).not.toBe(first?.id);
    expect((await list({ q: email })).map(({ id }) => id).toSorted()).toEqual([first?.id, second?.id].toSorted());
  });

  test("of a browser and of the user who signs in are merged, and the old ID redirects", async () => {
    const known = await say({ userId: "u-9", channelMeta: { name: "Mei Lin" } });
    const chat = visitor("4", { channelMeta: { contact: { name: "M." } } });
    const ticketId = await say(chat);
    await follow();
    const browser = await customerOf(ticketId);
    await say({ ...chat, userId: "u-9", channelMeta: {} });
    await follow();
    const customer = await customerOf(ticketId);
    expect(customer.id).toBe((await customerOf(known)).id);
    expect(await db.store.customers.find(project, browser.id)).toEqual(customer);
    expect(customer.identities).toEqual(expect.arrayContaining([{ kind: "visitor", value: "v_4" }]));
    expect(await list()).toHaveLength(1);
  });

  test("keep their chat when another user writes in it, without that user's data", async () => {
    const group = { channelId: "messenger", chatId: "-100", mode: null } as const;
    const from = (name: string) => ({ telegram: { from: { name } } });
    const ticketId = await say({ ...group, userId: "1", channelMeta: from("Ann") });
    await follow();
    const first = await customerOf(ticketId);
    await say({ ...group, userId: "2", channelMeta: from("Ben") });
    await follow();
    expect(await customerOf(ticketId)).toMatchObject({ id: first.id, name: "Ann", identities: first.identities });
  });

  test("get the newest data, except for fields that an operator has set", async () => {
    const ticketId = await say({ userId: "u", chatId: "c", channelMeta: { name: "Jo", phone: "+49 1111" } });
    await follow();
    const { id, version } = await customerOf(ticketId);
    const stale = await db.store.customers.update(project, { id, versions: [version + 1] }, { name: "Forged" });
    expect(stale).toMatchObject({ result: "stale", record: { name: "Jo" } });
    const changed = await db.store.customers.update(
      project,
      { id, versions: [version] },
      { name: "Jo March", email: null, attributes: { plan: "pro" } },
    );
    expect(changed).toMatchObject({ result: "changed", record: { version: version + 1 } });
    await say({ userId: "u", chatId: "c", channelMeta: { name: "x", email: "jo@example.org", phone: "+49 2222" } });
    await follow();
    expect(await customerOf(ticketId)).toMatchObject({
      name: "Jo March",
      email: null,
      phone: "+49 2222",
      attributes: { plan: "pro" },
    });
  });

  test("are found by name, address, external ID, attribute and identity, by literal text, in pages", async () => {
    const names = ["Zoë 100%_\\", "Anna", "Anna B"];
    for (const [index, name] of names.entries()) await say({ userId: `user-${index}`, channelMeta: { name } });
    await follow();
    const named = async (q: string) => (await list({ q })).map(({ name }) => name).toSorted();
    const [first] = await list({ q: "zoë" });
    await db.store.customers.update(project, { id: first?.id ?? "" }, { attributes: { Plan: "Enterprise" } });
    expect(await named("ANNA")).toEqual(["Anna", "Anna B"]);
    expect(await named("100%_\\")).toEqual(["Zoë 100%_\\"]);
    expect(await named("%")).toEqual(["Zoë 100%_\\"]);
    expect(await named("enterprise")).toEqual(["Zoë 100%_\\"]);
    expect(await named("user-1")).toEqual(["Anna"]);
    expect(await named(first?.alias.toUpperCase() ?? "")).toContain("Zoë 100%_\\");
    const pages: (string | null)[] = [];
    let after: CustomerListQuery["after"];
    do {
      const page = await db.store.customers.listPage(project, { limit: 1, after, q: undefined });
      pages.push(...page.customers.map(({ name }) => name));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(pages).toEqual([...names].toReversed());
  });

  test("are found without accents, by words in any order, and by a phone number however it is written", async () => {
    const people = [
      { name: "José Müller", phone: "+49 30 1234-567" },
      { name: "Kirsten Sørensen-Groß", phone: "0151 98 76 54 32" },
      { name: "Ирина Й", phone: "+49 (0)40 99 88 77" },
    ];
    for (const channelMeta of people) await say({ userId: channelMeta.name, channelMeta });
    await follow();
    const named = async (q: string) => (await list({ q })).map(({ name }) => name?.split(" ")[0]);
    for (const q of ["jose muller", "MÜLLER JOSÉ", "mull jos", "Jose\u0301"])
      expect([q, await named(q)]).toEqual([q, ["José"]]);
    expect(await named("sorensen-gross")).toEqual(["Kirsten"]);
    expect(await named("GROSS Kirsten Sørensen")).toEqual(["Kirsten"]);
    expect(await named("ирина")).toEqual(["Ирина"]);
    expect(await named("jose kirsten")).toEqual([]);
    for (const q of ["030 1234567", "+49301234567", "0049 30 1234 567", "(030) 12 34 567", "1234567"]) {
      expect([q, await named(q)]).toEqual([q, ["José"]]);
    }
    expect(await named("+49 151 98765432")).toEqual(["Kirsten"]);
    expect(await named("040-998877")).toEqual(["Ирина"]);
    expect(await named("99")).toEqual(["Ирина"]);
  });

  test("are merged by hand: conversations, identities and missing data move, and old links still work", async () => {
    const [one, other] = [
      await say({ userId: "a", channelMeta: { name: "Ann", phone: "+49 1111" } }),
      await say({ userId: "b", channelMeta: { name: "B", email: "b@example.org" } }),
    ];
    await follow();
    const [into, from] = [await customerOf(one), await customerOf(other)];
    const merged = await db.store.customers.merge(project, into.id, from.id);
    expect(merged).toMatchObject({ id: into.id, name: "Ann", phone: "+49 1111", email: "b@example.org" });
    expect(merged?.identities.map(({ value }) => value).toSorted()).toEqual(["a", "b"]);
    expect(await customerOf(other)).toEqual(merged);
    expect(await db.store.customers.find(project, from.id)).toEqual(merged);
    expect(await db.store.customers.merge(project, into.id, from.id)).toEqual(merged);
    expect(await db.store.customers.merge(project, into.id, newId())).toBeNull();
    await say({ userId: "b" });
    await follow();
    expect(await list()).toHaveLength(1);
    // Another conversation of the second one states its own facts again.
    await say({ userId: "b", channelMeta: { name: "B", phone: "+49 2222" } });
    await follow();
    expect(await customerOf(one)).toMatchObject({ name: "Ann", phone: "+49 1111" });
  });

  test("of which several are merged by hand keep each address and number, and are found by them", async () => {
    const emails = ["a@example.org", "b@example.org", "c@example.org", "b@example.org"];
    const tickets: string[] = [];
    for (const [at, email] of emails.entries()) {
      const channelMeta = { email, phone: "+49 1111" };
      tickets.push(await say({ userId: `u${at}`, channelMeta }));
      await follow();
    }
    const [into, ...others] = await Promise.all(tickets.map(customerOf));
    for (const { id } of others) await db.store.customers.merge(project, into?.id ?? "", id);
    const [merged, ...more] = await list({ q: "c@example.org" });
    expect(more).toEqual([]);
    expect(merged).toMatchObject({ id: into?.id, email: "a@example.org", phone: "+49 1111" });
    expect(merged?.attributes).toEqual({ email2: "b@example.org", email3: "c@example.org" });
  });
});

describe("a blocked customer", () => {
  const block = (id: string, isBlocked: boolean) => db.store.customers.update(project, { id }, { isBlocked });

  /**
   * Returns the status of the ticket of a message for its run, which either claims the message with its ticket or opens
   * the ticket itself.
   */
  async function statusOf(change: Partial<NewMessage>, opens: "by the claim" | "by the run"): Promise<string> {
    const { ticketId } = await db.store.messages.accept(project, newMessage(change));
    const isByClaim = opens === "by the claim";
    const claimed = await db.store.messages.claimConcurrently(project, ticketId, isByClaim ? 10 : null);
    if (claimed === null || "groupLimit" in claimed) throw new Error("the message was not claimed");
    const ticket = claimed.opened?.ticket ?? (await db.store.tickets.open(project, claimed));
    const { status } = ticket;
    await db.store.tickets.finish(project, answeredRun(claimed, [], { status }));
    return status;
  }

  test.each(["by the claim", "by the run"] as const)(
    "has every message stored and its ticket marked as spam %s, on every channel, until the block ends",
    async (opens) => {
      const known = { userId: "Eve@example.org", chatId: "known" };
      const telegram = { channelId: "messenger", mode: null, userId: "77" } as const;
      const tickets = [await say(known), await say(telegram), await say(visitor("9"))];
      await follow();
      const [eve, bot, browser] = await Promise.all(tickets.map(customerOf));
      for (const customer of [eve, bot, browser]) await block(customer?.id ?? "", true);
      const theirs: Partial<NewMessage>[] = [
        known,
        { userId: "Eve@example.org" },
        { userId: "eve@EXAMPLE.org" },
        { channelMeta: { userId: "Eve@example.org" } },
        visitor("signed in", { userId: "Eve@example.org" }),
        { ...telegram, chatId: "another chat" },
        visitor("9"),
      ];
      const others: Partial<NewMessage>[] = [
        {},
        { userId: "77" },
        { userId: "mallory" },
        visitor("10"),
        { chatId: `issue:${newId()}`, userId: "Eve@example.org" },
      ];
      for (const message of theirs) expect([message, await statusOf(message, opens)]).toEqual([message, "spam"]);
      for (const message of others) expect([message, await statusOf(message, opens)]).toEqual([message, "open"]);

      for (const customer of [eve, bot, browser]) await block(customer?.id ?? "", false);
      for (const message of [known, visitor("9"), { userId: "Eve@example.org" }]) {
        expect([message, await statusOf(message, opens)]).toEqual([message, "open"]);
      }
    },
  );

  test("is blocked in its own project only, and stays blocked when it is merged", async () => {
    const [first, second] = [await say({ userId: "a" }), await say({ userId: "b" })];
    await follow();
    const [one, other] = [await customerOf(first), await customerOf(second)];
    await block(other.id, true);
    expect(await db.store.customers.merge(project, one.id, other.id)).toMatchObject({ isBlocked: true });
    expect(await statusOf({ userId: "a" }, "by the claim")).toBe("spam");
    project = await db.newProject();
    expect(await statusOf({ userId: "a" }, "by the claim")).toBe("open");
  });
});

test("notes are listed by time, merged, exported and deleted, at most 100", async () => {
  const [first, second] = [await say({ userId: "a" }), await say({ userId: "b" })];
  await follow();
  const [one, other] = [await customerOf(first), await customerOf(second)];
  const { customers, erasures } = db.store;
  const add = (id: string, text: string) => customers.addNote(project, id, { author: "operator:x", text });
  await add(one.id, "first");
  await add(other.id, "second <script>");
  await add(one.id, "third");
  const merged = await customers.merge(project, one.id, other.id);
  expect(merged?.notes.map(({ text }) => text)).toEqual(["first", "second <script>", "third"]);
  const subject = { chatId: null, updatesChatId: null, userIds: ["a"], ticketIds: [] };
  const shown = [];
  for await (const { records } of erasures.readLoose(project, subject)) shown.push(...records);
  expect(shown).toMatchObject([{ isBlocked: false, notes: [{ author: "operator:x", text: "first" }, {}, {}] }]);

  const [note] = merged?.notes ?? [];
  expect(await customers.removeNote(await db.newProject(), one.id, note?.id ?? "")).toBeNull();
  const left = await customers.removeNote(project, one.id, note?.id ?? "");
  expect(left?.notes.map(({ text }) => text)).toEqual(["second <script>", "third"]);
  expect(await customers.removeNote(project, one.id, note?.id ?? "")).toBeNull();
  for (let count = 2; count < 100; count++) expect(await add(one.id, `note ${count}`)).not.toBeNull();
  expect(await add(one.id, "one too many")).toBeNull();
  expect((await customers.find(project, one.id))?.notes).toHaveLength(100);
});

describe("erasures and exports", () => {
  const owner = { chatId: null, updatesChatId: null };

  test("cover the customers of a subject, and remaining conversations create new ones", async () => {
    const [erased, kept] = [await say({ userId: "u-1", chatId: "c" }), await say(visitor("5"))];
    await follow();
    const [customer, other] = [await customerOf(erased), await customerOf(kept)];
    await db.store.customers.merge(project, customer.id, other.id);
    await db.store.customers.update(project, { id: customer.id }, { name: "Qzname" });
    const subject = { ...owner, userIds: ["u-1"], ticketIds: [erased] };
    const shown = [];
    for await (const { kind, records } of db.store.erasures.readLoose(project, subject)) shown.push({ kind, records });
    expect(shown).toMatchObject([{ kind: "customers", records: [{ name: "Qzname" }] }]);
    expect(await db.store.erasures.findTicketsOfCustomer(project, customer.id)).toEqual([erased, kept].toSorted());

    expect(await db.store.erasures.eraseLoose(await db.newProject(), subject)).toMatchObject({ customers: 0 });
    expect(await db.store.erasures.eraseLoose(project, subject)).toMatchObject({ customers: 1 });
    await db.store.erasures.erase(project, erased);
    expect(await list()).toEqual([]);
    await follow();
    expect(await list()).toMatchObject([{ name: null, identities: [{ kind: "visitor", value: "v_5" }] }]);
  });

  test("delete a customer with the last of the conversations, and with the project", async () => {
    const [first, last] = [await say({ userId: "u" }), await say({ userId: "u" })];
    await follow();
    expect(await db.store.erasures.erase(project, first)).toMatchObject({ customers: 0 });
    expect(await list()).toHaveLength(1);
    expect(await db.store.erasures.erase(project, last)).toMatchObject({ customers: 1 });
    const [left] = await db.sql<{ count: number }>(
      `SELECT (SELECT count(*) FROM customers WHERE project_id = $1)::integer
         + (SELECT count(*) FROM customer_identities WHERE project_id = $1)::integer AS count`,
      [project],
    );
    expect(left?.count).toBe(0);
  });
});

test("another project finds, changes and merges no customer", async () => {
  const [ticketId, stranger] = [await say({ userId: "u" }), await db.newProject()];
  await follow();
  const { id } = await customerOf(ticketId);
  const { customers } = db.store;
  expect(await customers.find(stranger, id)).toBeNull();
  expect(await customers.update(stranger, { id }, { name: "Forged" })).toEqual({ result: "stale", record: null });
  expect(await customers.merge(stranger, id, id)).toBeNull();
  expect((await customers.listPage(stranger, { limit: 9, after: undefined, q: "u" })).customers).toEqual([]);
  expect(await db.store.erasures.findTicketsOfCustomer(stranger, id)).toEqual([]);
});
