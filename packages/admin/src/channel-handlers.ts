import type { ChannelChange, ChannelTestInput, channelEndpoints } from "@svc/contracts";
import { getChannel, listChannels, testChannel, updateChannel } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** Channels: their settings, whether they are switched on, and how they are doing. */
export const channelHandlers: AdminHandlers<typeof channelEndpoints> = {
  listChannels: async (context, { principal }) => ({ list: await listChannels(context, principal) }),
  async getChannel(context, { principal, param }) {
    const item = await getChannel(context, principal, param());
    return { item, version: item.version };
  },
  async updateChannel(context, { principal, param, body, ifMatch }) {
    const item = await updateChannel(context, principal, param(), (await body()) as ChannelChange, ifMatch());
    return { item, version: item.version };
  },
  async testChannel(context, { principal, param, body }) {
    return { item: await testChannel(context, principal, param(), (await body()) as ChannelTestInput) };
  },
};
