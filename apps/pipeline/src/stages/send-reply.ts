import { questionAsWritten, questionOf } from "@svc/agents";
import { announceReplies } from "@svc/channel-manager";
import type { FinishedMessage } from "@svc/channel-manager";
import type { ChannelId, ReplyDraft, ReplyJob, Source, TicketStatus } from "@svc/contracts";
import { questionTerms } from "@svc/knowledge";
import { withinMs } from "@svc/primitives";
import { QueueDownError, announceReply } from "@svc/queue";
import type { NewDraft, RunOutcome } from "@svc/store";
import { count, observe } from "@svc/telemetry";
import { languageOf } from "../language-of.ts";
import { move } from "../run.ts";
import type { Run, StageContext } from "../run.ts";
import { tableAttachments } from "../xlsx/table-attachments.ts";
import { WANTS_PERSON, handoffReason } from "./gate.ts";

/** An answer of the answer stage or an operator. */
interface WrittenAnswer {
  text: string;
  markdown: boolean;
  sources?: Source[];
}

/**
 * Returns whether the tables of a reply are also sent as XLSX files: if its project enables it and, in the widget, if the
 * widget's settings do, too.
 */
async function sendsTables({ store }: StageContext, { project, message }: Pick<Run, "project" | "message">) {
  if (!project.tablesAsXlsx || message.channelId !== "widget") return project.tablesAsXlsx;
  return (await store.channelsConfig.read()).widget.config.features.tables;
}

/**
 * Returns the items of the reply with this answer: first the message, unchanged, then each table of a Markdown answer as
 * an XLSX file, if they are sent.
 */
export async function makeReplyItems(
  context: StageContext,
  run: Pick<Run, "project" | "message">,
  { text, markdown, sources }: WrittenAnswer,
): Promise<ReplyDraft[]> {
  const message = { type: "message" as const, text, markdown, ...(sources === undefined ? {} : { sources }) };
  if (!markdown || !text.includes("|") || !(await sendsTables(context, run))) return [message];
  const { messageId } = run.message;
  const attachments = await tableAttachments(text, (reason, error) => context.log.warn({ error, messageId }, reason));
  return [message, ...attachments];
}

/** Makes the reply items of an answer that is sent: the text, and each Markdown table also as XLSX. */
export async function formatReply(context: StageContext, run: Run): Promise<void> {
  const { answer, gate } = run;
  if (gate?.sends !== true || answer?.text == null) return;
  const { text, markdown, sources } = answer;
  run.replies = await makeReplyItems(context, run, { text, markdown, sources });
}

/** Maximum time that a reply waits for a statistic; the statistic is completed after the reply. */
const GAP_WAIT_MS = 250;

/** Returns the results of a run for the trace on its ticket. */
export function traceOf({ triage, gate, stageMs, message, passages, answer }: Run): object {
  const found = passages?.hits.map(({ chunkId, score }) => ({ chunkId, score })) ?? [];
  const model = answer?.model;
  return {
    triage,
    gate,
    stageMs,
    attempts: message.attempts,
    passages: found,
    ...(model === undefined ? {} : { answer: { model } }),
  };
}

/** Returns the draft that a run leaves for a person; `why` is the reason of the review. */
export function draftOf(run: Run, why: string): NewDraft {
  const { answer } = run;
  return {
    text: answer?.text ?? "",
    markdown: answer?.markdown ?? false,
    sources: answer?.sources ?? [],
    confidence: confidenceOf(run),
    why,
  };
}

/** Returns the confidence of the answer to a question; null for a message that asks nothing. */
function confidenceOf({ answer, said, triage }: Run): number | null {
  if (said !== null && said.kind !== "question") return null;
  return answer?.confidence ?? triage?.confidence ?? null;
}

/** Returns why a run came to its answer, or to none. */
export const whyOf = ({ answer, triage }: Run) => answer?.why ?? triage?.why ?? "";

/**
 * Returns the public status of a ticket after a run; `isWaiting` if a reply is sent and a person must look as well.
 */
function statusOf({ gate, ticket }: Run, { isWaiting }: { isWaiting: boolean }): TicketStatus {
  if (gate?.rejects === true) return "spam";
  if (gate?.isSilent === true) return ticket?.status ?? "open";
  return gate?.sends === true && !isWaiting ? "pending" : "open";
}

/**
 * Returns true if an agent has answered from its knowledge: greetings and fixed replies say nothing about its
 * confidence.
 */
export function isCountedAnswer({ answer, triage }: Run): boolean {
  if (triage?.agentId == null || answer === null || answer.text === null) return false;
  return answer.sources.length > 0 || answer.model !== undefined;
}

/**
 * Returns what a run counts as in the statistics of answers. A draft in a conversation that a person has is never
 * decided.
 */
function answerStepOf(run: Run): "sent" | "held" | "person" | null {
  const { answer, gate, ticket } = run;
  const asksForPerson = answer?.needsPerson === true && answer.text === null;
  if (asksForPerson || run.said?.kind === "person" || handoffReason(run) === WANTS_PERSON) return "person";
  if (!isCountedAnswer(run) || gate?.rejects === true) return null;
  if (gate?.sends === true) return "sent";
  return ticket?.assignee == null ? "held" : null;
}

/** Returns the outcome of a run whose stages have ended. */
function outcomeOf(run: Run): RunOutcome {
  const { gate, triage, message } = run;
  const sends = gate?.sends === true;
  const isSilent = gate?.isSilent === true;
  const rejects = gate?.rejects === true;
  // A customer who was promised a person, or waits for one, must get one: the conversation stays in review.
  const waitsForPerson = sends && run.stage === "review";
  if (sends && !waitsForPerson) move(run, "done", "the reply is committed");
  return {
    message,
    state: sends || isSilent ? "answered" : rejects ? "rejected" : "held",
    failure: null,
    stage: run.stage,
    status: statusOf(run, { isWaiting: waitsForPerson }),
    agentId: triage?.agentId ?? null,
    confidence: confidenceOf(run),
    language: run.language,
    moves: run.moves,
    trace: traceOf(run),
    answerStep: answerStepOf(run),
    replies: run.replies.map((item) => ({ item, author: sends ? "agent" : "system" })),
    draft: sends || rejects || isSilent ? null : draftOf(run, gate?.why ?? ""),
  };
}

/**
 * Records the question of a message that is held because no good answer was found. Called before the outcome is
 * committed, so that a run repeated after a crash records it again, which counts once. Never throws, and takes at
 * most 250 ms.
 */
async function recordGap(context: StageContext, run: Run): Promise<void> {
  if (run.gate?.isGap !== true) return;
  const recording = storeGap(context, run).catch((error: unknown) => {
    context.log.warn({ error, messageId: run.message.messageId }, "failed to record a question without an answer");
  });
  await withinMs(recording, GAP_WAIT_MS);
}

async function storeGap({ store }: StageContext, { message, project, triage, language }: Run): Promise<void> {
  const known = language ?? languageOf(message.text);
  const terms = await questionTerms({ store }, questionOf(message.text), known);
  // No article could answer a text without words.
  if (terms.length === 0) return;
  const { messageId, ticketId, text } = message;
  await store.gaps.record(project.id, {
    messageId,
    ticketId,
    text,
    question: questionAsWritten(text),
    terms,
    language: known,
    agentId: triage?.agentId ?? null,
  });
}

/** Commits the results of the other stages, and announces the replies. */
export async function sendReply(context: StageContext, run: Run): Promise<void> {
  await recordGap(context, run);
  run.hasMore = await commitOutcome(context, outcomeOf(run), run.message);
}

/** A UUID of version 7 begins with the milliseconds in which it was made (RFC 9562, section 5.7). */
const madeAtMs = (messageId: string) => Number.parseInt(messageId.replaceAll("-", "").slice(0, 12), 16);

function noteFinished(channel: ChannelId, { state: outcome, message }: RunOutcome): void {
  const seconds = Math.max(0, Date.now() - madeAtMs(message.messageId)) / 1_000;
  count("svc_messages_finished_total", { channel, outcome });
  observe("svc_message_duration_seconds", { channel, outcome }, seconds);
}

/**
 * Commits an outcome in one transaction, fenced by the lease, so that replies exist exactly once; then announces
 * them. A lost announcement delays waiters by a second, since they also poll. Returns true if a message arrived in
 * the conversation meanwhile; false also if another worker has the message, in which case nothing was committed.
 */
export async function commitOutcome(
  context: StageContext,
  outcome: RunOutcome,
  { channelId, mode }: Pick<Run["message"], "channelId" | "mode">,
): Promise<boolean> {
  const { project, ticketId, messageId } = outcome.message;
  const finished = await context.store.tickets.finish(project, outcome);
  if (finished === null) {
    context.log.debug({ messageId, ticketId }, "another worker has taken over this message");
    return false;
  }
  noteFinished(channelId, outcome);
  const positions = finished.replies ?? { fromSeq: 0, toSeq: 0 };
  // Also announced without replies: a waiting caller learns that a person must look, has decided, or need not reply.
  const announcement = { project, ticketId, messageId, mode, ...positions };
  announceReplyJob(context, channelId, announcement, {
    messageId,
    state: outcome.state,
    coveredBy: null,
    replies: finished.stored,
  });
  return finished.hasMore;
}

/**
 * Announces a committed outcome without waiting: a lost announcement costs a second. Callers that collect their
 * replies poll, so that a wake-up is enough for them; replies that are sent get a job. A sync call gets the finished
 * message with its wake-up.
 */
export function announceReplyJob(
  { queues, log }: StageContext,
  channelId: ChannelId,
  announcement: ReplyJob,
  finished?: FinishedMessage,
): void {
  if (announcement.mode === "sync" || announcement.mode === "async") {
    announceReplies(queues, announcement.ticketId, announcement.mode === "sync" ? finished : undefined);
    return;
  }
  announceReply(queues, channelId, announcement).catch((error: unknown) => {
    const text = "replies committed but not announced; waiting callers find them by polling";
    if (error instanceof QueueDownError) log.debug({ ticketId: announcement.ticketId }, text);
    else log.warn({ error, ticketId: announcement.ticketId }, text);
  });
}
