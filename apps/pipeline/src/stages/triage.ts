import { chooseAgent, chooseWithModel, chooseAmongProjects } from "@svc/agents";
import { searchEach } from "@svc/knowledge";
import type { SearchResult } from "@svc/knowledge";
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
  run.triage ??= await chooseOfAllProjects(context, run);
}

async function chooseOfAllProjects(
  { store, triageModels, models, readPool }: StageContext,
  run: Run,
): Promise<TriageResult> {
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

/**
 * Chooses the agent; none for spam. If the choice is unsure and there is a language model, the model is asked. The
 * result is stored between attempts.
 */
export async function triage(context: StageContext, run: Run): Promise<void> {
  if (isSpam(run)) return;
  move(run, "triage", "opened");
  run.triage ??= await choose(context, run);
}

async function choose({ store, triageModels, models, embeddings }: StageContext, run: Run): Promise<TriageResult> {
  const { project, agents, learned, message, signal } = run;
  const currentAgentId = run.ticket?.agentId ?? null;
  const searched: { kbIds: readonly string[]; found: SearchResult }[] = [];
  const decision = await chooseAgent({
    models: triageModels,
    project: project.id,
    agents,
    learned,
    text: message.text,
    currentAgentId,
    search: async (query, kbGroups, limit) => {
      const results = await searchEach({ store, embeddings }, project.id, { query, kbGroups, limit });
      searched.push(...results.flatMap((found, at) => ({ kbIds: kbGroups[at] ?? [], found })));
      return results;
    },
  });
  // An agent without a model has no setting for triage: the configured default model is used.
  const model = (await models?.forAgent({ model: null })) ?? null;
  const adviser = model === null ? null : { model, project: project.id, ticketId: message.ticketId, signal };
  const chosen = await chooseWithModel(decision, { agents, text: message.text, currentAgentId }, adviser);
  // The passages found for triage are reused for the answer, so that one search serves both.
  const kbIds = agents.find(({ id, fixedReply }) => id === chosen.agentId && fixedReply === null)?.kbIds;
  if (kbIds !== undefined) {
    run.passages ??= searched.find((one) => one.kbIds.join() === kbIds.join())?.found ?? null;
  }
  return chosen;
}
