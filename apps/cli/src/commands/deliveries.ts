import { Option } from "commander";
import type { Command } from "commander";
import type { DeliveryState } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption, limitOption, projectOption } from "../options.ts";

const STATES = ["pending", "delivered", "dead"] as const satisfies DeliveryState[];

/** Throws CliError `usage` for what is no id, before anything is opened. */
async function requireDeliveryId(id: string): Promise<void> {
  const { requireId } = await import("../require-id.ts");
  requireId(id, "A delivery id", "deliveries list");
}

interface ListOptions {
  state?: DeliveryState;
  limit: number;
  cursor?: string;
  project: string;
}

async function list(cli: Cli, options: ListOptions): Promise<void> {
  const [{ withResources }, { listDeliveries }, { localPrincipal }, { renderDeliveries }] = await Promise.all([
    import("../with-resources.ts"),
    import("@svc/operations"),
    import("../local-principal.ts"),
    import("../render-deliveries.ts"),
  ]);
  const { state, limit, cursor, project } = options;
  const { items, nextCursor } = await withResources(cli, {}, async ({ store }) =>
    listDeliveries({ store }, await localPrincipal(store, project), { state, limit, cursor }),
  );
  cli.terminal.show({ ok: true, project, items, nextCursor }, () => {
    if (items.length === 0) return `There are no ${state === undefined ? "" : `${state} `}deliveries.`;
    const table = renderDeliveries(items, cli.terminal);
    if (nextCursor === null) return table;
    const filters = [
      ...(state === undefined ? [] : [`--state ${state}`]),
      `--project ${project} --limit ${limit}`,
    ].join(" ");
    return `${table}\n\nNext page:  ${cli.self} deliveries list ${filters} --cursor ${nextCursor}`;
  });
}

async function show(cli: Cli, id: string, { project }: { project: string }): Promise<void> {
  await requireDeliveryId(id);
  const [{ withResources }, { getDelivery }, { localPrincipal }, { renderDelivery }] = await Promise.all([
    import("../with-resources.ts"),
    import("@svc/operations"),
    import("../local-principal.ts"),
    import("../render-deliveries.ts"),
  ]);
  const item = await withResources(cli, {}, async ({ store }) =>
    getDelivery({ store }, await localPrincipal(store, project), id),
  );
  cli.terminal.show({ ok: true, project, item }, () => renderDelivery(item));
}

interface ReplayOptions {
  allDead?: true;
  project: string;
}

async function replay(cli: Cli, id: string | undefined, options: ReplayOptions): Promise<void> {
  if ((id === undefined) === (options.allDead !== true)) {
    throw new CliError(
      "usage",
      EXIT.usage,
      "Specify a delivery, or all dead ones with --all-dead. See: svc deliveries replay --help",
    );
  }
  if (id !== undefined) await requireDeliveryId(id);
  const [{ withResources }, { replayDeliveries }] = await Promise.all([
    import("../with-resources.ts"),
    import("../replay-deliveries.ts"),
  ]);
  const replayed = await withResources(cli, {}, (resources) => replayDeliveries(resources, options.project, id));
  cli.terminal.show({ ok: true, project: options.project, replayed }, () =>
    replayed.length === 0
      ? "There are no dead deliveries."
      : `Queued for delivery: ${replayed.length}. The HTTP API delivers them when it is running.`,
  );
}

/** `svc deliveries list|show|replay`: the callbacks of messages in webhook mode. */
export function addDeliveries(program: Command, cli: Cli): void {
  const deliveries = program
    .command("deliveries")
    .description("list, show and replay callbacks")
    .usage("<list|show|replay> [options]");
  deliveries
    .command("list")
    .description("list the callbacks of a project, newest first, with the result of the last attempt")
    .addOption(new Option("--state <state>", "only deliveries in this state (default: all)").choices(STATES))
    .addOption(limitOption())
    .option("--cursor <text>", "nextCursor of the previous page")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\nExamples:\n  ${cli.self} deliveries list\n  ${cli.self} deliveries list --state dead --project shop --json`,
    )
    .action((options: ListOptions) => list(cli, options));
  deliveries
    .command("show")
    .description("show a callback with the result of every attempt")
    .argument("<deliveryId>", "ID of the delivery")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} deliveries show 01890a5d-ac96-774b-bcce-b302099a8057`)
    .action((id: string, options: { project: string }) => show(cli, id, options));
  deliveries
    .command("replay")
    .description("deliver a finished callback again, or a pending one now; its ID does not change")
    .argument("[deliveryId]", "ID of the delivery")
    .option("--all-dead", "all dead deliveries of the project")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The replies of a dead callback can be collected with GET. During a replay they cannot, unless they were already
collected.
Examples:
  ${cli.self} deliveries replay 01890a5d-ac96-774b-bcce-b302099a8057
  ${cli.self} deliveries replay --all-dead`,
    )
    .action((id: string | undefined, options: ReplayOptions) => replay(cli, id, options));
}
