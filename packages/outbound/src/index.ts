export { createAddressGuard } from "./address-guard.ts";
export type { AddressGuard, AddressPolicy } from "./address-guard.ts";
export { createBreaker, excerptOf, guardedRequest } from "./guarded-request.ts";
export type { Breaker, OutboundMethod, OutboundRequest, OutboundResponse } from "./guarded-request.ts";
export * from "./open-mailer.ts";
export * from "./outbound-errors.ts";
export * from "./receiver-lookup.ts";
export * from "./send-push.ts";
export * from "./sign-webhook.ts";
