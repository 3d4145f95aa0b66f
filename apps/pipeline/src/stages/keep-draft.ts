import { joinDrafts } from "@svc/store";
import { move } from "../run.ts";
import type { ReviewRun } from "../reviews/review-run.ts";
import type { StageContext } from "../stage-context.ts";
import { draftOf, isCountedAnswer, traceOf, whyOf } from "./send-reply.ts";

/** Puts what the agent found now in the place of the former draft; the ticket waits for a person again. */
export async function keepDraft({ store, log }: StageContext, run: ReviewRun): Promise<void> {
  const { review, answer, triage, earlier } = run;
  move(run, "review", whyOf(run));
  const isKept = await store.reviews.finishDraft(review, {
    draft: [...earlier, draftOf(run, whyOf(run))].reduce(joinDrafts),
    agentId: triage?.agentId ?? null,
    confidence: answer?.confidence ?? triage?.confidence ?? null,
    language: run.language,
    moves: run.moves,
    trace: traceOf(run),
    answerStep: isCountedAnswer(run) ? "held" : null,
  });
  if (!isKept) log.debug({ ticketId: review.ticketId }, "another worker has taken over this decision");
}
