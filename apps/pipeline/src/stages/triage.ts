import { chooseAgent, chooseWithModel } from "@svc/agents";
import { searchKnowledge } from "@svc/knowledge";
import { isSpam, move } from "../run.ts";
import type { Run, TriageResult } from "../run.ts";
import type { StageContext } from "../stage-context.ts";

/**
 * Chooses the agent; none for spam. Where that is unsure and there is a language model, it is asked. The result is kept
 * between tries.
 */
export async function triage(context: StageContext, run: Run): Promise<void> {
  if (isSpam(run)) return;
  move(run, "triage", "opened");
  run.triage ??= await choose(context, run);
}

async function choose({ store, triageModels, models }: StageContext, run: Run): Promise<TriageResult> {
  const { project, agents, learned, message, signal } = run;
  const currentAgentId = run.ticket?.agentId ?? null;
  const decision = await chooseAgent({
    models: triageModels,
    project: project.id,
    agents,
    learned,
    text: message.text,
    currentAgentId,
    search: (kbIds, limit) => searchKnowledge({ store }, project.id, { query: message.text, kbIds, limit }),
  });
  // An agent that wants no model says nothing about triage: that of the configuration is asked.
  const model = models?.forAgent({ model: null }) ?? null;
  const adviser = model === null ? null : { model, project: project.id, ticketId: message.ticketId, signal };
  return chooseWithModel(decision, { agents, text: message.text, currentAgentId }, adviser);
}
