import { chooseAmongProjects } from "@svc/agents";
import { searchEach } from "@svc/knowledge";
import { asProjectId } from "@svc/store";
import { isSpam, move } from "../run.ts";
import type { Run, StageContext, TriageResult } from "../run.ts";

/**
 * Chooses the agent of a submitted issue among those of all projects. An issue that an earlier run or a person has
 * assigned keeps its project. The result is stored between attempts.
 */
export async function triageAllProjects(context: StageContext, run: Run): Promise<void> {
  if (isSpam(run)) return;
  move(run, "triage", "opened");
  run.triage ??= await choose(context, run);
}

async function choose({ store, triageModels, models, readPool }: StageContext, run: Run): Promise<TriageResult> {
  const { message, signal, ticket } = run;
  if (ticket !== null && (await store.issues.isRouted(message.project, ticket.id))) {
    return { agentId: ticket.agentId, confidence: 1, why: "The agent was already chosen." };
  }
  const model = (await models?.forAgent({ model: null })) ?? null;
  const { project, ...decision } = await chooseAmongProjects({
    models: triageModels,
    pool: await readPool(),
    home: message.project,
    text: message.text,
    search: (id) => (query, kbGroups, limit) => searchEach({ store }, asProjectId(id), { query, kbGroups, limit }),
    adviser: model === null ? null : { model, project: message.project, ticketId: message.ticketId, signal },
  });
  // Without an agent the issue stays in its project, and is still decided.
  return { ...decision, project: project ?? message.project };
}
