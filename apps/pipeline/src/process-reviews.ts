import { promisesPerson } from "@svc/agents";
import { LIMITS } from "@svc/contracts";
import { announceWork } from "@svc/queue";
import { asProjectId, joinDrafts } from "@svc/store";
import type { ClaimedReview } from "@svc/store";
import { inSpan, isTracing } from "@svc/telemetry";
import { defineWork } from "@svc/work";
import type { ClaimContext, HeldLease, Work } from "@svc/work";
import { makeApprovedCalls } from "./agent-tools.ts";
import type { Isolation } from "./isolation.ts";
import { CHAT_SHUTDOWN, explainExpiredLeases, RETRY_DELAYS_MS } from "./process-messages.ts";
import type { Chat, ChatLeases } from "./process-messages.ts";
import { beginReviewRun, beginRun, failureText, judgeRunError, move, runStages, whenAborted } from "./run.ts";
import type { ReviewRun, Run, StageContext, Stages } from "./run.ts";
import { answer, retrieve, triage } from "./stages/answer.ts";
import { announceReplyJob, draftOf, isCountedAnswer, makeReplyItems, traceOf, whyOf } from "./stages/send-reply.ts";

/**
 * Writes answers to the older waiting messages, each from its own text and the messages before it, by the agent that
 * answers the newest one: a draft covers all of them.
 */
async function answerEarlier(context: StageContext, run: ReviewRun): Promise<void> {
  const { message, ticket, triage } = run;
  for (const older of await context.store.reviews.listEarlier(run.review)) {
    if (run.signal.aborted) return;
    const part: Run = { ...beginRun({ ...message, ...older }, run, run.signal), ticket, triage, stage: "triage" };
    await retrieve(context, part);
    await answer(context, part);
    run.earlier.push(draftOf(part, whyOf(part)));
  }
}

/** Makes the reply items of a person's reply: the text, if any, each Markdown table also as XLSX, and the files. */
async function formatReview(context: StageContext, run: ReviewRun): Promise<void> {
  const { log, store } = context;
  const { project, ticketId, work, reviewId } = run.review;
  if (work.kind !== "send") return;
  const { text, markdown, sources } = work;
  const answer = { text, markdown, ...(work.author === "operator" ? {} : { sources }) };
  const traced = { ...context, log: log.child({ reviewId }) };
  const items = text.trim() === "" ? [] : await makeReplyItems(traced, run, answer);
  const files = await store.operatorFiles.read(project, ticketId, work.fileIds);
  if (files.length < work.fileIds.length) throw new Error("a file of the reply no longer exists");
  run.replies = [...items, ...files.map((file) => ({ type: "attachment" as const, ...file }))];
}

/** Replaces the former draft by the new answer; the ticket waits for a person again. */
async function keepDraft({ store, log }: StageContext, run: ReviewRun): Promise<void> {
  const { review, triage, earlier } = run;
  move(run, "review", whyOf(run));
  const draft = [...earlier, draftOf(run, whyOf(run))].reduce(joinDrafts);
  const isKept = await store.reviews.finishDraft(review, {
    draft,
    agentId: triage?.agentId ?? null,
    confidence: draft.confidence,
    language: run.language,
    moves: run.moves,
    trace: traceOf(run),
    answerStep: isCountedAnswer(run) ? "held" : null,
  });
  if (!isKept) log.debug({ ticketId: review.ticketId }, "another worker has taken over this decision");
}

/**
 * Commits a person's reply in one transaction, fenced by the lease, so that it exists exactly once; then announces
 * it, and notifies the callers of the other messages that it covers.
 */
async function sendReview(context: StageContext, run: ReviewRun): Promise<void> {
  const { review, replies } = run;
  const { project, ticketId, channelId, work } = review;
  if (work.kind !== "send") return;
  const { author } = work;
  const finished = await context.store.reviews.finishSend(
    review,
    replies.map((item) => ({ item, author })),
    // A reply that promises that a person will look, call or write leaves the ticket to a person.
    { promisesPerson: promisesPerson(work.text) },
  );
  if (finished === null) {
    context.log.debug({ ticketId }, "another worker has taken over this decision");
    return;
  }
  const mode = review.message?.mode ?? null;
  announceReplyJob(context, channelId, { project, ticketId, messageId: work.answers, mode, ...finished.replies });
  if (finished.notifiedMessageId === null || mode === "webhook") return;
  const announcement = {
    project,
    ticketId,
    messageId: finished.notifiedMessageId,
    mode: "webhook",
    fromSeq: 0,
    toSeq: 0,
  } as const;
  announceReplyJob(context, channelId, announcement);
}

/** The stages of an operator's decision, in order: a reply is sent, or a draft is regenerated. */
const REVIEW_STAGES: Record<ClaimedReview["work"]["kind"], Stages<ReviewRun>> = {
  send: { formatReview, sendReview },
  draft: { makeApprovedCalls, triage, retrieve, answer, answerEarlier, keepDraft },
};

const SWEEP_LIMIT = 200;

/** What decisions share with messages: leases, isolation, and the work on the messages that wait after a decision. */
interface ReviewDeps {
  leases: ChatLeases;
  isolation: Isolation;
  messages: Pick<Work<Chat>, "process">;
}

/** Announces the decisions that are due and have no job. */
async function announceDue({ store, queues }: StageContext): Promise<void> {
  const due = await store.reviews.claimDue(SWEEP_LIMIT);
  const mark = ({ reviewId, attempts }: (typeof due)[number]) => `${reviewId}-${attempts}`;
  await announceWork(
    queues,
    "review-decisions",
    due.map((review) => ({ ...review, mark: mark(review) })),
  );
}

/**
 * Defines the work on operators' decisions: each is carried out under the same lease as the messages of its conversation,
 * which are processed after it.
 */
export function processReviews(context: StageContext, { leases, isolation, messages }: ReviewDeps): Work<Chat> {
  const { store, queues, log } = context;

  async function claim(chat: Chat, { handle, isDraining }: ClaimContext<ClaimedReview>): Promise<boolean> {
    const { project, ticketId } = chat;
    const claimed = await isolation.runShared(async () => {
      const review = await store.reviews.claimConcurrently(project, ticketId);
      if (review !== null && review !== "suspect") await handle(review);
      return review;
    });
    if (claimed === "suspect") {
      await isolation.runExclusive(1, async () => {
        const review = isDraining() ? null : await store.reviews.claim(project, ticketId);
        if (review !== null) await handle(review);
      });
    }
    await messages.process(chat);
    return false;
  }

  return defineWork(
    { queues, log },
    {
      name: "decisions",
      consumes: [{ queue: "review-decisions" }],
      targets: ({ project, ticketId }) => [{ project: asProjectId(project), ticketId }],
      leases,
      claim,
      run: (review, lease) => carryOut(context, review, lease),
      failures: {
        maxAttempts: LIMITS.maxAttempts,
        retry: RETRY_DELAYS_MS,
        // A suspect is carried out while its process does nothing else.
        explainExpiredLeases: (review) => explainExpiredLeases({ ...review, hasCrashedAlone: true }),
        judge: (error, { attempts }) => judgeRunError(error, attempts),
        async retryLater(review, { delayMs, counts, error }) {
          await store.reviews.retryLater(review, { delayMs, failure: failureText(error), counts });
          const { ticketId, reviewId, attempts } = review;
          if (counts) log.warn({ error, ticketId, reviewId, attempts }, "decision will be retried");
        },
        async giveUp(review, failure) {
          const { ticketId, reviewId } = review;
          await store.reviews.giveUp(review, failure);
          log.error({ ticketId, reviewId, failure }, "decision failed; an operator can retry it");
          return false;
        },
        facts: ({ reviewId }) => ({ reviewId }),
      },
      due: { isDue: async () => (await store.dueWork.find()).reviews, run: () => announceDue(context) },
      shutdown: CHAT_SHUTDOWN,
    },
  );
}

/** Carries a decision out: runs its stages, the last of which commits its outcome. */
async function carryOut(context: StageContext, review: ClaimedReview, { signal }: HeldLease): Promise<boolean> {
  const { store, readSettings } = context;
  const { project, ticketId, work } = review;
  const ticket = await store.tickets.find(project, ticketId);
  if (ticket === null) throw new Error("the ticket no longer exists");
  // Ends at once when the run is aborted, also while the database is slow.
  const settings = await Promise.race([readSettings(ticket.project), whenAborted(signal)]);
  if (settings === null) throw new Error("the ticket's project no longer exists");
  const agent = ticket.agentId === null ? null : await store.agents.find(ticket.project, ticket.agentId);
  const run = beginReviewRun(review, { ticket, agent, settings, signal });
  const attributes = { "svc.ticket_id": ticketId, "svc.decision_id": review.reviewId, "svc.decision": work.kind };
  const parent = await findTrace(context, review);
  await inSpan("process decision", { parent, kind: "consumer", attributes }, async (span) => {
    run.trace = span.traceparent;
    await runStages(context, run, REVIEW_STAGES[work.kind]);
  });
  return false;
}

/** Returns the trace of the message that a decision is about; null if there is none, or nothing is traced. */
async function findTrace(
  { store }: StageContext,
  { project, work: { answers } }: ClaimedReview,
): Promise<string | null> {
  if (!isTracing() || answers === null) return null;
  return (await store.messages.findTraces(project, [answers])).get(answers) ?? null;
}
