import { LIMITS } from "@svc/contracts";
import { announceWork } from "@svc/queue";
import { asProjectId } from "@svc/store";
import type { ClaimedReview } from "@svc/store";
import { inSpan, isTracing } from "@svc/telemetry";
import { defineWork } from "@svc/work";
import type { ClaimContext, HeldLease, Work } from "@svc/work";
import type { ChatLeases, Chat } from "./process-messages.ts";
import type { Isolation } from "./create-isolation.ts";
import { CHAT_SHUTDOWN, RETRY_DELAYS_MS, explainExpiredLeases } from "./process-messages.ts";
import { beginReviewRun } from "./run.ts";
import type { StageContext } from "./run.ts";
import { failureText, judgeRunError, runStages, whenAborted } from "./run-stages.ts";
import { REVIEW_STAGES } from "./stages/review-stages.ts";

const SWEEP_LIMIT = 200;

/** What decisions share with messages: leases, isolation, and the work on the messages that wait after a decision. */
export interface ReviewDeps {
  leases: ChatLeases;
  isolation: Isolation;
  messages: Pick<Work<Chat>, "process">;
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

  async function announceDue(): Promise<void> {
    const due = await store.reviews.claimDue(SWEEP_LIMIT);
    const mark = ({ reviewId, attempts }: (typeof due)[number]) => `${reviewId}-${attempts}`;
    await announceWork(
      queues,
      "review-decisions",
      due.map((review) => ({ ...review, mark: mark(review) })),
    );
  }

  return defineWork(
    { queues, log },
    {
      name: "decisions",
      consumes: [{ queue: "review-decisions" }],
      target: ({ project, ticketId }) => ({ project: asProjectId(project), ticketId }),
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
      due: { isDue: async () => (await store.dueWork.find()).reviews, run: announceDue },
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
