import { eventTypeSchema, CHANNEL_IDS, ticketPrioritySchema } from "@svc/contracts";
import type { WebhookChange, WebhookItem, WebhookSecretItem } from "@svc/contracts";
import { InvalidArgumentError } from "commander";
import { asAdministrator, bindOperations, requireId, waitForQueues } from "../as-administrator.ts";
import type { BoundOperations } from "../as-administrator.ts";
import { usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { defineList, defineShow } from "../define-resource.ts";
import type { OptionValues } from "../define-command.ts";
import { definedOnly, durationUpTo, option, projectOption, withDefault, yesOption } from "../options.ts";
import { confirm } from "../read-input.ts";
import { renderFacts, toSecond } from "../render-table.ts";
import { safeLine } from "../terminal.ts";
import { renderDelivery } from "./deliveries.ts";

const WEBHOOK = { "<webhookId>": "ID of the webhook" } as const;
const ID = "01890a5d-ac96-774b-bcce-b302099a8057";
const URL_CHARS = 120;
const MONTH = { seconds: 30 * 86_400, text: "30d" };
const DEFAULT_OVERLAP_SECONDS = 86_400;

/** Throws CliError `usage` for an invalid ID, before anything is opened. */
const requireWebhookId = (id: string) => requireId(id, "A webhook ID", "webhooks list");

/** Returns a reader of one of these values; the option is repeatable. An empty text means none, which selects all. */
const collect =
  <Value extends string>(values: readonly Value[]) =>
  (text: string, before: Value[] = []): Value[] => {
    if (text === "") return [];
    const value = values.find((known) => known === text);
    if (value === undefined) throw new InvalidArgumentError(`Must be one of: ${values.join(", ")}.`);
    return [...before, value];
  };

const FIELDS = {
  description: option("--description <text>", "what it is for"),
  event: option("--event <type>", "type of events to send (repeatable)", collect(eventTypeSchema.options)),
  channel: option(
    "--channel <channelId>",
    'only tickets of this channel (repeatable; "" for all)',
    collect(CHANNEL_IDS),
  ),
  agent: option("--agent <agentId>", 'only tickets and gaps of this agent (repeatable; "" for all)', collectText),
  priority: option(
    "--priority <priority>",
    'only tickets of this priority (repeatable; "" for all)',
    collect(ticketPrioritySchema.options),
  ),
  project: projectOption,
};

function collectText(text: string, before: string[] = []): string[] {
  return text === "" ? [] : [...before, text];
}

const fieldsOf = ({ description, event, channel, agent, priority }: OptionValues<typeof FIELDS>) =>
  definedOnly({ description, events: event, channels: channel, agentIds: agent, priorities: priority });

const orAll = (values: readonly string[]) => values.join(", ") || "all";

function renderWebhook(item: WebhookItem): string {
  const { id, description, url, events, channels, agentIds, priorities, isActive, previousSecretUntil } = item;
  return renderFacts([
    ["webhook", id],
    ["description", safeLine(description) || "none"],
    ["to", safeLine(url)],
    ["events", events.join("\n")],
    ["channels", orAll(channels)],
    ["agents", orAll(agentIds)],
    ["priorities", orAll(priorities)],
    ["active", isActive ? "yes" : "no"],
    ["previous secret", previousSecretUntil !== null && `signs until ${toSecond(previousSecretUntil)}`],
    ["created", `${toSecond(item.createdAt)} by ${safeLine(item.createdBy)}`],
  ]);
}

/** Shows a webhook with its new secret, which is shown only once. */
function showSecret({ terminal }: Cli, project: string, item: WebhookSecretItem): void {
  terminal.show({ ok: true, project, item }, () => `${renderWebhook(item)}\n${renderFacts([["secret", item.secret]])}`);
  if (!terminal.isJson) terminal.note("The secret is shown only once: give it to the receiver.");
}

/** Like `asAdministrator`, with the guard that checks the URLs of webhooks. */
async function withGuard<Result>(
  cli: Cli,
  project: string,
  work: (operations: BoundOperations) => Promise<Result>,
): Promise<Result> {
  return asAdministrator(cli, project, async (_, { principal, resources }) => {
    const { createWebhookGuard } = await import("@svc/runtime");
    const { api } = await resources.store.channelsConfig.read();
    const host = resources.config.bindHost ?? api.config.bindHost;
    const guard = createWebhookGuard(resources.config, () => host);
    return work(await bindOperations({ principal, resources: Object.assign({}, resources, { guard }) }));
  });
}

const list = defineList({
  path: "webhooks list",
  isOfProject: true,
  isPaged: true,
  description: "list the webhooks of a project, newest first",
  options: { search: option("--search <text>", "part of the description or the URL") },
  examples: ["webhooks list", "webhooks list --project shop --json"],
  read: ({ listWebhooks }, { search, limit, cursor }) => listWebhooks({ q: search, limit, cursor }),
  columns: ["WEBHOOK", "ACTIVE", "URL AND EVENTS"],
  row: (item, { dim }) => [
    item.id,
    item.isActive ? "yes" : "no",
    [safeLine(item.url, URL_CHARS), dim(item.events.join(", "))].join("\n"),
  ],
  empty: "There are no webhooks.",
});

const show = defineShow({
  isOfProject: true,
  description: "show a webhook; deliveries list --webhook shows what was sent",
  args: WEBHOOK,
  examples: [`webhooks show ${ID}`],
  check: requireWebhookId,
  find: ({ getWebhook }, id) => getWebhook(id),
  render: renderWebhook,
});

const create = defineCommand({
  description: "send the events of a project to a URL",
  args: { "<url>": "URL of the receiver" },
  options: FIELDS,
  about: `The secret that signs the events is printed once. Types of events: ${eventTypeSchema.options.join(", ")}.`,
  examples: ["webhooks create https://example.com/events --event ticket.created --event ticket.resolved"],
  async run(cli, { url, project, ...given }) {
    const { events, ...fields } = fieldsOf({ project, ...given });
    if (events === undefined) throw usageError("Specify at least one --event. See: svc webhooks create --help");
    const item = await withGuard(cli, project, ({ createWebhook }) => createWebhook({ url, events, ...fields }));
    showSecret(cli, project, item);
  },
});

const update = defineCommand({
  description: "update a webhook; lists are replaced as a whole",
  args: WEBHOOK,
  options: {
    ...FIELDS,
    url: option("--url <url>", "URL of the receiver"),
    active: option("--active <yes|no>", "whether events are sent", (text) => {
      if (text !== "yes" && text !== "no") throw new InvalidArgumentError("Must be yes or no.");
      return text === "yes";
    }),
  },
  examples: [`webhooks update ${ID} --priority high --priority urgent`, `webhooks update ${ID} --active no`],
  async run(cli, { webhookId, project, url, active, ...given }) {
    requireWebhookId(webhookId);
    const change: WebhookChange = { ...fieldsOf({ project, ...given }), ...definedOnly({ url, isActive: active }) };
    if (Object.keys(change).length === 0) throw usageError("Specify what to change. See: svc webhooks update --help");
    const item = await withGuard(cli, project, ({ updateWebhook }) => updateWebhook({ id: webhookId }, change));
    cli.terminal.show({ ok: true, project, item }, () => renderWebhook(item));
  },
});

const remove = defineCommand({
  description: "delete a webhook with its deliveries",
  args: WEBHOOK,
  options: { project: projectOption, yes: yesOption },
  examples: [`webhooks delete ${ID} --yes`],
  async run(cli, { webhookId, project, yes }) {
    requireWebhookId(webhookId);
    const item = await asAdministrator(cli, project, async ({ getWebhook, deleteWebhook }) => {
      const { url } = await getWebhook(webhookId);
      const question = `Delete the webhook to ${safeLine(url, URL_CHARS)}?`;
      return yes === true || (await confirm(cli, question, "--yes")) ? deleteWebhook({ id: webhookId }) : null;
    });
    cli.terminal.show({ ok: item !== null, project, item }, () =>
      item === null ? "Nothing was changed." : "The webhook is deleted.",
    );
  },
});

const rotate = defineCommand({
  description: "replace the secret of a webhook, and print the new one once",
  args: WEBHOOK,
  options: {
    project: projectOption,
    overlap: withDefault(
      option("--overlap <duration>", "how long the previous secret also signs", durationUpTo(MONTH)),
      DEFAULT_OVERLAP_SECONDS,
      "24h",
    ),
  },
  examples: [`webhooks rotate ${ID}`, `webhooks rotate ${ID} --overlap 7d`],
  async run(cli, { webhookId, project, overlap }) {
    requireWebhookId(webhookId);
    const item = await asAdministrator(cli, project, ({ rotateWebhookSecret }) =>
      rotateWebhookSecret(webhookId, { overlapSeconds: overlap }),
    );
    showSecret(cli, project, item);
  },
});

const test = defineCommand({
  description: "send a test event to a webhook",
  args: WEBHOOK,
  options: { project: projectOption },
  about: "The HTTP API delivers it when it is running. The result: svc deliveries show <deliveryId>",
  examples: [`webhooks test ${ID}`],
  async run(cli, { webhookId, project }) {
    requireWebhookId(webhookId);
    const item = await asAdministrator(cli, project, async ({ testWebhook }, { resources }) => {
      // If the queues are unavailable, the sweeper of the API announces the delivery later.
      await waitForQueues(resources.queues);
      return testWebhook(webhookId);
    });
    cli.terminal.show({ ok: true, project, item }, () => renderDelivery(item));
  },
});

/** `svc webhooks`: URLs that receive the events of a project. */
export const webhooks = defineCommand({
  commands: { list, show, create, update, delete: remove, rotate, test },
});
