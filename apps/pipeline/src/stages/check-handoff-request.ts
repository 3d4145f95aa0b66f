import { classifyMessage, isForPerson, replyToTalk, whyOfTalk } from "@svc/agents";
import type { MessageContext } from "@svc/agents";
import { localeOf } from "../language-of.ts";
import { historyOf } from "../run.ts";
import type { Run, StageContext } from "../run.ts";

/** Why a message of a visitor who asks for a person goes to one. */
export const WANTS_PERSON = "the visitor asks for a person";

/**
 * Why no agent is to answer a message, whatever it could say: its visitor asks for a person, or has sent nothing but
 * files, which no agent reads. Null for every other message.
 */
export function handoffReason({ message }: Pick<Run, "message">): string | null {
  const { channelId, channelMeta, text } = message;
  // On other channels the meta is the sender's own, and may mean anything.
  if (channelId === "widget" && channelMeta["wantsPerson"] === true) return WANTS_PERSON;
  return text.trim() === "" ? "the message has no text, only files" : null;
}

/** A fixed reply is the same whatever is said: where no other agent could have the message, it answers small talk too. */
function hasFixedReply({ agents, ticket }: Run): boolean {
  const current = agents.find((agent) => agent.id === ticket?.agentId);
  return current === undefined ? agents.every(isFixed) : isFixed(current);
}

const isFixed = ({ fixedReply }: Run["agents"][number]) => fixedReply !== null;

/**
 * Decides about a message that asks the documents nothing before an agent is chosen for it and anything is searched: small talk
 * and questions about the assistant are replied to, and what a person has to see is left to a person.
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
  const history = await historyOf(context, run);
  const last = history.findLast(({ author }) => author !== "customer")?.author;
  return {
    language: ticket?.language ?? localeOf(message),
    isAfterAnswer: last === "agent" || last === "system",
    isAfterOperator: last === "operator",
  };
}

/** Sets the outcome of a message that is no question: a short reply, or none because a person has to see it. */
function applyTalk(run: Run): void {
  const { said, ticket, message, agents } = run;
  if (said === null || said.kind === "question" || hasFixedReply(run)) return;
  run.language = ticket?.language ?? said.language;
  run.triage = { agentId: null, confidence: 0, why: whyOfTalk(said.kind) };
  const language = ticket?.language ?? localeOf(message);
  run.answer = isForPerson(said.kind) ? null : replyToTalk(said, { language, agents });
}

/**
 * Recognizes small talk in other words than the known phrases, where embeddings are configured: for a message that would be
 * held because nothing answers it. Returns true if the run has another outcome now.
 */
export async function recognizeTalk(context: StageContext, run: Run): Promise<boolean> {
  const { talk } = context;
  if (talk === null || run.said?.kind !== "question" || hasFixedReply(run)) return false;
  const said = await talk.recognize(run.message.text, await readContext(context, run));
  if (said === null) return false;
  const model = run.answer?.model ?? run.triage?.model;
  run.said = said;
  applyTalk(run);
  // What the model has cost stays in the trace.
  if (model !== undefined && run.triage !== null) run.triage.model = { usage: model.usage, fallback: model.fallback };
  return true;
}
