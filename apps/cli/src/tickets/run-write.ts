import type { Cli } from "../cli.ts";
import { readText } from "./read-text.ts";
import { runDecision } from "./run-decision.ts";

/** What `tickets note` and `tickets reply` are told. */
export interface WriteOptions {
  project: string;
  file?: string;
  markdown?: true;
}

/** `svc tickets note`: keeps a text for the operators. */
export async function runNote(cli: Cli, named: string, text: string | undefined, options: WriteOptions): Promise<void> {
  const note = await readText(cli, text, options.file);
  await runDecision(cli, named, options.project, { action: "note", input: { text: note } });
}

/** `svc tickets reply`: sends a text to the customer. */
export async function runReply(
  cli: Cli,
  named: string,
  text: string | undefined,
  options: WriteOptions,
): Promise<void> {
  const reply = await readText(cli, text, options.file);
  const markdown = options.markdown === true;
  await runDecision(cli, named, options.project, { action: "reply", input: { text: reply, markdown } });
}
