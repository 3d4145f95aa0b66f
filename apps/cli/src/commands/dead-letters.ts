import type { Command } from "commander";
import type { DeadLetterItem } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption, projectOption } from "../options.ts";
import { safeLine } from "../safe-text.ts";

const TEXT_CHARS = 60;
const CHAT_CHARS = 24;

async function list(cli: Cli, projectName: string): Promise<void> {
  const [{ withResources }, { listDeadLetters }, { localPrincipal }, { renderTable }] = await Promise.all([
    import("../with-resources.ts"),
    import("@svc/operations"),
    import("../local-principal.ts"),
    import("../render-table.ts"),
  ]);
  const items = await withResources(cli, {}, async ({ store }) =>
    listDeadLetters({ store }, await localPrincipal(store, projectName)),
  );
  cli.terminal.show({ ok: true, project: projectName, items }, () => {
    if (items.length === 0) return "There are no dead letters.";
    const rows = items.map((letter: DeadLetterItem) => [
      letter.messageId,
      `${letter.failedAt.toISOString().slice(0, 19)}Z`,
      `${letter.channelId} ${safeLine(letter.chatId, CHAT_CHARS)}`,
      `${safeLine(letter.text, TEXT_CHARS)}\n${cli.terminal.paint.dim(safeLine(letter.failure))}`,
    ]);
    return renderTable(["MESSAGE", "FAILED AT", "CHAT", "TEXT AND ERROR"], rows, cli.terminal.width);
  });
}

interface RetryOptions {
  all?: boolean;
  project: string;
}

async function retry(cli: Cli, messageId: string | undefined, options: RetryOptions): Promise<void> {
  if ((messageId === undefined) === (options.all !== true)) {
    throw new CliError(
      "usage",
      EXIT.usage,
      "Specify a message, or all of them with --all. See: svc dead-letters retry --help",
    );
  }
  const [{ withResources }, { retryDeadLetters }, { requireId }] = await Promise.all([
    import("../with-resources.ts"),
    import("../retry-dead-letters.ts"),
    import("../require-id.ts"),
  ]);
  if (messageId !== undefined) requireId(messageId, "A message id", "dead-letters list");
  const retried = await withResources(cli, {}, (resources) => retryDeadLetters(resources, options.project, messageId));
  cli.terminal.show({ ok: true, project: options.project, retried }, () =>
    retried.length === 0
      ? "There are no dead letters."
      : `Queued for retry: ${retried.length}. The pipeline processes them when it is running.`,
  );
}

/** `svc dead-letters list|retry`: what failed five times. */
export function addDeadLetters(program: Command, cli: Cli): void {
  const deadLetters = program
    .command("dead-letters")
    .description("list and retry messages and replies that failed five times")
    .usage("<list|retry> [options]");
  deadLetters
    .command("list")
    .description("list the dead letters of a project, newest first")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\nExamples:\n  ${cli.self} dead-letters list\n  ${cli.self} dead-letters list --project shop --json`,
    )
    .action((options: { project: string }) => list(cli, options.project));
  deadLetters
    .command("retry")
    .description("process dead letters again, with five new attempts")
    .argument("[messageId]", "ID of the message")
    .option("--all", "all dead letters of the project")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\nExamples:\n  ${cli.self} dead-letters retry 01890a5d-ac96-774b-bcce-b302099a8057\n  ${cli.self} dead-letters retry --all`,
    )
    .action((messageId: string | undefined, options: RetryOptions) => retry(cli, messageId, options));
}
