import type { Agent, ReviewPolicy } from "@svc/contracts";
import { chosenAgent, move } from "../run.ts";
import type { GateResult, Run } from "../run.ts";
import type { StageContext } from "../stage-context.ts";

const percent = (share: number) => `${Math.round(share * 100)} %`;

/** What an agent's policy says about an answer of this confidence. */
const POLICIES: Record<ReviewPolicy, (agent: Agent, confidence: number) => GateResult> = {
  auto: (_agent, confidence) => ({ sends: true, why: `the agent answers by itself (${percent(confidence)} sure)` }),
  review: () => ({ sends: false, why: "the agent's answers are always reviewed" }),
  auto_if: (agent, confidence) =>
    confidence >= agent.autoThreshold
      ? { sends: true, why: `${percent(confidence)} sure` }
      : { sends: false, why: `only ${percent(confidence)} sure, ${percent(agent.autoThreshold)} are asked for` },
};

function decide(run: Run, before: { isInReview: boolean }): GateResult {
  const { ticket, answer } = run;
  if (ticket?.assignee != null) return { sends: false, why: `${ticket.assignee} has this conversation` };
  if (before.isInReview) return { sends: false, why: "a person is reviewing this conversation" };
  const agent = chosenAgent(run);
  if (agent === null) return { sends: false, why: run.triage?.why ?? "no agent fits" };
  if (answer?.text == null) return { sends: false, why: answer?.why ?? "no answer was found" };
  return POLICIES[agent.reviewPolicy](agent, answer.confidence);
}

/**
 * Decides whether the answer goes out. It is held when a person has the conversation, no agent fits, nothing was found,
 * the agent's policy asks for a review, or it is not sure enough. While a person has it, nothing is sent at all; else
 * the customer gets the project's hand-off text.
 */
export async function gate(_context: StageContext, run: Run): Promise<void> {
  const isOwned = run.ticket?.assignee != null || run.ticket?.stage === "review";
  run.gate = decide(run, { isInReview: run.ticket?.stage === "review" });
  move(run, "review", run.answer?.why ?? run.triage?.why ?? "");
  if (run.gate.sends) {
    move(run, "delivering", run.gate.why);
  } else if (!isOwned && run.project.handoffText.trim() !== "") {
    run.replies = [{ type: "message", text: run.project.handoffText, markdown: false }];
  }
  await Promise.resolve();
}
