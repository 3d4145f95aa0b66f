import { sendsAnswer } from "@svc/agents";
import { PERSON_PROMISED } from "@svc/contracts";
import type { Agent } from "@svc/contracts";
import { chosenAgent, isSpam, move } from "../run.ts";
import type { AgentAnswer, GateResult, Run } from "../run.ts";
import type { StageContext } from "../stage-context.ts";
import { whyForPerson } from "./heed-visitor.ts";

function decide(run: Run, before: { isInReview: boolean }): GateResult {
  const { ticket, answer } = run;
  if (isSpam(run)) return { sends: false, rejects: true, why: "this conversation is marked as spam" };
  if (ticket?.assignee != null) return { sends: false, why: `${ticket.assignee} has this conversation` };
  if (before.isInReview) return { sends: false, why: "a person is reviewing this conversation" };
  const forPerson = whyForPerson(run);
  if (forPerson !== null) return { sends: false, why: forPerson };
  const agent = chosenAgent(run);
  if (agent === null) return { sends: false, why: run.triage?.why ?? "no agent fits", isGap: true };
  if (answer?.isFault === true) return { sends: false, why: answer.why };
  if (answer === null) return { sends: false, why: "no answer was found", isGap: true };
  const choice = sendsAnswer(agent, answer);
  return !choice.sends && isGap(agent, answer) ? { ...choice, isGap: true } : choice;
}

/** True when an answer is held because the knowledge bases have none that is good enough. */
function isGap({ reviewPolicy, autoThreshold }: Agent, { text, confidence, needsPerson, model }: AgentAnswer): boolean {
  if (needsPerson === true) return false;
  if (text === null) return true;
  if (model?.mustReview === true) return model.fallback !== null;
  return reviewPolicy === "auto_if" && confidence < autoThreshold;
}

/**
 * Decides whether the answer goes out. It is held when a person has the conversation, no agent fits, nothing was found,
 * the agent's policy asks for a review, it is not sure enough, or the customer needs a person. One that goes out all the
 * same although it promises a person leaves the conversation to a person. While a person has it, nothing is sent at
 * all; else the customer gets the project's hand-off text. What comes into a conversation that an operator has marked as
 * spam gets no answer and waits for nobody.
 */
export async function gate(_context: StageContext, run: Run): Promise<void> {
  const isOwned = run.ticket?.assignee != null || run.ticket?.stage === "review";
  run.gate = decide(run, { isInReview: run.ticket?.stage === "review" });
  move(run, "review", run.answer?.why ?? run.triage?.why ?? run.gate.why);
  if (run.gate.sends) {
    move(run, "delivering", run.gate.why);
    if (run.gate.needsPerson === true) move(run, "review", PERSON_PROMISED);
  } else if (run.gate.rejects === true) {
    move(run, "done", run.gate.why);
  } else if (!isOwned && run.project.handoffText.trim() !== "") {
    run.replies = [{ type: "message", text: run.project.handoffText, markdown: false }];
  }
  await Promise.resolve();
}
