import { LIMITS } from "@svc/contracts";
import type { ChannelChange } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { readInput } from "../read-input.ts";

/** One setting whose value is a text, as in `botToken=123456:ABC`. */
const ASSIGNMENT = /^([A-Za-z]+)=(.*)$/s;

/**
 * The change of settings that a command gives, as JSON, or as `name=text` for one: on the command line, or in a file (`-`
 * is standard input), which is the place for secrets. What is in them is checked where the channel is changed. Throws CliError `bad_input`.
 */
export async function readSettings(
  cli: Cli,
  { settings, file }: { settings: string | undefined; file: string | undefined },
): Promise<ChannelChange> {
  const bad = (message: string, cause?: unknown) => new CliError("bad_input", EXIT.failed, message, { cause });
  if ((settings === undefined) === (file === undefined)) {
    throw bad("Pass the settings either as JSON or with --file, not both.");
  }
  const what = "the settings";
  const text =
    settings ?? new TextDecoder().decode(await readInput(cli, file, { what, maxBytes: LIMITS.bodyMaxBytes }));
  const [, name, value] = ASSIGNMENT.exec(text.trim()) ?? [];
  if (name !== undefined) return { config: { [name]: value ?? "" } };
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw bad(`The settings are not valid JSON. Enclose them in single quotes: '{"color":"#2f6f4f"}'.`, error);
  }
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return { config: given };
  throw bad(`The settings must be a JSON object, such as {"color":"#2f6f4f"}.`);
}
