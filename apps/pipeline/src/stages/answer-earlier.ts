import type { ReviewRun } from "../reviews/review-run.ts";
import type { Run } from "../run.ts";
import type { StageContext } from "../stage-context.ts";
import { beginRun } from "../work-on-chat.ts";
import { answer } from "./answer.ts";
import { retrieve } from "./retrieve.ts";
import { draftOf, whyOf } from "./send-reply.ts";

/**
 * Answers the older messages that wait, each by its own text and by what was said before it, by the agent that answers
 * the newest: a draft is for all of them.
 */
export async function answerEarlier(context: StageContext, run: ReviewRun): Promise<void> {
  const { message, ticket, triage } = run;
  for (const older of await context.store.reviews.listEarlier(run.review)) {
    if (run.signal.aborted) return;
    const part: Run = { ...beginRun({ ...message, ...older }, run, run.signal), ticket, triage, stage: "triage" };
    await retrieve(context, part);
    await answer(context, part);
    run.earlier.push(draftOf(part, whyOf(part)));
  }
}
