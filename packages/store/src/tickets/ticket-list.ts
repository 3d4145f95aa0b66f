import { CHANNEL_IDS } from "@svc/contracts";
import type { KeyPosition, TicketListQuery, TicketSort } from "@svc/contracts";
import type { Db } from "../db.ts";
import { ticketIdOf } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import {
  asLastMessage,
  LAST_MESSAGE_COLUMNS,
  LAST_MESSAGE_JOIN,
  LIST_VALUES,
  urgencySpan,
  asTicketRecord,
  RECORD_COLUMNS,
  RECORD_JOINS,
} from "./ticket-record.ts";
import type { LastMessageRecord, LastMessageRow, TicketRecord } from "./ticket-record.ts";
import { textQueryOf } from "./ticket-index.ts";
import type { WordQuery } from "./ticket-index.ts";
import { statements } from "../sql.ts";

/** What is asked of a page of tickets; `words` in place of the text that was asked for. */
export type TicketPageQuery = Omit<TicketListQuery, "q" | "allProjects"> & {
  /** Null for tickets with any words. */
  words: WordQuery | null;
};

/** A ticket in a list. */
export interface ListedTicket extends TicketRecord {
  lastMessage: LastMessageRecord | null;
}

/** One page of tickets. */
export interface TicketPage {
  tickets: ListedTicket[];
  /** After which the next page continues; null at the end. */
  next: KeyPosition | null;
}

/** Changed tickets that a list reads from their own rows, at most: more of them only wait for the follower. */
const MAX_FRESH = 5_000;
/** Tickets in work that a list reads likewise, those that have waited longest. */
const MAX_IN_WORK = 500;
/** Tickets with the words that are looked up one by one; where there are more, the list goes along its order. */
const MAX_MATCHES = 5_000;
/** Tickets in the order of the list whose words are looked at first, so many at once. */
const WALK_STEPS = [200, 600, 600, 600];
const WALK_MAX = WALK_STEPS.reduce((sum, step) => sum + step);

/** What each order goes by, and whether the greatest is first. */
const ORDERS = {
  createdAt: { key: "created_us", isDescending: false },
  "-createdAt": { key: "created_us", isDescending: true },
  updatedAt: { key: "updated_us", isDescending: false },
  "-updatedAt": { key: "updated_us", isDescending: true },
  priority: { key: "urgency", isDescending: false },
  dueAt: { key: "due_us", isDescending: false },
  "-priority": { key: "urgency", isDescending: true },
} as const satisfies Record<TicketSort, { key: string; isDescending: boolean }>;

const sql = statements("tickets/ticket-list", {
  maxMatches1: MAX_MATCHES + 1,
  maxFresh: MAX_FRESH,
  maxInWork: MAX_IN_WORK,
});

/** Collects the values of a statement; returns the name of each. */
function createParameters(first: readonly unknown[]) {
  const values: unknown[] = [...first];
  return { values, add: (value: unknown) => `$${values.push(value)}` };
}
type Parameters = ReturnType<typeof createParameters>;

/** An order, as a statement has it. */
interface Order {
  key: (typeof ORDERS)[TicketSort]["key"];
  isDescending: boolean;
}

/** A list whose tickets are to have certain words. */
interface Walk extends Order {
  project: ProjectId;
  /** Tickets that fill a page. */
  wanted: number;
  after: KeyPosition | undefined;
  /** The words, as a tsquery. */
  text: string;
  /** What else they have to meet, and the values in it. */
  conditions: readonly string[];
  values: readonly unknown[];
}

const microseconds = (time: Date) => time.getTime() * 1_000;

/** Whose tickets a statement is about: what `$1` is, and how tickets `s` are selected by it. */
interface Span {
  given: ProjectId | readonly ProjectId[];
  /** Null for several projects. */
  only: ProjectId | null;
  /** The project of a branch, as SQL. */
  key: string;
  /** True for tickets of any of the projects, on a column of this name. */
  has: (column: string) => string;
  /** Puts the branches of all projects together, from the one that tells a project by `key`. */
  overAll: (branch: string) => string;
}

/** Indexes of ticket_list begin with the project: so several are read one by one, each along its index, and merged. */
function spanOf(given: ProjectId | readonly ProjectId[]): Span {
  if (typeof given === "string") {
    return {
      given,
      only: given,
      key: "$1::uuid",
      has: (column) => `${column} = $1::uuid`,
      overAll: (branch) => branch,
    };
  }
  return {
    given,
    only: null,
    key: "p.id",
    has: (column) => `${column} = ANY ($1::uuid[])`,
    overAll: (branch) => `(SELECT b.* FROM unnest($1::uuid[]) AS p (id) CROSS JOIN LATERAL ${branch} AS b)`,
  };
}

/** What the tickets of a list meet: those of ticket_list, and the few that are read from their own rows. */
interface Conditions {
  listed: string[];
  fresh: string[];
}

/** A condition on the columns of ticket_list `s` for each filter that is given. No text of the caller is in it. */
function conditionsOf({ only: project, key, has }: Span, query: TicketPageQuery, { add }: Parameters): Conditions {
  const { agentId, assignee, chatId, customerId, createdFrom, createdTo, updatedFrom, updatedTo, priority, tag } =
    query;
  const conditions: string[] = [];
  for (const [column, value] of [
    ["status", query.status],
    ["stage", query.stage],
    ["channel_id", query.channelId],
    ["language", query.language],
    ["user_id", query.userId],
  ] as const) {
    if (value !== undefined) conditions.push(`s.${column} = ${add(value)}`);
  }
  if (customerId !== undefined) {
    conditions.push(
      `s.ticket_id = ANY (ARRAY(SELECT k.ticket_id FROM ticket_customers k WHERE k.customer_id = ${add(customerId)}))`,
    );
  }
  if (agentId !== undefined) conditions.push(`s.agent_id = ${add(agentId)}`);
  if (assignee !== undefined) {
    conditions.push(assignee === "none" ? "s.assignee IS NULL" : `s.assignee = ${add(assignee)}`);
  }
  if (priority !== undefined) {
    const [from, to] = urgencySpan(priority);
    conditions.push(`s.urgency >= ${add(from)} AND s.urgency < ${add(to)}`);
  }
  if (chatId !== undefined && project !== null) {
    // The id of a ticket follows from its chat, unless it came in elsewhere.
    const ids = CHANNEL_IDS.map((channelId) => ticketIdOf(project, channelId, chatId));
    conditions.push(`(s.ticket_id = ANY (${add(ids)}::uuid[]) OR s.foreign_chat_id = ${add(chatId)})`);
  }
  if (createdFrom !== undefined) conditions.push(`s.created_us >= ${add(microseconds(createdFrom))}`);
  if (createdTo !== undefined) conditions.push(`s.created_us < ${add(microseconds(createdTo))}`);
  if (updatedFrom !== undefined) conditions.push(`s.updated_us >= ${add(microseconds(updatedFrom))}`);
  if (updatedTo !== undefined) conditions.push(`s.updated_us < ${add(microseconds(updatedTo))}`);
  if (query.origin !== undefined) conditions.push(`s.origin = ${add(query.origin)}`);
  if (query.needsReview === true) conditions.push("s.stage IN ('review', 'failed') AND NOT s.is_snoozed");
  if (query.overdue === true) conditions.push(`s.due_us <= ${add(microseconds(new Date()))}`);
  if (query.snoozed !== undefined) conditions.push(query.snoozed ? "s.is_snoozed" : "NOT s.is_snoozed");
  const tagged = tag === undefined ? null : add(tag);
  const withTag = (owner: string) =>
    tagged === null ? [] : [`s.tag_keys <> '{}' AND s.tag_keys @> ARRAY[${owner}::text || ':' || ${tagged}::text]`];
  return {
    listed: [`s.project_id = ${key}`, ...conditions, ...withTag(key)],
    fresh: [has("s.project_id"), ...conditions, ...withTag("s.project_id")],
  };
}

/** What comes after a place of an order. */
function positionCondition({ key, isDescending }: Order, after: KeyPosition, { add }: Parameters): string {
  const position = `(${add(after.value)}::bigint, ${add(after.id)}::uuid)`;
  return `(s.${key}, s.ticket_id) ${isDescending ? "<" : ">"} ${position}`;
}

/**
 * The first tickets of a list that have the words, found by looking into one after the other; null where that would
 * have to continue for too long. It ends when the page is full or no ticket is left, so that words are never looked up
 * where other filters leave few tickets, nor frequent ones, that would be found in tens of thousands.
 */
async function walk(db: Db, list: Walk): Promise<string[] | null> {
  const { key, isDescending, wanted, conditions, values, text } = list;
  const direction = isDescending ? "DESC" : "ASC";
  const matches: string[] = [];
  let { after } = list;
  let seen = 0;
  for (const step of WALK_STEPS) {
    const parameters = createParameters(values);
    const { add } = parameters;
    const further = after === undefined ? [] : [positionCondition(list, after, parameters)];
    // The tickets of the step first, whatever the planner thinks of the words.
    const rows = await db.query<{ value: number; ticketId: string; isMatch: boolean | null }>(
      `WITH step AS MATERIALIZED (
         SELECT s.${key} AS value, s.ticket_id FROM ticket_list s WHERE ${[...conditions, ...further].join(" AND ")}
         ORDER BY s.${key} ${direction}, s.ticket_id ${direction} LIMIT ${step}
       )
       SELECT value, ticket_id,
         (SELECT x.document @@ ${add(text)}::tsquery FROM ticket_texts x WHERE x.ticket_id = step.ticket_id) AS is_match
       FROM step ORDER BY value ${direction}, ticket_id ${direction}`,
      parameters.values,
    );
    seen += rows.length;
    matches.push(...rows.filter((row) => row.isMatch === true).map((row) => row.ticketId));
    const last = rows.at(-1);
    if (matches.length >= wanted || rows.length < step || last === undefined) return matches;
    // As it has gone so far, the page would not be full at the end either.
    if ((matches.length / seen) * WALK_MAX < wanted) return null;
    after = { value: last.value, id: last.ticketId };
  }
  return null;
}

/**
 * Conditions for the words: of the tickets in ticket_list, and of the fresh ones. Rare words that the walk has not
 * found are looked up in their index, and few tickets are left to be sorted. Where that would leave very many, the
 * list goes along its own order and looks into each until the page is full: a subquery, which the planner cannot turn
 * into the other way.
 */
async function wordConditions(db: Db, list: Walk, { add }: Parameters): Promise<{ listed: string; fresh: string }> {
  const { project, text } = list;
  const oneOf = (ids: readonly string[]) => `s.ticket_id = ANY (${add(ids)}::uuid[])`;
  const each = () => `(SELECT x.document @@ ${add(text)}::tsquery FROM ticket_texts x WHERE x.ticket_id = s.ticket_id)`;
  const walked = await walk(db, list);
  if (walked !== null) return { listed: oneOf(walked), fresh: each() };
  const rows = await sql.listMatches.all<{ ticketId: string }>(db, { project, text });
  if (rows.length > MAX_MATCHES) return { listed: each(), fresh: each() };
  const found = oneOf(rows.map((row) => row.ticketId));
  return { listed: found, fresh: found };
}

/**
 * A page of the tickets of one project or of several ones as they are now; only their words may be a second old. A
 * ticket that is read in one page and changed is not read again in the next one of a list that is sorted by what does
 * not change, or that has the newest changes first. Words and a chat are looked for in one project only.
 */
export async function listPage(
  db: Db,
  projects: ProjectId | readonly ProjectId[],
  query: TicketPageQuery,
): Promise<TicketPage> {
  const { key, isDescending } = ORDERS[query.sort];
  const span = spanOf(projects);
  const freshRows = await sql.listFresh.all<{ ticketId: string }>(db);
  const parameters = createParameters([span.given, freshRows.map((row) => row.ticketId)]);
  const { add, values } = parameters;
  const freshIds = "$2::uuid[]";
  const { listed, fresh } = conditionsOf(span, query, parameters);
  listed.push(`s.ticket_id <> ALL (${freshIds})`);
  const { after } = query;
  const wanted = query.limit + 1;
  if (query.words !== null && span.only !== null) {
    const { only: project } = span;
    // A copy: PostgreSQL takes no parameter that a statement does not use.
    const text = textQueryOf(project, query.words);
    const list = { project, key, isDescending, wanted, after, text, conditions: [...listed], values: [...values] };
    const words = await wordConditions(db, list, parameters);
    // Last, since looking into words is the dearest.
    listed.push(words.listed);
    fresh.push(words.fresh);
  }
  const position = after === undefined ? [] : [positionCondition({ key, isDescending }, after, parameters)];
  const limit = add(wanted);
  const direction = isDescending ? "DESC" : "ASC";
  const pageOf = (source: string, all: readonly string[]) => `
    (SELECT s.${key} AS value, s.ticket_id FROM ${source} s WHERE ${[...position, ...all].join(" AND ")}
     ORDER BY s.${key} ${direction}, s.ticket_id ${direction} LIMIT ${limit})`;
  // The first part goes along an index of ticket_list, for each project, and ends when the page is full; the second
  // has the few tickets that are taken from their own rows. Only the page's tickets are read whole. No locks.
  const rows = await db.query<TicketRecord & LastMessageRow & { value: number; ticketId: string }>(
    `WITH page AS MATERIALIZED (
       SELECT value, ticket_id FROM (
         ${span.overAll(pageOf("ticket_list", listed))}
         UNION ALL
         ${pageOf(`(SELECT ${LIST_VALUES} FROM tickets t WHERE t.id = ANY (${freshIds}))`, fresh)}
       ) AS both_parts ORDER BY value ${direction}, ticket_id ${direction} LIMIT ${limit}
     )
     SELECT p.value, p.ticket_id, ${RECORD_COLUMNS}, ${LAST_MESSAGE_COLUMNS}
     FROM page p LEFT JOIN tickets t ON t.id = p.ticket_id AND ${span.has("t.project_id")} ${RECORD_JOINS}
     ${LAST_MESSAGE_JOIN}
     ORDER BY p.value ${direction}, p.ticket_id ${direction}`,
    values,
  );
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    // A ticket that was erased or rerouted in this moment is left out.
    tickets: page
      .filter((row) => row.id !== null)
      .map(({ value: _value, ticketId: _id, lastText, lastAuthor, lastActor, lastAt, ...row }) => ({
        ...asTicketRecord(row),
        lastMessage: asLastMessage({ lastText, lastAuthor, lastActor, lastAt }),
      })),
    next: rows.length > page.length && last !== undefined ? { value: last.value, id: last.ticketId } : null,
  };
}

/** How many tickets meet the filters, up to `max`: then it is `max` or more. Words are not looked at. */
export async function count(
  db: Db,
  projects: ProjectId | readonly ProjectId[],
  query: TicketPageQuery,
  max: number,
): Promise<number> {
  const span = spanOf(projects);
  const freshRows = await sql.listFresh.all<{ ticketId: string }>(db);
  const parameters = createParameters([span.given, freshRows.map((row) => row.ticketId)]);
  const { listed, fresh } = conditionsOf(span, query, parameters);
  const limit = parameters.add(max);
  const branch = `
    (SELECT 1 FROM ticket_list s WHERE ${listed.join(" AND ")} AND s.ticket_id <> ALL ($2::uuid[]) LIMIT ${limit})`;
  // Both parts as in a page: along an index, which ends at the limit, and the few that are taken from their own rows.
  const rows = await db.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM (
       ${span.overAll(branch)}
       UNION ALL
       (SELECT 1 FROM (SELECT ${LIST_VALUES} FROM tickets t WHERE t.id = ANY ($2::uuid[])) s
        WHERE ${fresh.join(" AND ")} LIMIT ${limit})
       LIMIT ${limit}) AS found`,
    parameters.values,
  );
  return rows[0]?.count ?? 0;
}
