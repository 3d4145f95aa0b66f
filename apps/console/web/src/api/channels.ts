import { queryOptions } from "@tanstack/react-query";
import type {
  ChannelChange,
  ChannelConfigs,
  ChannelItem,
  ServiceAddressesAnswer,
  ServiceAddress,
  ChannelId as TicketChannelId,
} from "@svc/contracts";
import type { Connection } from "./connection.ts";

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

/** Returns true for a channel that is configured with the token of a bot. */
export const isBotChannel = (channel: ChannelItem): channel is BotChannel => "botToken" in channel.config;

/** Polling interval of a channel's state while its page is open: a change appears within two seconds. */
const FOLLOW_MS = 2_000;

/** All channels with their settings and states, polled. */
export const channelsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["channels", project],
    refetchInterval: FOLLOW_MS,
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
