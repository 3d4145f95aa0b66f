import { queryOptions } from "@tanstack/react-query";
import { ServiceError } from "@svc/client";
import { UPDATES_CHANNEL } from "@svc/contracts";
import type {
  Agent,
  AgentChange,
  ChannelChange,
  ChannelConfigs,
  ChannelId as TicketChannelId,
  ChannelItem,
  DeliveryItem,
  DeliveryState,
  KeyItem,
  Model,
  ServiceAddress,
  ServiceAddressesAnswer,
} from "@svc/contracts";
import type { Texts } from "../i18n/texts.ts";
import { definedParams, LIST_LIMIT, pagesQuery, pauseMs, readAll } from "./connection.ts";
import type { Connection } from "./connection.ts";

/** Polling interval of the callbacks, whose attempts may happen at any time. */
const DELIVERIES_FOLLOW_MS = 3_000;

/** The keys of all projects, newest first, in pages. Invalidated with `keysQuery`. */
export const keyPagesQuery = (connection: Connection) =>
  pagesQuery(["keys", "pages"], (request) => connection.call("listKeys", null, request));

/** All operators whose name or email address matches these words, newest first, in pages. */
export const operatorPagesQuery = (connection: Connection, q: string) =>
  pagesQuery(["operators", q], ({ query, signal }) =>
    connection.call("listOperators", null, { query: { ...query, ...definedParams({ q }) }, signal }),
  );

/** All projects, newest first, in pages. */
export const projectPagesQuery = (connection: Connection) =>
  pagesQuery(["projects"], (request) => connection.call("listProjects", null, request));

/** The canned replies of a project whose name or text matches these words, newest first, in pages. */
export const cannedPagesQuery = (connection: Connection, project: string, q: string) =>
  pagesQuery(["canned-replies", project, "pages", q], ({ query, signal }) =>
    connection.call("listCannedReplies", project, { query: { ...query, ...definedParams({ q }) }, signal }),
  );

/** The callbacks of a project in this state, or in any; newest first, in pages, polled. */
export const deliveryPagesQuery = (connection: Connection, project: string, state: DeliveryState | null) => ({
  ...pagesQuery(["deliveries", project, state], ({ query, signal }) =>
    connection.call("listDeliveries", project, { query: { ...query, ...definedParams({ state }) }, signal }),
  ),
  refetchInterval: DELIVERIES_FOLLOW_MS,
});

/** The webhooks of a project, newest first, in pages. */
export const webhookPagesQuery = (connection: Connection, project: string) =>
  pagesQuery(["webhooks", project], (request) => connection.call("listWebhooks", project, request));

/** Filters of the audit log, by the fields of its rows; empty for any. */
export interface AuditFilter {
  actor: string;
  action: string;
  object: string;
  result: string;
  project: string;
  /** The first day (`YYYY-MM-DD`, UTC). */
  from: string;
  /** The day after the last one. */
  to: string;
}

/** The audit log that the signed-in operator may see from this project, newest first, in pages. */
export const auditPagesQuery = (connection: Connection, project: string, filter: AuditFilter) =>
  pagesQuery(["audit", project, filter], ({ query, signal }) =>
    connection.call("listAuditEvents", project, { query: { ...query, ...definedParams({ ...filter }) }, signal }),
  );

/** The newest keys of all projects. For administrators. */
export const keysQuery = (connection: Connection) =>
  queryOptions({
    queryKey: ["keys"],
    queryFn: async ({ signal }): Promise<KeyItem[]> =>
      (await connection.call("listKeys", null, { query: { limit: LIST_LIMIT }, signal })).items,
  });

/** Ids of the channels. */
export type ChannelId = keyof ChannelConfigs;

/** A channel with the type of its settings. */
export type ChannelOf<Id extends ChannelId> = Omit<ChannelItem, "id" | "config"> & {
  id: Id;
  config: ChannelConfigs[Id];
};

/** A channel that sends replies through a bot. */
export type BotChannel = Omit<ChannelItem, "id" | "config"> & {
  id: TicketChannelId;
  config: Extract<ChannelItem["config"], { botToken: unknown }>;
};

/** Returns true for the Telegram bot, which has a page of its own. */
export const isBotChannel = (channel: ChannelItem): channel is BotChannel => channel.id === UPDATES_CHANNEL;

/** Polling interval of a channel's state while its page is open: a change appears within two seconds. */
const CHANNELS_FOLLOW_MS = 2_000;

/** All channels with their settings and states, polled. */
export const channelsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["channels", project],
    refetchInterval: CHANNELS_FOLLOW_MS,
    queryFn: async ({ signal }): Promise<ChannelItem[]> =>
      (await connection.call("listChannels", project, { signal })).items,
  });

/** Returns the channel with this id. */
export function channelOf<Id extends ChannelId>(channels: readonly ChannelItem[], id: Id): ChannelOf<Id> | undefined {
  // The server returns each channel with the settings of its own kind.
  return channels.find((channel) => channel.id === id) as ChannelOf<Id> | undefined;
}

/** Changes a channel if its settings still have this version. Throws version_conflict otherwise. */
export async function changeChannel(
  connection: Connection,
  { project, id, version }: { project: string; id: ChannelId; version: number },
  change: ChannelChange,
): Promise<ChannelItem> {
  const answer = await connection.call("updateChannel", project, { params: { id }, body: change, ifMatch: version });
  return answer.item;
}

/** The service's public parts. */
export type ServiceAddressId = ServiceAddress["id"];

const PORTS_FOLLOW_MS = 5_000;

/** The ports of the service's parts, and whether they respond, polled. */
export const portsQuery = (connection: Connection) =>
  queryOptions({
    queryKey: ["places"],
    queryFn: async ({ signal }): Promise<ServiceAddress[]> =>
      ((await connection.send("GET", "/session/places", { signal })) as ServiceAddressesAnswer).items,
    refetchInterval: PORTS_FOLLOW_MS,
  });

const AGENTS_STALE_MS = 60_000;

/** The agents of a project, for names and choices. */
export const agentsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["agents", project],
    staleTime: AGENTS_STALE_MS,
    queryFn: ({ signal }): Promise<Agent[]> =>
      readAll((query) => connection.call("listAgents", project, { query, signal })),
  });

/** Name of the agent that the setup creates, an identifier. */
const FIRST_AGENT = "assistant";

/** Returns the displayed name of an agent: its own, or a word for the one that the setup created. */
export const agentTitle = (name: string, t: Texts["t"]): string => (name === FIRST_AGENT ? t("agent.first") : name);

/** One agent. Throws not_found if it was deleted. */
export const agentQuery = (connection: Connection, project: string, id: string) =>
  queryOptions({
    queryKey: ["agent", project, id],
    queryFn: async ({ signal }): Promise<Agent> =>
      (await connection.call("getAgent", project, { params: { id }, signal })).item,
    retry: (count, error) => !(error instanceof ServiceError && error.status === 404) && count < 3,
  });

/** Changes an agent if it still has this version. Throws version_conflict otherwise. */
export async function changeAgent(
  connection: Connection,
  { project, id, version }: { project: string; id: string; version: number },
  change: AgentChange,
): Promise<Agent> {
  return (await connection.call("updateAgent", project, { params: { id }, body: change, ifMatch: version })).item;
}

/** The language models for agents, available ones first. */
export const modelsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["models", project],
    staleTime: AGENTS_STALE_MS,
    queryFn: ({ signal }): Promise<Model[]> =>
      readAll((query) => connection.call("listModels", project, { query, signal })),
  });

/** Returns the values to filter by: none if all are chosen, because a filter leaves out what has no value. */
export const filterOf = <Value extends string>(chosen: readonly Value[], all: readonly Value[]): Value[] =>
  all.length > 0 && all.every((value) => chosen.includes(value)) ? [] : [...chosen];

/** How often, and how many times, the result of a test is looked up: for about 5 seconds. */
const POLL_MS = 500;
const POLLS_MAX_COUNT = 10;

/** Returns the first attempt of a test event; null if there is none within some seconds. */
export async function waitForResult(
  read: () => Promise<Pick<DeliveryItem, "attempts">>,
  pollMs = POLL_MS,
): Promise<DeliveryItem["attempts"][number] | null> {
  for (let polls = 0; polls < POLLS_MAX_COUNT; polls++) {
    const [attempt] = (await read()).attempts;
    // An attempt that is still running has neither.
    if (attempt !== undefined && (attempt.status !== null || attempt.error !== null)) return attempt;
    await pauseMs(pollMs);
  }
  return null;
}
