import { Argument } from "commander";
import type { Command } from "commander";
import { CHANNELS, INTEGRATION_IDS, PUSHING_CHANNELS } from "@svc/contracts";
import type { ChannelDescriptor, IntegrationId } from "@svc/contracts";
import type { ChannelReport } from "../find-channel-states.ts";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";
import { safeLine } from "../safe-text.ts";

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

async function setEnabled(cli: Cli, id: IntegrationId, enabled: boolean): Promise<void> {
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
      ? `Channel ${id} ${state}. A running service applies this within a second.`
      : `Channel ${id} is already ${state}; nothing was changed.`,
  );
}

async function show(cli: Cli, id: IntegrationId): Promise<void> {
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
  { id, settings, file }: { id: IntegrationId; settings: string | undefined; file: string | undefined },
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
  cli.terminal.show({ ok: true, item }, () => `Channel ${id} updated. A running service applies this within a second.`);
}

async function test(cli: Cli, id: string, { chat }: { chat?: string }): Promise<void> {
  const [{ withResources }, { testChannel }, { localPrincipal }] = await Promise.all([
    import("../with-resources.ts"),
    import("@svc/operations"),
    import("../local-principal.ts"),
  ]);
  const item = await withResources(cli, {}, async ({ store }) =>
    testChannel({ store }, await localPrincipal(store), id, chat === undefined ? {} : { chatId: chat }),
  );
  const told = {
    delivered: () => `Test message delivered to chat ${item.chatId}.`,
    waiting: () =>
      `The test message to chat ${item.chatId} is still being retried. Check the state with: channels list`,
    failed: () => `The test message to chat ${item.chatId} was not delivered: ${item.failure ?? ""}`,
  };
  cli.terminal.show({ ok: item.state !== "failed", item }, told[item.state]);
}

/** Examples of setting each channel's secrets. */
function secretExamples({ self }: Cli): string {
  const lines = PUSHING_CHANNELS.flatMap((id) =>
    Object.entries<ChannelDescriptor["secrets"][string]>(CHANNELS[id].secrets).flatMap(([name, { example }]) => [
      `  ${self} channels set ${id} ${name}=${example}`,
      `  ${self} channels set ${id} --file - < secret.txt   (secret.txt contains the line ${name}=…)`,
    ]),
  );
  return lines.join("\n");
}

const channelArgument = () => new Argument("<channel>", "the channel").choices(INTEGRATION_IDS);

/** `svc channels list|show|set|enable|disable|test`: the ways in and out, their settings, and which are switched on. */
export function addChannels(program: Command, cli: Cli): void {
  const channels = program
    .command("channels")
    .description("list, configure, enable, disable and test channels")
    .usage("<list|show|set|enable|disable|test> [options]");
  channels
    .command("list")
    .description("list the channels and the tool server with their ports and states")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The state is what the processes have reported to the database in the last seconds; no key is needed. With --json,
"state" is running, stopped, failing, not_running or unknown.
Examples:
  ${cli.self} channels list
  ${cli.self} channels list --json`,
    )
    .action(() => list(cli));
  channels
    .command("show")
    .description("show the settings of a channel with secrets masked, and the widget's script tag")
    .addArgument(channelArgument())
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} channels show widget`)
    .action((id: IntegrationId) => show(cli, id));
  channels
    .command("set")
    .description("change settings of a channel; a running service applies them within a second")
    .addArgument(channelArgument())
    .argument("[settings]", "JSON object with the settings to change, or name=text; other settings stay unchanged")
    .option("--file <file>", "read the settings from a file, or from standard input (-); use this for secrets")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Settings have the names shown by "${cli.self} channels show". docs/widget.md describes those of the widget.
Examples:
  ${cli.self} channels set widget '{"allowedOrigins":["https://www.example.com"],"color":"#2f6f4f"}'
  ${cli.self} channels set widget --file settings.json
${secretExamples(cli)}`,
    )
    .action((id: IntegrationId, settings: string | undefined, { file }: { file?: string }) =>
      set(cli, { id, settings, file }),
    );
  channels
    .command("enable")
    .description("enable a channel; a running service applies this within a second")
    .addArgument(channelArgument())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
If the widget has no key yet, one is generated: see "${cli.self} channels show widget".
Examples:
  ${cli.self} channels enable api
  ${cli.self} channels enable widget`,
    )
    .action((id: IntegrationId) => setEnabled(cli, id, true));
  channels
    .command("disable")
    .description("disable a channel; a running service applies this within a second")
    .addArgument(channelArgument())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
While the channel api is disabled, new messages get 503 channel_disabled. Replies can still be collected, and health
checks and administration keep working.
Examples:
  ${cli.self} channels disable api`,
    )
    .action((id: IntegrationId) => setEnabled(cli, id, false));
  channels
    .command("test")
    .description("send a test message to a chat that has written to the bot")
    .addArgument(new Argument("<channel>", "the channel").choices(PUSHING_CHANNELS))
    .option("--chat <id>", "chat ID in Telegram (default: the most recently active chat)")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\nExamples:\n${PUSHING_CHANNELS.map((id) => `  ${cli.self} channels test ${id}\n  ${cli.self} channels test ${id} --chat 123456789`).join("\n")}`,
    )
    .action((id: string, options: { chat?: string }) => test(cli, id, options));
}
