export { ServiceError, isValidHeaderValue } from "./connection.ts";
export type { ClientOptions, ErrorDetails, Fetch } from "./connection.ts";
export { createClient } from "./create-client.ts";
export type { CallArguments, CallInput, CallOutput, Client, OperationName } from "./create-client.ts";
export { OPERATIONS } from "./operations.ts";
export type { PullProgress as PullNews, PullOptions, PullProgress } from "./pull-model.ts";
export { replayInParts } from "./replay-in-parts.ts";
export type { ReplayProgress } from "./replay-in-parts.ts";
// Names up to version 0.1, kept for existing code: use ServiceError, WebhookError and isValidHeaderValue.
export { ServiceError as ServiceFault, isValidHeaderValue as isSendable } from "./connection.ts";
export { WebhookError as WebhookFault } from "./verify-webhook.ts";
export type {
  DrainOptions,
  ReplyDelta,
  ReplyStream,
  SendOptions,
  SentMessage,
  StreamOptions,
} from "./stream-replies.ts";
export type { CallAnswer, Query, RequestOptions } from "./try-call.ts";
export { WebhookError, verifyWebhook } from "./verify-webhook.ts";
export type {
  ReceivedWebhook,
  WebhookErrorCode,
  WebhookErrorCode as WebhookFaultCode,
  WebhookHeaders,
  WebhookScheme,
} from "./verify-webhook.ts";
