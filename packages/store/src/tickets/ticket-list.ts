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

/** Query for a page of tickets, with `words` in place of the search text. */
export type TicketPageQuery = Omit<TicketListQuery, "q" | "allProjects"> & {
  /** Null if there is no search. */
  words: WordQuery | null;
};

/** A ticket in a list. */
export interface ListedTicket extends TicketRecord {
  lastMessage: LastMessageRecord | null;
  /** When the oldest message that waits for an operator was sent; null if none waits. */
  waitingSince: Date | null;
}

/** One page of tickets. */
export interface TicketPage {
  tickets: ListedTicket[];
  /** Cursor of the next page; null at the end. */
  next: KeyPosition | null;
}

/** Maximum of changed tickets that a list reads from their own rows; further ones appear once they are followed. */
const MAX_FRESH = 5_000;
/** Maximum of tickets in progress that a list reads in the same way, those that have waited longest. */
const MAX_IN_WORK = 500;
/** Maximum of tickets with the words that are looked up one by one; with more, the list is read in its order. */
const MAX_MATCHES = 5_000;
/** Batch sizes of tickets, in the order of the list, that are checked for the words first. */
const WALK_STEPS = [200, 600, 600, 600];
const WALK_MAX = WALK_STEPS.reduce((sum, step) => sum + step);

/** Sort key and direction of each order. */
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

/** Collects the values of a statement; returns the placeholder of each. */
function createParameters(first: readonly unknown[]) {
  const values: unknown[] = [...first];
  return { values, add: (value: unknown) => `$${values.push(value)}` };
}
type Parameters = ReturnType<typeof createParameters>;

/** An order in SQL. */
interface Order {
  key: (typeof ORDERS)[TicketSort]["key"];
  isDescending: boolean;
}

/** A list of tickets that must contain words. */
interface Walk extends Order {
  project: ProjectId;
  /** Size of a page. */
  wanted: number;
  after: KeyPosition | undefined;
  /** The words, as a tsquery. */
  text: string;
  /** Further conditions, and their values. */
  conditions: readonly string[];
  values: readonly unknown[];
}

const microseconds = (time: Date) => time.getTime() * 1_000;

/** Projects of a statement: `$1`, and how tickets `s` are selected by it. */
interface Span {
  given: ProjectId | readonly ProjectId[];
  /** The only project; null for several. */
  only: ProjectId | null;
  /** SQL of a branch's project. */
  key: string;
  /** Returns SQL that is true for tickets of any of the projects, given the name of a column. */
  has: (column: string) => string;
  /** Combines the branches of all projects, from a branch that selects one project by `key`. */
  overAll: (branch: string) => string;
}

/**
 * Indexes of ticket_list start with the project: several projects are read one by one, each by its index, and merged.
 */
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

/** Conditions of a list: for ticket_list, and for the few tickets that are read from their own rows. */
interface Conditions {
  listed: string[];
  fresh: string[];
}

/** Returns a condition on the columns of ticket_list `s` for each given filter. It contains no text of the caller. */
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
    // The id of a ticket is derived from its chat, unless it came in elsewhere.
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
  if (query.closed !== undefined) {
    conditions.push(`s.status IN (${query.closed ? "'resolved', 'spam'" : "'open', 'pending'"})`);
  }
  const tagged = tag === undefined ? null : add(tag);
  const withTag = (owner: string) =>
    tagged === null ? [] : [`s.tag_keys <> '{}' AND s.tag_keys @> ARRAY[${owner}::text || ':' || ${tagged}::text]`];
  return {
    listed: [`s.project_id = ${key}`, ...conditions, ...withTag(key)],
    fresh: [has("s.project_id"), ...conditions, ...withTag("s.project_id")],
  };
}

/** Returns the condition for rows after a position of an order. */
function positionCondition({ key, isDescending }: Order, after: KeyPosition, { add }: Parameters): string {
  const position = `(${add(after.value)}::bigint, ${add(after.id)}::uuid)`;
  return `(s.${key}, s.ticket_id) ${isDescending ? "<" : ">"} ${position}`;
}

/**
 * Finds the first tickets of a list that contain the words, by checking them one by one; null if that would take too
 * long. It ends when the page is full or no ticket is left, so that the word index is not used if other filters leave
 * few tickets, or for frequent words with tens of thousands of tickets.
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
    // Selects the tickets of the step first, whatever the planner estimates for the words.
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
    // At the current rate, the page would not be full at the end either.
    if ((matches.length / seen) * WALK_MAX < wanted) return null;
    after = { value: last.value, id: last.ticketId };
  }
  return null;
}

/**
 * Returns conditions for the words: for ticket_list, and for the fresh tickets. Rare words that `walk` has not found
 * are looked up in their index, which leaves few tickets to sort. If that would leave too many, the list is read in its
 * order and each ticket is checked until the page is full: a subquery that the planner cannot flatten.
 */
async function wordConditions(db: Db, list: Walk, { add }: Parameters): Promise<{ listed: string; fresh: string }> {
  const { project, text } = list;
  const oneOf = (ids: readonly string[]) => `s.ticket_id = ANY (${add(ids)}::uuid[])`;
  const each = () => `(SELECT x.document @@ ${add(text)}::tsquery FROM ticket_texts x WHERE x.ticket_id = s.ticket_id)`;
  const walked = await walk(db, list);
  if (walked !== null) return { listed: oneOf(walked), fresh: each() };
  const rows = await sql.listMatches.all(db, { project, text });
  if (rows.length > MAX_MATCHES) return { listed: each(), fresh: each() };
  const found = oneOf(rows.map((row) => row.ticketId));
  return { listed: found, fresh: found };
}

/**
 * Returns a page of the current tickets of one or several projects; only their words may be a second old. In a list
 * with an immutable sort key, or with the newest changes first, a ticket that changes between two pages is not returned
 * twice. Words and chats can be searched in one project only.
 */
export async function listPage(
  db: Db,
  projects: ProjectId | readonly ProjectId[],
  query: TicketPageQuery,
): Promise<TicketPage> {
  const { key, isDescending } = ORDERS[query.sort];
  const span = spanOf(projects);
  const freshRows = await sql.listFresh.all(db);
  const parameters = createParameters([span.given, freshRows.map((row) => row.ticketId)]);
  const { add, values } = parameters;
  const freshIds = "$2::uuid[]";
  const { listed, fresh } = conditionsOf(span, query, parameters);
  listed.push(`s.ticket_id <> ALL (${freshIds})`);
  const { after } = query;
  const wanted = query.limit + 1;
  if (query.words !== null && span.only !== null) {
    const { only: project } = span;
    // A copy: PostgreSQL rejects parameters that a statement does not use.
    const text = textQueryOf(project, query.words);
    const list = { project, key, isDescending, wanted, after, text, conditions: [...listed], values: [...values] };
    const words = await wordConditions(db, list, parameters);
    // Last, since checking words is the most expensive.
    listed.push(words.listed);
    fresh.push(words.fresh);
  }
  const position = after === undefined ? [] : [positionCondition({ key, isDescending }, after, parameters)];
  const limit = add(wanted);
  const direction = isDescending ? "DESC" : "ASC";
  const pageOf = (source: string, all: readonly string[]) => `
    (SELECT s.${key} AS value, s.ticket_id FROM ${source} s WHERE ${[...position, ...all].join(" AND ")}
     ORDER BY s.${key} ${direction}, s.ticket_id ${direction} LIMIT ${limit})`;
  // The first part uses an index of ticket_list, for each project, and ends when the page is full; the second reads the
  // few fresh tickets from their own rows. Only the page's tickets are read completely. No locks.
  const rows = await db.query<Omit<ListedTicket, "lastMessage"> & LastMessageRow & { value: number; ticketId: string }>(
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
    // A ticket that was just erased or rerouted is skipped.
    tickets: page
      .filter((row) => row.id !== null)
      .map(({ value: _value, ticketId: _id, lastText, lastAuthor, lastActor, lastAt, ...row }) => ({
        ...asTicketRecord(row),
        waitingSince: row.waitingSince,
        lastMessage: asLastMessage({ lastText, lastAuthor, lastActor, lastAt }),
      })),
    next: rows.length > page.length && last !== undefined ? { value: last.value, id: last.ticketId } : null,
  };
}

/** Counts tickets that match the filters, up to `max`, which means `max` or more. Words are ignored. */
export async function count(
  db: Db,
  projects: ProjectId | readonly ProjectId[],
  query: TicketPageQuery,
  max: number,
): Promise<number> {
  const span = spanOf(projects);
  const freshRows = await sql.listFresh.all(db);
  const parameters = createParameters([span.given, freshRows.map((row) => row.ticketId)]);
  const { listed, fresh } = conditionsOf(span, query, parameters);
  const limit = parameters.add(max);
  const branch = `
    (SELECT 1 FROM ticket_list s WHERE ${listed.join(" AND ")} AND s.ticket_id <> ALL ($2::uuid[]) LIMIT ${limit})`;
  // Both parts as in a page: by an index, up to the limit, and the few from their own rows.
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
