export { acceptMessage } from "./accept-message.ts";
export type { ChannelResources } from "./accept-message.ts";
export { beginDelivery } from "./begin-delivery.ts";
export type { Delivery } from "./begin-delivery.ts";
export { createChannelManager } from "./channel-manager.ts";
export type { ChannelManager, ChannelState, SwitchedServer } from "./channel-manager.ts";
export { cleanFileName } from "./clean-file-name.ts";
export { sniffMime } from "./sniff-mime.ts";
