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

/** In the order in which the help shows them. */
const COMMANDS = [
  addUp,
  addStart,
  addInit,
  addMigrate,
  addUpgrade,
  addBackup,
  addRestore,
  addAsk,
  addTickets,
  addToolCalls,
  addTools,
  addKb,
  addAgents,
  addModels,
  addKeys,
  addOperators,
  addProjects,
  addChannels,
  addDeadLetters,
  addDeliveries,
  addWebhook,
  addPrivacy,
  addAudit,
  addStats,
  addEval,
  addReplay,
  addDoctor,
];

function afterHelp({ self, startWith }: Cli): string {
  const codes = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => `  ${code.padEnd(4)} ${meaning}`);
  return `
Examples:
  ${startWith.padEnd(44)} run everything on this machine
  ${`${self} ask "How do I send a message?"`.padEnd(44)} ask the running product
  ${`${self} kb add handbook.md`.padEnd(44)} give it something to answer from
  ${`${self} doctor`.padEnd(44)} find out what is wrong

The key is SVC_ADMIN_KEY, else the credential in the data folder (SVC_DATA_DIR, .svc by default).
The database is DATABASE_URL with SVC_SECRET_KEY, else the PostgreSQL of the data folder: the running one is joined,
else it is started for the moment. With --json, one JSON document is on standard output and nothing else; through
npm, add --silent: npm run --silent svc -- doctor --json

Exit codes:
${codes.join("\n")}`;
}

/** The command line with all its commands; nothing of the product is loaded before one of them runs. */
export function createProgram(cli: Cli, streams: { stdout: OutputStream; stderr: OutputStream }): Command {
  const program = new Command("svc")
    .description("Message channels service: one pipeline behind an HTTP API and other channels.")
    .version(readVersion())
    .usage("<command> [options]")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: (text) => void streams.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError("(--help shows how the command is used)")
    .addHelpText("after", afterHelp(cli));
  for (const add of COMMANDS) add(program, cli);
  return program;
}
