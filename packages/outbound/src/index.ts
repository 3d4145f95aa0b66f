export {
  createAddressGuard,
  type AddressGuard,
  type AddressGuardTools,
  type AddressPolicy,
  type UrlCheck,
  type UrlCheckOptions,
} from "./address-guard.ts";
export { createBreaker, type Breaker } from "./create-breaker.ts";
export { excerptOf } from "./excerpt-of.ts";
export { guardedRequest, type OutboundMethod, type OutboundRequest, type OutboundResponse } from "./guarded-request.ts";
export {
  BlockedAddressError,
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
  TooManyRedirectsError,
} from "./outbound-errors.ts";
export { createReceiverLookup, type ReceiverLookupTools } from "./receiver-lookup.ts";
export { signWebhook, type WebhookSignatureHeaders, type WebhookToSign } from "./sign-webhook.ts";
export { verifyWebhook, type WebhookScheme, type WebhookToVerify, type WebhookVerdict } from "./verify-webhook.ts";
export { isWebhookSecret, webhookKeyOf } from "./webhook-secret.ts";
