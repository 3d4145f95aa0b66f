import { chooseAgent } from "@svc/agents";
import { searchKnowledge } from "@svc/knowledge";
import { move } from "../run.ts";
import type { Run } from "../run.ts";
import type { StageContext } from "../stage-context.ts";

/** Chooses the agent. The result is kept between tries. */
export async function triage({ store, triageModels }: StageContext, run: Run): Promise<void> {
  move(run, "triage", "opened");
  const { project, agents, learned, message } = run;
  run.triage ??= await chooseAgent({
    models: triageModels,
    project: project.id,
    agents,
    learned,
    text: message.text,
    currentAgentId: run.ticket?.agentId ?? null,
    search: (kbIds, limit) => searchKnowledge({ store }, project.id, { query: message.text, kbIds, limit }),
  });
}
