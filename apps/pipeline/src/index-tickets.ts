import { setTimeout as rest, setImmediate as breathe } from "node:timers/promises";
import type { Log } from "@svc/log";
import type { Mailer } from "@svc/outbound";
import { startSweeps } from "@svc/work";
import type { Store, TicketText } from "@svc/store";
import { searchWords } from "@svc/text";
import { deadlinesOf } from "./sla-deadlines.ts";

/** Bytes of a ticket's words that are indexed at most; PostgreSQL takes 1 MB with what it needs for each. */
const MAX_WORD_BYTES = 400_000;

/**
 * After a step that reads words, others get so many times as long as it took, more of it while messages are worked on,
 * and at most so long: while they come in faster than they can be answered, the search falls behind rather than the
 * answers.
 */
const REST_FACTOR = { idle: 3, busy: 10 };
const MAX_REST_MS = { idle: 300, busy: 1_000 };

/** The words of a ticket: those that it had, those of its customer, and the new ones of its subject and its messages. */
export function wordsOfTicket({
  indexed,
  subject,
  customer,
  texts,
}: Pick<TicketText, "indexed" | "subject" | "customer" | "texts">): string[] {
  const words = new Set([...(indexed ?? searchWords(subject)), ...searchWords(customer)]);
  let bytes = 0;
  for (const word of words) bytes += sizeOf(word);
  for (const text of texts) {
    for (const word of searchWords(text)) {
      if (words.has(word)) continue;
      bytes += sizeOf(word);
      if (bytes > MAX_WORD_BYTES) return [...words];
      words.add(word);
    }
  }
  return [...words];
}

/** What a word takes: its bytes, its beginnings, and what PostgreSQL keeps of each. */
const sizeOf = (word: string) => Buffer.byteLength(word) + 12;

/** How often a replica looks for words that another one has left unread; its own it reads at once. */
const WORDS_POLL_MS = 10_000;

/**
 * Twice a second in every replica: takes over what has changed in tickets, for their lists, and reads the words of those
 * that changed, so that a search finds them within about a second, and later while messages are worked on in this process,
 * which `isBusy` says. One replica at a time follows the changes; words are read by all of them. What an upgrade finds there
 * is read in the same way, after what changes meanwhile. Snoozes whose time has come end, tickets that are late by the SLA
 * targets get an event, tags that were renamed get their new name on tickets, and tickets that need a person are assigned
 * to the operators on duty in turn, where their agent is set to that. With a `mailer`,
 * what operators are to be notified of is queued for emails.
 */
export function startTicketIndex(
  { store, mailer, log }: { store: Store; mailer: Mailer | null; log: Log },
  { isBusy }: { isBusy: () => boolean },
): { stop(): Promise<void> } {
  let hasNewWords = false;
  async function follow(isStopped: () => boolean): Promise<boolean> {
    let isChanged = false;
    while (!isStopped() && (await store.ticketIndex.follow(deadlinesOf, { sendsEmails: mailer !== null }))) {
      hasNewWords = true;
      isChanged = true;
      await breathe();
    }
    return isChanged;
  }

  async function readWords(isStopped: () => boolean): Promise<void> {
    // What changes meanwhile goes first, so it is looked for between the parts of a long catching up.
    for (;;) {
      const startedAt = performance.now();
      if (isStopped()) return;
      if (!(await store.ticketTexts.indexNext(wordsOfTicket))) {
        hasNewWords = false;
        return;
      }
      await follow(isStopped);
      const load = isBusy() ? "busy" : "idle";
      let restMs = Math.min(MAX_REST_MS[load], REST_FACTOR[load] * (performance.now() - startedAt));
      for (; restMs > 0 && !isStopped(); restMs -= MAX_REST_MS.idle) {
        await rest(Math.min(restMs, MAX_REST_MS.idle));
        await follow(isStopped);
      }
    }
  }

  async function readNewWords(isStopped: () => boolean): Promise<void> {
    if (hasNewWords) await readWords(isStopped);
  }

  async function wakeSnoozed(isStopped: () => boolean): Promise<void> {
    while (!isStopped() && (await store.ticketIndex.wakeSnoozed()) > 0);
  }

  async function recordBreaches(isStopped: () => boolean): Promise<void> {
    while (!isStopped() && (await store.ticketIndex.recordBreaches()) > 0);
  }

  async function renameTags(isStopped: () => boolean): Promise<void> {
    while (!isStopped() && (await store.tags.carryOutChanges()) > 0) await breathe();
  }

  async function assignInTurn(isStopped: () => boolean): Promise<void> {
    while (!isStopped() && (await store.ticketIndex.assignNext())) await breathe();
  }

  const isBehind = async () => (await store.dueWork.find()).ticketEvents;
  return startSweeps(log, "tickets", [
    { isDue: isBehind, run: follow },
    readNewWords,
    { everyMs: WORDS_POLL_MS, run: readWords },
    { isDue: async () => (await store.dueWork.find()).snoozes, run: wakeSnoozed },
    { isDue: async () => (await store.dueWork.find()).deadlines, run: recordBreaches },
    { isDue: async () => (await store.dueWork.find()).tagChanges, run: renameTags },
    { isDue: async () => (await store.dueWork.find()).assignments, run: assignInTurn },
  ]);
}
