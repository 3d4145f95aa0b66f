import { isForPerson, needsNoReply, sendsAnswer, whyOfTalk } from "@svc/agents";
import { PERSON_PROMISED } from "@svc/contracts";
import type { Agent } from "@svc/contracts";
import { textForCustomer } from "../language-of.ts";
import { chosenAgent, isSpam, move } from "../run.ts";
import type { AgentAnswer, GateResult, Run, StageContext } from "../run.ts";
import { handoffReason, recognizeTalk } from "./check-handoff-request.ts";

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
    if (isForPerson(said.kind)) return { sends: false, why: whyOfTalk(said.kind) };
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
 * for a person, confident answers are sent and it keeps waiting; for a held answer the customer reads that the
 * message was added. A message in a conversation marked as spam gets no answer and no review.
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
