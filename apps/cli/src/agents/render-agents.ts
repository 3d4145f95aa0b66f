import type { Agent, ReviewPolicy } from "@svc/contracts";
import { renderFacts } from "../render-facts.ts";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";

const NAME_CHARS = 60;
const TEXT_CHARS = 300;

const POLICIES: Record<ReviewPolicy, (threshold: number) => string> = {
  auto: () => "every answer is sent",
  review: () => "a person looks at every answer",
  auto_if: (threshold) => `sent from ${threshold} on`,
};

const describePolicy = ({ reviewPolicy, autoThreshold }: Agent) => POLICIES[reviewPolicy](autoThreshold);

/** What an agent answers from, in words. `kbNames` has the names of knowledge bases by their ids. */
function describeAnswers({ fixedReply, kbIds }: Agent, kbNames: ReadonlyMap<string, string>): string {
  if (fixedReply !== null) return `always: ${safeLine(fixedReply, NAME_CHARS)}`;
  if (kbIds.length === 0) return "nothing yet";
  return kbIds.map((id) => safeLine(kbNames.get(id) ?? id, NAME_CHARS)).join(", ");
}

/** Agents as a table. */
export function renderAgents(
  agents: readonly Agent[],
  kbNames: ReadonlyMap<string, string>,
  { paint, width }: Terminal,
): string {
  const rows = agents.map((agent) => [
    safeLine(agent.name, NAME_CHARS),
    agent.enabled ? paint.green("on") : paint.yellow("off"),
    String(agent.examples.length),
    describePolicy(agent),
    describeAnswers(agent, kbNames),
  ]);
  return renderTable(["NAME", "STATE", "EXAMPLES", "POLICY", "ANSWERS FROM"], rows, width);
}

/** One agent as a person reads it. */
export function renderAgent(agent: Agent, kbNames: ReadonlyMap<string, string>): string {
  const { name, description, examples, enabled, id } = agent;
  return renderFacts([
    ["name", safeLine(name, NAME_CHARS)],
    ["id", id],
    ...(description === "" ? [] : [["description", safeLine(description, TEXT_CHARS)] as const]),
    ["answers from", describeAnswers(agent, kbNames)],
    ["policy", describePolicy(agent)],
    ["examples", String(examples.length)],
    ...(enabled ? [] : [["state", "off"] as const]),
  ]);
}
