export { acceptMessage } from "./accept-message.ts";
export type { ChannelResources } from "./accept-message.ts";
export { createChannelManager } from "./channel-manager.ts";
export type { ChannelManager, ChannelState } from "./channel-manager.ts";
export { deliverReply } from "./deliver-reply.ts";
export { routeReply } from "./route-reply.ts";
export { withinMs } from "./within-ms.ts";
