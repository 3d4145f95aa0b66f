import { setTimeout as rest, setImmediate as breathe } from "node:timers/promises";
import type { Log } from "@svc/log";
import type { Mailer } from "@svc/outbound";
import { startSweeps } from "@svc/work";
import type { SweepStep } from "@svc/work";
import type { DueWork, Store, TicketText, TicketWords, Deadline, DeadlineFacts } from "@svc/store";
import { searchWords } from "@svc/text";
import { addBusinessMinutes } from "@svc/channel-manager";
import type { DeadlineKind, SlaTarget } from "@svc/contracts";
import type { Isolation } from "./isolation.ts";

const MINUTES_OF = {
  first_reply: "firstReplyMinutes",
  next_reply: "nextReplyMinutes",
  resolution: "resolutionMinutes",
} as const satisfies Record<DeadlineKind, keyof SlaTarget>;

/** Returns what a ticket waits for, and since when. */
function waitsOf(ticket: DeadlineFacts): { kind: DeadlineKind; startedAt: Date }[] {
  const { stage, status, waitingSince, firstReplyAt, updatedAt, assignee, resolutionStartedAt } = ticket;
  if (status === "resolved" || status === "spam") return [];
  const needsPerson = stage === "review" || stage === "failed";
  const waits: { kind: DeadlineKind; startedAt: Date }[] = [];
  if (needsPerson && waitingSince !== null) {
    waits.push({ kind: firstReplyAt === null ? "first_reply" : "next_reply", startedAt: waitingSince });
  }
  // A person need not resolve a ticket that only an agent has answered.
  if (needsPerson || assignee !== null || resolutionStartedAt !== null) {
    waits.push({ kind: "resolution", startedAt: resolutionStartedAt ?? waitingSince ?? updatedAt });
  }
  return waits;
}

/**
 * Returns the deadlines of a ticket by its project's SLA targets, in business time: for a person's reply, and for the
 * resolution. The first matching target counts. Deadlines more than 400 days away are omitted.
 */
export function deadlinesOf(ticket: DeadlineFacts): Deadline[] {
  const { priority, channelId, slaTargets, businessHours } = ticket;
  const target = slaTargets.find(
    (one) => (one.priority ?? priority) === priority && (one.channelId ?? channelId) === channelId,
  );
  if (target === undefined) return [];
  return waitsOf(ticket).flatMap(({ kind, startedAt }) => {
    const minutes = target[MINUTES_OF[kind]];
    const dueAt = minutes === undefined ? null : addBusinessMinutes(businessHours, startedAt, minutes);
    return dueAt === null ? [] : [{ kind, startedAt, dueAt }];
  });
}

/**
 * Maximum size of a ticket's indexed words, in bytes. PostgreSQL's limit is 1 MB, including its overhead for each
 * word.
 */
const MAX_WORD_BYTES = 400_000;

/**
 * Pause after each step of reading words, as a multiple of the step's duration: longer while messages are processed,
 * so that under load the search falls behind rather than the replies.
 */
const REST_FACTOR = { idle: 3, busy: 10 };
/** Maximum of that pause. */
const MAX_REST_MS = { idle: 300, busy: 1_000 };

/**
 * Returns the words of a ticket: those of its subject and messages, of which some are indexed already, and those of its
 * customer.
 */
export function wordsOfTicket({
  indexed,
  subject,
  customer,
  texts,
}: Pick<TicketText, "indexed" | "subject" | "customer" | "texts">): TicketWords {
  const words = new Set(indexed ?? searchWords(subject));
  const ofCustomer = searchWords(customer);
  let bytes = 0;
  for (const word of [...words, ...ofCustomer]) bytes += sizeOf(word);
  for (const text of texts) {
    for (const word of searchWords(text)) {
      if (words.has(word)) continue;
      bytes += sizeOf(word);
      if (bytes > MAX_WORD_BYTES) return { ofText: [...words], ofCustomer };
      words.add(word);
    }
  }
  return { ofText: [...words], ofCustomer };
}

/** Size of a word in the index, in bytes, with its prefixes and PostgreSQL's overhead. */
const sizeOf = (word: string) => Buffer.byteLength(word) + 12;

/**
 * Words are read for this time, and further ones in the next sweep: a backlog, such as all tickets after an upgrade, must
 * not delay the other steps.
 */
const WORDS_MS = 1_000;

/**
 * Runs twice a second in every replica, every two seconds if nothing happens: updates the ticket lists with changed
 * tickets, and indexes their words, so that a search finds them within about a second, or later while this process is busy
 * with messages (`isBusy`). One replica at a time follows the changes; all of them index words, but not next to a message
 * that may crash the process (`isolation`), which would be blamed for a crash of this. After an upgrade, existing tickets are
 * indexed in the same way, after changed ones.
 *
 * It also ends snoozes that are due, adds an event to tickets that miss their SLA targets, renames tags on tickets,
 * and assigns tickets that need a person to operators on duty in turn, if their agent is set to that. With a
 * `mailer`, it queues emails for operators' notifications.
 */
export function startTicketIndex(
  { store, mailer, log }: { store: Store; mailer: Mailer | null; log: Log },
  { isBusy, isolation }: { isBusy: () => boolean; isolation: Pick<Isolation, "isExclusive" | "runShared"> },
): { stop(): Promise<void> } {
  function wordsOf(text: TicketText, attempts: number): TicketWords {
    const { ticketId } = text;
    if (attempts > 2)
      log.warn({ ticketId, attempts }, "indexing a ticket alone: it failed or crashed the process before");
    return wordsOfTicket(text);
  }

  async function follow(isStopped: () => boolean): Promise<void> {
    while (!isStopped() && (await store.ticketIndex.follow(deadlinesOf, { sendsEmails: mailer !== null }))) {
      await breathe();
    }
  }

  async function readWords(isStopped: () => boolean): Promise<void> {
    const until = performance.now() + WORDS_MS;
    // Changed tickets have priority, so they are checked between the steps of a long backlog. Without a backlog, the next
    // sweep reads the words of all tickets that change until then: a step costs eight round trips, however few they are.
    while (!isStopped() && performance.now() < until) {
      const startedAt = performance.now();
      // The other steps of a sweep must not wait for a group of suspects, which may take minutes with a model.
      if (isolation.isExclusive()) return;
      if (!(await isolation.runShared(() => store.ticketTexts.indexNext(wordsOf)))) return;
      await follow(isStopped);
      const load = isBusy() ? "busy" : "idle";
      let restMs = Math.min(MAX_REST_MS[load], REST_FACTOR[load] * (performance.now() - startedAt));
      for (; restMs > 0 && !isStopped(); restMs -= MAX_REST_MS.idle) {
        await rest(Math.min(restMs, MAX_REST_MS.idle));
        await follow(isStopped);
      }
    }
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

  const whenDue = (kinds: readonly (keyof DueWork)[], run: SweepStep) => ({
    async isDue() {
      const due = await store.dueWork.find();
      return kinds.some((kind) => due[kind]);
    },
    run,
  });
  return startSweeps(log, "tickets", [
    whenDue(["ticketEvents"], follow),
    whenDue(["snoozes"], wakeSnoozed),
    whenDue(["deadlines"], recordBreaches),
    whenDue(["tagChanges"], renameTags),
    whenDue(["assignments"], assignInTurn),
    // Changes that were followed above have new words, which a search finds without waiting for the next sweep.
    whenDue(["ticketEvents", "ticketTexts"], readWords),
  ]);
}
