import type { Principal } from "@svc/auth";
import { AGENT_LIMITS } from "@svc/contracts";
import type { AgentChange, ReviewPolicy } from "@svc/contracts";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { getKb } from "../kb/find-kb.ts";
import { readInput } from "../read-input.ts";

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

/** What the options say of an agent, but for its lists. */
export function settingsOf({ description, policy, threshold, fixedReply }: AgentOptions): AgentChange {
  return {
    ...(description === undefined ? {} : { description }),
    ...(policy === undefined ? {} : { reviewPolicy: policy }),
    ...(threshold === undefined ? {} : { autoThreshold: threshold }),
    ...(fixedReply === undefined ? {} : { fixedReply: fixedReply === false ? null : fixedReply }),
  };
}
