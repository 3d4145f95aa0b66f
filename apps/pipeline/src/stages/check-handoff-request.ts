import { classifyMessage, isForPerson, replyToTalk, whyOfTalk } from "@svc/agents";
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
  const { message, ticket, agents } = run;
  const why = handoffReason(run);
  if (why !== null) {
    run.triage = { agentId: null, confidence: 0, why };
    return;
  }
  const history = await historyOf(context, run);
  const last = history.findLast(({ author }) => author !== "customer")?.author;
  const language = ticket?.language ?? localeOf(message);
  run.said = classifyMessage(message.text, {
    language,
    isAfterAnswer: last === "agent" || last === "system",
    isAfterOperator: last === "operator",
  });
  if (run.said.kind === "question" || hasFixedReply(run)) return;
  run.language = ticket?.language ?? run.said.language;
  run.triage = { agentId: null, confidence: 0, why: whyOfTalk(run.said.kind) };
  run.answer = isForPerson(run.said.kind) ? null : replyToTalk(run.said, { language, agents });
}
