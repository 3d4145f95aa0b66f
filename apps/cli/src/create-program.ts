import { Command } from "commander";
import type { Cli } from "./cli.ts";
import { addAgents } from "./commands/agents.ts";
import { addAsk } from "./commands/ask.ts";
import { addAudit } from "./commands/audit.ts";
import { addBackup } from "./commands/backup.ts";
import { addChannels } from "./commands/channels.ts";
import { addDeadLetters } from "./commands/dead-letters.ts";
import { addDeliveries } from "./commands/deliveries.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addEval } from "./commands/eval.ts";
import { addInit } from "./commands/init.ts";
import { addKb } from "./commands/kb.ts";
import { addKeys } from "./commands/keys.ts";
import { addMigrate } from "./commands/migrate.ts";
import { addModels } from "./commands/models.ts";
import { addPrivacy } from "./commands/privacy.ts";
import { addProjects } from "./commands/projects.ts";
import { addOperators } from "./commands/operators.ts";
import { addReplay } from "./commands/replay.ts";
import { addRestore } from "./commands/restore.ts";
import { addStart } from "./commands/start.ts";
import { addStats } from "./commands/stats.ts";
import { addTickets } from "./commands/tickets.ts";
import { addToolCalls } from "./commands/tool-calls.ts";
import { addTools } from "./commands/tools.ts";
import { addUp } from "./commands/up.ts";
import { addUpgrade } from "./commands/upgrade.ts";
import { addWebhook } from "./commands/webhook.ts";
import { EXIT_MEANINGS } from "./exit-codes.ts";
import { readVersion } from "./read-version.ts";
import type { OutputStream } from "./terminal.ts";

/** Commands by heading, in the order in which the help shows them. */
const COMMANDS = {
  "Start:": [addUp, addStart, addInit, addDoctor],
  "Content:": [addKb, addAgents, addModels, addTools, addEval, addReplay],
  "People:": [addAsk, addTickets, addToolCalls, addOperators, addProjects, addKeys, addPrivacy],
  "Operate:": [
    addChannels,
    addWebhook,
    addDeliveries,
    addDeadLetters,
    addStats,
    addAudit,
    addMigrate,
    addUpgrade,
    addBackup,
    addRestore,
  ],
};

function afterHelp({ self, startWith }: Cli): string {
  const codes = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => `  ${code.padEnd(4)} ${meaning}`);
  return `
Examples:
  ${startWith.padEnd(44)} run everything on this machine
  ${`${self} ask "How do I send a message?"`.padEnd(44)} ask the running service
  ${`${self} kb add handbook.md`.padEnd(44)} add a document to answer from
  ${`${self} doctor`.padEnd(44)} find problems and how to fix them
API key: SVC_ADMIN_KEY, or the key in the data folder (SVC_DATA_DIR, .svc by default).
Database: DATABASE_URL with SVC_SECRET_KEY, or the embedded PostgreSQL in the data folder, which is started if it is not running.
With --json, standard output contains one JSON document and nothing else. With npm, add --silent:
npm run --silent svc -- doctor --json
Exit codes:
${codes.join("\n")}`;
}

/** Returns the command line with all commands. The product is loaded only when a command runs. */
export function createProgram(cli: Cli, streams: { stdout: OutputStream; stderr: OutputStream }): Command {
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
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, cli);
  }
  // The help command that commander adds by itself.
  program.commandsGroup("");
  return program;
}
