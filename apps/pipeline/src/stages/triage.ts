import { chooseAgent } from "@svc/agents";
import { move } from "../run.ts";
import type { Run } from "../run.ts";
import type { StageContext } from "../stage-context.ts";

/** Chooses the agent. The result is kept between tries. */
export async function triage(_context: StageContext, run: Run): Promise<void> {
  move(run, "triage", "opened");
  run.triage ??= chooseAgent({
    agents: run.agents,
    text: run.message.text,
    currentAgentId: run.ticket?.agentId ?? null,
  });
  await Promise.resolve();
}
