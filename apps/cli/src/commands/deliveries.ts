import { ServiceError, deliveryStateSchema } from "@svc/contracts";
import type { DeliveryAttempt, DeliveryItem, DeliveryState } from "@svc/contracts";
import { asAdministrator, waitForQueues, readAll, requireId } from "../as-administrator.ts";
import type { BoundOperations } from "../as-administrator.ts";
import { usageError } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { defineList, defineShow } from "../define-resource.ts";
import { choice, flag, option, projectOption } from "../options.ts";
import { renderFacts, toSecond } from "../render-table.ts";
import { safeLine } from "../terminal.ts";
import type { Paint } from "../terminal.ts";

const URL_CHARS = 120;

const outcomeOf = ({ error, status }: DeliveryAttempt) =>
  error ?? (status === null ? "in progress" : `status ${status}`);

/** Returns the number of attempts, the result of the last one, and the time of the next one. */
function describeAttempts({ attempts, nextAt }: DeliveryItem): string {
  const last = attempts.at(-1);
  const next = nextAt === null ? "" : `; next attempt at ${toSecond(nextAt)}`;
  if (last === undefined) return `no attempts yet${next}`;
  const count = attempts.length === 1 ? "1 attempt" : `${attempts.length} attempts, the last`;
  return `${count} at ${toSecond(last.at)}: ${safeLine(outcomeOf(last))}${next}`;
}

const COLORS = { pending: "yellow", delivered: "green", dead: "red" } as const satisfies Record<
  DeliveryState,
  keyof Paint
>;

/** Returns the lines about a delivery in a table: its callback, its URL and its attempts. */
export function describeDelivery(item: DeliveryItem, { dim }: Pick<Paint, "dim">): string {
  const callback = `${item.type} of ${toSecond(item.createdAt)}`;
  return [callback, safeLine(item.url, URL_CHARS), dim(describeAttempts(item))].join("\n");
}

/** Returns one delivery as facts, with every attempt. */
export function renderDelivery(item: DeliveryItem): string {
  const { id, type, state, url, ticketId, chatId, webhookId, eventId, attempts, nextAt, createdAt } = item;
  const lines = attempts.map((attempt) => {
    const tookMs = attempt.ms === null ? "" : ` after ${attempt.ms} ms`;
    return `${toSecond(attempt.at)}: ${safeLine(outcomeOf(attempt))}${tookMs}`;
  });
  return renderFacts([
    ["delivery", id],
    ["type", type],
    ["state", state],
    ["to", safeLine(url)],
    ["webhook", webhookId],
    ["event", eventId],
    ["chat", ticketId !== null && safeLine(chatId)],
    ["ticket", ticketId],
    ["created", toSecond(createdAt)],
    ["attempts", lines.length === 0 ? "none yet" : lines.join("\n")],
    ["next attempt", nextAt !== null && `at ${toSecond(nextAt)}`],
  ]);
}

const list = defineList({
  path: "deliveries list",
  isOfProject: true,
  isPaged: true,
  description: "list the callbacks and events of a project, newest first, with the result of the last attempt",
  options: {
    state: choice("--state <state>", "only deliveries in this state (default: all)", deliveryStateSchema.options),
    webhook: option("--webhook <webhookId>", "only the events of this webhook"),
  },
  examples: ["deliveries list", "deliveries list --state dead --project shop --json"],
  read: ({ listDeliveries }, { state, webhook: webhookId, limit, cursor }) =>
    listDeliveries({ state, webhookId, limit, cursor }),
  columns: ["DELIVERY", "STATE", "CALLBACK OR EVENT, AND ATTEMPTS"],
  row: (item, paint) => [item.id, paint[COLORS[item.state]](item.state), describeDelivery(item, paint)],
  empty: ({ state }) => `There are no ${state === undefined ? "" : `${state} `}deliveries.`,
});

/** Throws CliError `usage` for an invalid ID, before anything is opened. */
const requireDeliveryId = (id: string) => requireId(id, "A delivery id", "deliveries list");

const show = defineShow({
  isOfProject: true,
  description: "show a callback or an event with the result of every attempt",
  args: { "<deliveryId>": "ID of the delivery" },
  examples: ["deliveries show 01890a5d-ac96-774b-bcce-b302099a8057"],
  check: requireDeliveryId,
  find: ({ getDelivery }, id) => getDelivery(id),
  render: renderDelivery,
});

/**
 * Replays all dead deliveries, oldest first, and returns their IDs. Skips those that another operator has replayed.
 */
async function replayDead({ listDeliveries, replayDelivery }: BoundOperations): Promise<string[]> {
  // The list is read first, so that a delivery that fails again meanwhile is not replayed twice.
  const dead = await readAll((page) => listDeliveries({ state: "dead", ...page }));
  const replayed: string[] = [];
  for (const { id } of dead.toReversed()) {
    try {
      await replayDelivery(id);
      replayed.push(id);
    } catch (error) {
      if (!(error instanceof ServiceError && ["not_found", "invalid_request"].includes(error.code))) throw error;
    }
  }
  return replayed;
}

const replay = defineCommand({
  description: "deliver a finished callback again, or a pending one now; its ID does not change",
  args: { "[deliveryId]": "ID of the delivery" },
  options: { allDead: flag("--all-dead", "all dead deliveries of the project"), project: projectOption },
  about: `The replies of a dead callback can be collected with GET. During a replay they cannot, unless they were already
collected.`,
  examples: ["deliveries replay 01890a5d-ac96-774b-bcce-b302099a8057", "deliveries replay --all-dead"],
  async run(cli, { deliveryId, allDead, project }) {
    if ((deliveryId === undefined) === (allDead !== true)) {
      throw usageError("Specify a delivery, or all dead ones with --all-dead. See: svc deliveries replay --help");
    }
    if (deliveryId !== undefined) requireDeliveryId(deliveryId);
    const replayed = await asAdministrator(cli, project, async (operations, { resources }) => {
      // If the queues are unavailable, the sweeper of the API announces the deliveries later.
      await waitForQueues(resources.queues);
      if (deliveryId === undefined) return replayDead(operations);
      await operations.replayDelivery(deliveryId);
      return [deliveryId];
    });
    cli.terminal.show({ ok: true, project, replayed }, () =>
      replayed.length === 0
        ? "There are no dead deliveries."
        : `Queued for delivery: ${replayed.length}. The HTTP API delivers them when it is running.`,
    );
  },
});

/** `svc deliveries`: callbacks of messages in webhook mode, and events of webhooks. */
export const deliveries = defineCommand({ commands: { list, show, replay } });

const TEXT_CHARS = 60;
const CHAT_CHARS = 24;

const deadLetterList = defineList({
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

/**
 * Retries all dead letters, and returns their message IDs. Skips those that another operator retries at the same
 * time.
 */
async function retryAll({ listDeadLetters, retryDeadLetter }: BoundOperations): Promise<string[]> {
  const retried = new Set<string>();
  for (;;) {
    // The list has only the newest dead letters; one that fails again meanwhile is not retried twice.
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
export const deadLetters = defineCommand({ commands: { list: deadLetterList, retry } });
