import { Command, CommanderError } from "commander";
import { describeCall, EXIT, EXIT_MEANINGS, readVersion } from "./cli.ts";
import type { Cli, ExitCode, Surroundings } from "./cli.ts";
import { addCommand, jsonOption } from "./define-command.ts";
import type { CommandDefinition } from "./define-command.ts";
import type { OutputStream } from "./terminal.ts";
import { createTerminal } from "./terminal.ts";

/** Commands by heading, as in the help: usage and description. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Start:": {
    "up [options]": "run everything on this machine, in this process",
    "start <app>": "run a single app in this process (requires DATABASE_URL and SVC_SECRET_KEY)",
    "init [options]": "set up a server: database schema, project, administrator's key, HTTP API",
    "doctor [options]": "check configuration, databases, models, ports and queues, and show how to fix problems",
  },
  "Content:": {
    kb: "add, sync, list, search and remove documents in knowledge bases",
    articles: "list, show and publish articles that operators write",
    agents: "list, create, update, delete and ask agents",
    models: "list language models and pull them to Ollama",
    tools: "list and call the MCP tools that the key can use",
    "eval [options] <file>": "evaluate routing, search and answers on your own messages with expected results",
    "replay [options]": "compare a changed agent with past replies of operators before you deploy the change",
  },
  "People:": {
    "ask [options] [text]": "ask the running service and show the answer with its sources",
    tickets: "list, review, answer, assign and close tickets",
    tags: "list, create, rename, merge and remove the tags of a project",
    customers: "list, show, update and merge customers",
    "tool-calls": "list, approve and reject tool calls of agents",
    operators: "create, list, update and remove operators, and manage their passwords",
    projects: "list, create, update, rename and delete projects",
    keys: "list, create, import, revoke and rotate API keys",
    privacy: "export or erase the personal data of one person",
  },
  "Operate:": {
    channels: "list, configure, enable, disable and test channels",
    email: "send a test email",
    webhook: "verify callbacks, and set the secret that signs them",
    webhooks: "list, create, update, test and delete webhooks for events",
    deliveries: "list, show and replay callbacks and events",
    "dead-letters": "list and retry messages and replies that failed five times",
    "stats [options]": "show message and answer statistics",
    "usage [options]": "show what projects use by day: messages, documents, storage, sockets and model tokens",
    audit: "list and verify the audit log",
    "migrate [options]": "migrate the database schema to this version",
    "upgrade [options]": "upgrade the database to this version: check, back up, migrate, verify",
    "backup [options] [file]": "back up the database to a file, whether or not the service is running",
    "restore [options] <file>": "restore a backup into a database in one transaction",
  },
};

/**
 * Loads the module of the called command with its dependencies. The product is loaded only here, so that the version
 * and the help appear immediately.
 */
const LOADERS: Readonly<Record<string, () => Promise<CommandDefinition>>> = {
  up: async () => (await import("./commands/up.ts")).up,
  start: async () => (await import("./commands/up.ts")).start,
  init: async () => (await import("./commands/init.ts")).init,
  doctor: async () => (await import("./commands/init.ts")).doctor,
  kb: async () => (await import("./commands/kb.ts")).kb,
  articles: async () => (await import("./commands/kb.ts")).articles,
  agents: async () => (await import("./commands/agents.ts")).agents,
  models: async () => (await import("./commands/models.ts")).models,
  tools: async () => (await import("./commands/tools.ts")).tools,
  eval: async () => (await import("./commands/eval.ts")).evaluate,
  replay: async () => (await import("./commands/replay.ts")).replay,
  ask: async () => (await import("./commands/ask.ts")).ask,
  tickets: async () => (await import("./commands/tickets.ts")).tickets,
  tags: async () => (await import("./commands/tags.ts")).tags,
  customers: async () => (await import("./commands/customers.ts")).customers,
  "tool-calls": async () => (await import("./commands/tool-calls.ts")).toolCalls,
  operators: async () => (await import("./commands/operators.ts")).operators,
  projects: async () => (await import("./commands/projects.ts")).projects,
  keys: async () => (await import("./commands/keys.ts")).keys,
  privacy: async () => (await import("./commands/privacy.ts")).privacy,
  channels: async () => (await import("./commands/channels.ts")).channels,
  email: async () => (await import("./commands/channels.ts")).email,
  webhook: async () => (await import("./commands/webhook.ts")).webhook,
  webhooks: async () => (await import("./commands/webhooks.ts")).webhooks,
  deliveries: async () => (await import("./commands/deliveries.ts")).deliveries,
  "dead-letters": async () => (await import("./commands/deliveries.ts")).deadLetters,
  stats: async () => (await import("./commands/stats.ts")).stats,
  usage: async () => (await import("./commands/stats.ts")).usage,
  audit: async () => (await import("./commands/audit.ts")).audit,
  migrate: async () => (await import("./commands/init.ts")).migrate,
  upgrade: async () => (await import("./commands/backup.ts")).upgrade,
  backup: async () => (await import("./commands/backup.ts")).backup,
  restore: async () => (await import("./commands/backup.ts")).restore,
};

function afterHelp({ self, startWith }: Cli): string {
  const codes = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => `  ${code.padEnd(4)} ${meaning}`);
  return `
Examples:
  ${startWith.padEnd(44)} run everything on this machine
  ${`${self} ask "How do I send a message?"`.padEnd(44)} ask the running service
  ${`${self} kb add handbook.md`.padEnd(44)} add a document to answer from
  ${`${self} doctor`.padEnd(44)} find problems and how to fix them
API key: SVC_ADMIN_KEY, or the key in the data folder (SVC_DATA_DIR, .svc by default). Commands that call a service use
SVC_KEY first. They call the one at --url, or at SVC_URL, or on this machine.
Database: DATABASE_URL with SVC_SECRET_KEY, or the embedded PostgreSQL in the data folder, which is started if it is not running.
With --json, standard output contains one JSON document and nothing else. With npm, add --silent:
npm run --silent svc -- doctor --json
Exit codes:
${codes.join("\n")}`;
}

/** Returns the command line with all commands. Only the called one is loaded; the others have what the help lists. */
async function createProgram(
  cli: Cli,
  args: readonly string[],
  streams: { stdout: OutputStream; stderr: OutputStream },
): Promise<Command> {
  const program = new Command("svc")
    .description(
      "Message channels service: agents, operators and one pipeline behind HTTP, a web widget, Telegram and MCP.",
    )
    .version(readVersion())
    .usage("<command> [options]")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: (text) => void streams.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError("(add --help for usage)")
    .addHelpText("after", afterHelp(cli));
  const called = args.find((arg) => !arg.startsWith("-") && arg !== "help");
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const [usage, description] of Object.entries(commands)) {
      const load = usage.split(" ")[0] === called ? LOADERS[called ?? ""] : undefined;
      if (load !== undefined) addCommand(program, cli, called ?? "", { ...(await load()), description });
      else {
        const listed = program.command(usage.replace(" [options]", "")).description(description);
        if (usage.includes("[options]")) listed.addOption(jsonOption);
      }
    }
  }
  // The help command that commander adds itself.
  program.commandsGroup("");
  return program;
}

/** Returns true if the command line requests JSON; checked before it is parsed, because its errors are JSON, too. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end === -1 ? undefined : end).includes("--json");
}

/**
 * Runs one command line and returns its exit code. Never rejects: every error is explained in a line or two on
 * standard error. `args` are the words after the program's name.
 */
export async function runCli(
  args: readonly string[],
  surroundings: Surroundings & { stdout: OutputStream; stderr: OutputStream },
): Promise<ExitCode> {
  const { stdout, stderr, env, openInput } = surroundings;
  const terminal = createTerminal({ stdout, stderr, env, isJson: wantsJson(args) });
  let exitCode: ExitCode = EXIT.ok;
  const setExitCode = (code: ExitCode) => {
    exitCode = code;
  };
  const cli = { ...describeCall(surroundings), terminal, openInput, setExitCode };
  try {
    const program = await createProgram(cli, args, { stdout, stderr });
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      const { reportError } = await import("./explain-error.ts");
      return reportError(error, terminal, env["SVC_LOG_LEVEL"]);
    }
    if (error.exitCode === 0) return EXIT.ok;
    // Commander has already reported the error on standard error.
    if (terminal.isJson) terminal.show({ ok: false, error: { code: "usage", message: error.message } }, () => "");
    return EXIT.usage;
  }
}
