import type { Agent, AgentTool, ReviewPolicy } from "@svc/contracts";
import { renderFacts, renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";

const NAME_CHARS = 60;
const TEXT_CHARS = 300;

const POLICIES: Record<ReviewPolicy, (threshold: number) => string> = {
  auto: () => "auto",
  review: () => "review",
  auto_if: (threshold) => `auto_if, threshold ${threshold}`,
};

const describePolicy = ({ reviewPolicy, autoThreshold }: Agent) => POLICIES[reviewPolicy](autoThreshold);

/** What an agent answers from, in words. `kbNames` has the names of knowledge bases by their ids. */
function describeAnswers({ fixedReply, kbIds }: Agent, kbNames: ReadonlyMap<string, string>): string {
  if (fixedReply !== null) return `fixed reply: ${safeLine(fixedReply, NAME_CHARS)}`;
  if (kbIds.length === 0) return "none yet";
  return kbIds.map((id) => safeLine(kbNames.get(id) ?? id, NAME_CHARS)).join(", ");
}

/** Which model answers, in words. */
const describeModel = ({ model }: Agent) => (model === null ? "default" : safeLine(model, NAME_CHARS));

/** A tool by its name, and what it may do; of an MCP server its own tools say that. Headers are secrets. */
function describeTool(tool: AgentTool): string {
  const name = safeLine(tool.name, NAME_CHARS);
  if (tool.type === "http")
    return `${name} (${tool.access}${tool.approval === "operator" ? ", requires approval" : ""})`;
  const count = tool.allow === null ? "all" : String(tool.allow.length);
  return `${name} (MCP, ${count} tools)`;
}

/** Its tools, each in a line of its own. */
const describeTools = ({ tools }: Agent) => tools.map(describeTool).join("\n");

/** Agents as a table. */
export function renderAgents(
  agents: readonly Agent[],
  kbNames: ReadonlyMap<string, string>,
  { paint, width }: Terminal,
): string {
  const rows = agents.map((agent) => [
    safeLine(agent.name, NAME_CHARS),
    agent.enabled ? paint.green("enabled") : paint.yellow("disabled"),
    String(agent.examples.length),
    describePolicy(agent),
    describeModel(agent),
    describeTools(agent),
    describeAnswers(agent, kbNames),
  ]);
  return renderTable(["NAME", "STATE", "EXAMPLES", "POLICY", "MODEL", "TOOLS", "ANSWERS FROM"], rows, width);
}

/** One agent as a person reads it. */
export function renderAgent(agent: Agent, kbNames: ReadonlyMap<string, string>): string {
  const { name, description, instructions, examples, tools, model, enabled, id } = agent;
  return renderFacts([
    ["name", safeLine(name, NAME_CHARS)],
    ["id", id],
    ...(description === "" ? [] : [["description", safeLine(description, TEXT_CHARS)] as const]),
    ["answers from", describeAnswers(agent, kbNames)],
    ["policy", describePolicy(agent)],
    ["model", model === null ? "default (SVC_LLM_MODEL, if set)" : describeModel(agent)],
    ...(instructions === "" ? [] : [["instructions", safeLine(instructions, TEXT_CHARS)] as const]),
    ...(tools.length === 0 ? [] : [["tools", describeTools(agent)] as const]),
    ["examples", String(examples.length)],
    ...(enabled ? [] : [["state", "off"] as const]),
  ]);
}
