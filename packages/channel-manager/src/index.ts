export * from "./accept-message.ts";
export * from "./begin-delivery.ts";
export { addBusinessMinutes, listBusinessPeriods, nextOpening } from "./business-time.ts";
export * from "./channel-manager.ts";
export { cleanFileName, sniffMime } from "./received-files.ts";
export * from "./business-time.ts";
export * from "./finished-messages.ts";
export { hashAddress, makeUnsubscribeToken, readUnsubscribeToken } from "./unsubscribe-token.ts";
