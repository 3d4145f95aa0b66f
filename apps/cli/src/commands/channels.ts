import { CHANNELS, INTEGRATION_IDS, LIMITS, localUrl, PUSHING_CHANNELS } from "@svc/contracts";
import type { ChannelChange, ChannelDescriptor, ChannelItem, IntegrationId } from "@svc/contracts";
import { apiUrlOf, findKey, probeApi } from "../api-client.ts";
import type { ApiState, RunningChannel } from "../api-client.ts";
import { asAdministrator } from "../as-administrator.ts";
import type { BoundOperations, OperationContext } from "../as-administrator.ts";
import { EXIT, failure } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { definedOnly, option } from "../options.ts";
import { readInput } from "../read-input.ts";
import { renderFacts, renderTable } from "../render-table.ts";
import { safeLine } from "../terminal.ts";

/** A channel with its settings, and its state if known. */
interface ChannelReport {
  id: IntegrationId;
  enabled: boolean;
  /** Null for a channel without a port. */
  port: number | null;
  /**
   * `running`, `stopped` and `failing` are what the running service reports; `not_running`: no process runs that could
   * report it; `unknown`: the service does not report it.
   */
  state: RunningChannel["state"] | "not_running" | "unknown";
  /** Start of that state (RFC 3339). */
  since: string | null;
  /** Reason of that state. */
  detail: string | null;
}

type StateReport = Pick<ChannelReport, "state" | "since" | "detail">;

const stateReport = (state: ChannelReport["state"], detail: string | null): StateReport => ({
  state,
  since: null,
  detail,
});

/** States of channels if this installation does not respond. */
const WITHOUT_RESPONSE: Record<Exclude<ApiState["kind"], "ours">, (url: string) => StateReport> = {
  nothing: () => stateReport("not_running", null),
  other_program: (url) => stateReport("not_running", `another program is listening on ${url}`),
  stranger: (url) =>
    stateReport("unknown", `another installation of this product, or one with a different key, is running at ${url}`),
};

/** Returns the state that the processes of a channel have reported in the last seconds, else what the API's health shows. */
export function judgeChannel(
  { id, state, since, error }: Pick<ChannelItem, "id" | "state" | "since" | "error">,
  url: string,
  probe: ApiState,
): StateReport {
  if (since !== null) return { state, since, detail: error };
  if (probe.kind !== "ours") return WITHOUT_RESPONSE[probe.kind](url);
  if (probe.status === "fail") return stateReport("unknown", `the service at ${url} is unhealthy`);
  const channel = probe.channels?.[id];
  if (channel === undefined) return stateReport("not_running", null);
  return { state: channel.state, since: channel.since, detail: channel.error };
}

/** Returns every channel and the tool server with their states; the key is used only if the processes report none. */
async function findChannelStates(
  { listChannels }: BoundOperations,
  { resources: { config } }: OperationContext,
): Promise<ChannelReport[]> {
  const { items } = await listChannels();
  const url = apiUrlOf(config);
  const probe = await probeApi(url, await findKey(config));
  const portOf = (id: IntegrationId) => {
    const port = id === "tool-server" ? "tools" : CHANNELS[id].port;
    return port === null ? null : config.ports[port];
  };
  return items.map((item) => ({
    id: item.id,
    enabled: item.enabled,
    port: portOf(item.id),
    ...judgeChannel(item, url, probe),
  }));
}

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

const list = defineCommand({
  description: "list the channels and the tool server with their ports and states",
  about: `The state is what the processes have reported to the database in the last seconds; no key is needed. With --json,
"state" is running, stopped, failing, not_running or unknown.`,
  examples: ["channels list", "channels list --json"],
  async run(cli) {
    const items = await asAdministrator(cli, undefined, findChannelStates);
    cli.terminal.show({ ok: true, items }, () => {
      const rows = items.map((item) => [
        item.id,
        item.enabled ? "yes" : "no",
        item.port === null ? "-" : String(item.port),
        describeState(cli, item),
      ]);
      return renderTable(["CHANNEL", "ENABLED", "PORT", "STATE"], rows, cli.terminal.width);
    });
  },
});

/** Returns the script tag of the widget at this URL; null if the widget has no key. */
function widgetTag({ config }: ChannelItem, widgetUrl: string): string | null {
  if (!("apiKey" in config) || config.apiKey === null) return null;
  return `<script async src="${widgetUrl}/widget.js" data-svc-widget data-api-key="${config.apiKey}"></script>`;
}

const CHANNEL = { "<channel>": { text: "the channel", choices: INTEGRATION_IDS } } as const;

const show = defineCommand({
  description: "show the settings of a channel with secrets masked, and the widget's script tag",
  args: CHANNEL,
  examples: ["channels show widget"],
  async run(cli, { channel }) {
    const { item, tag } = await asAdministrator(cli, undefined, async ({ getChannel }, { resources: { config } }) => {
      const found = await getChannel(channel);
      return { item: found, tag: widgetTag(found, localUrl(config.bindHost ?? "127.0.0.1", config.ports.widget)) };
    });
    cli.terminal.show({ ok: true, item, ...(tag === null ? {} : { tag }) }, () => {
      const facts = renderFacts([
        ["channel", item.id],
        ["enabled", item.enabled ? "yes" : "no"],
        ...Object.entries(item.config).map(([name, value]) => [name, safeLine(JSON.stringify(value))] as const),
      ]);
      return tag === null ? facts : `${facts}\n\nScript tag for your pages:\n  ${safeLine(tag)}`;
    });
  },
});

/** A setting with a text value, as in `botToken=123456:ABC`. */
const ASSIGNMENT = /^([A-Za-z]+)=(.*)$/s;

/**
 * Reads a change of settings as JSON, or one setting as `name=text`: from the command line, or for secrets from a
 * file (`-` is standard input). The operation validates the settings. Throws CliError `bad_input`.
 */
async function readSettings(cli: Cli, settings: string | undefined, file: string | undefined): Promise<ChannelChange> {
  const bad = (message: string, cause?: unknown) => failure("bad_input", message, { cause });
  if ((settings === undefined) === (file === undefined)) {
    throw bad("Pass the settings either as JSON or with --file, not both.");
  }
  const input = { what: "the settings", maxBytes: LIMITS.bodyMaxBytes };
  const text = settings ?? new TextDecoder().decode(await readInput(cli, file, input));
  const [, name, value] = ASSIGNMENT.exec(text.trim()) ?? [];
  if (name !== undefined) return { config: { [name]: value ?? "" } };
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw bad(`The settings are not valid JSON. Enclose them in single quotes: '{"color":"#2f6f4f"}'.`, error);
  }
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return { config: given };
  throw bad(`The settings must be a JSON object, such as {"color":"#2f6f4f"}.`);
}

/** Returns examples of setting each channel's secrets. */
function secretExamples(): string[] {
  return PUSHING_CHANNELS.flatMap((id) =>
    Object.entries<ChannelDescriptor["secrets"][string]>(CHANNELS[id].secrets).flatMap(([name, { example }]) => [
      `channels set ${id} ${name}=${example}`,
      `channels set ${id} --file - < secret.txt   (secret.txt contains the line ${name}=…)`,
    ]),
  );
}

const set = defineCommand({
  description: "change settings of a channel; a running service applies them within two seconds",
  args: {
    ...CHANNEL,
    "[settings]": "JSON object with the settings to change, or name=text; other settings stay unchanged",
  },
  options: {
    file: option("--file <file>", "read the settings from a file, or from standard input (-); use this for secrets"),
  },
  about: `Settings have the names shown by "{svc} channels show". docs/widget.md describes those of the widget.`,
  examples: [
    `channels set widget '{"allowedOrigins":["https://www.example.com"],"color":"#2f6f4f"}'`,
    "channels set widget --file settings.json",
    ...secretExamples(),
  ],
  async run(cli, { channel, settings, file }) {
    const change = await readSettings(cli, settings, file);
    const item = await asAdministrator(cli, undefined, ({ updateChannel }) => updateChannel({ id: channel }, change));
    cli.terminal.show(
      { ok: true, item },
      () => `Channel ${channel} updated. A running service applies this within two seconds.`,
    );
  },
});

async function setEnabled(cli: Cli, id: IntegrationId, enabled: boolean): Promise<void> {
  const isChanged = await asAdministrator(cli, undefined, async ({ setChannelEnabled }, { resources }) => {
    const { removeSavedPorts } = await import("@svc/runtime");
    await removeSavedPorts(resources.config.dataDir);
    return setChannelEnabled(id, enabled);
  });
  const state = enabled ? "enabled" : "disabled";
  cli.terminal.show({ ok: true, id, enabled, isChanged }, () =>
    isChanged
      ? `Channel ${id} ${state}. A running service applies this within two seconds.`
      : `Channel ${id} is already ${state}; nothing was changed.`,
  );
}

const enable = defineCommand({
  description: "enable a channel; a running service applies this within two seconds",
  args: CHANNEL,
  about: `If the widget has no key yet, one is generated: see "{svc} channels show widget".`,
  examples: ["channels enable api", "channels enable widget"],
  run: (cli, { channel }) => setEnabled(cli, channel, true),
});

const disable = defineCommand({
  description: "disable a channel; a running service applies this within two seconds",
  args: CHANNEL,
  about: `While the channel api is disabled, new messages get 503 channel_disabled. Replies can still be collected, and health
checks and administration keep working.`,
  examples: ["channels disable api"],
  run: (cli, { channel }) => setEnabled(cli, channel, false),
});

const test = defineCommand({
  description: "send a test message to a chat that has written to the bot",
  args: { "<channel>": { text: "the channel", choices: PUSHING_CHANNELS } },
  options: { chat: option("--chat <id>", "chat ID in Telegram (default: the most recently active chat)") },
  examples: PUSHING_CHANNELS.flatMap((id) => [`channels test ${id}`, `channels test ${id} --chat 123456789`]),
  async run(cli, { channel, chat }) {
    const item = await asAdministrator(cli, undefined, ({ testChannel }) =>
      testChannel(channel, definedOnly({ chatId: chat })),
    );
    const results = {
      delivered: () => `Test message delivered to chat ${item.chatId}.`,
      waiting: () =>
        `The test message to chat ${item.chatId} is still being retried. Check the state with: channels list`,
      failed: () => `The test message to chat ${item.chatId} was not delivered: ${item.failure ?? ""}`,
    };
    cli.terminal.show({ ok: item.state !== "failed", item }, results[item.state]);
  },
});

/** `svc channels`: channels and the tool server, their settings, and which are enabled. */
export const channels = defineCommand({
  commands: { list, show, set, enable, disable, test },
});

const testEmail = defineCommand({
  description: "send a test email with SVC_SMTP_URL and SVC_EMAIL_FROM",
  args: { "<address>": "email address of the recipient" },
  examples: ["email test ann@example.com"],
  async run(cli, { address }) {
    const item = await asAdministrator(cli, undefined, ({ sendTestEmail }) => sendTestEmail({ to: address }));
    const isSent = item.state === "sent";
    if (!isSent) cli.setExitCode(EXIT.failed);
    cli.terminal.show({ ok: isSent, item }, () =>
      isSent
        ? `The mail server has accepted the test email to ${safeLine(item.to)}.`
        : `The mail server has not accepted the email: ${safeLine(item.failure ?? "")}`,
    );
  },
});

/** `svc email`: the settings for emails. */
export const email = defineCommand({ commands: { test: testEmail } });
