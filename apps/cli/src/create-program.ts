import { Command } from "commander";
import { readVersion } from "./cli.ts";
import type { Cli } from "./cli.ts";
import { EXIT_MEANINGS } from "./cli-error.ts";
import { addCommand, jsonOption } from "./define-command.ts";
import type { CommandDefinition } from "./define-command.ts";
import type { OutputStream } from "./terminal.ts";

/** A command as the help lists it, and how the file that defines it is loaded. */
interface LazyCommand {
  usage: string;
  description: string;
  load: () => Promise<CommandDefinition>;
}

/**
 * Commands by heading, in the order in which the help shows them. The product is loaded here and nowhere else: only the
 * file of the command that is called is imported, with all that it needs.
 */
const COMMANDS: Readonly<Record<string, readonly LazyCommand[]>> = {
  "Start:": [
    {
      usage: "up [options]",
      description: "run everything on this machine, in this process",
      load: async () => (await import("./commands/up.ts")).up,
    },
    {
      usage: "start <app>",
      description: "run a single app in this process (requires DATABASE_URL and SVC_SECRET_KEY)",
      load: async () => (await import("./commands/start.ts")).start,
    },
    {
      usage: "init [options]",
      description: "set up a server: database schema, project, administrator's key, HTTP API",
      load: async () => (await import("./commands/init.ts")).init,
    },
    {
      usage: "doctor [options]",
      description: "check configuration, databases, models, ports and queues, and show how to fix problems",
      load: async () => (await import("./commands/doctor.ts")).doctor,
    },
  ],
  "Content:": [
    {
      usage: "kb",
      description: "add, sync, list, search and remove documents in knowledge bases",
      load: async () => (await import("./commands/kb.ts")).kb,
    },
    {
      usage: "agents",
      description: "list, create, update, delete and ask agents",
      load: async () => (await import("./commands/agents.ts")).agents,
    },
    {
      usage: "models",
      description: "list language models and pull them to Ollama",
      load: async () => (await import("./commands/models.ts")).models,
    },
    {
      usage: "tools",
      description: "list and call the MCP tools that the key can use",
      load: async () => (await import("./commands/tools.ts")).tools,
    },
    {
      usage: "eval [options] <file>",
      description: "evaluate routing, search and answers on your own messages with expected results",
      load: async () => (await import("./commands/eval.ts")).evaluate,
    },
    {
      usage: "replay [options]",
      description: "compare a changed agent with past replies of operators before you deploy the change",
      load: async () => (await import("./commands/replay.ts")).replay,
    },
  ],
  "People:": [
    {
      usage: "ask [options] [text]",
      description: "ask the running service and show the answer with its sources",
      load: async () => (await import("./commands/ask.ts")).ask,
    },
    {
      usage: "tickets",
      description: "list, review, answer, assign and close tickets",
      load: async () => (await import("./commands/tickets.ts")).tickets,
    },
    {
      usage: "tool-calls",
      description: "list, approve and reject tool calls of agents",
      load: async () => (await import("./commands/tool-calls.ts")).toolCalls,
    },
    {
      usage: "operators",
      description: "create, list, update and remove operators, and manage their passwords",
      load: async () => (await import("./commands/operators.ts")).operators,
    },
    {
      usage: "projects",
      description: "list, create, update, rename and delete projects",
      load: async () => (await import("./commands/projects.ts")).projects,
    },
    {
      usage: "keys",
      description: "list, create, import, revoke and rotate API keys",
      load: async () => (await import("./commands/keys.ts")).keys,
    },
    {
      usage: "privacy",
      description: "export or erase the personal data of one person",
      load: async () => (await import("./commands/privacy.ts")).privacy,
    },
  ],
  "Operate:": [
    {
      usage: "channels",
      description: "list, configure, enable, disable and test channels",
      load: async () => (await import("./commands/channels.ts")).channels,
    },
    {
      usage: "webhook",
      description: "verify callbacks, and set the secret that signs them",
      load: async () => (await import("./commands/webhook.ts")).webhook,
    },
    {
      usage: "deliveries",
      description: "list, show and replay callbacks",
      load: async () => (await import("./commands/deliveries.ts")).deliveries,
    },
    {
      usage: "dead-letters",
      description: "list and retry messages and replies that failed five times",
      load: async () => (await import("./commands/dead-letters.ts")).deadLetters,
    },
    {
      usage: "stats [options]",
      description: "show message and answer statistics",
      load: async () => (await import("./commands/stats.ts")).stats,
    },
    {
      usage: "audit",
      description: "list and verify the audit log",
      load: async () => (await import("./commands/audit.ts")).audit,
    },
    {
      usage: "migrate [options]",
      description: "migrate the database schema to this version",
      load: async () => (await import("./commands/init.ts")).migrate,
    },
    {
      usage: "upgrade [options]",
      description: "upgrade the database to this version: check, back up, migrate, verify",
      load: async () => (await import("./commands/backup.ts")).upgrade,
    },
    {
      usage: "backup [options] [file]",
      description: "back up the database to a file, whether or not the service is running",
      load: async () => (await import("./commands/backup.ts")).backup,
    },
    {
      usage: "restore [options] <file>",
      description: "restore a backup into a database in one transaction",
      load: async () => (await import("./commands/backup.ts")).restore,
    },
  ],
};

const nameOf = ({ usage }: LazyCommand) => usage.split(" ")[0] ?? "";

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

/** Adds a command of which only its line in the help is needed. */
function listCommand(program: Command, { usage, description }: LazyCommand): void {
  const command = program.command(usage.replace(" [options]", "")).description(description);
  if (usage.includes("[options]")) command.addOption(jsonOption);
}

/**
 * Returns the command line with all commands. Only the one that the arguments name is loaded and complete; of the
 * others there is what the help lists.
 */
export async function createProgram(
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
    for (const command of commands) {
      if (nameOf(command) === called) {
        addCommand(program, cli, called, { ...(await command.load()), description: command.description });
      } else listCommand(program, command);
    }
  }
  // The help command that commander adds by itself.
  program.commandsGroup("");
  return program;
}
