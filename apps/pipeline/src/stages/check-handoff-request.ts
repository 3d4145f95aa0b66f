import { classifyMessage, contextAfter, isForPerson, replyToTalk, whyOfTalk } from "@svc/agents";
import type { MessageContext } from "@svc/agents";
import { localeOf } from "../language-of.ts";
import { historyOf } from "../run.ts";
import type { Run, StageContext } from "../run.ts";

/** Reason of the handoff if a visitor asks for a person. */
export const WANTS_PERSON = "the visitor asks for a person";

/**
 * Returns why no agent may answer a message: its visitor asks for a person, or it consists only of files, which no
 * agent reads. Null for every other message.
 */
export function handoffReason({ message }: Pick<Run, "message">): string | null {
  const { channelId, channelMeta, text } = message;
  // On other channels the sender sets the metadata, so the field may mean anything.
  if (channelId === "widget" && channelMeta["wantsPerson"] === true) return WANTS_PERSON;
  return text.trim() === "" ? "the message has no text, only files" : null;
}

/**
 * Returns whether only an agent with a fixed reply can get the message. That reply does not depend on the message, so
 * it also replies to small talk.
 */
function hasFixedReply({ agents, ticket }: Run): boolean {
  const current = agents.find((agent) => agent.id === ticket?.agentId);
  return current === undefined ? agents.every(isFixed) : isFixed(current);
}

const isFixed = ({ fixedReply }: Run["agents"][number]) => fixedReply !== null;

/**
 * Decides about messages that ask nothing of the documents, before an agent is chosen or anything is searched:
 * replies to small talk and questions about the assistant, and hands over messages that a person must see.
 */
export async function checkHandoffRequest(context: StageContext, run: Run): Promise<void> {
  const why = handoffReason(run);
  if (why !== null) {
    run.triage = { agentId: null, confidence: 0, why };
    return;
  }
  run.said = classifyMessage(run.message.text, await readContext(context, run));
  applyTalk(run);
}

/** Returns what is known of the conversation before a message. */
async function readContext(context: StageContext, run: Run): Promise<MessageContext> {
  const { message, ticket } = run;
  return { language: ticket?.language ?? localeOf(message), ...contextAfter(await historyOf(context, run)) };
}

/** Sets the outcome of a message that is not a question: a short reply, or none because a person must see it. */
function applyTalk(run: Run): void {
  const { said, ticket, message, agents } = run;
  if (said === null || said.kind === "question" || hasFixedReply(run)) return;
  run.language = ticket?.language ?? said.language;
  run.triage = { agentId: null, confidence: 0, why: whyOfTalk(said.kind) };
  const language = ticket?.language ?? localeOf(message);
  run.answer = isForPerson(said.kind) ? null : replyToTalk(said, { language, agents });
}

/**
 * Recognizes small talk beyond the known phrases by embeddings, if configured. Called for a message that would be
 * held because there is no answer. Returns true if it changed the outcome of the run.
 */
export async function recognizeTalk(context: StageContext, run: Run): Promise<boolean> {
  const { talk } = context;
  if (talk === null || run.said?.kind !== "question" || hasFixedReply(run)) return false;
  const said = await talk.recognize(run.message.text, await readContext(context, run));
  if (said === null) return false;
  const model = run.answer?.model ?? run.triage?.model;
  run.said = said;
  applyTalk(run);
  // Keeps the model's usage in the trace.
  if (model !== undefined && run.triage !== null) run.triage.model = { usage: model.usage, fallback: model.fallback };
  return true;
}
