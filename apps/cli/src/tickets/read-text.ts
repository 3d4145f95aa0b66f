import { LIMITS } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { readInput } from "../read-input.ts";

/** A text to be sent or kept: the argument, else what a file has, else standard input, without the line end at its end. */
export async function readText(cli: Cli, text: string | undefined, file: string | undefined): Promise<string> {
  if (text !== undefined && file !== undefined) {
    throw new CliError("usage", EXIT.usage, "Pass the text either as an argument or with --file, not both.");
  }
  if (text !== undefined) return text;
  const bytes = await readInput(cli, file, { what: "the text", maxBytes: LIMITS.bodyMaxBytes });
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, "");
}
