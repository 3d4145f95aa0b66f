import type { Principal } from "@svc/auth";
import { AGENT_LIMITS } from "@svc/contracts";
import type { AgentChange, ReviewPolicy } from "@svc/contracts";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { getKb } from "../kb/find-kb.ts";
import { readInput } from "../read-input.ts";
import { safeLine } from "../safe-text.ts";

/** What `agents create` and `agents change` are told of an agent. */
export interface AgentOptions {
  project: string;
  description?: string;
  /** Names of knowledge bases. */
  kb?: string[];
  example?: string[];
  /** A file with one example a line. */
  examples?: string;
  policy?: ReviewPolicy;
  threshold?: number;
  /** False: a real answer again. */
  fixedReply?: string | false;
  /** As lists of models have it; `none`, or `default` for that of SVC_LLM_MODEL. */
  model?: string;
  /** A text, or `@` and a file. */
  instructions?: string;
  /** A JSON file with a list of tools, or with an object that has it as `tools`. */
  tools?: string;
}

/** The ids of the knowledge bases of these names. Throws CliError `not_found` for the first that there is not. */
export async function kbIdsOf(store: Store, principal: Principal, names: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push((await getKb(store, principal, name)).id);
  return ids;
}

/** The examples that the options name; undefined when they name none. */
export async function readExamples(cli: Cli, { example, examples }: AgentOptions): Promise<string[] | undefined> {
  if (example === undefined && examples === undefined) return undefined;
  if (examples === undefined) return example;
  const what = "a file of examples";
  const bytes = await readInput(cli, examples, { what, maxBytes: AGENT_LIMITS.bodyMaxBytes });
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
  return [...(example ?? []), ...lines.map((line) => line.trim()).filter((line) => line !== "")];
}

async function readInstructions(cli: Cli, instructions: string): Promise<string> {
  if (!instructions.startsWith("@")) return instructions;
  const maxBytes = AGENT_LIMITS.bodyMaxBytes;
  const bytes = await readInput(cli, instructions.slice(1), { what: "a file of instructions", maxBytes });
  return new TextDecoder().decode(bytes).trim();
}

/** The tools that a file says; what is in them is checked where the agent is changed. Throws CliError `bad_input`. */
async function readTools(cli: Cli, file: string): Promise<AgentChange["tools"]> {
  const bytes = await readInput(cli, file, { what: "a file of tools", maxBytes: AGENT_LIMITS.bodyMaxBytes });
  const bad = (cause?: unknown) => {
    const message = `${safeLine(file)} is not a JSON list of tools; see docs/tools-of-agents.md.`;
    return new CliError("bad_input", EXIT.failed, message, { cause });
  };
  let given: unknown;
  try {
    given = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw bad(error);
  }
  const tools: unknown = typeof given === "object" && given !== null && "tools" in given ? given.tools : given;
  if (Array.isArray(tools)) return tools;
  throw bad();
}

/** What the options say of the part that a language model has in an agent. */
export async function readModelSettings(cli: Cli, { model, instructions, tools }: AgentOptions): Promise<AgentChange> {
  return {
    ...(model === undefined ? {} : { model: model === "default" ? null : model }),
    ...(instructions === undefined ? {} : { instructions: await readInstructions(cli, instructions) }),
    ...(tools === undefined ? {} : { tools: await readTools(cli, tools) }),
  };
}

/** What the options say of an agent, but for its lists and its model. */
export function settingsOf({ description, policy, threshold, fixedReply }: AgentOptions): AgentChange {
  return {
    ...(description === undefined ? {} : { description }),
    ...(policy === undefined ? {} : { reviewPolicy: policy }),
    ...(threshold === undefined ? {} : { autoThreshold: threshold }),
    ...(fixedReply === undefined ? {} : { fixedReply: fixedReply === false ? null : fixedReply }),
  };
}
