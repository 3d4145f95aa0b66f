import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { TICKET_SORTS } from "@svc/contracts";
import type { KeyPosition, TicketSort } from "@svc/contracts";
import { newId, ticketIdOf } from "@svc/store";
import type { NewMessage, NewReply, ProjectId, TicketFieldChange, TicketPageQuery, TicketRecord } from "@svc/store";
import { waitFor } from "@svc/testing";
import * as fc from "fast-check";
import { Client } from "pg";
import {
  answeredRun,
  claimNow,
  exchange,
  newMessage,
  openAndFinish,
  openTestStore,
  textReply,
} from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;
let other: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql("DELETE FROM tickets");
  [project, other] = [await db.newProject(), await db.newProject()];
});

const asked = (query: Partial<TicketPageQuery> = {}): TicketPageQuery => ({
  limit: 50,
  sort: "-updatedAt",
  words: null,
  after: undefined,
  ...query,
});
const listed = async (query: Partial<TicketPageQuery> = {}, of = project) =>
  (await db.store.ticketList.listPage(of, asked(query))).tickets.map(({ id }) => id);

const wordsIn = (text: string) => text.toLowerCase().split(/\W+/).filter(Boolean);

/** Does the work of the pipeline's sweep. */
async function followAll(): Promise<void> {
  while (await db.store.ticketIndex.follow(() => []));
  while (
    await db.store.ticketTexts.indexNext(({ indexed, subject, customer, texts }) => ({
      ofText: [...new Set([...(indexed ?? []), ...wordsIn([subject, ...texts].join(" "))])],
      ofCustomer: wordsIn(customer),
    }))
  );
}
/** Processes events until all are done, which waits for other transactions on this server. */
async function settle(): Promise<void> {
  const isSettled = async () => {
    await followAll();
    const [state] = await db.sql<{ behind: boolean }>(
      "SELECT settled_id < (SELECT coalesce(max(id), 0) FROM ticket_events) AS behind FROM ticket_index",
    );
    return state !== undefined && !state.behind;
  };
  await waitFor(isSettled, { what: "every event to be followed", timeoutMs: 30_000 });
}

async function makeTicket(text = "hello", chat: object = {}, answer = "Hi."): Promise<string> {
  const { accepted } = await exchange(db.store, project, newMessage({ text, ...chat }), [answer]);
  return accepted.ticketId;
}

const STATUSES = ["open", "pending", "resolved", "spam"] as const;
const STAGES = ["review", "done", "failed"] as const;
const PRIORITIES = ["low", "normal", "high", "urgent"] as const;
const CHANNELS = ["api", "widget", "messenger"] as const;
const AGENTS = [newId(), newId()] as const;
const PEOPLE = ["ann@example.com", "none-of-yours"] as const;
const TAGS = ["vip", "bug", "x:y"] as const;
const LANGUAGES = ["en", "de"] as const;
const USERS = ["u1", "u2"] as const;
const HOUR_MS = 3_600_000;
const BASE_MS = Date.UTC(2026, 0, 1);

const orNothing = <Value>(values: readonly Value[]) => fc.option(fc.constantFrom(...values), { nil: null });
const factsArbitrary = fc.record({
  status: fc.constantFrom(...STATUSES),
  stage: fc.constantFrom(...STAGES),
  priority: fc.constantFrom(...PRIORITIES),
  channel_id: fc.constantFrom(...CHANNELS),
  agent_id: orNothing(AGENTS),
  assignee: orNothing(PEOPLE),
  tags: fc.subarray([...TAGS]),
  language: orNothing(LANGUAGES),
  user_id: orNothing(USERS),
  createdHours: fc.nat({ max: 20 }),
  updatedHours: fc.nat({ max: 20 }),
  isForeign: fc.boolean(),
});
type Facts = typeof factsArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

const hours = fc.nat({ max: 22 }).map((count) => new Date(BASE_MS + count * HOUR_MS));
const sometimes = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined, freq: 4 });
/** Each filter is given in about one of six queries, so that most queries find something. */
const rarely = <Value>(values: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values });
const queryArbitrary = fc.record({
  sort: fc.constantFrom(...TICKET_SORTS),
  limit: fc.integer({ min: 1, max: 7 }),
  status: rarely(fc.constantFrom(...STATUSES)),
  stage: rarely(fc.constantFrom(...STAGES)),
  priority: rarely(fc.constantFrom(...PRIORITIES)),
  channelId: rarely(fc.constantFrom(...CHANNELS)),
  agentId: rarely(fc.constantFrom(...AGENTS)),
  assignee: rarely(fc.constantFrom("none", ...PEOPLE)),
  tag: rarely(fc.constantFrom(...TAGS, "none")),
  language: rarely(fc.constantFrom(...LANGUAGES)),
  userId: rarely(fc.constantFrom(...USERS)),
  createdFrom: rarely(hours),
  createdTo: rarely(hours),
  updatedFrom: rarely(hours),
  updatedTo: rarely(hours),
  needsReview: sometimes(fc.constant(false)),
});
type Query = typeof queryArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns whether a query matches a ticket, implemented independently of the SQL. */
function matches(query: Query, ticket: TicketRecord): boolean {
  const is = (asked: unknown, value: unknown) => asked === undefined || asked === value;
  return (
    is(query.status, ticket.status) &&
    is(query.stage, ticket.stage) &&
    is(query.priority, ticket.priority) &&
    is(query.channelId, ticket.channelId) &&
    is(query.agentId, ticket.agentId) &&
    is(query.assignee, ticket.assignee ?? "none") &&
    (query.tag === undefined || ticket.tags.includes(query.tag)) &&
    is(query.language, ticket.language) &&
    is(query.userId, ticket.userId) &&
    (query.createdFrom === undefined || ticket.createdAt >= query.createdFrom) &&
    (query.createdTo === undefined || ticket.createdAt < query.createdTo) &&
    (query.updatedFrom === undefined || ticket.updatedAt >= query.updatedFrom) &&
    (query.updatedTo === undefined || ticket.updatedAt < query.updatedTo)
  );
}

const KEYS = {
  createdAt: (ticket: TicketRecord) => ticket.createdAt.getTime(),
  updatedAt: (ticket: TicketRecord) => ticket.updatedAt.getTime(),
  // No project of this test has SLA targets.
  dueAt: () => 0,
  priority: (ticket: TicketRecord) => PRIORITIES.indexOf(ticket.priority) * 1e13 + ticket.updatedAt.getTime(),
};
function compare(sort: TicketSort, a: TicketRecord, b: TicketRecord): number {
  const sign = sort.startsWith("-") ? -1 : 1;
  const keyOf = KEYS[sort.replace("-", "") as keyof typeof KEYS];
  return sign * (keyOf(a) - keyOf(b) || (a.id < b.id ? -1 : 1));
}

/** Returns every page of a list, one after the other. */
async function readPages(query: Query): Promise<TicketRecord[]> {
  const all: TicketRecord[] = [];
  let after: KeyPosition | undefined;
  do {
    const page = await db.store.ticketList.listPage(project, asked({ ...query, after }));
    expect(page.tickets.length).toBeLessThanOrEqual(query.limit);
    all.push(...page.tickets);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return all;
}

async function change(id: string, facts: Facts | undefined): Promise<void> {
  if (facts === undefined) throw new Error("no facts");
  await db.sql(
    `WITH t AS (
       UPDATE tickets SET status = $2, stage = $3, priority = $4, channel_id = $5, agent_id = $6, assignee = $7,
         tags = $8, language = $9, user_id = $10, created_at = $11, updated_at = $12, home_project_id = $13,
         version = version + 1
       WHERE id = $1 RETURNING id, project_id
     ) INSERT INTO ticket_events (ticket_id, project_id, actor) SELECT id, project_id, 'test' FROM t`,
    [
      id,
      facts.status,
      facts.stage,
      facts.priority,
      facts.channel_id,
      facts.agent_id,
      facts.assignee,
      facts.tags,
      facts.language,
      facts.user_id,
      new Date(BASE_MS + facts.createdHours * HOUR_MS),
      new Date(BASE_MS + facts.updatedHours * HOUR_MS),
      facts.isForeign ? other : project,
    ],
  );
}

async function insertTickets(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await db.sql(
    `INSERT INTO tickets (id, home_project_id, project_id, channel_id, chat_id, subject)
     SELECT id, $2, $2, 'api', 'chat-' || id, 'subject' FROM unnest($1::uuid[]) AS i (id)`,
    [ids, project],
  );
  await db.sql(
    "INSERT INTO ticket_events (ticket_id, project_id, actor) SELECT id, $2, 'test' FROM unnest($1::uuid[]) AS i (id)",
    [ids, project],
  );
  return ids;
}

describe("a list of tickets", () => {
  test("applies filters, order and pages, whatever the state of the index", async () => {
    const facts = fc.sample(factsArbitrary, { numRuns: 60, seed: 5 });
    const ids = await insertTickets(facts.length);
    const half = Math.floor(ids.length / 2);
    const compareWithModel = async (seed: number) => {
      const tickets = await Promise.all(ids.map((id) => db.store.ticketDetails.findOpened(project, id)));
      const all = tickets.filter((ticket) => ticket !== null);
      for (const query of fc.sample(queryArbitrary, { numRuns: 20, seed })) {
        const meant = all.filter((ticket) => matches(query, ticket)).toSorted((a, b) => compare(query.sort, a, b));
        const read = await readPages(query);
        expect({ query, ids: read.map(({ id }) => id) }).toEqual({ query, ids: meant.map(({ id }) => id) });
        expect(read).toEqual(meant.map((ticket) => ({ ...ticket, lastMessage: null, waitingSince: null })));
      }
    };
    for (const [index, id] of ids.slice(0, half).entries()) await change(id, facts[index]);
    await settle();
    for (const [index, id] of ids.slice(half).entries()) await change(id, facts[index + half]);
    // Half of them are current in the index, half of them changed since.
    await compareWithModel(1);
    await settle();
    await compareWithModel(2);
    for (const [index, id] of ids.entries()) await change(id, facts[(index + 7) % ids.length]);
    await db.store.ticketIndex.follow(() => []);
    await compareWithModel(3);
  });

  test("keeps its order when tags change", async () => {
    const [older, newer] = [await makeTicket("older"), await makeTicket("newer")];
    const change: TicketFieldChange = { tags: ["vip"], priority: "high" };
    const record = await db.store.ticketDetails.update(project, older, { change, versions: null, actor: "key:1" });
    expect(record).toMatchObject({ tags: ["vip"], priority: "high" });
    expect(await listed()).toEqual([newer, older]);
    await settle();
    expect(await listed()).toEqual([newer, older]);
    expect(await listed({ tag: "vip" })).toEqual([older]);
  });

  test("keeps its version and gets no event if an update changes nothing", async () => {
    const ticketId = await makeTicket();
    const update = (change: TicketFieldChange) =>
      db.store.ticketDetails.update(project, ticketId, { change, versions: null, actor: "key:1" });
    const changed = await update({ tags: ["vip"], priority: "high" });
    const events = () => db.sql("SELECT id FROM ticket_events WHERE ticket_id = $1", [ticketId]);
    const before = await events();
    for (const change of [{}, { tags: ["vip"] }, { priority: "high" as const }]) {
      expect(await update(change)).toEqual(changed);
    }
    expect(await events()).toEqual(before);
  });

  test("shows the current state of a ticket immediately, even while it is processed", async () => {
    const ticketId = await makeTicket();
    expect(await listed()).toEqual([ticketId]);
    await settle();
    expect(await listed({ status: "pending" })).toEqual([ticketId]);
    await db.store.ticketDetails.update(project, ticketId, {
      change: { tags: ["new"] },
      versions: null,
      actor: "key:1",
    });
    expect(await listed({ tag: "new" })).toEqual([ticketId]);

    // A message in progress: its ticket is opened, and has no event yet.
    const chat = newMessage({ text: "second" });
    const { ticketId: inWork } = await db.store.messages.accept(project, chat);
    const claimed = await db.store.messages.claim(project, inWork);
    if (claimed === null) throw new Error("nothing was claimed");
    expect(await listed({ stage: "received" })).toEqual([]);
    await db.store.tickets.open(project, claimed);
    expect(await listed({ stage: "received" })).toEqual([inWork]);
  });

  test("finds a chat by its id, also one from another project", async () => {
    const ticketId = await makeTicket("mine", { chatId: "chat-1" });
    const { accepted } = await exchange(db.store, other, newMessage({ chatId: "chat-1" }), ["Hi."]);
    expect(await listed({ chatId: "chat-1" })).toEqual([ticketId]);
    expect(await listed({ chatId: "chat-2" })).toEqual([]);
    await db.sql("UPDATE tickets SET project_id = $2, version = version + 1 WHERE id = $1", [
      accepted.ticketId,
      project,
    ]);
    await db.sql("INSERT INTO ticket_events (ticket_id, project_id, actor) VALUES ($1, $2, 'key:1')", [
      accepted.ticketId,
      other,
    ]);
    expect((await listed({ chatId: "chat-1" })).toSorted()).toEqual([ticketId, accepted.ticketId].toSorted());
    expect(await listed({}, other)).toEqual([]);
    await settle();
    expect((await listed({ chatId: "chat-1" })).toSorted()).toEqual([ticketId, accepted.ticketId].toSorted());
    expect(await listed({}, other)).toEqual([]);
  });

  test("misses no change whose transaction commits after later ones", async () => {
    const [first, second] = [await makeTicket(), await makeTicket()];
    await settle();
    const late = new Client({ connectionString: db.url });
    await late.connect();
    try {
      await late.query("BEGIN");
      await late.query("UPDATE tickets SET status = 'spam', version = version + 1 WHERE id = $1", [first]);
      await late.query("INSERT INTO ticket_events (ticket_id, project_id, actor) VALUES ($1, $2, 'late')", [
        first,
        project,
      ]);
      await db.store.ticketDetails.update(project, second, { change: { tags: ["a"] }, versions: null, actor: "key:1" });
      for (let step = 0; step < 4; step++) await followAll();
      expect(await listed({ status: "spam" })).toEqual([]);
      await late.query("COMMIT");
    } finally {
      await late.end();
    }
    expect(await listed({ status: "spam" })).toEqual([first]);
    await settle();
    expect(await listed({ status: "spam" })).toEqual([first]);
  });
});

describe("the last message of a listed ticket", () => {
  const lastOf = async (ticketId: string) =>
    (await db.store.ticketList.listPage(project, asked())).tickets.find(({ id }) => id === ticketId)?.lastMessage;
  const answer = async (message: NewMessage, replies: NewReply[]) => {
    const { ticketId } = await db.store.messages.accept(project, message);
    await openAndFinish(db.store, answeredRun(await claimNow(db.store, project, ticketId), [], { replies }));
    return ticketId;
  };

  test("is the newest of the customer's messages and the replies", async () => {
    const chat = newMessage({ text: "Where is it?" });
    const ticketId = await answer(chat, [{ item: textReply("On its way."), author: "agent" }]);
    expect(await lastOf(ticketId)).toMatchObject({ author: "agent", text: "On its way.", actor: null });
    await answer({ ...chat, text: "Thank you!" }, []);
    expect(await lastOf(ticketId)).toMatchObject({ author: "customer", text: "Thank you!", actor: null });
  });

  test("does not end the wait of an earlier message without a reply", async () => {
    const listedOf = async (ticketId: string) =>
      (await db.store.ticketList.listPage(project, asked())).tickets.find(({ id }) => id === ticketId);
    const chat = newMessage({ text: "Can I pay in Swiss francs?" });
    const ticketId = await answer(chat, []);
    await answer({ ...chat, text: "Where are you?" }, [{ item: textReply("In Oslo."), author: "agent" }]);
    expect((await listedOf(ticketId))?.waitingSince).toBeNull();
    await db.sql("UPDATE tickets SET stage = 'review' WHERE id = $1", [ticketId]);
    await db.sql(
      `INSERT INTO drafts (ticket_id, project_id, text, markdown, why, covers)
       SELECT ticket_id, project_id, 'x', false, 'x', ARRAY[id] FROM messages WHERE ticket_id = $1 ORDER BY seq LIMIT 1`,
      [ticketId],
    );
    const [first] = await db.sql<{ created_at: Date }>(
      "SELECT created_at FROM messages WHERE ticket_id = $1 ORDER BY seq LIMIT 1",
      [ticketId],
    );
    expect(await listedOf(ticketId)).toMatchObject({
      // The agent's reply is none to the message that waits.
      lastMessage: { author: "customer", text: "Where are you?" },
      waitingSince: first?.created_at,
    });
  });

  test("is not an automatic notice or a file of a reply", async () => {
    const file = { type: "attachment", filename: "table.xlsx", mime: "text/plain", content: Buffer.from("x") } as const;
    const ticketId = await answer(newMessage({ text: "A person, please." }), [
      { item: textReply("A member of our team will reply."), author: "system" },
      { item: file, author: "agent" },
    ]);
    expect(await lastOf(ticketId)).toMatchObject({ author: "customer", text: "A person, please." });
  });

  test("is the first file of an operator's reply without a text", async () => {
    const file = (filename: string) =>
      ({ type: "attachment", filename, mime: "text/plain", content: Buffer.from("x") }) as const;
    const chat = newMessage({ text: "The label, please." });
    const files = ["label.txt", "terms.txt"].map((name) => ({ item: file(name), author: "operator" as const }));
    const ticketId = await answer(chat, files);
    expect(await lastOf(ticketId)).toMatchObject({ author: "operator", text: "label.txt" });
    await answer({ ...chat, text: "And the bill?" }, [{ item: textReply("Here."), author: "operator" }, ...files]);
    expect(await lastOf(ticketId)).toMatchObject({ author: "operator", text: "Here." });
  });

  test("has the name of a file without text", async () => {
    const attachments = [{ type: "image/png", name: "screenshot.png" }];
    expect(await lastOf(await answer(newMessage({ text: "", attachments }), []))).toMatchObject({
      author: "customer",
      text: "screenshot.png",
    });
  });

  test("has the operator who wrote it", async () => {
    const message = newMessage({ text: "Where is it?" });
    const ticketId = await answer(message, [{ item: textReply("I will ask."), author: "operator" }]);
    await db.sql(
      `INSERT INTO reviews (id, project_id, ticket_id, kind, actor, author, text, covers, due_at, finished_at)
       VALUES ($1, $2, $3, 'send', 'operator:1', 'operator', 'I will ask.', '{}', now(), now())`,
      [newId(), project, ticketId],
    );
    expect(await lastOf(ticketId)).toMatchObject({ author: "operator", actor: "operator:1", text: "I will ask." });
  });

  test("is only the beginning of a long text", async () => {
    const ticketId = await answer(newMessage({ text: "word ".repeat(10_000) }), []);
    expect((await lastOf(ticketId))?.text.length).toBeLessThan(1_000);
  });
});

describe("the search in tickets", () => {
  const found = (words: string[], beginning: string | null, query: Partial<TicketPageQuery> = {}, of = project) =>
    listed({ words: { text: [...words, beginning].join(" "), words, beginning }, ...query }, of);

  test("finds all words of subject, messages and replies, and beginnings of one", async () => {
    const invoice = await makeTicket("Where is my invoice 2231?", {}, "It was sent to accounting.");
    const parcel = await makeTicket("Where is my parcel?", {}, "On its way.");
    await settle();
    expect((await found(["where"], "my")).toSorted()).toEqual([invoice, parcel].toSorted());
    expect(await found(["where"], "inv")).toEqual([invoice]);
    expect(await found(["accounting"], "2")).toEqual([invoice]);
    expect(await found(["accounting"], "22")).toEqual([invoice]);
    expect(await found([], "parcel")).toEqual([parcel]);
    expect(await found(["invoice"], "parcel")).toEqual([]);
    expect(await found(["invoic"], "my")).toEqual([]);
    expect(await found([], "w", {}, other)).toEqual([]);
    expect(await found([], "it'\\", {})).toEqual([]);
    expect(await found([], "w", { status: "resolved" })).toEqual([]);
  });

  test("finds the customer by name, address and user id, until the ticket is erased", async () => {
    const channelMeta = { contact: { name: "Jonas Weber", email: "jonas@weber.example" } };
    const chat = newMessage({ text: "hello", userId: "maria@kellerbau", channelMeta });
    const { accepted } = await exchange(db.store, project, chat, ["Hi."]);
    await settle();
    for (const name of ["jonas", "weber", "maria", "kellerbau", "example"]) {
      expect(await found([name], null)).toEqual([accepted.ticketId]);
    }
    expect(await found(["jonas"], "web")).toEqual([accepted.ticketId]);
    // A name that is added later is found from then on.
    await exchange(db.store, project, { ...chat, channelMeta: { contact: { name: "Johanna" } } }, ["Hi."]);
    await settle();
    expect(await found(["johanna"], null)).toEqual([accepted.ticketId]);

    await db.store.erasures.erase(project, accepted.ticketId);
    expect(await found(["jonas"], null)).toEqual([]);
    expect(await db.sql("SELECT FROM ticket_texts")).toEqual([]);
  });

  test("finds a customer by the friendly name, and by the name that an operator sets or that a merge brings", async () => {
    const visitors: { ticketId: string; id: string; alias: string }[] = [];
    for (const text of ["hello", "good morning"]) {
      const chat = newMessage({ text, channelId: "widget" });
      const { ticketId } = (await exchange(db.store, project, chat, ["Hi."])).accepted;
      await settle();
      const [customer] = (await db.store.customers.listPage(project, { limit: 1, after: undefined })).customers;
      if (customer === undefined) throw new Error("no customer was created");
      visitors.push({ ticketId, id: customer.id, alias: customer.alias });
      const [first = "", last = ""] = customer.alias.toLowerCase().split(" ");
      expect(await found([first], last)).toContain(ticketId);
    }
    const [one, another] = visitors;
    if (one === undefined || another === undefined) throw new Error("two customers are missing");
    await db.store.customers.update(project, { id: one.id }, { name: "Ada Lovelace" });
    await settle();
    expect(await found(["ada"], "love")).toEqual([one.ticketId]);
    await db.store.customers.merge(project, one.id, another.id);
    await settle();
    expect((await found(["ada"], null)).toSorted()).toEqual([one.ticketId, another.ticketId].toSorted());
    // The friendly name is found only where it is shown: it is made of ordinary words.
    const named = newMessage({ text: "named", userId: "maria@kellerbau", channelId: "widget" });
    const { ticketId } = (await exchange(db.store, project, named, ["Hi."])).accepted;
    await settle();
    const [known] = (await db.store.customers.listPage(project, { limit: 1, after: undefined })).customers;
    expect(known?.externalId).toBe("maria@kellerbau");
    expect(await found((known?.alias ?? "").toLowerCase().split(" "), null)).not.toContain(ticketId);
  });

  test("finds a conversation of the HTTP API without a customer by its chat ID", async () => {
    const chat = newMessage({ text: "hello", userId: null, channelId: "api", chatId: "order-4711" });
    const { ticketId } = (await exchange(db.store, project, chat, ["Hi."])).accepted;
    await settle();
    expect(await found([], "4711")).toEqual([ticketId]);
  });

  test("finds a ticket by its ID, by that of its chat, and by its customer's phone number", async () => {
    const foundBy = (text: string) => listed({ words: { text, words: wordsIn(text), beginning: null } });
    const contact = { name: "Ada Lovelace", phone: "+41 (0)79 123 45 67" };
    const chat = newMessage({ channelId: "widget", chatId: "Visit/2026-Ä", channelMeta: { contact } });
    const { ticketId } = (await exchange(db.store, project, chat, ["Hi."])).accepted;
    await makeTicket("Order 79123456");
    await settle();
    const numbers = ["0791234567", "+41 79 123 45 67", "0041 79/123 45 67", "079 123 45", "123-45-67", "23 45 67"];
    for (const text of [ticketId, "Visit/2026-Ä", " visit/2026-ä ", ...numbers])
      expect(await foundBy(text)).toEqual([ticketId]);
    // Fewer digits are rather another number, and words beside it are searched for as words.
    for (const text of ["45 67", "34 56 78", "079 123 45 67 Ada", "Visit/2026"])
      expect(await foundBy(text)).toEqual([]);

    const [customer] = (await db.store.customers.listPage(project, { limit: 1, after: undefined, q: "Ada" })).customers;
    await db.store.customers.update(project, { id: customer?.id ?? "" }, { phone: "555 0134" });
    await settle();
    expect(await foundBy("5550134")).toEqual([ticketId]);
    // What the channel has stated remains.
    expect(await foundBy("0791234567")).toEqual([ticketId]);
  });

  test("does not find a customer by a former name, except where a message contains its words", async () => {
    const people: { ticketId: string; id: string; alias: string }[] = [];
    for (const text of ["Ask Lovelace", "good morning"]) {
      const chat = newMessage({ text, channelId: "widget" });
      const { ticketId } = (await exchange(db.store, project, chat, ["Hi."])).accepted;
      await settle();
      const [customer] = (await db.store.customers.listPage(project, { limit: 1, after: undefined })).customers;
      if (customer === undefined) throw new Error("no customer was created");
      people.push({ ticketId, id: customer.id, alias: customer.alias });
    }
    const [one, another] = people;
    if (one === undefined || another === undefined) throw new Error("two customers are missing");
    const rename = async ({ id }: typeof one, name: string) => {
      await db.store.customers.update(project, { id }, { name });
      await settle();
    };
    await rename(one, "Ada Lovelace");
    await rename(one, "Grace Hopper");
    expect(await found(wordsIn(one.alias), null)).toEqual([]);
    expect([await found(["ada"], null), await found([], "ad"), await found([], "ada")]).toEqual([[], [], []]);
    expect(await found(["lovelace", "grace"], "hop")).toEqual([one.ticketId]);

    await rename(another, "Edith Clarke");
    expect(await found(["edith"], null)).toEqual([another.ticketId]);
    await db.store.customers.merge(project, one.id, another.id);
    await settle();
    expect(await found(["edith"], null)).toEqual([]);
    expect((await found(["grace"], null)).toSorted()).toEqual([one.ticketId, another.ticketId].toSorted());

    // A message that renames its customer.
    const chat = newMessage({ text: "hello", userId: "u1", channelMeta: { customer: { name: "Katherine Johnson" } } });
    const { ticketId } = (await exchange(db.store, project, chat, ["Hi."])).accepted;
    await settle();
    expect(await found(["katherine"], null)).toEqual([ticketId]);
    const married = { ...chat, channelMeta: { customer: { name: "Kate Goble" } } };
    await exchange(db.store, project, married, ["Hi."]);
    await settle();
    expect([await found(["katherine"], null), await found(["goble"], null)]).toEqual([[], [ticketId]]);

    // An earlier version does not mark which words are the customer's.
    await db.sql(
      `UPDATE ticket_texts SET document = ts_delete(document, ARRAY(
         SELECT lexeme FROM unnest(document) WHERE lexeme LIKE ':c:%'))`,
    );
    await rename(one, "Mary Shelley");
    expect(await found(["grace"], null)).toEqual([]);
    expect(await found(["lovelace"], "mary")).toEqual([one.ticketId]);
    expect(await found(["good", "hi"], "shell")).toEqual([another.ticketId]);
  });

  test("finds the customers of tickets that the previous version has indexed without them", async () => {
    const channelMeta = { contact: { name: "Jonas Weber" } };
    const ticketIds: string[] = [];
    for (let count = 0; count < 45; count++) {
      const { accepted } = await exchange(db.store, project, newMessage({ channelMeta }), ["Hi."]);
      ticketIds.push(accepted.ticketId);
    }
    await settle();
    await db.sql("UPDATE ticket_texts SET words_version = 0, document = ts_delete(document, '{jonas,weber}'::text[])");
    expect(await found(["jonas"], null)).toEqual([]);
    await followAll();
    expect((await found(["jonas"], null)).toSorted()).toEqual(ticketIds.toSorted());
    expect(await db.store.ticketTexts.indexNext(() => ({ ofText: [], ofCustomer: [] }))).toBe(false);
  });

  test("includes later messages, a new subject, a move to another project, and an erasure", async () => {
    const chat = newMessage({ text: "first words" });
    const { accepted } = await exchange(db.store, project, chat, ["Hi."]);
    const { ticketId } = accepted;
    await settle();
    for (let turn = 0; turn < 30; turn++) await exchange(db.store, project, { ...chat, text: `turn${turn}` }, ["Yes."]);
    await db.store.ticketDetails.update(project, ticketId, {
      change: { subject: "renamed" },
      versions: null,
      actor: "key:1",
    });
    await settle();
    for (const word of ["first", "turn0", "turn29", "renamed"]) expect(await found([word], null)).toEqual([ticketId]);
    await db.store.ticketDetails.update(project, ticketId, {
      change: { subject: "again" },
      versions: null,
      actor: "key:1",
    });
    await settle();
    expect(await found(["renamed"], null)).toEqual([]);
    expect(await found(["turn29"], "agai")).toEqual([ticketId]);

    await db.sql("UPDATE tickets SET project_id = $2, version = version + 1 WHERE id = $1", [ticketId, other]);
    await db.sql("INSERT INTO ticket_events (ticket_id, project_id, actor) VALUES ($1, $2, 'key:1')", [
      ticketId,
      project,
    ]);
    await settle();
    expect([await found([], "turn"), await found([], "turn", {}, other)]).toEqual([[], [ticketId]]);

    await db.sql("DELETE FROM tickets WHERE id = $1", [ticketId]);
    await settle();
    expect(await db.sql("SELECT FROM ticket_texts UNION ALL SELECT FROM ticket_list")).toEqual([]);
    expect(await found([], "turn", {}, other)).toEqual([]);
  });

  test("has no words of a ticket that was erased and started again during indexing", async () => {
    const [blocked, chat] = [await makeTicket("blocked"), newMessage({ text: "forgotten" })];
    // Tickets are written in the order of their ids: the erased one comes after the blocked one.
    let ticketId = "";
    while (ticketId <= blocked) {
      chat.chatId = `chat ${newId()}`;
      ticketId = ticketIdOf(project, "api", chat.chatId);
    }
    await exchange(db.store, project, chat, ["Hi."]);
    await settle();
    await db.sql("DELETE FROM ticket_texts WHERE ticket_id = $1", [ticketId]);
    await db.sql("INSERT INTO ticket_text_queue (ticket_id) SELECT id FROM tickets");
    const client = new Client({ connectionString: db.url });
    await client.connect();
    try {
      await client.query("BEGIN");
      await client.query("SELECT 1 FROM ticket_texts WHERE ticket_id = $1 FOR UPDATE", [blocked]);
      const indexing = db.openAnother().ticketTexts.indexNext(({ texts }) => ({ ofText: texts, ofCustomer: [] }));
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      const isWaiting = async () => (await db.sql(waiting)).length > 0;
      await waitFor(isWaiting, { what: "the words to be written" });
      await db.store.erasures.erase(project, ticketId);
      await exchange(db.store, project, { ...chat, text: "remembered" }, ["Hi."]);
      await client.query("COMMIT");
      await indexing;
    } finally {
      await client.end();
    }
    expect(await found(["forgotten"], null)).toEqual([]);
    await settle();
    expect([await found(["forgotten"], null), await found(["remembered"], null)]).toEqual([[], [ticketId]]);
  });

  test("is shared by replicas without lost or duplicate work", async () => {
    await insertTickets(300);
    const stores = [db.store, db.openAnother(), db.openAnother()];
    const rounds = async (store: typeof db.store) => {
      for (let round = 0; round < 4; round++) {
        await store.ticketIndex.follow(() => []);
        while (await store.ticketTexts.indexNext(({ subject }) => ({ ofText: [subject], ofCustomer: [] })));
      }
    };
    await Promise.all(stores.map(rounds));
    // A ticket that one replica has claimed while another queued it again is due once the claim has expired.
    const isDone = async () => {
      await settle();
      return (await db.sql("SELECT FROM ticket_text_queue")).length === 0;
    };
    await waitFor(isDone, { what: "every ticket to be indexed" });
    const [count] = await db.sql("SELECT count(*)::int FROM ticket_texts WHERE document @@ 'subject'");
    expect(count).toEqual({ count: 300 });
    expect(await db.sql("SELECT FROM ticket_text_queue")).toEqual([]);
  });

  test("has every other ticket when one crashes each process that indexes it, which is done more and more rarely", async () => {
    const poison = await makeTicket("poison");
    const others = await Promise.all(["one", "two", "three"].map((text) => makeTicket(text)));
    await db.store.ticketIndex.follow(() => []);
    const steps: string[][] = [];
    /** The seconds until the next attempt of each step with the poisoned ticket. */
    const waits: number[] = [];
    for (let step = 0; step < 12; step++) {
      const read: string[] = [];
      steps.push(read);
      await db.store.ticketTexts
        .indexNext(({ ticketId, texts }, attempts) => {
          read.push(ticketId);
          expect(attempts).toBe(waits.length + 1);
          if (ticketId === poison) throw new Error("a crash, after which PostgreSQL rolls back as after this");
          return { ofText: texts, ofCustomer: [] };
        })
        .catch((error: Error) => expect(error.message).toContain("a crash"));
      const [row] = await db.sql<{ wait: number }>(
        "SELECT round(extract(epoch FROM queued_at - now()) / 15)::int * 15 AS wait FROM ticket_text_queue WHERE ticket_id = $1",
        [poison],
      );
      if (read.includes(poison)) waits.push(row?.wait ?? 0);
      // Nothing is due as long as the claims last.
      if (step === 0) expect((await db.store.dueWork.find()).ticketTexts).toBe(false);
      // Their claims have expired: first those of the others.
      const expired = await db.sql(
        "UPDATE ticket_text_queue SET queued_at = now() WHERE ticket_id <> $1 RETURNING ticket_id",
        [poison],
      );
      if (expired.length === 0) await db.sql("UPDATE ticket_text_queue SET queued_at = now()");
    }
    expect(steps[0]).toContain(poison);
    expect(steps.slice(1).map(({ length }) => length)).toEqual(Array.from({ length: 11 }, () => 1));
    expect(waits).toEqual([15, 60, 240, 960, 3_840, 15_360, 61_440, 86_400, 86_400]);
    for (const [index, word] of ["one", "two", "three"].entries())
      expect(await found([word], null)).toEqual([others[index]]);
    // As after an upgrade that no longer crashes.
    await settle();
    expect(await found(["poison"], null)).toEqual([poison]);
    expect(await db.sql("SELECT FROM ticket_text_queue")).toEqual([]);
  });

  test("finds every ticket once, in order, for rare, frequent, or locally frequent words", async () => {
    const ids = (await insertTickets(5_100)).toSorted();
    const positions: Record<string, (row: number) => boolean> = {
      subject: () => true,
      third: (row) => row % 3 === 0,
      hundredth: (row) => row % 100 === 0,
      early: (row) => row < 12,
      late: (row) => row > 4_000 && row % 20 === 0,
    };
    const subjects = ids.map((_, row) =>
      Object.entries(positions).flatMap(([word, isThere]) => (isThere(row) ? [word] : [])),
    );
    const isSpam = (row: number) => row % 7 === 0;
    await db.sql(
      `UPDATE tickets t SET subject = i.subject, created_at = timestamptz '2026-01-01' + i.row * interval '1 s',
         status = CASE WHEN i.row % 7 = 1 THEN 'spam' ELSE status END
       FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS i (id, subject, row) WHERE t.id = i.id`,
      [ids, subjects.map((words) => words.join(" "))],
    );
    await settle();
    for (const [word, isThere] of Object.entries(positions)) {
      for (const status of [undefined, "spam"] as const) {
        const meant = ids.filter((_, row) => isThere(row) && (status === undefined || isSpam(row)));
        const read: string[] = [];
        let after: KeyPosition | undefined;
        do {
          const words = { text: word, words: [word], beginning: null };
          const query = asked({ words, status, sort: "createdAt", limit: 50, after });
          const page = await db.store.ticketList.listPage(project, query);
          read.push(...page.tickets.map(({ id }) => id));
          after = page.next ?? undefined;
          // Every page of thousands would take long; the first ones are representative.
        } while (after !== undefined && read.length < 1_000);
        expect({ word, status, read }).toEqual({ word, status, read: meant.slice(0, read.length) });
        expect(read.length).toBe(Math.min(meant.length, 1_000));
      }
    }
    expect(await found(["subject"], "z")).toEqual([]);
  });
});
