import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { AGENT_LIMITS } from "@svc/contracts";
import type { Agent, ReplayInput } from "@svc/contracts";
import { parse } from "yaml";
import { errorMessage } from "@svc/primitives";
import { pickAgent } from "../agents/find-agent.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { readInput } from "../read-input.ts";
import { safeLine } from "../safe-text.ts";

const FILE_NAME = /\.(?:json|ya?ml)$/i;
const EXPECTED = { what: "the change of an agent", maxBytes: AGENT_LIMITS.bodyMaxBytes };

/** Whether a word names a file: it is one, is called like one, or is standard input. */
export function isFile(cli: Pick<Cli, "folder">, against: string): boolean {
  return against === "-" || FILE_NAME.test(against) || existsSync(resolve(cli.folder, against));
}

/** The change that a file says. YAML is read by its version 1.2, which JSON is part of. Throws CliError `bad_input`. */
export async function readChange(cli: Cli, file: string): Promise<ReplayInput["against"]> {
  const text = (await readInput(cli, file, EXPECTED)).toString("utf8");
  const bad = (reason: string) =>
    new CliError("bad_input", EXIT.failed, `${safeLine(file)} is not a valid change: ${reason}`);
  let change: unknown;
  try {
    // Without aliases, so that a small file cannot become a large value.
    change = parse(text, { maxAliasCount: 0, schema: "core" });
  } catch (error) {
    throw bad(safeLine(errorMessage(error), 300));
  }
  if (typeof change === "object" && change !== null && !Array.isArray(change)) return change;
  throw bad('it must be an object with the changed fields, such as {"autoThreshold": 0.6}.');
}

/** What `--against` names: the change in a file, else another one of the agents. Throws CliError. */
export async function readAgainst(
  cli: Cli,
  agents: readonly Agent[],
  against: string,
): Promise<ReplayInput["against"]> {
  if (isFile(cli, against)) return readChange(cli, against);
  return { agentId: pickAgent(agents, against).id };
}
