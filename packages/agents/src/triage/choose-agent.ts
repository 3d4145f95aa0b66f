import type { Agent } from "@svc/contracts";
import { SEARCH_LIMIT } from "../answer.ts";
import type { SearchResult } from "../answer.ts";
import { spreadOf } from "../answers/choose-answer.ts";
import { questionOf } from "../question-of.ts";
import { supportOf } from "../quote-answer.ts";
import type { Support } from "../quote-answer.ts";
import { decide, decideWithoutModel } from "./decide.ts";
import type { TriageDecision } from "./decide.ts";
import type { TriageKnowledge, TriageModels } from "./keep-triage-models.ts";

/** What one standard deviation of similarity speaks for an agent's knowledge bases: fitted with a sentence encoder. */
const SIMILARITY_WEIGHT = 1;

/** Searches groups of knowledge bases, each by itself: the query, the groups, and how many passages of each at most. */
export type SearchEach = (query: string, kbGroups: string[][], limit: number) => Promise<SearchResult[]>;

/** What an agent is to be chosen for, and by what. */
export interface AgentChoice extends TriageKnowledge {
  models: TriageModels;
  /** Whose agents these are: each has a model of its own. */
  project: string;
  text: string;
  /** The agent that has the conversation. */
  currentAgentId: string | null;
  search: SearchEach;
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
  const enabled = agents.filter((agent) => agent.enabled);
  const differ = new Set(enabled.map(({ kbIds }) => keyOf(kbIds))).size > 1;
  const support = differ ? await findSupport(enabled, text, choice.search) : new Map<string, Support>();
  return decide(model, { agents, text, currentAgentId, support });
}

/**
 * Returns by agent what its knowledge bases have for a text; none for an agent without. Each agent's bases are searched by
 * themselves: among the passages of a large base those of a small one would never be heard.
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
 * Returns what the embeddings of the passages found speak for each result against the others, in logarithms of odds: how far
 * its most similar passage is above the mean of the results, by the deviation among all passages. 0 without embeddings.
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
