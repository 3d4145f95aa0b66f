import { promisesPerson } from "@svc/agents";
import { joinDrafts } from "@svc/store";
import type { ClaimedReview } from "@svc/store";
import { makeApprovedCalls } from "../agent-tools.ts";
import { makeReplyItems, sendsTables } from "./format-reply.ts";
import { beginRun, move } from "../run.ts";
import type { ReviewRun, Run, StageContext, Stages } from "../run.ts";
import { answer, retrieve } from "./answer.ts";
import { announceReplyJob, draftOf, isCountedAnswer, traceOf, whyOf } from "./send-reply.ts";
import { triage } from "./triage.ts";

/**
 * Writes answers to the older waiting messages, each from its own text and the messages before it, by the agent that
 * answers the newest one: a draft covers all of them.
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

/** Makes the reply items of a person's reply: the text, each Markdown table also as XLSX, and the files. */
export async function formatReview(context: StageContext, run: ReviewRun): Promise<void> {
  const { log, store } = context;
  const { project, ticketId, work, reviewId } = run.review;
  if (work.kind !== "send") return;
  const { text, markdown, sources } = work;
  const items = await makeReplyItems(
    { text, markdown, ...(work.author === "operator" ? {} : { sources }) },
    {
      sendsTables: () => sendsTables(context, run),
      warn: (warning: string, error?: unknown) => log.warn({ error, reviewId }, warning),
    },
  );
  const files = await store.operatorFiles.read(project, ticketId, work.fileIds);
  if (files.length < work.fileIds.length) throw new Error("a file of the reply no longer exists");
  run.replies = [...items, ...files.map((file) => ({ type: "attachment" as const, ...file }))];
}

/** Replaces the former draft by the new answer; the ticket waits for a person again. */
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

/**
 * Commits a person's reply in one transaction, fenced by the lease, so that it exists exactly once; then announces
 * it, and notifies the callers of the other messages that it covers.
 */
export async function sendReview(context: StageContext, run: ReviewRun): Promise<void> {
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
export const REVIEW_STAGES: Record<ClaimedReview["work"]["kind"], Stages<ReviewRun>> = {
  send: { formatReview, sendReview },
  draft: { makeApprovedCalls, triage, retrieve, answer, answerEarlier, keepDraft },
};
