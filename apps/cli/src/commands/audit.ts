import type { Command } from "commander";
import type { ListOptions } from "../audit/run-list.ts";
import type { VerifyOptions } from "../audit/run-verify.ts";
import type { Cli } from "../cli.ts";
import { jsonOption, limitOption } from "../options.ts";

function addList(audit: Command, cli: Cli): void {
  audit
    .command("list")
    .description("show what was done and what was refused, newest first")
    .option("--project <name>", "only rows of this project (default: all)")
    .option("--actor <actor>", "who: key:<id>, command-line, anonymous")
    .option("--action <action>", "what: agents.create, key.use, http.denied …")
    .option("--object <object>", "on what: an id, a channel, or the route of a refused call")
    .option("--result <result>", "ok, or the code of an error")
    .option("--from <time>", "from this day or time on (UTC)")
    .option("--to <time>", "before this day or time (UTC)")
    .addOption(limitOption())
    .option("--cursor <text>", "go on after an earlier page, with its nextCursor")
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
    .description("check that no row was changed, taken out, put in or moved")
    .option("--from <day>", "the first day, as in 2026-11-21 (default: the first row)")
    .option("--to <day>", "the last day (default: the last row)")
    .option("--expect <head>", "a head that was printed earlier: its row must still be there and the same")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Each row carries a SHA-256 of itself and of the row before it. The last one is printed as the head: keep it outside of
the database and hand it in with --expect the next time, since whoever owns the database could make all rows anew. The
exit code is 1 when the chain is broken.

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
  const audit = program
    .command("audit")
    .description("the audit trail: show it, and check that nobody has changed it")
    .usage("<list|verify> [options]");
  addList(audit, cli);
  addVerify(audit, cli);
}
