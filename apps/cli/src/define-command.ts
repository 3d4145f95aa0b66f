import { Argument, Option } from "commander";
import type { Command } from "commander";
import type { Cli } from "./cli.ts";
import type { TypedOption } from "./options.ts";

/**
 * Descriptions of arguments by their form in the help, as in `<agent>`, `[file]` or `[source...]`; some have choices.
 */
type Arguments = Readonly<Record<string, string | { text: string; choices: readonly string[] }>>;
/** Options by the name of their value. */
export type Options = Readonly<Record<string, TypedOption<unknown>>>;

type NameOf<Key> = Key extends `<${infer Name}>` | `[${infer Name}...]` | `[${infer Name}]` ? Name : never;
type ArgumentValue<Key, Text> = Key extends `[${string}...]`
  ? string[]
  : | (Text extends { choices: readonly (infer Choice)[] } ? Choice : string)
    | (Key extends `[${string}` ? undefined : never);

/** Values of options by name. */
export type OptionValues<Given extends Options> = {
  [Name in keyof Given]: Given[Name] extends TypedOption<infer Value> ? Value : never;
};

/** Input of a command: its arguments and options by name. */
type Input<Args extends Arguments, Given extends Options> = OptionValues<Given> & {
  [Key in keyof Args as NameOf<Key>]: ArgumentValue<Key, Args[Key]>;
};

/** A command as data. */
export interface CommandDefinition<Args extends Arguments = Arguments, Given extends Options = Options> {
  /** Omitted for a top-level command, which has it in `run-cli.ts`. */
  description?: string;
  alias?: string;
  /** Overrides the usage derived from arguments, options and subcommands. */
  usage?: string;
  args?: Args;
  /** Options by the name of their value in `run`. `--json` is added last, unless it is one of them. */
  options?: Given;
  /** False for a command without a result. */
  hasJson?: boolean;
  /** Help below the options. `{svc}` is replaced by how this program is called, see `fillIn`. */
  about?: string;
  /** Command lines; one without a placeholder follows `{svc} `. */
  examples?: readonly string[];
  run?(cli: Cli, input: Input<Args, Given>): Promise<void>;
  /** Subcommands, by name. */
  commands?: Readonly<Record<string, CommandDefinition>>;
}

/** Arguments or options of a command without any. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- it has no keys on purpose
type None = Record<never, never>;

/** Returns the definition, with the types of `run` inferred from its arguments and options. */
export function defineCommand<const Args extends Arguments = None, const Given extends Options = None>(
  definition: CommandDefinition<Args, Given>,
): CommandDefinition {
  return definition;
}

/** Option `--json`, which every command with a result has. */
export const jsonOption: TypedOption<true | undefined> = new Option(
  "--json",
  "print only one JSON document on standard output",
);

/**
 * Replaces `{svc}` by how this program is called, `{silent}` by how it is called in a pipe, and `{start}` by how the
 * service is started.
 */
function fillIn(text: string, { self, silentSelf, startWith }: Cli): string {
  return text.replaceAll("{svc}", self).replaceAll("{silent}", silentSelf).replaceAll("{start}", startWith);
}

function helpOf({ about, examples = [] }: CommandDefinition, cli: Cli): string {
  const lines = examples.map((example) => `  ${/\{(?:svc|silent|start)\}/.test(example) ? "" : "{svc} "}${example}`);
  return fillIn(["", ...(about === undefined ? [] : [about]), "Examples:", ...lines].join("\n"), cli);
}

const argumentOf = ([name, text]: [string, Arguments[string]]) =>
  typeof text === "string" ? new Argument(name, text) : new Argument(name, text.text).choices(text.choices);

/** Adds a command with its subcommands to its parent. */
export function addCommand(parent: Command, cli: Cli, name: string, definition: CommandDefinition): void {
  const { description = "", alias, args = {}, options = {}, hasJson = true, commands = {} } = definition;
  const isGroup = definition.run === undefined;
  const usage = definition.usage ?? (isGroup ? `<${Object.keys(commands).join("|")}> [options]` : undefined);
  const command = parent.command(name).description(description);
  if (alias !== undefined) command.alias(alias);
  if (usage !== undefined) command.usage(usage);
  for (const argument of Object.entries(args).map(argumentOf)) command.addArgument(argument);
  for (const option of Object.values(options)) command.addOption(option);
  if (!isGroup) {
    if (hasJson && !("json" in options)) command.addOption(jsonOption);
    command.addHelpText("after", helpOf(definition, cli));
    command.action(async () => {
      const named = command.registeredArguments.map((argument, at) => [argument.name(), command.processedArgs[at]]);
      // If a command and its parent have the same option, the parent gets its value in both positions.
      await definition.run?.(cli, { ...Object.fromEntries(named), ...command.optsWithGlobals() });
    });
  }
  for (const [child, childDefinition] of Object.entries(commands)) addCommand(command, cli, child, childDefinition);
}
