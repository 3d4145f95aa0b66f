import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { LeaseLostError, TABLES_OF_PROJECTS, TICKET_ROWS, newId, ticketIdOf } from "@svc/store";
import type { BodyOwner, HeldCounts, ProjectId, Store } from "@svc/store";
import { repositoryPath } from "@svc/testing";
import { findInDatabase } from "../../journeys/support/find-in-database.ts";
import { Client } from "pg";
import { answeredRun, claimNow, exchange, newMessage, openAndFinish, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(async () => {
  await db.close();
});

/** Returns the counts that are not 0. */
const counted = (counts: HeldCounts | null) =>
  Object.fromEntries(Object.entries(counts ?? {}).filter(([, count]) => count > 0));

/** Returns all stored data of a conversation, by kind. */
async function readAll(project: ProjectId, ticketId: string): Promise<Record<string, Record<string, unknown>[]>> {
  const all: Record<string, Record<string, unknown>[]> = {};
  for await (const { kind, records } of db.store.erasures.read(project, ticketId)) {
    all[kind] = [...(all[kind] ?? []), ...records];
  }
  return all;
}

/** Makes all data of a conversation, and its ticket, this many days old. */
async function makeOld(ticketId: string, days: number): Promise<void> {
  for (const [table, column] of [
    ["messages", "created_at"],
    ["replies", "created_at"],
  ] as const) {
    await db.sql(`UPDATE ${table} SET ${column} = ${column} - make_interval(days => $2) WHERE ticket_id = $1`, [
      ticketId,
      days,
    ]);
  }
  await db.sql("UPDATE tickets SET updated_at = updated_at - make_interval(days => $2) WHERE id = $1", [
    ticketId,
    days,
  ]);
}

async function newHook(project: ProjectId): Promise<string> {
  const hook = await db.store.hooks.insert(project, {
    name: `form ${newId()}`,
    preset: null,
    auth: { type: "path" },
    secret: { sealed: "sealed" },
    mapping: { text: "{{$.text}}" },
    filter: [],
    createdBy: "test",
  });
  if (hook === null) throw new Error("the hook was not made");
  return hook.id;
}

/** Adds a body without a message, with its mapped fields. */
async function addFailedBody(project: ProjectId, hookId: string, mapped: { userId?: string; chatId?: string }) {
  const body = { id: newId(), contentType: "text/plain", headers: {}, content: Buffer.from("x") };
  const ids = { eventId: null, messageId: null, ticketId: null, chatId: null, userId: null };
  await db.store.hooks.addBody(project, hookId, {
    ...body,
    result: { outcome: "failed", faults: [], ...ids, ...mapped },
  });
  return body.id;
}

/** Purges a whole project like the sweeper. */
async function purge(project: ProjectId, retentionDays: number): Promise<number> {
  let erased = 0;
  let after: string | null = null;
  do {
    const page = await db.store.erasures.purgeIdle({ project, retentionDays }, after);
    erased += page.erased;
    after = page.next;
  } while (after !== null);
  return erased;
}

describe("every table is covered:", () => {
  test("docs/privacy.md lists each table with data of a project or conversation, and each kind of erased rows", () => {
    const page = readFileSync(repositoryPath("docs/privacy.md"), "utf8");
    const names = [...Object.keys(TABLES_OF_PROJECTS), ...TICKET_ROWS.map(({ kind }) => kind)];
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test("each one with rows of a project or conversation defines how they are erased", async () => {
    const tables = await db.sql<{ name: string }>(
      `SELECT DISTINCT c.relname::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
         AND a.attname IN ('project_id', 'home_project_id', 'ticket_id')`,
    );
    expect(tables.map(({ name }) => name).toSorted()).toEqual(Object.keys(TABLES_OF_PROJECTS).toSorted());
  });

  test("each one with rows of a conversation or message is erased with it", async () => {
    const tables = await db.sql<{ name: string }>(
      `SELECT DISTINCT c.relname::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
         AND a.attname IN ('ticket_id', 'message_id', 'delivery_id')`,
    );
    // The row of an erased chat stays, without its chat_id; the queue of the text index contains only ids. The row with
    // the positions of sent replies is erased with the replies, and contains only positions.
    const erased = new Set([...TICKET_ROWS.map(({ table }) => table), "chats", "ticket_text_queue", "outboxes"]);
    const others = tables.map(({ name }) => name).filter((name) => !erased.has(name));
    const cascading = await db.sql<{ name: string }>(
      `SELECT conrelid::regclass::text AS name FROM pg_constraint
       WHERE contype = 'f' AND confdeltype = 'c' AND confrelid::regclass::text = ANY ($1)`,
      [[...erased]],
    );
    expect(others.filter((name) => !cascading.some((table) => table.name === name))).toEqual([]);
  });
});

describe("an erased conversation", () => {
  test("is deleted from every table and counted, and a second erasure counts nothing", async () => {
    const project = await db.newProject();
    const mark = "qzerasedconversation";
    const message = newMessage({ chatId: mark, userId: mark, text: mark, channelMeta: { a: { b: mark } } });
    const { accepted } = await exchange(db.store, project, message, [mark, mark]);
    const { messageId, ticketId } = accepted;
    await db.store.triageMessages.record(project, { messageId, ticketId, agentId: null, text: mark });
    expect(await findInDatabase(db.url, mark)).toEqual([
      "public.chats.chat_id",
      "public.messages.channel_meta",
      "public.messages.text",
      "public.messages.user_id",
      "public.replies.text",
      "public.tickets.channel_meta",
      "public.tickets.chat_id",
      "public.tickets.subject",
      "public.tickets.user_id",
      "public.triage_messages.text",
    ]);
    const all = await readAll(project, ticketId);
    const counts = { messages: 1, replies: 2, tickets: 1, events: 1, decidedMessages: 1 };
    expect(Object.fromEntries(Object.entries(all).map(([kind, rows]) => [kind, rows.length]))).toEqual(counts);
    expect(all["messages"]).toMatchObject([{ userId: mark, text: mark, meta: { a: { b: mark } } }]);

    expect(counted(await db.store.erasures.erase(project, ticketId))).toEqual(counts);
    expect(await findInDatabase(db.url, mark)).toEqual([]);
    expect(counted(await db.store.erasures.erase(project, ticketId))).toEqual({});
    expect(await readAll(project, ticketId)).toEqual({});
  });

  test("is found by indexes in every table: no erasure scans the data of others", async () => {
    const client = new Client({ connectionString: db.url });
    await client.connect();
    try {
      await client.query("SET enable_seqscan = off");
      for (const { table, where } of TICKET_ROWS) {
        const found = where.replaceAll("$1", `'${newId()}'::uuid`).replaceAll("$2", `'{${newId()}}'`);
        const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN DELETE FROM ${table} x WHERE ${found}`);
        expect([table, rows.map((row) => row["QUERY PLAN"]).join("\n")]).toEqual([
          table,
          expect.not.stringContaining("Seq Scan"),
        ]);
      }
    } finally {
      await client.end();
    }
  });

  test("starts again with the next message, at the next sequence number", async () => {
    const project = await db.newProject();
    const message = newMessage();
    const { accepted } = await exchange(db.store, project, message, ["one", "two"]);
    await db.store.erasures.erase(project, accepted.ticketId);
    const next = await db.store.messages.accept(project, message);
    expect(next).toMatchObject({ ticketId: accepted.ticketId, seq: 4 });
    const claimed = await claimNow(db.store, project, next.ticketId);
    expect(claimed).toMatchObject({ messageId: next.messageId, chatId: message.chatId });
    expect(await openAndFinish(db.store, answeredRun(claimed, ["three"]))).toMatchObject({ replies: { fromSeq: 5 } });
    expect(await db.store.tickets.find(project, next.ticketId)).toMatchObject({ subject: message.text });
  });

  test("never reuses a version of its ticket when it starts again", async () => {
    const project = await db.newProject();
    const message = newMessage();
    let before = 0;
    for (let turn = 0; turn < 3; turn++) {
      await exchange(db.store, project, message, ["answer"]);
      const ticketId = ticketIdOf(project, "api", message.chatId);
      const { version } = (await db.store.tickets.find(project, ticketId)) ?? { version: 0 };
      expect(version).toBeGreaterThan(before + 1);
      before = version;
      await db.store.erasures.erase(project, ticketId);
      // A message whose ticket no worker has opened.
      await db.store.messages.accept(project, message);
      await db.store.erasures.erase(project, ticketId);
    }
  });

  test("takes the lease from its worker: the run commits nothing, and restores nothing", async () => {
    const project = await db.newProject();
    const { ticketId } = await db.store.messages.accept(project, newMessage());
    const claimed = await claimNow(db.store, project, ticketId);
    await db.store.erasures.erase(project, ticketId);
    await expect(db.store.tickets.open(project, claimed)).rejects.toThrow(LeaseLostError);
    expect(await db.store.chats.renewLeases([claimed])).toEqual(new Set());
    expect(await db.store.tickets.finish(project, answeredRun(claimed, ["late"]))).toBeNull();
    expect(counted(await db.store.erasures.erase(project, ticketId))).toEqual({});
  });

  test("takes the lease from the worker of a decision: nothing is sent, and the next message is processed", async () => {
    const project = await db.newProject();
    const message = newMessage();
    const { accepted } = await exchange(db.store, project, message, ["answer"]);
    const { ticketId } = accepted;
    await db.store.reviews.decide(project, ticketId, ({ ticket }) => ({
      action: "reply",
      actor: "tester",
      ticket: { ...ticket, stage: "delivering" },
      why: "tested",
      data: {},
      waiting: "stay",
      dropsDraft: false,
      interrupts: true,
      work: {
        kind: "send",
        author: "operator",
        text: "Mine.",
        markdown: false,
        sources: [],
        fileIds: [],
        resolves: false,
        covers: [],
        answers: null,
      },
      lessons: [],
    }));
    const review = await db.store.reviews.claim(project, ticketId);
    if (review === null) throw new Error("there is no decision to carry out");
    expect(counted(await db.store.erasures.erase(project, ticketId))).toMatchObject({ reviews: 1 });
    const reply = { item: { type: "message" as const, text: "Mine.", markdown: false }, author: "operator" as const };
    expect(await db.store.reviews.finishSend(review, [reply])).toBeNull();
    expect(await db.store.reviews.giveUp(review, "late")).toBe(false);
    expect(await db.store.reviews.claim(project, ticketId)).toBeNull();
    expect(counted(await db.store.erasures.erase(project, ticketId))).toEqual({});
    const next = await exchange(db.store, project, message, ["hello again"]);
    expect(next.finished.replies).not.toBeNull();
  });

  test("is not restored by late records: a question, a proposal, the body of a hook", async () => {
    const project = await db.newProject();
    const mark = "qznotedtoolate";
    const { messageId, ticketId } = await db.store.messages.accept(project, newMessage({ text: mark }));
    const hookId = await newHook(project);
    await db.store.erasures.erase(project, ticketId);
    const asked = { messageId, ticketId, text: mark, question: mark, terms: [mark], language: null, agentId: null };
    expect(await db.store.gaps.record(project, asked)).toBeNull();
    const proposal = {
      kbId: newId(),
      documentId: null,
      ticketId,
      question: mark,
      title: mark,
      before: "",
      after: mark,
    };
    const more = { action: "add" as const, baseHash: null, createdBy: "test" };
    await expect(db.store.proposals.insert(project, { ...proposal, ...more })).rejects.toThrow(
      /No ticket with this ID exists/,
    );
    const body = { id: messageId, contentType: "text/plain", headers: {}, content: Buffer.from(mark) };
    const result = {
      outcome: "queued" as const,
      faults: [],
      eventId: null,
      messageId,
      ticketId,
      chatId: mark,
      userId: mark,
    };
    await db.store.hooks.addBody(project, hookId, { ...body, result });
    expect(await findInDatabase(db.url, mark)).toEqual([]);
    // A body without a message is stored all the same.
    const bodyId = await addFailedBody(project, hookId, {});
    expect(await db.store.hooks.listBodies(project, hookId)).toHaveLength(1);
    // Unless it was replayed, and its message was erased before the result is recorded.
    await db.store.hooks.recordBodyResult(project, bodyId, result);
    expect(await db.store.hooks.listBodies(project, hookId)).toEqual([]);
    await db.store.hooks.recordBodyResult(project, bodyId, { ...result, outcome: "failed", messageId: null });
    expect(await db.store.hooks.listBodies(project, hookId)).toEqual([]);
  });

  test("is neither found nor erased by another project", async () => {
    const [owner, stranger] = [await db.newProject(), await db.newProject()];
    const { accepted } = await exchange(db.store, owner, newMessage({ userId: "u" }), ["answer"]);
    expect(await db.store.erasures.erase(stranger, accepted.ticketId)).toBeNull();
    expect(await readAll(stranger, accepted.ticketId)).toEqual({});
    expect(await db.store.erasures.findTickets(stranger, [accepted.ticketId])).toEqual([]);
    expect(await db.store.erasures.findTicketsOfUser(stranger, "u")).toEqual([]);
    expect(await db.store.erasures.findTicketsOfUser(owner, "u")).toEqual([accepted.ticketId]);
  });

  test("leaves nothing, and reuses no sequence number, during concurrent messages and runs", async () => {
    const project = await db.newProject();
    const [message, another] = [newMessage(), db.openAnother()];
    const ticketId = ticketIdOf(project, "api", message.chatId);
    const seqs: number[] = [];
    const work = async () => {
      for (let turn = 0; turn < 25; turn++) {
        seqs.push((await db.store.messages.accept(project, message)).seq);
        const claimed = await db.store.messages.claim(project, ticketId);
        if (claimed !== null) await openAndFinish(db.store, answeredRun(claimed, ["answer"]));
      }
    };
    const erase = async () => {
      for (let turn = 0; turn < 25; turn++) await another.erasures.erase(project, ticketId);
    };
    await Promise.all([work(), work(), erase()]);
    expect(new Set(seqs).size).toBe(50);
    await db.store.erasures.erase(project, ticketId);
    for (const { table, where } of TICKET_ROWS) {
      const rows = await db.sql(`WITH ids AS (SELECT $1::uuid, $2::uuid[]) SELECT 1 FROM ${table} x WHERE ${where}`, [
        ticketId,
        [],
      ]);
      expect([table, rows]).toEqual([table, []]);
    }
  });

  test("is removed from what triage has learned", async () => {
    const project = await db.newProject();
    const { accepted } = await exchange(db.store, project, newMessage(), ["answer"]);
    await db.sql("UPDATE tickets SET status = 'resolved', resolved_at = now() - interval '1 day' WHERE id = $1", [
      accepted.ticketId,
    ]);
    const later = await exchange(db.store, project, newMessage(), ["answer"]);
    await db.sql("UPDATE tickets SET status = 'resolved', resolved_at = now() WHERE id = $1", [
      later.accepted.ticketId,
    ]);
    const mark = await db.store.triageMessages.findMark(project);
    await db.store.erasures.erase(project, accepted.ticketId);
    expect(await db.store.triageMessages.findMark(project)).not.toBe(mark);
  });
});

test("bodies of hooks without a message are found by user, by chat and by the chats of a user", async () => {
  const [project, stranger] = [await db.newProject(), await db.newProject()];
  const hookId = await newHook(project);
  const { ticketId } = await db.store.messages.accept(project, newMessage({ chatId: "c-1", userId: "u-1" }));
  const ofUser = await addFailedBody(project, hookId, { userId: "u-1" });
  const ofChat = await addFailedBody(project, hookId, { chatId: "c-1" });
  const ofOther = await addFailedBody(project, hookId, { userId: "u-2", chatId: "c-2" });
  const theirs = await addFailedBody(stranger, await newHook(stranger), { userId: "u-1", chatId: "c-1" });
  const user = { userIds: ["u-1"], chatId: null, updatesChatId: null, ticketIds: [ticketId] };
  const found = async (owner: BodyOwner) => {
    const ids: unknown[] = [];
    for await (const { records } of db.store.erasures.readLoose(project, owner)) {
      ids.push(...records.map(({ id }) => id));
    }
    return ids;
  };
  expect(await found(user)).toEqual([ofUser, ofChat]);
  expect(await found({ userIds: [], chatId: "c-2", updatesChatId: null, ticketIds: [] })).toEqual([ofOther]);
  expect(counted(await db.store.erasures.eraseLoose(project, user))).toEqual({ hookBodies: 2 });
  expect(counted(await db.store.erasures.eraseLoose(project, user))).toEqual({});
  const left = await db.sql<{ id: string }>("SELECT id FROM hook_bodies WHERE id = ANY ($1) ORDER BY id", [
    [ofUser, ofChat, ofOther, theirs],
  ]);
  expect(left.map(({ id }) => id)).toEqual([ofOther, theirs]);
});

test("an export of a long conversation has every row once, in order", async () => {
  const project = await db.newProject();
  const { ticketId } = await db.store.messages.accept(project, newMessage());
  await db.sql(
    `INSERT INTO messages (id, project_id, ticket_id, seq, text, timestamp_ms, channel_meta, state, due_at)
     SELECT gen_random_uuid(), $1, $2, n, 'text ' || n, 0, '{}', 'answered', now() FROM generate_series(2, 1203) AS n`,
    [project, ticketId],
  );
  await db.sql(
    `INSERT INTO deliveries (id, project_id, ticket_id, message_id, type, url, reply_ids, due_at, state)
     SELECT gen_random_uuid(), $1, $2, id, 'message.completed', '', '{}', now(), 'dead' FROM messages
     WHERE ticket_id = $2 ORDER BY seq`,
    [project, ticketId],
  );
  await db.sql(
    `INSERT INTO delivery_attempts (delivery_id, number)
     SELECT id, n FROM deliveries, generate_series(1, 2) AS n WHERE ticket_id = $1`,
    [ticketId],
  );
  const { messages = [], deliveries = [], deliveryAttempts = [] } = await readAll(project, ticketId);
  expect(messages.map(({ seq }) => seq)).toEqual(Array.from({ length: 1203 }, (_, index) => index + 1));
  expect(Object.keys(messages[0] ?? {})).toEqual(expect.arrayContaining(["userId", "text", "meta"]));
  expect(Object.keys(messages[0] ?? {})).not.toContain("place_");
  expect(deliveries.map(({ messageId }) => messageId)).toEqual(messages.map(({ id }) => id));
  const attempts = new Set(deliveryAttempts.map(({ deliveryId, number }) => `${String(deliveryId)}:${String(number)}`));
  expect([deliveryAttempts.length, attempts.size]).toEqual([2406, 2406]);
});

test("a user is found by the id in a field or in meta, of any length, and by nothing else", async () => {
  const project = await db.newProject();
  const long = "u".repeat(60_000);
  const ids: Record<string, string> = {};
  for (const [name, change] of Object.entries({
    field: { userId: "u-1" },
    meta: { channelMeta: { userId: "u-1" } },
    other: { userId: "u-2", channelMeta: { userId: "u-2" } },
    nested: { channelMeta: { more: { userId: "u-1" } } },
    long: { channelMeta: { userId: long } },
  })) {
    ids[name] = (await db.store.messages.accept(project, newMessage(change))).ticketId;
  }
  expect(await db.store.erasures.findTicketsOfUser(project, "u-1")).toEqual([ids["field"], ids["meta"]].toSorted());
  expect(await db.store.erasures.findTicketsOfUser(project, long)).toEqual([ids["long"]]);
  expect(await db.store.erasures.findTicketsOfUser(project, "u-_")).toEqual([]);
  const plan = await db.sql<{ "QUERY PLAN": string }>(
    "EXPLAIN SELECT 1 FROM messages m WHERE hashtextextended(coalesce(m.user_id, m.channel_meta ->> 'userId'), 0) = 1",
  );
  expect(plan.map((line) => line["QUERY PLAN"]).join("\n")).toContain("messages_of_user");
});

describe("data older than a project's retention period", () => {
  test("is deleted, unless it was used since by a message, a reply or a change of its ticket", async () => {
    const project = await db.newProject();
    const tickets: Record<string, string> = {};
    for (const name of ["old", "message", "reply", "change", "waiting", "new"]) {
      const message = newMessage({ chatId: name });
      tickets[name] = (await exchange(db.store, project, message, ["answer"])).accepted.ticketId;
      if (name !== "new") await makeOld(tickets[name], 31);
    }
    await db.sql("UPDATE messages SET created_at = now() WHERE ticket_id = $1", [tickets["message"]]);
    await db.sql("UPDATE replies SET created_at = now() WHERE ticket_id = $1", [tickets["reply"]]);
    await db.sql("UPDATE tickets SET updated_at = now() WHERE id = $1", [tickets["change"]]);
    await db.sql("UPDATE messages SET state = 'received' WHERE ticket_id = $1", [tickets["waiting"]]);
    expect(await purge(project, 32)).toBe(0);
    expect(await purge(project, 30)).toBe(1);
    const left = await db.sql<{ id: string }>("SELECT id FROM tickets WHERE project_id = $1", [project]);
    const { old: _, ...expected } = tickets;
    expect(left.map(({ id }) => id).toSorted()).toEqual(Object.values(expected).toSorted());
    expect(await purge(project, 30)).toBe(0);
  });

  test("is deleted with the bodies of hooks without a message", async () => {
    const project = await db.newProject();
    const hookId = await newHook(project);
    for (const days of [3, 9]) {
      await db.sql("UPDATE hook_bodies SET received_at = now() - make_interval(days => $2) WHERE id = $1", [
        await addFailedBody(project, hookId, {}),
        days,
      ]);
    }
    await purge(project, 7);
    expect(await db.store.hooks.listBodies(project, hookId)).toHaveLength(1);
  });

  test("is kept while anything of it waits for a person or for a receiver of callbacks", async () => {
    const project = await db.newProject();
    const names = ["failed message", "held message", "failed ticket", "decision", "callback", "news of a callback"];
    const tickets: Record<string, string> = {};
    for (const name of names) {
      const message = newMessage({ chatId: name });
      tickets[name] = (await exchange(db.store, project, message, ["answer"])).accepted.ticketId;
      await makeOld(tickets[name], 400);
    }
    const id = newId();
    const waits = [
      "UPDATE messages SET state = 'failed' WHERE ticket_id = $1",
      "UPDATE messages SET state = 'held' WHERE ticket_id = $1",
      "UPDATE tickets SET stage = 'failed' WHERE id = $1",
      `INSERT INTO reviews (id, project_id, ticket_id, kind, actor, covers, due_at)
       SELECT '${id}', project_id, ticket_id, 'send', 'test', '{}', now() FROM chats WHERE ticket_id = $1`,
      `INSERT INTO deliveries (id, project_id, ticket_id, message_id, type, url, reply_ids, due_at)
       SELECT '${id}', project_id, ticket_id, id, 'message.completed', '', '{}', now() FROM messages WHERE ticket_id = $1`,
      `INSERT INTO callbacks (message_id, project_id, ticket_id, url, delivery_id, has_news, news_at)
       SELECT id, project_id, ticket_id, '', '${id}', true, now() FROM messages WHERE ticket_id = $1`,
    ];
    for (const [index, name] of names.entries()) await db.sql(waits[index] ?? "", [tickets[name]]);
    expect(await purge(project, 30)).toBe(0);
    for (const over of [
      "UPDATE messages SET state = 'answered' WHERE project_id = $1",
      "UPDATE tickets SET stage = 'done' WHERE project_id = $1",
      "UPDATE reviews SET finished_at = now() WHERE project_id = $1",
      "UPDATE deliveries SET state = 'dead' WHERE project_id = $1",
      "UPDATE callbacks SET has_news = false WHERE project_id = $1",
    ]) {
      await db.sql(over, [project]);
    }
    expect(await purge(project, 30)).toBe(names.length);
  });

  test("is kept as long as it waits for review", async () => {
    const project = await db.newProject();
    const { accepted } = await exchange(db.store, project, newMessage(), ["answer"]);
    await makeOld(accepted.ticketId, 400);
    await db.sql("UPDATE tickets SET stage = 'review' WHERE id = $1", [accepted.ticketId]);
    expect(await purge(project, 30)).toBe(0);
    await db.sql("UPDATE tickets SET stage = 'done' WHERE id = $1", [accepted.ticketId]);
    expect(await purge(project, 30)).toBe(1);
  });

  test("is searched once an hour, by one of the replicas", async () => {
    const project = await db.newProject();
    await db.sql("UPDATE projects SET retention_days = NULL");
    expect(await db.store.erasures.claimDuePurge()).toBeNull();
    await db.store.projects.update(project, { retentionDays: 7 });
    const taken = await Promise.all([db.store, db.openAnother()].map((store) => store.erasures.claimDuePurge()));
    expect(taken.filter((due) => due !== null)).toEqual([
      { project, name: expect.stringMatching(/^project-/), retentionDays: 7 },
    ]);
    expect(await db.store.erasures.claimDuePurge()).toBeNull();
    await db.sql("UPDATE projects SET purge_at = now()");
    expect(await db.store.erasures.claimDuePurge()).toMatchObject({ project, retentionDays: 7 });
    await db.store.projects.update(project, { retentionDays: null });
    await db.sql("UPDATE projects SET purge_at = now()");
    expect(await db.store.erasures.claimDuePurge()).toBeNull();
  });
});

test("retention checks take turns: the project that has waited longest is next, and comes last after its check", async () => {
  const [first, second] = [await db.newProject(), await db.newProject()];
  await db.sql("UPDATE projects SET retention_days = NULL");
  const waitSince = (project: ProjectId, hours: number) =>
    db.sql("UPDATE projects SET retention_days = 7, purge_at = now() - make_interval(hours => $2) WHERE id = $1", [
      project,
      hours,
    ]);
  await waitSince(first, 2);
  await waitSince(second, 1);
  const next = async () => (await db.store.erasures.claimDuePurge())?.project ?? null;
  expect(await next()).toBe(first);
  // An hour later the first one is due again.
  await db.sql("UPDATE projects SET purge_at = purge_at - interval '61 minutes'");
  expect([await next(), await next(), await next()]).toEqual([second, first, null]);
});

describe("a deleted project", () => {
  test("is not found from then on, and its name is free", async () => {
    const { project } = await db.store.projects.ensure("gone-at-once");
    expect(await db.store.projects.remove(project.id, [2])).toBe("stale");
    expect(await db.store.projects.remove(project.id, [1])).toBe("removed");
    expect(await db.store.projects.remove(project.id, null)).toBe("stale");
    expect(await db.store.projects.find(project.id)).toBeNull();
    expect(await db.store.projects.findByName("gone-at-once")).toBeNull();
    expect((await db.store.projects.list()).map(({ id }) => id)).not.toContain(project.id);
    expect((await db.store.projects.listPage({ limit: 100, q: "deleted" })).map(({ id }) => id)).toEqual([]);
    const again = await db.store.projects.ensure("gone-at-once");
    expect([again.created, again.project.id === project.id]).toEqual([true, false]);
  });

  test("is removed in steps despite new data, and its own row last", async () => {
    const project = await db.newProject();
    for (let index = 0; index < 45; index++) {
      await exchange(db.store, project, newMessage({ text: "qzdeletedproject" }), ["answer"]);
    }
    await db.store.agents.insert(project, { name: "qzdeletedproject" });
    await db.store.kbs.insert(project, "qzdeletedproject");
    await db.store.projects.remove(project, null);
    let steps = 0;
    while (await db.store.erasures.purgeDeleted()) steps++;
    while (await db.store.kbs.purge());
    expect(steps).toBeGreaterThan(3);
    expect(await findInDatabase(db.url, "qzdeletedproject")).toEqual([]);

    // Accepted by a process that has not noticed the deletion yet.
    await db.store.messages.accept(project, newMessage({ text: "qzdeletedproject" }));
    await db.sql("UPDATE projects SET purge_at = now() WHERE id = $1", [project]);
    while (await db.store.erasures.purgeDeleted());
    expect(await findInDatabase(db.url, "qzdeletedproject")).toEqual([]);
    expect(await db.sql("SELECT 1 FROM projects WHERE id = $1", [project])).toHaveLength(1);

    await db.sql("UPDATE projects SET purge_at = now(), deleted_at = now() - interval '1 hour' WHERE id = $1", [
      project,
    ]);
    while (await db.store.erasures.purgeDeleted());
    expect(await findInDatabase(db.url, project)).toEqual([]);
  });

  test("sends nothing more to its webhooks, whose deliveries are deleted in batches with their attempts", async () => {
    const project = await db.newProject();
    const webhook = await db.store.webhooks.insert(project, {
      description: "",
      url: "https://example.com/",
      secret: { sealed: "sealed" },
      events: ["ticket.created"],
      channels: [],
      agentIds: [],
      priorities: [],
      isActive: true,
      createdBy: "test",
    });
    const id = webhook?.id ?? "";
    await db.sql(
      `INSERT INTO deliveries (id, project_id, ticket_id, message_id, type, url, reply_ids, due_at, webhook_id, subject_id)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 'ticket.created', 'https://example.com/', '{}',
         now(), $2, gen_random_uuid() FROM generate_series(1, 5001)`,
      [project, id],
    );
    const attempted = await db.sql<{ id: string }>(
      `INSERT INTO delivery_attempts (delivery_id, number) SELECT id, 1 FROM deliveries WHERE webhook_id = $1
       RETURNING delivery_id AS id`,
      [id],
    );
    const counts = async () => {
      const [count] = await db.sql(
        `SELECT count(*)::int AS deliveries, count(a.delivery_id)::int AS attempts
         FROM deliveries d LEFT JOIN delivery_attempts a ON a.delivery_id = d.id WHERE d.webhook_id = $1`,
        [id],
      );
      return count;
    };
    const { ticketId } = await db.store.messages.accept(project, newMessage());
    const chats = () => db.sql("SELECT 1 AS kept FROM chats WHERE ticket_id = $1", [ticketId]);
    await db.store.projects.remove(project, null);
    expect((await db.store.webhooks.find(project, id))?.activeSince).toBeNull();
    expect(await counts()).toEqual({ deliveries: 5_001, attempts: 5_001 });
    expect(await db.store.erasures.purgeDeleted()).toBe(true);
    expect(await counts()).toEqual({ deliveries: 1, attempts: 1 });
    // Before anything else: what is due would count as failed.
    expect(await chats()).toEqual([{ kept: 1 }]);
    while (await db.store.erasures.purgeDeleted());
    expect([await counts(), await chats()]).toEqual([{ deliveries: 0, attempts: 0 }, []]);
    const ids = attempted.map((attempt) => attempt.id);
    expect(await db.sql("SELECT 1 FROM delivery_attempts WHERE delivery_id = ANY ($1)", [ids])).toEqual([]);
    expect(await db.store.webhooks.find(project, id)).toBeNull();
  });

  test("is removed once by concurrent replicas, without errors", async () => {
    const projects = [await db.newProject(), await db.newProject()];
    for (const project of projects) {
      for (let index = 0; index < 30; index++) await exchange(db.store, project, newMessage(), ["answer"]);
    }
    await Promise.all(projects.map((project) => db.store.projects.remove(project, null)));
    const sweep = async (store: Store) => {
      while (await store.erasures.purgeDeleted());
    };
    await Promise.all([db.store, db.openAnother(), db.openAnother()].map(sweep));
    // A replica that found the others at work skips their rows; a final sweep processes the rest.
    await sweep(db.store);
    for (const table of ["chats", "messages", "replies", "tickets", "ticket_events"]) {
      expect(await db.sql(`SELECT 1 FROM ${table} WHERE project_id = ANY ($1) LIMIT 1`, [projects])).toEqual([]);
    }
  });

  test("returns tickets of other projects, and deletes its own", async () => {
    const [lender, project] = [await db.newProject(), await db.newProject()];
    const lent = (await exchange(db.store, lender, newMessage(), ["answer"])).accepted.ticketId;
    const own = (await exchange(db.store, project, newMessage(), ["answer"])).accepted.ticketId;
    await db.sql("UPDATE tickets SET project_id = $2, agent_id = $3 WHERE id = $1", [lent, project, newId()]);
    await db.sql("UPDATE tickets SET project_id = $2 WHERE id = $1", [own, lender]);
    await db.store.projects.remove(project, null);
    expect(await db.store.tickets.find(lender, lent)).toMatchObject({ project: lender, agentId: null });
    while (await db.store.erasures.purgeDeleted());
    expect(await db.store.tickets.find(lender, lent)).not.toBeNull();
    expect(await db.sql("SELECT 1 FROM tickets WHERE id = $1", [own])).toEqual([]);
  });
});

test("no role remains in a deleted project, and the widget's project cannot be deleted, also concurrently", async () => {
  const { project } = await db.store.projects.ensure("with-roles");
  const operator = await db.store.operators.insert({
    email: "ann@example.com",
    name: "Ann",
    roles: [
      { project: project.id, role: "operator" },
      { project: null, role: "viewer" },
    ],
  });
  expect(operator?.roles).toHaveLength(2);
  await db.store.projects.remove(project.id, null);
  expect((await db.store.operators.find(operator?.id ?? ""))?.roles).toEqual([{ project: "*", role: "viewer" }]);

  const another = db.openAnother();
  for (let turn = 0; turn < 15; turn++) {
    const name = `widget-${turn}`;
    const { project: wanted } = await db.store.projects.ensure(name);
    const [removal, isGiven] = await Promise.all([
      db.store.projects.remove(wanted.id, null),
      another.channelsConfig.update("widget", { project: name }),
    ]);
    expect([removal, isGiven]).toEqual(isGiven ? ["in_use", true] : ["removed", false]);
  }
  const { project: renamed } = await db.store.projects.ensure("before");
  const [, isGiven] = await Promise.all([
    db.store.projects.update(renamed.id, { name: "after" }),
    another.channelsConfig.update("widget", { project: "before" }),
  ]);
  const { widget } = await db.store.channelsConfig.read();
  expect(widget.config.project === "after").toBe(isGiven);
});

test("a renamed project keeps the widget", async () => {
  const { project } = await db.store.projects.ensure("widget-home");
  await db.store.channelsConfig.update("widget", { project: "widget-home" });
  const { result } = await db.store.projects.update(project.id, { name: "widget-house" });
  expect(result).toBe("changed");
  expect((await db.store.channelsConfig.read()).widget.config.project).toBe("widget-house");
  await db.store.projects.ensure("widget-other");
  expect(await db.store.projects.update(project.id, { name: "widget-other" })).toMatchObject({
    result: "taken",
    project: { name: "widget-house" },
  });
});
