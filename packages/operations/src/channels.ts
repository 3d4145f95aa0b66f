import { CHANNEL_IDS, ServiceError } from "@svc/contracts";
import type { ChannelId } from "@svc/contracts";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import type { Store } from "@svc/store";

/** A channel and whether the settings switch it on. Whether it runs, only its process knows. */
export interface ChannelItem {
  id: ChannelId;
  enabled: boolean;
  /** False while this version has no app for it. */
  isAvailable: boolean;
}

const IS_AVAILABLE: Record<ChannelId, boolean> = { api: true, widget: false, messenger: false };

/** Every channel of the service, also those that are switched off; those of this version first. Scope channels:read. */
export async function listChannels({ store }: { store: Store }, principal: Principal): Promise<ChannelItem[]> {
  requireScope(principal, "channels:read");
  const { enabled } = await store.channelsConfig.read();
  return CHANNEL_IDS.map((id) => ({ id, enabled: enabled.includes(id), isAvailable: IS_AVAILABLE[id] })).sort(
    (one, other) => Number(other.isAvailable) - Number(one.isAvailable),
  );
}

/**
 * Switches a channel on or off; a running product follows within a second. Answers whether that changed anything.
 * Scope admin:*. Throws invalid_request when a channel is to be switched on that this version has no app for.
 */
export async function setChannelEnabled(
  { store }: { store: Store },
  principal: Principal,
  channelId: ChannelId,
  enabled: boolean,
): Promise<boolean> {
  requireScope(principal, "admin:*");
  if (enabled && !IS_AVAILABLE[channelId]) {
    const available = CHANNEL_IDS.filter((id) => IS_AVAILABLE[id]).join(", ");
    throw new ServiceError(
      "invalid_request",
      `The channel ${channelId} is not in this version yet, so it cannot be enabled. There is: ${available}.`,
    );
  }
  return store.channelsConfig.setEnabled(channelId, enabled);
}
