import type { Command } from "commander";
import type { ListOptions } from "../audit/run-list.ts";
import type { VerifyOptions } from "../audit/run-verify.ts";
import type { Cli } from "../cli.ts";
import { jsonOption, limitOption } from "../options.ts";

function addList(audit: Command, cli: Cli): void {
  audit
    .command("list")
    .description("list audit events, newest first")
    .option("--project <name>", "only events of this project (default: all)")
    .option("--actor <actor>", "actor: key:<id>, command-line, anonymous …")
    .option("--action <action>", "action: agents.create, key.use, http.denied …")
    .option("--object <object>", "object: an ID, a channel, or the route of a denied request")
    .option("--result <result>", "ok, or an error code")
    .option("--from <time>", "start, inclusive: a date or time (UTC)")
    .option("--to <time>", "end, exclusive: a date or time (UTC)")
    .addOption(limitOption())
    .option("--cursor <text>", "nextCursor of the previous page")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  ${cli.self} audit list
  ${cli.self} audit list --action http.denied --from 2026-11-21
  ${cli.self} audit list --project shop --result insufficient_scope --json`,
    )
    .action(async (options: ListOptions) => {
      const { runList } = await import("../audit/run-list.ts");
      await runList(cli, options);
    });
}

function addVerify(audit: Command, cli: Cli): void {
  audit
    .command("verify")
    .description("verify that no event was changed, deleted, inserted or moved")
    .option("--from <day>", "first day, as in 2026-11-21 (default: the first event)")
    .option("--to <day>", "last day (default: the last event)")
    .option("--expect <head>", "head printed by an earlier check; its event must still exist, unchanged")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Each event contains a SHA-256 of itself and of the previous event. The hash of the last event is printed as the head.
Store it outside of the database and pass it with --expect next time, because the owner of the database could rewrite
all events. The exit code is 1 if the chain is broken.
Examples:
  ${cli.self} audit verify
  ${cli.self} audit verify --expect "$(cat audit-head.txt)"
  ${cli.self} audit verify --from 2026-11-01 --to 2026-11-30 --json`,
    )
    .action(async (options: VerifyOptions) => {
      const { runVerify } = await import("../audit/run-verify.ts");
      await runVerify(cli, options);
    });
}

/** `svc audit list|verify`: who did what, and whether all of it is still there. */
export function addAudit(program: Command, cli: Cli): void {
  const audit = program.command("audit").description("list and verify the audit log").usage("<list|verify> [options]");
  addList(audit, cli);
  addVerify(audit, cli);
}
