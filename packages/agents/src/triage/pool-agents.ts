import type { Agent } from "@svc/contracts";
import { MAX_SAMPLES } from "./triage-sample.ts";
import type { LearnedMessage } from "./triage-sample.ts";

/** A project and what triage knows of it. */
export interface PooledProject {
  id: string;
  agents: readonly Agent[];
  /** The same array as long as it has not changed. */
  learned: readonly LearnedMessage[];
}

/** The enabled agents of all projects, as one choice. */
export interface AgentPool {
  agents: readonly Agent[];
  /** The same array as long as it has not changed. */
  learned: readonly LearnedMessage[];
  /** By agent. */
  projectOf: ReadonlyMap<string, string>;
}

/** Examples of an agent that are learned in any case. */
const LEAST_EXAMPLES = 5;

/**
 * Makes the function that puts the agents of all projects together. What people have decided counts for the agents that
 * they chose; that a message was for none of one project's agents says nothing about those of the others. Where there are
 * more examples than can be learned, each agent has the same share of them.
 */
export function createAgentPool(): (projects: readonly PooledProject[]) => AgentPool {
  let parts: readonly (readonly LearnedMessage[])[] = [];
  let learned: readonly LearnedMessage[] = [];
  return (projects) => {
    const now = projects.map((project) => project.learned);
    if (now.length !== parts.length || now.some((part, index) => part !== parts[index])) {
      parts = now;
      learned = now.flatMap((part) => part.filter(({ agentId }) => agentId !== null));
    }
    const enabled = projects.flatMap(({ id, agents }) =>
      agents.filter((agent) => agent.enabled).map((agent) => ({ project: id, agent })),
    );
    const share = Math.max(LEAST_EXAMPLES, Math.floor(MAX_SAMPLES / Math.max(1, enabled.length)) - 1);
    return {
      agents: enabled.map(({ agent }) =>
        agent.examples.length <= share ? agent : { ...agent, examples: agent.examples.slice(0, share) },
      ),
      learned,
      projectOf: new Map(enabled.map(({ project, agent }) => [agent.id, project])),
    };
  };
}
