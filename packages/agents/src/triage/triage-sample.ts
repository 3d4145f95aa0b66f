import type { Agent } from "@svc/contracts";

/** A text whose agent is known: what triage learns from. */
export interface TriageSample {
  /** Null: a message that is for none of the agents. */
  agentId: string | null;
  text: string;
  /** True for what an agent says of itself, its name and description; false for a message. */
  isPurpose: boolean;
}

/**
 * A message whose agent is known: one that a person has decided, such as a rerouted one, or that a resolved ticket
 * began with. Null: none of the agents.
 */
export interface LearnedMessage {
  agentId: string | null;
  text: string;
}

/** A project may have this many messages to learn from; of more, the ones at the end of the lists are left out. */
export const MAX_SAMPLES = 20_000;

/**
 * What distinguishes the enabled agents: name and description of each as one text, its examples, and the
 * messages that operators have decided. Texts without a word teach nothing and are left out.
 */
export function samplesOf(agents: readonly Agent[], learned: readonly LearnedMessage[] = []): TriageSample[] {
  const enabled = agents.filter((agent) => agent.enabled);
  const ids = new Set(enabled.map(({ id }) => id));
  const purposes = enabled.map((agent) => ({
    agentId: agent.id,
    text: `${agent.name.replaceAll("_", " ")}\n${agent.description}`,
    isPurpose: true,
  }));
  const examples = enabled.flatMap((agent) => agent.examples.map((text) => asMessage(agent.id, text)));
  const decided = learned
    .filter(({ agentId }) => agentId === null || ids.has(agentId))
    .map(({ agentId, text }) => asMessage(agentId, text));
  return [...purposes, ...examples, ...decided].filter(({ text }) => /[\p{L}\p{N}]/u.test(text)).slice(0, MAX_SAMPLES);
}

function asMessage(agentId: string | null, text: string): TriageSample {
  return { agentId, text, isPurpose: false };
}
