import type { Agent } from "@svc/contracts";
import { decide, decideWithoutModel } from "./decide.ts";
import type { TriageDecision } from "./decide.ts";
import type { TriageKnowledge, TriageModels } from "./keep-triage-models.ts";

/** What of a search says which agent's knowledge bases have something for a message. */
export interface SupportingPassages {
  /** Best first. */
  hits: readonly { kbId: string; score: number }[];
  /** The score of a passage that matched the message as well as could be. */
  bestPossible: number;
}

/** Passages among which an agent's knowledge bases have to have one to be heard. */
export const PASSAGES_HEARD = 50;

/** What an agent is to be chosen for, and by what. */
export interface AgentChoice extends TriageKnowledge {
  models: TriageModels;
  /** Whose agents these are: each has a model of its own. */
  project: string;
  text: string;
  /** The agent that has the conversation. */
  currentAgentId: string | null;
  /** Searches knowledge bases for the message; so many passages are wanted at most. */
  search: (kbIds: string[], limit: number) => Promise<SupportingPassages>;
}

/**
 * Chooses the agent for a message: by what the agents say of themselves, their examples and what people have decided,
 * and by whose knowledge bases have something for it. Neither is asked when there is at most one enabled agent, and the
 * knowledge bases only where agents have different ones. Rejects when the search does.
 */
export async function chooseAgent(choice: AgentChoice): Promise<TriageDecision> {
  const { models, project, agents, learned, text, currentAgentId } = choice;
  const sure = decideWithoutModel(agents);
  if (sure !== null) return sure;
  const model = await models.modelOf(project, { agents, ...(learned === undefined ? {} : { learned }) });
  const support = await findSupport(agents, choice.search);
  return decide(model, { agents, text, currentAgentId, support });
}

/** By agent: the score of the best passage in its knowledge bases as a share of the best possible one, 0 to 1. */
async function findSupport(agents: readonly Agent[], search: AgentChoice["search"]): Promise<Map<string, number>> {
  const enabled = agents.filter((agent) => agent.enabled);
  const bases = new Set(enabled.map(({ kbIds }) => [...kbIds].sort().join(" ")));
  if (bases.size < 2) return new Map();
  return supportOf(enabled, await search([...new Set(enabled.flatMap(({ kbIds }) => kbIds))], PASSAGES_HEARD));
}

/** By agent: what the passages that were found are worth to it, 0 to 1. */
export function supportOf(agents: readonly Agent[], { hits, bestPossible }: SupportingPassages): Map<string, number> {
  if (bestPossible <= 0) return new Map();
  return new Map(
    agents.map(({ id, kbIds }) => {
      const best = hits.find(({ kbId }) => kbIds.includes(kbId));
      return [id, (best?.score ?? 0) / bestPossible];
    }),
  );
}
