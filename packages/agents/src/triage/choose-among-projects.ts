import type { Agent } from "@svc/contracts";
import { chooseWithModel } from "./choose-with-model.ts";
import type { AdvisedDecision, TriageAdviser } from "./choose-with-model.ts";
import { findSupport } from "./choose-agent.ts";
import type { SearchEach } from "./choose-agent.ts";
import type { Support } from "../quote-answer.ts";
import { decide, decideWithoutModel } from "./decide.ts";
import type { TriageDecision } from "./decide.ts";
import type { TriageModels } from "./open-triage-models.ts";
import type { AgentPool } from "./triage-model.ts";

/** Input for choosing an agent of any project. */
export interface PoolChoice {
  models: TriageModels;
  pool: AgentPool;
  /**
   * The project that the text was sent to: if only one agent exists anywhere and it belongs to it, that agent gets the
   * text.
   */
  home: string;
  text: string;
  /** Searches knowledge bases of a project. */
  search: (project: string) => SearchEach;
  /** The language model to ask if statistics are unsure; null for none. */
  adviser: TriageAdviser | null;
}

/** The chosen agent of all projects; `project` is that agent's, null without one. */
export interface PoolDecision extends AdvisedDecision {
  project: string | null;
}

/**
 * Minimum confidence, because a wrong project would see another project's data. Measured on CLINC150 with its ten
 * domains as projects of one agent with 100 examples each: 88 % of the messages for a project go to the right one, 7 %
 * to another one, and 53 % of those for none stay; with an agent for each of 150 intents, 81 %, 5 % and 83 %.
 */
const LEAST_CONFIDENCE = 0.3;

/** Name of the model that knows the agents of all projects; those of the projects are UUIDs. */
const ALL_PROJECTS = "all projects";

const UNSURE = "No agent stood out.";
const NOBODY = "The message clearly matches no agent of any project.";

/**
 * Chooses the agent for a text among those of all projects, by the criteria of `chooseAgent`, and only if the
 * confidence is high enough; otherwise no project gets it. The reason names only the chosen agent, so that its
 * operators learn nothing about other projects. Rejects when a search does, and with the reason of the adviser's
 * signal.
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

/** Finds how well the knowledge bases of each project match the text, one project after the other. */
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
