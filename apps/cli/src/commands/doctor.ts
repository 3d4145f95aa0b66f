import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import type { Check } from "../doctor/check.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../options.ts";
import { safeText } from "../safe-text.ts";

function renderCheck({ terminal }: Cli, check: Check, width: number): string {
  const { green, yellow, red, dim } = terminal.paint;
  const signs = { ok: green("ok  "), warn: yellow("warn"), fail: red("fail") } satisfies Record<
    Check["status"],
    string
  >;
  const margin = " ".repeat(width + 8);
  const lines = [...safeText(check.detail).split("\n"), ...(check.advice === undefined ? [] : [dim(check.advice)])];
  return `${signs[check.status]}  ${check.name.padEnd(width)}  ${lines.join(`\n${margin}`)}`;
}

const SUMMARIES = {
  ok: "No problems found.",
  warn: "The service works, but there are warnings.",
  fail: "Some checks failed. Follow the advice above.",
};

/** `svc doctor`: checks everything that the product needs and says how to fix what is wrong. */
export function addDoctor(program: Command, cli: Cli): void {
  program
    .command("doctor")
    .description("check configuration, databases, models, ports and queues, and show how to fix problems")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Changes nothing. Works whether or not the service is running. The exit code is 1 if a check fails.
Examples:
  ${cli.self} doctor
  ${cli.self} doctor --json`,
    )
    .action(async () => {
      const { runDoctor } = await import("../doctor/run-doctor.ts");
      const checks = await runDoctor(cli);
      const statuses = checks.map(({ status }) => status);
      const worst = statuses.includes("fail") ? "fail" : statuses.includes("warn") ? "warn" : "ok";
      if (worst === "fail") cli.setExitCode(EXIT.failed);
      cli.terminal.show({ ok: worst !== "fail", checks }, () => {
        const width = Math.max(...checks.map(({ name }) => name.length));
        return [...checks.map((check) => renderCheck(cli, check, width)), "", SUMMARIES[worst]].join("\n");
      });
    });
}
