export { createAddressGuard } from "./address-guard.ts";
export type { AddressGuard, AddressGuardTools, AddressPolicy, UrlCheck, UrlCheckOptions } from "./address-guard.ts";
export { createBreaker } from "./create-breaker.ts";
export type { Breaker } from "./create-breaker.ts";
export { excerptOf, guardedRequest } from "./guarded-request.ts";
export type { OutboundMethod, OutboundRequest, OutboundResponse } from "./guarded-request.ts";
export { EmailError, isEmailAddress, openMailer, parseSender, parseSmtpUrl } from "./open-mailer.ts";
export type { Email, Mailer, Sender, SmtpServer } from "./open-mailer.ts";
export {
  BlockedAddressError,
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
  TooManyRedirectsError,
} from "./outbound-errors.ts";
export { createReceiverLookup } from "./receiver-lookup.ts";
export type { ReceiverLookupTools } from "./receiver-lookup.ts";
export { PushError, makePushKeys, sendPush } from "./send-push.ts";
export type { PushKeys, PushMessage, PushSender, PushTarget } from "./send-push.ts";
export { isWebhookSecret, signWebhook, verifyWebhook, webhookKeyOf } from "./sign-webhook.ts";
export type {
  WebhookScheme,
  WebhookSignatureHeaders,
  WebhookToSign,
  WebhookToVerify,
  WebhookVerdict,
} from "./sign-webhook.ts";
