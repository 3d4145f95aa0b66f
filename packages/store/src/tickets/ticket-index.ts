import { customerOf, profileOf } from "@svc/contracts";
import type {
  BusinessHours,
  ChannelId,
  DeadlineKind,
  SlaTarget,
  TicketPriority,
  TicketStage,
  TicketStatus,
} from "@svc/contracts";
import type { Context } from "../context.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { friendlyNameOf, phoneDigitsOf, searchedDigitsOf } from "../people/customer-facts.ts";
import type { TicketPerson } from "../people/customer-facts.ts";
import { followTickets } from "../people/customers.ts";
import { insertForEvents, insertReplies } from "../people/notifications.ts";
import { recordTicketEvents } from "../platform/webhooks.ts";
import { columnsOf, statements } from "../sql.ts";
import { LIST_COLUMNS, LIST_VALUES, WORDS_VERSION, microsecondsOf } from "./ticket-record.ts";

/** The data from which the deadlines of a ticket are calculated. */
export interface DeadlineFacts {
  ticketId: string;
  priority: TicketPriority;
  channelId: ChannelId;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  firstReplyAt: Date | null;
  updatedAt: Date;
  /** Time of the oldest message without a reply; null if there is none. */
  waitingSince: Date | null;
  /** Time since which the resolution is due; null if it is not. */
  resolutionStartedAt: Date | null;
  /** Of the project that works on the ticket; so is `businessHours`. */
  slaTargets: SlaTarget[];
  businessHours: BusinessHours | null;
}

/** A deadline of a ticket. */
export interface Deadline {
  kind: DeadlineKind;
  startedAt: Date;
  dueAt: Date;
}

/** Calculates the current deadlines of a ticket. */
type DeadlinesOf = (facts: DeadlineFacts) => Deadline[];

/** Late tickets per step. */
const STEP_LATE_TICKETS = 100;

const deadlineSql = statements("tickets/ticket-deadlines", { stepTickets: STEP_LATE_TICKETS });

/** Replaces the deadlines of tickets with the current ones. */
async function followDeadlines(tx: Db, ids: readonly string[], deadlinesOf: DeadlinesOf): Promise<void> {
  if (ids.length === 0) return;
  const tickets = await deadlineSql.read.all<DeadlineFacts>(tx, { ids });
  const given = tickets.flatMap((facts) =>
    deadlinesOf(facts).map((deadline) => ({ ticketId: facts.ticketId, ...deadline })),
  );
  await deadlineSql.write.run(tx, {
    ...columnsOf(given, "ticketId", "kind", "startedAt", "dueAt"),
    ids,
  });
}

/**
 * Records late tickets, in batches, each with an event `sla_breached`; returns how many. Safe with any number of
 * replicas. A ticket is skipped until its newest event was followed.
 */
export const recordBreaches = async (db: Db): Promise<number> => (await deadlineSql.recordBreaches.all(db)).length;

/** A search: words that a ticket must contain, all of them, unless the whole text is one of its IDs or phone numbers. */
export interface WordQuery {
  /** The text that was searched for. */
  text: string;
  words: readonly string[];
  /** Prefix of a further word; null for none. */
  beginning: string | null;
}

/** Data for indexing the words of a ticket. */
export interface TicketText {
  ticketId: string;
  /** Words of its subject and texts that are already indexed; null to start again. */
  indexed: string[] | null;
  subject: string;
  /** The customer's name, email address and user id; if none is known, the friendly name. */
  customer: string;
  /** New texts in order. */
  texts: string[];
  /** Sequence number of the last of these texts. */
  seq: number;
  /** True when there are more. */
  hasMore: boolean;
}

/** The words of a ticket. */
export interface TicketWords {
  /** Of its subject and texts. */
  ofText: string[];
  /** Of its customer, as stored now. */
  ofCustomer: string[];
}

/** The words of a ticket to index. */
interface IndexedText {
  ticketId: string;
  subject: string;
  seq: number;
  words: TicketWords;
  /** Lexemes beside those of the words. */
  marks: string[];
  /** Creation time of the ticket, in microseconds: a ticket that was erased and created again has the same id. */
  createdUs: number;
}

/** Tickets per step, and texts per ticket: about 40 MB at most. */
const STEP = { tickets: 100, texts: 8 };

/** A lexeme that no text has, since words do not start with its first character. */
const projectLexeme = (project: string) => `:p:${project}`;
const beginningLexeme = (beginning: string) => `:${beginning}`;

/**
 * Marks a word that only the customer's name, address or user id contains, so that it is removed when they change. With an
 * empty word it marks the ticket: those that an earlier version has indexed lack it, and are indexed completely.
 */
const customerLexeme = (word: string) => `:c:${word}`;

/** Maximum length of a prefix that is a lexeme of its own: longer prefixes match few words. */
const SHORT_BEGINNING = 2;

/** Marks an ID of a ticket: its own, and that of its chat. */
const idLexeme = (id: string) => `:i:${id.toLowerCase()}`;

/** Marks a phone number from one of its digits on, so that it is found by any of its parts. */
const phoneLexeme = (digits: string) => `:t:${digits}`;

/** Minimum number of digits of a part of a phone number: fewer are rather a number of something else. */
const MIN_PHONE_DIGITS = 6;

/** Quotes a lexeme for tsquery. */
const quote = (lexeme: string) => `'${lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;

/**
 * Returns the tsquery of tickets of a project with these words. The project is one of the words, so that the index does
 * not return tickets of others.
 */
export function textQueryOf(project: ProjectId, { text, words, beginning }: WordQuery): string {
  const lexemes = words.map(quote);
  if (beginning !== null) {
    const isShort = Array.from(beginning).length <= SHORT_BEGINNING;
    lexemes.push(isShort ? quote(beginningLexeme(beginning)) : `${quote(beginning)}:*`);
  }
  const digits = searchedDigitsOf(text, MIN_PHONE_DIGITS);
  const alternatives = [
    ...(lexemes.length === 0 ? [] : [lexemes.join(" & ")]),
    quote(idLexeme(text.trim())),
    ...(digits === null ? [] : [`${quote(phoneLexeme(digits))}:*`]),
  ];
  return `${quote(projectLexeme(project))} & (${alternatives.join(" | ")})`;
}

/** Maximum number of words that are paired, since the number of pairs grows with the square. */
const MAX_PAIRED = 8;

/**
 * Returns the tsquery of tickets of a project with at least two of these words, using the longest, which are mostly the
 * rarest; empty if there are fewer than two.
 */
export function anyTwoOf(project: ProjectId, words: readonly string[]): string {
  const longest = [...new Set(words)].toSorted((a, b) => b.length - a.length).slice(0, MAX_PAIRED);
  const pairs = longest.flatMap((one, index) =>
    longest.slice(index + 1).map((other) => `(${quote(one)} & ${quote(other)})`),
  );
  return pairs.length === 0 ? "" : `${quote(projectLexeme(project))} & (${pairs.join(" | ")})`;
}

/** Returns the words and their short prefixes. */
function lexemesOf(words: readonly string[]): string[] {
  const lexemes = new Set(words);
  for (const word of words) {
    const characters = Array.from(word.slice(0, SHORT_BEGINNING * 2));
    for (let length = 1; length <= Math.min(SHORT_BEGINNING, characters.length); length++) {
      lexemes.add(beginningLexeme(characters.slice(0, length).join("")));
    }
  }
  return [...lexemes];
}

/** Returns the lexemes of the words of a ticket. */
function documentOf({ ofText, ofCustomer }: TicketWords): string[] {
  const inText = new Set(ofText);
  const others = ofCustomer.filter((word) => !inText.has(word));
  return [...lexemesOf([...ofText, ...others]), ...["", ...others].map(customerLexeme)];
}

/** Returns the lexemes of the IDs of a ticket and of the phone numbers of its customer. */
function marksOf({ ticketId, chatId, channelMeta, phone }: TicketRow): string[] {
  const numbers = [profileOf(channelMeta).phone, phone].flatMap((text) => phoneDigitsOf(text, MIN_PHONE_DIGITS) ?? []);
  const ends = numbers.flatMap((digits) =>
    Array.from({ length: digits.length - MIN_PHONE_DIGITS + 1 }, (_, start) => digits.slice(start)),
  );
  return [...[ticketId, chatId].map(idLexeme), ...ends.map(phoneLexeme)];
}

/** Returns the words of subject and texts in the lexemes of a ticket; null if these do not tell them from the customer's. */
function textWordsOf(lexemes: readonly string[] | null): string[] | null {
  const known = new Set(lexemes);
  if (!known.has(customerLexeme(""))) return null;
  return [...known].filter((lexeme) => !lexeme.startsWith(":") && !known.has(customerLexeme(lexeme)));
}

/** A ticket to index, with the name and the address of its customer, if that is stored. */
type TicketRow = TicketPerson & {
  subject: string;
  seq: number | null;
  lexemes: string[] | null;
  alias: string | null;
  name: string | null;
  email: string | null;
  phone: string | null;
};

/**
 * Returns the text by which a search finds a ticket's customer. The friendly name is part of it only where people see it:
 * otherwise a search for a word such as "proud" would find many tickets that do not show it. A conversation of the HTTP
 * API without any is shown by its chat ID.
 */
function customerText(ticket: TicketRow): string {
  const stated = customerOf(ticket.channelMeta);
  const known = [stated?.name, stated?.email, ticket.name, ticket.email, ticket.userId].filter(
    (part) => typeof part === "string",
  );
  if (known.length > 0) return known.join(" ");
  return ticket.alias ?? friendlyNameOf(ticket) ?? (ticket.channelId === "api" ? ticket.chatId : "");
}

async function read(
  tx: Db,
  ticketIds: readonly string[],
): Promise<(TicketText & { person: TicketPerson; marks: string[] })[]> {
  const rows = await sql.read.all<TicketRow>(tx, { ticketIds });
  const tickets = rows.map((row) => ({ ...row, indexed: textWordsOf(row.lexemes) }));
  const seqOf = ({ indexed, seq }: (typeof tickets)[number]) => (indexed === null ? 0 : (seq ?? 0));
  const said = await sql.readSaid.all(tx, {
    ticketId: tickets.map((row) => row.ticketId),
    seq: tickets.map(seqOf),
  });
  return tickets.map((row) => {
    const own = said.filter((one) => one.ticketId === row.ticketId);
    const taken = own.slice(0, STEP.texts);
    return {
      ticketId: row.ticketId,
      indexed: row.indexed,
      subject: row.subject,
      customer: customerText(row),
      person: row,
      marks: marksOf(row),
      texts: taken.map(({ text }) => text),
      seq: taken.at(-1)?.seq ?? seqOf(row),
      hasMore: own.length > taken.length,
    };
  });
}

/** Indexes the words of these tickets, which the transaction has taken from the queue, up to a number of texts each. */
async function indexWords(tx: Db, ticketIds: readonly string[], wordsOf: (text: TicketText) => TicketWords) {
  const texts = await read(tx, ticketIds);
  const indexed: IndexedText[] = texts.map((text) => ({
    ...text,
    createdUs: text.person.createdUs,
    words: wordsOf(text),
  }));
  await sql.write.run(tx, {
    ticketId: indexed.map(({ ticketId }) => ticketId),
    lexemes: indexed.map(({ words, marks }) => JSON.stringify([...documentOf(words), ...marks])),
    subject: indexed.map(({ subject }) => subject),
    seq: indexed.map(({ seq }) => seq),
    createdUs: indexed.map(({ createdUs }) => createdUs),
  });
  return texts;
}

/**
 * Indexes the words of some queued tickets, those that changed last first; false if none is queued. `wordsOf` returns
 * the words of a ticket, and is passed how often its indexing has begun. Also creates and updates their customers. Safe with
 * any number of replicas and after any crash: unfinished tickets are indexed again, each alone, so that one that crashes the
 * process does not stop the others: 15 s after the first attempt, and later and later up to once a day.
 */
export async function indexNext(
  { db, leases }: Pick<Context, "db" | "leases">,
  wordsOf: (text: TicketText, attempts: number) => TicketWords,
): Promise<boolean> {
  const claimed = await sql.claim.all(leases);
  const [first] = claimed;
  if (first === undefined) return (await sql.queueOutdated.run(db)) > 0;
  const wordsOfClaimed = (text: TicketText) => wordsOf(text, first.attempts);
  await db.transaction(async (tx) => {
    const removed = await sql.remove.all(tx, { ids: claimed.map((row) => row.ticketId) });
    if (removed.length === 0) return;
    const ticketIds = removed.map((row) => row.ticketId);
    const texts = await indexWords(tx, ticketIds, wordsOfClaimed);
    const unfinished = texts.filter(({ hasMore }) => hasMore).map(({ ticketId }) => ticketId);
    if (unfinished.length > 0) await sql.queueAgain.run(tx, { unfinished });
    const renamed = await followTickets(
      tx,
      texts.map(({ person }) => person),
    );
    // At once and not by the queue: a ticket that stays behind its customer would be indexed forever.
    if (renamed.length > 0) await indexWords(tx, renamed, wordsOfClaimed);
  });
  return true;
}

/** Tickets per step of following events. */
const STEP_TICKETS = 1_000;

/** Columns of ticket_list that are overwritten when a ticket has changed. */
const OVERWRITTEN = LIST_COLUMNS.split(",")
  .map((column) => column.trim())
  .filter((column) => column !== "ticket_id")
  .map((column) => `${column} = excluded.${column}`)
  .join(", ");

const sql = statements("tickets/ticket-index", {
  createdUs: microsecondsOf("t.created_at"),
  stepTexts1: STEP.texts + 1,
  stepTickets: STEP.tickets,
  wordsVersion: WORDS_VERSION,
  updatedUs: microsecondsOf("t.updated_at"),
  changedMax: STEP_TICKETS,
  listColumns: LIST_COLUMNS,
  listValues: LIST_VALUES,
  overwritten: OVERWRITTEN,
});

/**
 * Updates ticket_list with changes since the last step, with the deadlines that `deadlinesOf` calculates for projects
 * with SLA targets, the events for webhooks, and emails if the installation `sendsEmails`, and queues the tickets for
 * indexing; false if there is nothing more to do, or another replica does it. Nothing is lost in a crash: an event
 * counts as followed only after every transaction that was open when it was read has ended.
 */
export async function follow(
  db: Db,
  deadlinesOf: DeadlinesOf,
  { sendsEmails = false }: { sendsEmails?: boolean } = {},
): Promise<boolean> {
  const state = await sql.isBehind.one(db);
  if (state?.isBehind !== true) return false;
  return db.transaction(async (tx) => {
    const state = await sql.hold.one(tx, { sendsEmails });
    if (state === null) return false;
    const { settledId } = state;
    if (state.hasRecipients && (await sql.notifies.one(tx, { settledId })) !== null) {
      await insertForEvents(tx, settledId, { sendsEmails });
    }
    if (state.hasReplyEmails) await insertReplies(tx, settledId);
    const changed = await sql.findChanged.all(tx, { settledId });
    if (changed.length > 0) {
      const ids = changed.map((row) => row.ticketId);
      const timed = changed.filter((row) => row.hasDeadlines).map((row) => row.ticketId);
      await followDeadlines(tx, timed, deadlinesOf);
      await sql.follow.run(tx, { ids });
      await sql.queueTexts.run(tx, { id: ids });
    }
    if (changed.length === STEP_TICKETS) return true;
    if (state.isReachedSettled) {
      // No event up to this id can still be committed, so each is sent exactly once.
      const { reachedId } = state;
      const isBehind = state.hasWebhooks && reachedId > settledId;
      const sentId = isBehind ? await recordTicketEvents(tx, settledId, reachedId) : reachedId;
      if (sentId < reachedId) {
        await sql.settle.run(tx, { settledId: sentId });
        return true;
      }
      await sql.updateTicketIndex.run(tx, { topId: state.topId, topXmax: state.topXmax });
    }
    return false;
  });
}

/** Ends due snoozes, in batches; returns how many. Safe with any number of replicas. */
export const wakeSnoozed = async (db: Db): Promise<number> => (await sql.wakeSnoozed.all(db)).length;
