export { beginDelivery } from "./deliver-replies.ts";
export type { ChannelResources } from "./deliver-replies.ts";
export * from "./channel-manager.ts";
export * from "./business-time.ts";
export * from "./finished-messages.ts";
export { cleanFileName, sniffMime } from "./received-files.ts";
export { hashAddress, makeUnsubscribeToken, readUnsubscribeToken } from "./unsubscribe-token.ts";
