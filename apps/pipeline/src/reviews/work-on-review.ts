import { LIMITS } from "@svc/contracts";
import { outlastOutage } from "@svc/store";
import type { ClaimedReview, ProjectId } from "@svc/store";
import { inSpan, isTracing } from "@svc/telemetry";
import type { Isolation } from "../create-isolation.ts";
import type { LeaseKeeper } from "../lease-keeper.ts";
import { failureText, isOwnFault, retryDelayMs, runStages, whenAborted } from "../run-stages.ts";
import type { StageContext } from "../stage-context.ts";
import { explainExpiredLeases } from "../work-on-chat.ts";
import { beginReviewRun } from "./review-run.ts";
import { REVIEW_STAGES } from "./review-stages.ts";

/** Works on the messages of a conversation, as `createChatWorker` makes it. */
export type ChatWork = (project: ProjectId, ticketId: string, isStopping: () => boolean) => Promise<void>;

/**
 * Makes the function that carries out what a person has decided about a conversation, under the same lease as its
 * messages, and then goes on with the messages that wait. Called twice, the second call finds the lease taken or
 * nothing to do, which is what makes the jobs of `review-decisions` idempotent.
 */
export function createReviewWorker(
  context: StageContext,
  { leases, isolation, workOnChat }: { leases: LeaseKeeper; isolation: Isolation; workOnChat: ChatWork },
): ChatWork {
  const { store, readSettings, log } = context;

  async function giveUp(review: ClaimedReview, failure: string): Promise<void> {
    const { ticketId, reviewId } = review;
    await store.reviews.giveUp(review, failure);
    log.error({ ticketId, reviewId, failure }, "decision failed; an operator can retry it");
  }

  async function carryOut(review: ClaimedReview, signal: AbortSignal): Promise<void> {
    const { project, ticketId, work } = review;
    const ticket = await store.tickets.find(project, ticketId);
    if (ticket === null) throw new Error("the ticket no longer exists");
    // Left at once when the run is given up, also while the database lets it wait.
    const settings = await Promise.race([readSettings(ticket.project), whenAborted(signal)]);
    if (settings === null) throw new Error("the ticket's project no longer exists");
    const agent = ticket.agentId === null ? null : await store.agents.find(ticket.project, ticket.agentId);
    const run = beginReviewRun(review, { ticket, agent, settings, signal });
    const attributes = { "svc.ticket_id": ticketId, "svc.decision_id": review.reviewId, "svc.decision": work.kind };
    const parent = await findTrace(review);
    await inSpan("process decision", { parent, kind: "consumer", attributes }, async (span) => {
      run.trace = span.traceparent;
      await runStages(context, run, REVIEW_STAGES[work.kind]);
    });
  }

  /** The place in its trace of the message that is decided about; null where nobody traces. */
  async function findTrace({ project, work: { answers } }: ClaimedReview): Promise<string | null> {
    if (!isTracing() || answers === null) return null;
    return (await store.messages.findTraces(project, [answers])).get(answers) ?? null;
  }

  async function settleFailure(review: ClaimedReview, error: unknown): Promise<void> {
    const { attempts, ticketId, reviewId } = review;
    const isFault = isOwnFault(error);
    if (isFault && attempts >= LIMITS.maxAttempts) {
      await giveUp(review, failureText(error));
      return;
    }
    const delayMs = isFault ? retryDelayMs(attempts) : 0;
    await store.reviews.retryLater(review, { delayMs, failure: failureText(error), counts: isFault });
    if (isFault) log.warn({ error, ticketId, reviewId, attempts }, "decision will be retried");
  }

  async function handle(review: ClaimedReview): Promise<void> {
    // A suspect is carried out while its process does nothing else.
    const failure = explainExpiredLeases({ ...review, hasCrashedAlone: true });
    if (failure !== null) {
      await giveUp(review, failure);
      return;
    }
    const lease = leases.keep(review);
    try {
      await carryOut(review, lease.signal);
    } catch (error) {
      // A lease that expires only because the store was unavailable would count as a worker that was too slow.
      const settle = () => settleFailure(review, error);
      await outlastOutage(settle, () => !lease.signal.aborted).catch((settleError: unknown) => {
        // The lease expires by itself, and the sweeper finds the decision.
        log.warn({ error: settleError, reviewId: review.reviewId }, "failed to record a failed attempt");
      });
    } finally {
      lease.drop();
    }
  }

  /** Carries a decision out concurrently with other work, unless it is a suspect. */
  async function workBeside(project: ProjectId, ticketId: string): Promise<"suspect" | null> {
    const review = await store.reviews.claimBeside(project, ticketId);
    if (review === "suspect") return review;
    if (review !== null) await handle(review);
    return null;
  }

  async function workExclusively(project: ProjectId, ticketId: string, isStopping: () => boolean): Promise<void> {
    const review = isStopping() ? null : await store.reviews.claim(project, ticketId);
    if (review !== null) await handle(review);
  }

  return async function workOnReview(project, ticketId, isStopping) {
    const claimed = isStopping() ? null : await isolation.beside(() => workBeside(project, ticketId));
    if (claimed === "suspect") await isolation.exclusively(1, () => workExclusively(project, ticketId, isStopping));
    await workOnChat(project, ticketId, isStopping);
  };
}
