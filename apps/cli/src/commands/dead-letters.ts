import { ServiceError } from "@svc/contracts";
import { asAdministrator, waitForQueues } from "../as-administrator.ts";
import type { BoundOperations } from "../as-administrator.ts";
import { usageError } from "../cli-error.ts";
import { defineCommand } from "../define-command.ts";
import { defineList } from "../define-resource.ts";
import { requireId } from "../find-items.ts";
import { flag, projectOption } from "../options.ts";
import { toSecond } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";

const TEXT_CHARS = 60;
const CHAT_CHARS = 24;

const list = defineList({
  path: "dead-letters list",
  isOfProject: true,
  description: "list the dead letters of a project, newest first",
  examples: ["dead-letters list", "dead-letters list --project shop --json"],
  read: ({ listDeadLetters }) => listDeadLetters(),
  columns: ["MESSAGE", "FAILED AT", "CHAT", "TEXT AND ERROR"],
  row: (letter, { dim }) => [
    letter.messageId,
    toSecond(letter.failedAt.toISOString()),
    `${letter.channelId} ${safeLine(letter.chatId, CHAT_CHARS)}`,
    `${safeLine(letter.text, TEXT_CHARS)}\n${dim(safeLine(letter.failure))}`,
  ],
  empty: "There are no dead letters.",
});

/** Retries all dead letters, and returns their message IDs. Skips those that somebody else retries at the same time. */
async function retryAll({ listDeadLetters, retryDeadLetter }: BoundOperations): Promise<string[]> {
  const retried = new Set<string>();
  for (;;) {
    // A list holds the newest only; what fails again in the meantime is not retried a second time.
    const letters = (await listDeadLetters()).filter((letter) => !retried.has(letter.messageId));
    if (letters.length === 0) return [...retried];
    for (const letter of letters) {
      try {
        await retryDeadLetter(letter.messageId);
        retried.add(letter.messageId);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
      }
    }
  }
}

const retry = defineCommand({
  description: "process dead letters again, with five new attempts",
  args: { "[messageId]": "ID of the message" },
  options: { all: flag("--all", "all dead letters of the project"), project: projectOption },
  examples: ["dead-letters retry 01890a5d-ac96-774b-bcce-b302099a8057", "dead-letters retry --all"],
  async run(cli, { messageId, all, project }) {
    if ((messageId === undefined) === (all !== true)) {
      throw usageError("Specify a message, or all of them with --all. See: svc dead-letters retry --help");
    }
    if (messageId !== undefined) requireId(messageId, "A message id", "dead-letters list");
    const retried = await asAdministrator(cli, project, async (operations, { resources }) => {
      // If the queues are unavailable, the sweeper of the pipeline announces the messages later.
      await waitForQueues(resources.queues);
      if (messageId === undefined) return retryAll(operations);
      await operations.retryDeadLetter(messageId);
      return [messageId];
    });
    cli.terminal.show({ ok: true, project, retried }, () =>
      retried.length === 0
        ? "There are no dead letters."
        : `Queued for retry: ${retried.length}. The pipeline processes them when it is running.`,
    );
  },
});

/** `svc dead-letters`: messages and replies that failed five times. */
export const deadLetters = defineCommand({ commands: { list, retry } });
