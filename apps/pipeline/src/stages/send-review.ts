import { promisesPerson } from "@svc/agents";
import type { ReviewRun } from "../reviews/review-run.ts";
import type { StageContext } from "../stage-context.ts";
import { announceNews } from "./send-reply.ts";

/**
 * Makes a person's reply real in one transaction, fenced by the lease, so that it exists exactly once; then announces
 * it, and tells the senders of the other messages that it covers.
 */
export async function sendReview(context: StageContext, run: ReviewRun): Promise<void> {
  const { review, replies } = run;
  const { project, ticketId, channelId, work } = review;
  if (work.kind !== "send") return;
  const { author } = work;
  const finished = await context.store.reviews.finishSend(
    review,
    replies.map((item) => ({ item, author })),
    // Whoever writes that a person will look, call or write leaves the ticket to a person.
    { promisesPerson: promisesPerson(work.text) },
  );
  if (finished === null) {
    context.log.debug({ ticketId }, "another worker has taken over this decision");
    return;
  }
  const mode = review.message?.mode ?? null;
  announceNews(context, channelId, { project, ticketId, messageId: work.answers, mode, ...finished.replies });
  if (finished.toldMessageId === null || mode === "webhook") return;
  const news = { project, ticketId, messageId: finished.toldMessageId, mode: "webhook", fromSeq: 0, toSeq: 0 } as const;
  announceNews(context, channelId, news);
}
