import { chooseAgent, chooseWithModel } from "@svc/agents";
import { searchEachWithEmbeddings } from "@svc/knowledge";
import { isSpam, move } from "../run.ts";
import type { SearchResult } from "@svc/knowledge";
import type { Run, StageContext, TriageResult } from "../run.ts";

/**
 * Chooses the agent; none for spam. Where that is unsure and there is a language model, it is asked. The result is kept
 * between tries.
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
      const results = await searchEachWithEmbeddings({ store, embeddings }, project.id, { query, kbGroups, limit });
      searched.push(...results.flatMap((found, at) => ({ kbIds: kbGroups[at] ?? [], found })));
      return results;
    },
  });
  // An agent that wants no model says nothing about triage: that of the configuration is asked.
  const model = (await models?.forAgent({ model: null })) ?? null;
  const adviser = model === null ? null : { model, project: project.id, ticketId: message.ticketId, signal };
  const chosen = await chooseWithModel(decision, { agents, text: message.text, currentAgentId }, adviser);
  // What was found for the agent is what its answer is looked for in: one search serves both.
  const kbIds = agents.find(({ id, fixedReply }) => id === chosen.agentId && fixedReply === null)?.kbIds;
  if (kbIds !== undefined) {
    run.passages ??= searched.find((one) => one.kbIds.join() === kbIds.join())?.found ?? null;
  }
  return chosen;
}
