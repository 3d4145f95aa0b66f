import { Argument } from "commander";
import type { Command } from "commander";
import type { ChannelReport } from "../find-channel-states.ts";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";
import { safeLine } from "../safe-text.ts";

/** The channels of the service document, section 2.3; named here so that the help needs nothing of the product. */
const CHANNELS = ["api", "widget", "messenger"] as const;
type ChannelName = (typeof CHANNELS)[number];

function describeState({ terminal }: Cli, { state, since, detail }: ChannelReport): string {
  const { green, red, dim } = terminal.paint;
  const texts: Record<ChannelReport["state"], string> = {
    running: green(`running${since === null ? "" : ` since ${since}`}`),
    stopped: "stopped",
    failing: red("failing"),
    not_running: "not running",
    unknown: "unknown",
    not_available: dim("not in this version yet"),
  };
  return detail === null ? texts[state] : `${texts[state]}: ${safeLine(detail)}`;
}

async function list(cli: Cli): Promise<void> {
  const [{ withResources }, { findChannelStates }, { renderTable }] = await Promise.all([
    import("../with-resources.ts"),
    import("../find-channel-states.ts"),
    import("../render-table.ts"),
  ]);
  const items = await withResources(cli, {}, findChannelStates);
  cli.terminal.show({ ok: true, items }, () => {
    const rows = items.map((item) => [
      item.id,
      item.enabled ? "yes" : "no",
      item.port === null ? "-" : String(item.port),
      describeState(cli, item),
    ]);
    return renderTable(["CHANNEL", "ENABLED", "PORT", "STATE"], rows, cli.terminal.width);
  });
}

async function setEnabled(cli: Cli, id: ChannelName, enabled: boolean): Promise<void> {
  const [{ withResources }, { setChannelEnabled }, { localPrincipal }] = await Promise.all([
    import("../with-resources.ts"),
    import("@svc/operations"),
    import("../local-principal.ts"),
  ]);
  const isChanged = await withResources(cli, {}, async ({ store }) =>
    setChannelEnabled({ store }, await localPrincipal(store), id, enabled),
  );
  const state = enabled ? "enabled" : "disabled";
  cli.terminal.show({ ok: true, id, enabled, isChanged }, () =>
    isChanged
      ? `The channel ${id} is ${state}. A running product follows within a second.`
      : `The channel ${id} is ${state} already; nothing was changed.`,
  );
}

const channelArgument = () => new Argument("<channel>", "the channel").choices(CHANNELS);

/** `svc channels list|enable|disable`: the ways in and out, and which of them are switched on. */
export function addChannels(program: Command, cli: Cli): void {
  const channels = program
    .command("channels")
    .description("show the channels, and switch them on and off while the product runs")
    .usage("<list|enable|disable> [options]");
  channels
    .command("list")
    .description("show every channel: whether it is enabled, its port, and how it is doing")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
How a channel is doing is asked from the API that runs on this machine (port SVC_API_PORT). With --json, "state" is
running, stopped, failing, not_running, unknown or not_available.

Examples:
  ${cli.self} channels list
  ${cli.self} channels list --json`,
    )
    .action(() => list(cli));
  channels
    .command("enable")
    .description("switch a channel on; a running product follows within a second")
    .addArgument(channelArgument())
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} channels enable api`)
    .action((id: ChannelName) => setEnabled(cli, id, true));
  channels
    .command("disable")
    .description("switch a channel off; a running product follows within a second")
    .addArgument(channelArgument())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
While the channel api is off, new messages get 503 channel_disabled. Replies can still be collected, and health and
administration work.

Examples:
  ${cli.self} channels disable api`,
    )
    .action((id: ChannelName) => setEnabled(cli, id, false));
}
