import { AGENT_LIMITS, agentAssignmentSchema, reviewPolicySchema } from "@svc/contracts";
import type { AgentChange } from "@svc/contracts";
import type { BoundOperations } from "../as-administrator.ts";
import { failure } from "../cli.ts";
import type { Cli } from "../cli.ts";
import type { OptionValues } from "../define-command.ts";
import { getKb } from "../as-administrator.ts";
import { choice, definedOnly, list, option, shareFrom0To1 } from "../options.ts";
import type { TypedOption } from "../options.ts";
import { readInput } from "../read-input.ts";
import { safeLine } from "../terminal.ts";

/** False with `--no-fixed-reply`. */
const fixedReply: TypedOption<string | false | undefined> = option(
  "--fixed-reply <text>",
  "fixed text that the agent sends instead of an answer",
);

/** The options for the settings of an agent. */
export const AGENT_SETTINGS = {
  description: option("--description <text>", "responsibility in a sentence or two, used for routing"),
  kb: list("--kb <name>", "knowledge base to answer from"),
  example: list("--example <text>", "example message that should be routed to this agent"),
  examples: option("--examples <file>", "file with example messages, one per line; - for standard input"),
  policy: choice(
    "--policy <policy>",
    "when answers are sent without approval: auto, review or auto_if (above the threshold)",
    reviewPolicySchema.options,
  ),
  threshold: option(
    "--threshold <number>",
    "minimum confidence for auto_if, from 0 to 1 (default 0.7)",
    shareFrom0To1(),
  ),
  fixedReply,
  assignment: choice(
    "--assignment <how>",
    "who gets tickets that need a person: none (unassigned) or round-robin (operators on duty, in turn)",
    agentAssignmentSchema.options,
  ),
  model: option("--model <name>", "language model as shown by models list, none, or default for SVC_LLM_MODEL"),
  instructions: option("--instructions <text>", "instructions for the language model; @FILE reads them from a file"),
  tools: option("--tools <file>", "JSON file with the list of tools for the language model; - for standard input"),
};
type AgentOptions = OptionValues<typeof AGENT_SETTINGS>;

const readFile = async (cli: Cli, file: string, what: string) =>
  new TextDecoder().decode(await readInput(cli, file, { what, maxBytes: AGENT_LIMITS.bodyMaxBytes }));

/** Returns the IDs of the knowledge bases with these names. Throws CliError `not_found` for the first unknown one. */
export async function kbIdsOf(operations: BoundOperations, names: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push((await getKb(operations, name)).id);
  return ids;
}

/** Returns the examples that the options name; undefined if they name none. */
export async function readExamples(cli: Cli, { example, examples }: AgentOptions): Promise<string[] | undefined> {
  if (examples === undefined) return example;
  const lines = (await readFile(cli, examples, "a file of examples")).split(/\r?\n/);
  return [...(example ?? []), ...lines.map((line) => line.trim()).filter((line) => line !== "")];
}

async function readInstructions(cli: Cli, instructions: string): Promise<string> {
  if (!instructions.startsWith("@")) return instructions;
  return (await readFile(cli, instructions.slice(1), "a file of instructions")).trim();
}

/** Reads a JSON list of tools, or an object with it as `tools`; the operation checks the tools. Throws CliError `bad_input`. */
async function readTools(cli: Cli, file: string): Promise<AgentChange["tools"]> {
  const text = await readFile(cli, file, "a file of tools");
  const bad = (cause?: unknown) =>
    failure("bad_input", `${safeLine(file)} is not a JSON list of tools; see docs/tools-of-agents.md.`, { cause });
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw bad(error);
  }
  const tools: unknown = typeof given === "object" && given !== null && "tools" in given ? given.tools : given;
  if (Array.isArray(tools)) return tools;
  throw bad();
}

/** Returns the settings for the language model of an agent that the options name. */
export async function readModelSettings(cli: Cli, { model, instructions, tools }: AgentOptions): Promise<AgentChange> {
  return definedOnly({
    model: model === "default" ? null : model,
    instructions: instructions === undefined ? undefined : await readInstructions(cli, instructions),
    tools: tools === undefined ? undefined : await readTools(cli, tools),
  });
}

/** Returns the settings that the options name, without lists and the language model. */
export const settingsOf = ({
  description,
  policy,
  threshold,
  fixedReply: reply,
  assignment,
}: AgentOptions): AgentChange =>
  definedOnly({
    description,
    reviewPolicy: policy,
    autoThreshold: threshold,
    fixedReply: reply === false ? null : reply,
    assignment,
  });
