import type { Agent } from "@svc/contracts";
import { chooseWithModel } from "./choose-with-model.ts";
import type { AdvisedDecision, TriageAdviser } from "./choose-with-model.ts";
import { findSupport } from "./choose-agent.ts";
import type { SearchEach } from "./choose-agent.ts";
import type { Support } from "../quote-answer.ts";
import { decide, decideWithoutModel } from "./decide.ts";
import type { TriageDecision } from "./decide.ts";
import type { TriageModels } from "./keep-triage-models.ts";
import type { AgentPool } from "./triage-model.ts";

/** What an agent of all projects is to be chosen for, and by what. */
export interface PoolChoice {
  models: TriageModels;
  pool: AgentPool;
  /** The project that the text came in for: an agent of it that is the only one anywhere gets it in any case. */
  home: string;
  text: string;
  /** Searches knowledge bases of a project. */
  search: (project: string) => SearchEach;
  /** The language model that is asked where statistics are unsure; null for none. */
  adviser: TriageAdviser | null;
}

/** Which agent of all projects gets a text; `project` is that agent's, null without one. */
export interface PoolDecision extends AdvisedDecision {
  project: string | null;
}

/**
 * Below this confidence no project gets it: a wrong project would see foreign data. Measured on CLINC150 with
 * its ten domains as projects, of one agent with 100 examples each: 88 % of what is for one of them goes to the right
 * project, 7 % to another one, and 53 % of what is for none stays; with an agent for each of 150 intents, 81 %, 5 % and
 * 83 %.
 */
const LEAST_CONFIDENCE = 0.3;

/** The name of the model that knows the agents of all projects, among those of the projects, which are UUIDs. */
const ALL_PROJECTS = "all projects";

const UNSURE = "No agent stood out.";
const NOBODY = "The message clearly matches no agent of any project.";

/**
 * Chooses the agent for a text among those of all projects, by what `chooseAgent` goes by in one project. Only when
 * that is sure enough: else no project gets it. The reason names no other agent than the one that was chosen, so that
 * an operator who works with it learns nothing of other projects. Rejects when a search does, and with the reason of
 * the adviser's signal.
 */
export async function chooseAmongProjects(choice: PoolChoice): Promise<PoolDecision> {
  const { pool, text, adviser } = choice;
  const found = await chooseByStatistics(choice);
  const unsure = { ...found, why: UNSURE };
  const advised = await chooseWithModel(unsure, { agents: pool.agents, text, currentAgentId: null }, adviser);
  const decision = advised === unsure ? found : advised;
  const project = decision.agentId === null ? undefined : pool.projectOf.get(decision.agentId);
  if (project === undefined || decision.confidence < LEAST_CONFIDENCE) {
    return { ...decision, agentId: null, project: null, why: NOBODY };
  }
  return { ...decision, project };
}

async function chooseByStatistics({ models, pool, home, text, search }: PoolChoice): Promise<TriageDecision> {
  const { agents, learned } = pool;
  const sure = decideWithoutModel(agents);
  if (sure !== null && (sure.agentId === null || pool.projectOf.get(sure.agentId) === home)) return sure;
  const model = await models.modelOf(ALL_PROJECTS, { agents, learned });
  return decide(model, {
    agents,
    text,
    currentAgentId: null,
    support: await findSupportInAll(pool, text, search),
    hidesOthers: true,
    mustFit: true,
  });
}

/** As within one project, one project after the other: what the knowledge bases of each have for the text. */
async function findSupportInAll(
  { agents, projectOf }: AgentPool,
  text: string,
  search: PoolChoice["search"],
): Promise<Map<string, Support>> {
  const byProject = new Map<string, Agent[]>();
  for (const agent of agents) {
    const project = projectOf.get(agent.id);
    if (project === undefined || agent.kbIds.length === 0) continue;
    byProject.set(project, [...(byProject.get(project) ?? []), agent]);
  }
  const support = new Map<string, Support>();
  for (const [project, ofProject] of byProject) {
    for (const [agentId, found] of await findSupport(ofProject, text, search(project))) support.set(agentId, found);
  }
  return support;
}
