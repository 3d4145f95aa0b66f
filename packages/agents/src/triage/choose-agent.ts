import type { Agent } from "@svc/contracts";
import { SEARCH_LIMIT } from "../answer.ts";
import type { SearchResult } from "../answer.ts";
import { spreadOf } from "../answers/choose-answer.ts";
import { questionOf } from "../question-of.ts";
import { supportOf } from "../quote-answer.ts";
import type { Support } from "../quote-answer.ts";
import { decide, decideWithoutModel } from "./decide.ts";
import type { TriageDecision } from "./decide.ts";
import type { TriageKnowledge, TriageModels } from "./open-triage-models.ts";

/** Weight of one standard deviation of similarity for an agent's knowledge bases: fitted with a sentence encoder. */
const SIMILARITY_WEIGHT = 1;

/** Searches each group of knowledge bases separately, for at most `limit` passages of each. */
export type SearchEach = (query: string, kbGroups: string[][], limit: number) => Promise<SearchResult[]>;

/** Input for choosing an agent. */
export interface AgentChoice extends TriageKnowledge {
  models: TriageModels;
  /** Project of the agents: each has its own model. */
  project: string;
  text: string;
  /** The agent that currently has the conversation. */
  currentAgentId: string | null;
  search: SearchEach;
}

/**
 * Chooses the agent for a message: by the agents' descriptions and examples and people's decisions, and by how well
 * their knowledge bases match. Neither is used with at most one enabled agent, and the knowledge bases only if the
 * agents have different ones. Rejects when the search does.
 */
export async function chooseAgent(choice: AgentChoice): Promise<TriageDecision> {
  const { models, project, agents, learned, text, currentAgentId } = choice;
  const sure = decideWithoutModel(agents);
  if (sure !== null) return sure;
  const model = await models.modelOf(project, { agents, ...(learned === undefined ? {} : { learned }) });
  const enabled = agents.filter((agent) => agent.enabled);
  const differ = new Set(enabled.map(({ kbIds }) => keyOf(kbIds))).size > 1;
  const support = differ ? await findSupport(enabled, text, choice.search) : new Map<string, Support>();
  return decide(model, { agents, text, currentAgentId, support });
}

/**
 * Returns by agent how well its knowledge bases match a text; none for an agent without. Each agent's knowledge bases
 * are searched separately, because the passages of a large one would displace those of a small one.
 */
export async function findSupport(
  agents: readonly Agent[],
  text: string,
  search: SearchEach,
): Promise<Map<string, Support>> {
  const groups = new Map(agents.flatMap(({ kbIds }) => (kbIds.length === 0 ? [] : [[keyOf(kbIds), kbIds] as const])));
  const asked = questionOf(text);
  const results = await search(asked, [...groups.values()], SEARCH_LIMIT);
  const odds = similarityOdds(results);
  const ofGroup = new Map(
    [...groups.keys()].map((key, at): [string, Support] => {
      const support = supportOf(asked, results[at] ?? NOTHING_FOUND);
      return [key, { ...support, odds: support.odds + (odds[at] ?? 0) }];
    }),
  );
  return new Map(
    agents.flatMap(({ id, kbIds }) => {
      const support = ofGroup.get(keyOf(kbIds));
      return support === undefined ? [] : [[id, support] as const];
    }),
  );
}

/**
 * Returns the evidence of the passages' embeddings for each result against the others, in log odds: the distance of its
 * most similar passage from the mean of the results, in standard deviations of all passages. 0 without embeddings.
 */
function similarityOdds(results: readonly SearchResult[]): number[] {
  const found = results.map(({ hits }) => hits.flatMap(({ similarity }) => similarity ?? []));
  const best = found.map((similarities) => (similarities.length === 0 ? null : Math.max(...similarities)));
  const known = best.filter((value) => value !== null);
  if (known.length < 2) return best.map(() => 0);
  const { deviation } = spreadOf(found.flat());
  const { mean } = spreadOf(known);
  return best.map((value) => (value === null ? 0 : (SIMILARITY_WEIGHT * (value - mean)) / deviation));
}

const NOTHING_FOUND: SearchResult = { hits: [], bestPossible: 0, words: [] };

function keyOf(kbIds: readonly string[]): string {
  return [...kbIds].sort().join(" ");
}
