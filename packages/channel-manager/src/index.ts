export * from "./accept-message.ts";
export * from "./begin-delivery.ts";
export { addBusinessMinutes, listBusinessPeriods, nextOpening } from "./business-time.ts";
export * from "./channel-manager.ts";
export { cleanFileName } from "./clean-file-name.ts";
export * from "./expected-reply.ts";
export * from "./finished-messages.ts";
export { hashAddress, makeUnsubscribeToken, readUnsubscribeToken } from "./unsubscribe-token.ts";
export { sniffMime } from "./sniff-mime.ts";
