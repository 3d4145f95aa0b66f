import { Option } from "commander";
import type { Command } from "commander";
import { CHANNEL_IDS } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { jsonOption, projectOption } from "../options.ts";
import type { StatsOptions } from "../stats/run-stats.ts";

/** `svc stats`: how much came in, and how it was answered. */
export function addStats(program: Command, cli: Cli): void {
  const withOptions = (command: Command) =>
    command
      .option("--from <time>", "start, inclusive (UTC; default: 30 days before the end)")
      .option("--to <time>", "end, exclusive (UTC; default: now)")
      .addOption(new Option("--channel <channel>", "only messages of this channel").choices(CHANNEL_IDS))
      .option("--agent <name>", "only tickets of this agent")
      .addOption(projectOption())
      .addOption(jsonOption());
  const stats = withOptions(program.command("stats"))
    .description("show message and answer statistics")
    .addHelpText(
      "after",
      `\nExamples:\n  ${cli.self} stats\n  ${cli.self} stats --from 2026-11-01 --to 2026-12-01 --project shop --json\n  ${cli.self} stats answers --agent support`,
    )
    .action(async (options: StatsOptions) => {
      const { runStats } = await import("../stats/run-stats.ts");
      await runStats(cli, options);
    });
  withOptions(stats.command("answers"))
    .description("show outcomes of the agents' answers, and how many answers other thresholds would have sent")
    .addHelpText(
      "after",
      `\nExamples:\n  ${cli.self} stats answers\n  ${cli.self} stats answers --agent support --json`,
    )
    .action(async (_: unknown, command: Command) => {
      const { runAnswerStats } = await import("../stats/run-stats.ts");
      // Both commands know these options: the parent gets what is given before and after the name of this one.
      await runAnswerStats(cli, command.optsWithGlobals<StatsOptions>());
    });
}
