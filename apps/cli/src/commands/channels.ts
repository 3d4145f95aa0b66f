import { Argument } from "commander";
import type { Command } from "commander";
import type { ChannelReport } from "../find-channel-states.ts";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";
import { safeLine } from "../safe-text.ts";

/** The channels and the tool server; named here so that the help needs nothing of the product. */
const CHANNELS = ["api", "widget", "messenger", "tool-server"] as const;
type ChannelName = (typeof CHANNELS)[number];

function describeState({ terminal }: Cli, { state, since, detail }: ChannelReport): string {
  const { green, red } = terminal.paint;
  const texts: Record<ChannelReport["state"], string> = {
    running: green(`running${since === null ? "" : ` since ${since}`}`),
    stopped: "stopped",
    failing: red("failing"),
    not_running: "not running",
    unknown: "unknown",
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
  const [{ withResources }, { setChannelEnabled }, { localPrincipal }, { forgetPorts }] = await Promise.all([
    import("../with-resources.ts"),
    import("@svc/operations"),
    import("../local-principal.ts"),
    import("@svc/runtime"),
  ]);
  const isChanged = await withResources(cli, {}, async ({ store, config }) => {
    await forgetPorts(config.dataDir);
    return setChannelEnabled({ store }, await localPrincipal(store), id, enabled);
  });
  const state = enabled ? "enabled" : "disabled";
  cli.terminal.show({ ok: true, id, enabled, isChanged }, () =>
    isChanged
      ? `The channel ${id} is ${state}. A running product follows within a second.`
      : `The channel ${id} is ${state} already; nothing was changed.`,
  );
}

async function show(cli: Cli, id: ChannelName): Promise<void> {
  const [{ withResources }, { getChannel }, { localPrincipal }, { localUrl }, { renderChannel, widgetTag }] =
    await Promise.all([
      import("../with-resources.ts"),
      import("@svc/operations"),
      import("../local-principal.ts"),
      import("@svc/contracts"),
      import("../channels/render-channel.ts"),
    ]);
  const { item, tag } = await withResources(cli, {}, async ({ store, config }) => {
    const found = await getChannel({ store }, await localPrincipal(store), id);
    const url = localUrl(config.bindHost ?? "127.0.0.1", config.ports.widget);
    return { item: found, tag: widgetTag(found, url) };
  });
  cli.terminal.show({ ok: true, item, ...(tag === null ? {} : { tag }) }, () => renderChannel(item, tag));
}

async function set(
  cli: Cli,
  { id, settings, file }: { id: ChannelName; settings: string | undefined; file: string | undefined },
): Promise<void> {
  const [{ withResources }, { updateChannel }, { localPrincipal }, { readSettings }] = await Promise.all([
    import("../with-resources.ts"),
    import("@svc/operations"),
    import("../local-principal.ts"),
    import("../channels/read-settings.ts"),
  ]);
  const change = await readSettings(cli, { settings, file });
  const item = await withResources(cli, {}, async ({ store }) =>
    updateChannel({ store }, await localPrincipal(store), id, change),
  );
  cli.terminal.show(
    { ok: true, item },
    () => `The channel ${id} is changed. A running product follows within a second.`,
  );
}

async function test(cli: Cli, { chat }: { chat?: string }): Promise<void> {
  const [{ withResources }, { testMessenger }, { localPrincipal }] = await Promise.all([
    import("../with-resources.ts"),
    import("@svc/operations"),
    import("../local-principal.ts"),
  ]);
  const item = await withResources(cli, {}, async ({ store }) =>
    testMessenger({ store }, await localPrincipal(store), chat === undefined ? {} : { chatId: chat }),
  );
  const told = {
    delivered: () => `The chat ${item.chatId} has the test message.`,
    waiting: () => `The test message for the chat ${item.chatId} is still being tried. "channels list" may say why.`,
    failed: () => `The chat ${item.chatId} did not get the test message: ${item.failure ?? ""}`,
  };
  cli.terminal.show({ ok: item.state !== "failed", item }, told[item.state]);
}

const channelArgument = () => new Argument("<channel>", "the channel").choices(CHANNELS);

/** `svc channels list|show|set|enable|disable|test`: the ways in and out, their settings, and which are switched on. */
export function addChannels(program: Command, cli: Cli): void {
  const channels = program
    .command("channels")
    .description("show and change the channels, and switch them on and off while the product runs")
    .usage("<list|show|set|enable|disable|test> [options]");
  channels
    .command("list")
    .description("list the channels and the tool server: whether each is enabled, its port and its state")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The state is what the processes have reported to the database in the last seconds; no key is needed. The tool server is
listed too. With --json, "state" is running, stopped, failing, not_running or unknown.

Examples:
  ${cli.self} channels list
  ${cli.self} channels list --json`,
    )
    .action(() => list(cli));
  channels
    .command("show")
    .description("show the settings of a channel, secrets masked, and the widget's tag")
    .addArgument(channelArgument())
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} channels show widget`)
    .action((id: ChannelName) => show(cli, id));
  channels
    .command("set")
    .description("change settings of a channel; a running product follows within a second")
    .addArgument(channelArgument())
    .argument("[settings]", "a JSON object with what is to change, or name=text; the rest stays as it is")
    .option("--file <file>", "read the settings from a file, or from standard input (-): the way for secrets")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The names are those of "${cli.self} channels show". docs/widget.md says what the widget's are for.

Examples:
  ${cli.self} channels set widget '{"allowedOrigins":["https://www.example.com"],"color":"#2f6f4f"}'
  ${cli.self} channels set widget --file settings.json
  ${cli.self} channels set messenger botToken=123456:ABC-DEF
  ${cli.self} channels set messenger --file - < token.txt   (token.txt has the line botToken=…)`,
    )
    .action((id: ChannelName, settings: string | undefined, { file }: { file?: string }) =>
      set(cli, { id, settings, file }),
    );
  channels
    .command("enable")
    .description("switch a channel on; a running product follows within a second")
    .addArgument(channelArgument())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A widget that has no key yet is given one: see "${cli.self} channels show widget".

Examples:
  ${cli.self} channels enable api
  ${cli.self} channels enable widget`,
    )
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
  channels
    .command("test")
    .description("send a test message to a chat that has written to the bot")
    .addArgument(new Argument("<channel>", "the channel").choices(["messenger"]))
    .option("--chat <id>", "the chat's number in Telegram; else the one in which something happened last")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\nExamples:\n  ${cli.self} channels test messenger\n  ${cli.self} channels test messenger --chat 123456789`,
    )
    .action((_channel: string, options: { chat?: string }) => test(cli, options));
}
