// How long the statements of the message path, of lists and of sweeps take while the tables grow.
import { migrateStore, openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { randomFrom } from "@svc/testing";
import pg from "pg";
import { benchLog as log } from "./product.ts";
import type { Bench } from "./product.ts";
import { percentile, printFigure } from "./measure.ts";

/** Messages are spread evenly over this time. */
const MONTHS = 24;
const MESSAGES_OF_TICKET = 4;
/** Conversations that are requested: the last ones, so that the same number of pages is in memory at every size. */
const ACTIVE_TICKETS = 2_000;
/** Conversations in which a message is due. */
const WAITING = 200;
const CALLS = 150;
/** Smaller differences are noise of the machine. */
const RESOLUTION_MS = 0.1;
const TABLES = [
  "tickets",
  "chats",
  "messages",
  "replies",
  "ticket_events",
  "ticket_list",
  "callbacks",
  "deliveries",
  "delivery_attempts",
  "audit_events",
];

/** Returns a UUIDv7 of a time; the rest is derived from a number. */
const uuidAt = (time: string, salt: string) =>
  `(lpad(to_hex((extract(epoch FROM ${time}) * 1000)::bigint), 12, '0') || '7' || overlay(left(md5(${salt}), 19) PLACING '8' FROM 4 FOR 1))::uuid`;

/** The first id of an event of a ticket in the month of a time. */
const eventIdAt = (time: string) =>
  `(((extract(year FROM ${time}) - 1970) * 12 + extract(month FROM ${time}) - 1)::bigint << 40)`;

/** Message `n` of `$1`, and its ticket; the last one is of the time `$3`. */
const SERIES = `FROM (SELECT n, (n - 1) / ${MESSAGES_OF_TICKET} AS t, $3 - interval '${MONTHS} months' * (1 - n / $1::float8) AS at
  FROM generate_series(1, $1::integer) n) s`;
const TICKET = "md5('ticket' || t)::uuid";
const MESSAGE = uuidAt("at", "'message' || n");
const DELIVERY = uuidAt("at", "'delivery' || n");
const FIRST_OF_TICKET = `n % ${MESSAGES_OF_TICKET} = 1`;
const SEQ = `1 + 2 * ((n - 1) % ${MESSAGES_OF_TICKET})`;

/** Each fills a table with the rows of `$1` messages in the project `$2`, the last of them of the time `$3`. */
const INSERTS = [
  `INSERT INTO tickets (id, home_project_id, project_id, channel_id, chat_id, user_id, subject, status, stage, created_at,
     updated_at)
   SELECT ${TICKET}, $2, $2, 'api', 'chat-' || t, 'user-' || t / 4, 'Where is my order ' || t, CASE t % 50
     WHEN 0 THEN 'open' WHEN 1 THEN 'spam' ELSE 'resolved' END, CASE t % 50 WHEN 0 THEN 'review' ELSE 'done' END, at, at
   ${SERIES} WHERE ${FIRST_OF_TICKET}`,
  `INSERT INTO chats (ticket_id, project_id, channel_id, chat_id, last_seq)
   SELECT ${TICKET}, $2, 'api', 'chat-' || t, ${2 * MESSAGES_OF_TICKET} ${SERIES} WHERE ${FIRST_OF_TICKET}`,
  `INSERT INTO messages (id, project_id, ticket_id, seq, user_id, text, timestamp_ms, channel_meta, mode, state, due_at,
     created_at, finished_at)
   SELECT ${MESSAGE}, $2, ${TICKET}, ${SEQ}, 'user-' || t / 4, 'When does order ' || n || ' arrive?', 0, '{}', 'async',
     CASE WHEN n > $1 - ${WAITING * MESSAGES_OF_TICKET} AND n % ${MESSAGES_OF_TICKET} = 0 THEN 'received'
       WHEN n % 1000 = 0 THEN 'failed' ELSE 'answered' END, at, at, at ${SERIES}`,
  `INSERT INTO replies (id, project_id, ticket_id, seq, in_reply_to, author, type, text, markdown, delivered_at, created_at)
   SELECT ${uuidAt("at", "'reply' || n")}, $2, ${TICKET}, ${SEQ} + 1, ${MESSAGE}, 'agent', 'message',
     'Order ' || n || ' arrives tomorrow.', false, CASE WHEN n % ${MESSAGES_OF_TICKET} <> 3 THEN at END, at ${SERIES}`,
  `INSERT INTO ticket_events (id, ticket_id, project_id, message_id, actor, at, moves, data, answer_step, answer_confidence)
   OVERRIDING SYSTEM VALUE
   SELECT ${eventIdAt("at")} + n, ${TICKET}, $2, ${MESSAGE}, 'pipeline', at, '[{"to": "done", "why": "answered"}]',
     '{"gate": {"sends": true}, "took": {"triage": 1, "retrieve": 3, "answer": 2}}', 'sent', 0.7 ${SERIES} ORDER BY n`,
  `INSERT INTO ticket_list (ticket_id, project_id, created_us, updated_us, urgency, version, status, stage, channel_id,
     user_id, tag_keys)
   SELECT id, project_id, extract(epoch FROM created_at) * 1000000, extract(epoch FROM updated_at) * 1000000,
     10000000000000 + extract(epoch FROM updated_at) * 1000, version, status, stage, channel_id, user_id, '{}'
   FROM tickets WHERE project_id = $2 AND $1 > 0`,
  `INSERT INTO callbacks (message_id, project_id, ticket_id, url, delivery_id, told, is_final_made, created_at)
   SELECT ${MESSAGE}, $2, ${TICKET}, 'https://example.com/hook', ${DELIVERY}, 'message.completed', true, at
   ${SERIES} WHERE n % 4 = 0`,
  `INSERT INTO deliveries (id, project_id, ticket_id, message_id, type, url, reply_ids, state, due_at, next_at, created_at,
     finished_at)
   SELECT ${DELIVERY}, $2, ${TICKET}, ${MESSAGE}, 'message.completed', 'https://example.com/hook', '{}',
     CASE WHEN n > $1 - ${WAITING * MESSAGES_OF_TICKET} THEN 'pending' WHEN n % 10000 = 0 THEN 'dead' ELSE 'delivered' END,
     at, at, at, at ${SERIES} WHERE n % 4 = 0 ORDER BY n`,
  `INSERT INTO delivery_attempts (delivery_id, number, at, duration_ms, status)
   SELECT ${DELIVERY}, 1, at, 20, 200 ${SERIES} WHERE n % 4 = 0 AND n <= $1 - ${WAITING * MESSAGES_OF_TICKET}`,
  `INSERT INTO audit_events (id, day, number, at, actor, action, object, project_id, project, result, count, hash)
   SELECT ${uuidAt("at", "'audit' || n")}, at::date, n, at, 'apiKey:' || n % 100,
     CASE WHEN n % 1000 = 0 THEN 'agents.update' ELSE 'messages.create' END, NULL, $2, 'default', 'ok', 1, '\\x00'
   ${SERIES} WHERE n % 10 = 0`,
];

/** Returns the time this many months ago. */
const monthsAgo = (months: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1, 12));
};

/** Creates partitions as in production over the months; a row in each prevents it from being dropped. */
async function passMonths(client: pg.Client, store: Store) {
  for (let ago = MONTHS + 2; ago >= 0; ago--) {
    await store.partitions.maintain(monthsAgo(ago));
    const time = `'${monthsAgo(ago - 1).toISOString()}'::timestamptz`;
    await client.query(`INSERT INTO delivery_attempts (delivery_id, number) VALUES (${uuidAt(time, "'month'")}, 1)`);
    await client.query(
      `INSERT INTO ticket_events (id, ticket_id, project_id, actor) OVERRIDING SYSTEM VALUE
       VALUES (${eventIdAt(time)}, gen_random_uuid(), gen_random_uuid(), 'bench')`,
    );
    await client.query(
      `INSERT INTO audit_events (id, day, number, at, actor, action, result, count, hash)
       VALUES (${uuidAt(time, "'month'")}, ${time}, 0, ${time}, 'bench', 'bench.month', 'ok', 1, '')`,
    );
  }
}

/**
 * Fills the tables without indexes, which are created at the end: for ten million rows that takes a third of the time.
 */
async function fill(client: pg.Client, project: ProjectId, rows: number) {
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT i.indexrelid::regclass::text AS name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS definition
     FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     WHERE c.relname = ANY ($1::text[]) AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid)`,
    [TABLES],
  );
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  for (const table of TABLES) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  const given = { $1: `${rows}`, $2: `'${project}'::uuid`, $3: `'${new Date().toISOString()}'::timestamptz` };
  for (const insert of INSERTS) {
    await client.query(Object.entries(given).reduce((text, [name, value]) => text.replaceAll(name, value), insert));
  }
  for (const table of TABLES) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
  for (const { definition } of indexes) await client.query(definition);
  await client.query("SELECT setval(pg_get_serial_sequence('ticket_events', 'id'), max(id)) FROM ticket_events");
  // As after a while: all events are processed, and tables are vacuumed.
  await client.query(
    "UPDATE ticket_index SET settled_id = m.id, reached_id = m.id FROM (SELECT max(id) AS id FROM ticket_events) m",
  );
  await client.query("VACUUM ANALYZE");
}

type Call = () => Promise<unknown>;

/** What the last conversations have, some of which each call picks. */
interface Recent {
  ticketId: string;
  messageId: string;
  deliveryId: string;
  userId: string;
}

const PAGE = { limit: 50, sort: "-updatedAt", words: null, after: undefined } as const;
const DRAIN_LIMITS = { maxReplies: 100, maxBytes: 1_000_000, keptDays: 100_000 };

/** What the calls are about; each asks for something else every time. */
interface Subjects {
  store: Store;
  project: ProjectId;
  /** One of the last conversations. */
  pick: () => Recent;
  /** A conversation in which a message waits, as long as there are any. */
  takeWaiting: () => Recent;
}

function messageOf(chat: number) {
  return {
    channelId: "api" as const,
    chatId: `new-${chat}`,
    userId: null,
    text: "When does my order arrive?",
    timestampMs: Date.now(),
    attachments: null,
    channelMeta: {},
    mode: "async" as const,
    callInstance: null,
    callback: null,
  };
}

/** Calls of the message path and its sweeps. */
function messageCalls({ store, project, pick, takeWaiting }: Subjects): Record<string, Call> {
  let chat = 0;
  return {
    "accept a message": () => store.messages.accept(project, messageOf(chat++)),
    "claim a message": () => store.messages.claimConcurrently(project, takeWaiting().ticketId, 10),
    "messages due": () => store.messages.claimDue(20),
    "age of the oldest message": () => store.messages.oldestWaitingMs(),
    "texts before a message": () => store.history.listBefore(project, pick().ticketId, 8, 10),
    "state of a message": () => store.messages.findState(project, pick().messageId),
    "drain, read": () => store.replies.readBuffer(project, pick().ticketId, 0, DRAIN_LIMITS),
    "drain, take": () => store.replies.claimFromBuffer(project, pick().ticketId, crypto.randomUUID(), DRAIN_LIMITS),
    "replies of a call": () => store.replies.readForCall(project, pick().messageId, store.processes.ownId),
    "claim a delivery": () => store.deliveries.claim(project, pick().ticketId),
    "deliveries due": () => store.deliveries.claimDue(20),
    "age of the oldest delivery": () => store.deliveries.oldestDueMs(),
    "follow tickets": () => store.ticketIndex.follow(() => []),
  };
}

/** Calls of people and of administration. */
function listCalls({ store, project, pick }: Subjects): Record<string, Call> {
  return {
    "find a delivery": () => store.deliveries.find(project, pick().deliveryId),
    "list deliveries": () => store.deliveries.listPage(project, { limit: 50 }),
    "list deliveries, dead": () => store.deliveries.listPage(project, { limit: 50, state: "dead" }),
    "list deliveries, pending": () => store.deliveries.listPage(project, { limit: 50, state: "pending" }),
    "count failing deliveries": () => store.deliveries.countFailing(3),
    "list dead letters": () => store.messages.listDeadLetters(project, 50),
    inbox: () => store.ticketList.listPage(project, PAGE),
    "inbox, needs review": () => store.ticketList.listPage(project, { ...PAGE, needsReview: true }),
    "inbox, status=spam": () => store.ticketList.listPage(project, { ...PAGE, status: "spam" }),
    "inbox, oldest first": () => store.ticketList.listPage(project, { ...PAGE, sort: "createdAt" }),
    "inbox, of a user": () => store.ticketList.listPage(project, { ...PAGE, userId: pick().userId }),
    "count the inbox": () => store.ticketList.count(project, PAGE, 1_000),
    "read a ticket": () => store.ticketDetails.read(project, pick().ticketId),
    "ticket changes": async () => store.ticketChanges.listAfter((await store.ticketChanges.findNewest()) - 10, [], 100),
    "list audit events": () => store.audit.listPage({}, { limit: 50 }),
    "list audit events, action": () => store.audit.listPage({ action: "agents.update" }, { limit: 50 }),
    "list audit events, none": () => store.audit.listPage({ result: "forbidden" }, { limit: 50 }),
    "add an audit event": () =>
      store.audit.append({
        actor: "bench",
        action: "agents.update",
        object: null,
        project: { id: project, name: "default" },
        result: "ok",
        requestId: null,
      }),
  };
}

/** The calls that are timed, by name. */
function callsOf(store: Store, project: ProjectId, recent: readonly Recent[]): Record<string, Call> {
  const random = randomFrom(5);
  const waiting = recent.slice(0, WAITING);
  const pick = (): Recent => {
    const found = recent[Math.floor(random() * recent.length)];
    if (found === undefined) throw new Error("there are no conversations");
    return found;
  };
  const subjects: Subjects = { store, project, pick, takeWaiting: () => waiting.shift() ?? pick() };
  return { ...messageCalls(subjects), ...listCalls(subjects) };
}

/** Returns the tenth percentile of a call's times: other load of the machine can only increase them. */
async function timeOf(call: Call): Promise<number> {
  for (let warmUp = 0; warmUp < 10; warmUp++) await call();
  const times: number[] = [];
  for (let run = 0; run < CALLS; run++) {
    const startedAt = performance.now();
    await call();
    times.push(performance.now() - startedAt);
  }
  return percentile(Float64Array.from(times).sort(), 0.1);
}

/** Fills a database with this many messages; returns the time of each call, in milliseconds. */
async function timesAt(bench: Bench, rows: number): Promise<Record<string, number>> {
  const url = await bench.createDatabase(`growth_${rows}`);
  await migrateStore(url, log);
  const store = openStore({ url, secretKey: "a benchmark seals nothing 0123456789", log });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { project } = await store.projects.ensure("default");
    await passMonths(client, store);
    const startedAt = performance.now();
    await fill(client, project.id, rows);
    const { rows: size } = await client.query<{ text: string }>(
      "SELECT pg_size_pretty(pg_database_size(current_database())) AS text",
    );
    const took = ((performance.now() - startedAt) / 1_000).toFixed(0);
    printFigure(`${rows} messages made`, `${took} s, ${size[0]?.text}`);
    const { rows: recent } = await client.query<Recent>(
      `SELECT m.ticket_id AS "ticketId", m.id AS "messageId", d.id AS "deliveryId", m.user_id AS "userId"
       FROM (SELECT * FROM deliveries ORDER BY place DESC LIMIT ${ACTIVE_TICKETS}) d JOIN messages m ON m.id = d.message_id
       ORDER BY d.place DESC`,
    );
    const times: Record<string, number> = {};
    for (const [name, call] of Object.entries(callsOf(store, project.id, recent))) times[name] = await timeOf(call);
    return times;
  } finally {
    await client.end();
    await store.close();
  }
}

/** Prints the time of each statement at each size, and how many times longer it takes there than at the first size. */
export async function measureGrowth(bench: Bench) {
  const [first = 0, ...others] = bench.options.rows;
  const atFirst = await timesAt(bench, first);
  for (const rows of others) {
    const times = await timesAt(bench, rows);
    const slower: string[] = [];
    for (const [name, ms] of Object.entries(times)) {
      const base = atFirst[name] ?? Number.NaN;
      const ratio = ms / base;
      if (ratio > 1.5 && ms - base > RESOLUTION_MS) slower.push(name);
      printFigure(name, `${base.toFixed(2)} ms at ${first}  ${ms.toFixed(2)} ms at ${rows}  ${ratio.toFixed(2)} times`);
    }
    printFigure(`slower than 1.5 times at ${rows}`, slower.length === 0 ? "none" : slower.join(", "));
  }
}
