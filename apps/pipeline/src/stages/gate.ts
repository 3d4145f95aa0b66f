import {
  classifyMessage,
  contextAfter,
  isForPerson,
  needsNoReply,
  replyToTalk,
  sendsAnswer,
  whyOfTalk,
} from "@svc/agents";
import type { MessageContext } from "@svc/agents";
import { PERSON_PROMISED } from "@svc/contracts";
import type { Agent } from "@svc/contracts";
import { localeOf, textForCustomer } from "../language-of.ts";
import { chosenAgent, historyOf, isSpam, move } from "../run.ts";
import type { AgentAnswer, GateResult, Run, StageContext } from "../run.ts";

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
  run.answer = isForPerson(said.kind) || asksForReply(run) ? null : replyToTalk(said, { language, agents });
}

/** In a conversation that waits for a person, "hello?" and "is anyone there?" ask for that person's reply. */
function asksForReply({ said, ticket }: Run): boolean {
  return ticket?.stage === "review" && (said?.kind === "greeting" || said?.kind === "help");
}

/**
 * Recognizes small talk beyond the known phrases by embeddings, if configured. Called for a message that would be
 * held because there is no answer. Returns true if it changed the outcome of the run.
 */
async function recognizeTalk(context: StageContext, run: Run): Promise<boolean> {
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

/** Reason why a ticket returns from `delivering` to `review`: an earlier message of it waits for a person. */
const STILL_WAITS = "another message in this conversation is waiting for a person";

function decide(run: Run): GateResult {
  const { ticket, answer, said } = run;
  if (isSpam(run)) return { sends: false, rejects: true, why: "this conversation is marked as spam" };
  if (ticket?.assignee != null) {
    const why = `${ticket.assignee} is assigned to this conversation`;
    return said !== null && needsNoReply(said.kind) ? { sends: false, isSilent: true, why } : { sends: false, why };
  }
  const forPerson = handoffReason(run);
  if (forPerson !== null) return { sends: false, why: forPerson };
  const agent = chosenAgent(run);
  if (agent === null && said !== null && said.kind !== "question") {
    if (isForPerson(said.kind) || asksForReply(run)) return { sends: false, why: whyOfTalk(said.kind) };
    if (answer !== null) return { sends: true, why: answer.why };
  }
  if (agent === null) return { sends: false, why: run.triage?.why ?? "no agent matches", isGap: true };
  if (answer?.isFault === true) return { sends: false, why: answer.why };
  if (answer === null) return { sends: false, why: "no answer was found", isGap: true };
  const choice = sendsAnswer(agent, answer);
  if (choice.needsPerson === true && ticket?.stage === "review") return { sends: false, why: STILL_WAITS };
  return !choice.sends && isGap(agent, answer) ? { ...choice, isGap: true } : choice;
}

/**
 * Returns true if a message is only held because no agent matches, nothing was found, or the confidence is below the
 * agent's threshold.
 */
function hasNoSureAnswer(run: Run, { sends, rejects }: GateResult): boolean {
  const { answer } = run;
  if (sends || rejects === true || handoffReason(run) !== null || answer?.isFault === true) return false;
  if (answer?.model?.mustReview === true) return false;
  const agent = chosenAgent(run);
  return agent === null || answer === null || isGap({ ...agent, reviewPolicy: "auto_if" }, answer);
}

/** Returns true if an answer is held because the knowledge bases contain no good one. */
function isGap({ reviewPolicy, autoThreshold }: Agent, { text, confidence, needsPerson, model }: AgentAnswer): boolean {
  if (needsPerson === true) return false;
  if (text === null) return true;
  if (model?.mustReview === true) return model.fallback !== null;
  return reviewPolicy === "auto_if" && confidence < autoThreshold;
}

/**
 * Decides whether the answer is sent. It is held if a person has the conversation, no agent matches, nothing was
 * found, the agent's policy requires a review, its confidence is below the threshold, or the customer needs a person;
 * the customer then gets the handoff text. An answer that is sent but promises a person leaves the conversation to a
 * person.
 *
 * While a person has the conversation, nothing is sent, and thanks and acknowledgements need no reply. While it waits
 * for a person, confident answers are sent and it keeps waiting; for a held answer and for "hello?" the customer reads
 * that the message was added. A message in a conversation marked as spam gets no answer and no review.
 */
export async function gate(context: StageContext, run: Run): Promise<void> {
  const isOwned = run.ticket?.assignee != null;
  const isInReview = run.ticket?.stage === "review";
  run.gate = decide(run);
  if (hasNoSureAnswer(run, run.gate) && (await recognizeTalk(context, run))) run.gate = decide(run);
  move(run, "review", run.answer?.why ?? run.triage?.why ?? run.gate.why);
  if (run.gate.sends) {
    move(run, "delivering", run.gate.why);
    if (run.gate.needsPerson === true) move(run, "review", PERSON_PROMISED);
    else if (isInReview) move(run, "review", STILL_WAITS);
  } else if (run.gate.rejects === true) {
    move(run, "done", run.gate.why);
  } else if (run.gate.isSilent === true) {
    if (!isInReview) move(run, "done", run.gate.why);
  } else if (!isOwned) {
    const text = textForCustomer(run, isInReview ? "added" : "handoff");
    if (text !== "") run.replies = [{ type: "message", text, markdown: false }];
  }
}
