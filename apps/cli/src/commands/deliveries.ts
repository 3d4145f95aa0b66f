import type { Principal } from "@svc/auth";
import { ServiceError, deliveryStateSchema } from "@svc/contracts";
import type { DeliveryAttempt, DeliveryItem, DeliveryState } from "@svc/contracts";
import { getDelivery, listDeliveries, replayDelivery } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import { usageError } from "../cli-error.ts";
import { defineCommand } from "../define-command.ts";
import { readAll, requireId } from "../find-items.ts";
import { choice, cursorOption, flag, limitOption, projectOption } from "../options.ts";
import { nextPage, renderFacts, renderTable, toSecond } from "../render-table.ts";
import { optionWords, safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";
import { asAdministrator, waitForQueues } from "../with-resources.ts";

const URL_CHARS = 120;

const outcomeOf = ({ error, status }: DeliveryAttempt) =>
  error ?? (status === null ? "in progress" : `status ${status}`);

/** Number of attempts, result of the last one, and time of the next one. */
function describeAttempts({ attempts, nextAt }: DeliveryItem): string {
  const last = attempts.at(-1);
  const next = nextAt === null ? "" : `; next attempt at ${toSecond(nextAt)}`;
  if (last === undefined) return `no attempts yet${next}`;
  const count = attempts.length === 1 ? "1 attempt" : `${attempts.length} attempts, the last`;
  return `${count} at ${toSecond(last.at)}: ${safeLine(outcomeOf(last))}${next}`;
}

/** Returns deliveries as a table, with where each goes and how its attempts ended. */
export function renderDeliveries(items: readonly DeliveryItem[], { paint, width }: Terminal): string {
  const { green, yellow, red, dim } = paint;
  const states = { pending: yellow("pending"), delivered: green("delivered"), dead: red("dead") } satisfies Record<
    DeliveryState,
    string
  >;
  const rows = items.map((item) => [
    item.id,
    states[item.state],
    [`${item.type} of ${toSecond(item.createdAt)}`, safeLine(item.url, URL_CHARS), dim(describeAttempts(item))].join(
      "\n",
    ),
  ]);
  return renderTable(["DELIVERY", "STATE", "CALLBACK AND ATTEMPTS"], rows, width);
}

/** Returns one delivery as facts, with every attempt. */
export function renderDelivery(item: DeliveryItem): string {
  const { id, type, state, url, ticketId, chatId, attempts, nextAt, createdAt } = item;
  const lines = attempts.map((attempt) => {
    const tookMs = attempt.ms === null ? "" : ` after ${attempt.ms} ms`;
    return `${toSecond(attempt.at)}: ${safeLine(outcomeOf(attempt))}${tookMs}`;
  });
  return renderFacts([
    ["delivery", id],
    ["type", type],
    ["state", state],
    ["to", safeLine(url)],
    ["chat", safeLine(chatId)],
    ["ticket", ticketId],
    ["created", toSecond(createdAt)],
    ["attempts", lines.length === 0 ? "none yet" : lines.join("\n")],
    ...(nextAt === null ? [] : [["next attempt", `at ${toSecond(nextAt)}`] as const]),
  ]);
}

const list = defineCommand({
  description: "list the callbacks of a project, newest first, with the result of the last attempt",
  options: {
    state: choice("--state <state>", "only deliveries in this state (default: all)", deliveryStateSchema.options),
    limit: limitOption,
    cursor: cursorOption,
    project: projectOption,
  },
  examples: ["deliveries list", "deliveries list --state dead --project shop --json"],
  async run(cli, { state, limit, cursor, project }) {
    const { items, nextCursor } = await asAdministrator(cli, project, (principal, { store }) =>
      listDeliveries({ store }, principal, { state, limit, cursor }),
    );
    cli.terminal.show({ ok: true, project, items, nextCursor }, () => {
      if (items.length === 0) return `There are no ${state === undefined ? "" : `${state} `}deliveries.`;
      const command = `deliveries list ${optionWords({ state, project, limit })}`;
      return renderDeliveries(items, cli.terminal) + nextPage(cli, command, nextCursor);
    });
  },
});

/** Throws CliError `usage` for what is not an ID, before anything is opened. */
const requireDeliveryId = (id: string) => requireId(id, "A delivery id", "deliveries list");

const show = defineCommand({
  description: "show a callback with the result of every attempt",
  args: { "<deliveryId>": "ID of the delivery" },
  options: { project: projectOption },
  examples: ["deliveries show 01890a5d-ac96-774b-bcce-b302099a8057"],
  async run(cli, { deliveryId, project }) {
    requireDeliveryId(deliveryId);
    const item = await asAdministrator(cli, project, (principal, { store }) =>
      getDelivery({ store }, principal, deliveryId),
    );
    cli.terminal.show({ ok: true, project, item }, () => renderDelivery(item));
  },
});

/** Replays all dead deliveries, oldest first, and returns their IDs. One that somebody else has replayed is left out. */
async function replayDead(resources: Resources, principal: Principal): Promise<string[]> {
  // The list is read first, so that one that fails again in the meantime is not replayed a second time.
  const dead = await readAll((page) => listDeliveries(resources, principal, { state: "dead", ...page }));
  const replayed: string[] = [];
  for (const { id } of dead.toReversed()) {
    try {
      await replayDelivery(resources, principal, id);
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
    const replayed = await asAdministrator(cli, project, async (principal, resources) => {
      // If the queues are unavailable, the sweeper of the API announces the deliveries later.
      await waitForQueues(resources.queues);
      if (deliveryId === undefined) return replayDead(resources, principal);
      await replayDelivery(resources, principal, deliveryId);
      return [deliveryId];
    });
    cli.terminal.show({ ok: true, project, replayed }, () =>
      replayed.length === 0
        ? "There are no dead deliveries."
        : `Queued for delivery: ${replayed.length}. The HTTP API delivers them when it is running.`,
    );
  },
});

/** `svc deliveries`: callbacks of messages in webhook mode. */
export const deliveries = defineCommand({ usage: "<list|show|replay> [options]", commands: { list, show, replay } });
