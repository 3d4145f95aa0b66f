export { agentSchema, reviewPolicySchema } from "./agent.ts";
export type { Agent, ReviewPolicy } from "./agent.ts";
export type {
  AcceptedMessage,
  Channel,
  IncomingContext,
  IncomingHandler,
  OutgoingAttachment,
  ReplyAnnouncement,
  ReplyContext,
  SendMetadata,
} from "./channel.ts";
export { ERRORS, ServiceError } from "./errors.ts";
export type { ErrorCode, FieldFault, Problem } from "./errors.ts";
export { CHANNEL_IDS, attachmentRefSchema, channelIdSchema, incomingMessageSchema } from "./incoming-message.ts";
export type { AttachmentRef, ChannelId, IncomingMessage } from "./incoming-message.ts";
export { LIMITS } from "./limits.ts";
export { localUrl } from "./local-url.ts";
export {
  chatIdSchema,
  drainQuerySchema,
  messageModeSchema,
  messageRequestSchema,
  metaSchema,
} from "./message-request.ts";
export type { DrainQuery, MessageMode, MessageRequest } from "./message-request.ts";
export { REPLY_QUEUES } from "./queues.ts";
export type { IncomingJob, QueueJobs, QueueName, ReplyJob } from "./queues.ts";
export { replyAuthorSchema, replyItemSchema, sourceSchema } from "./reply-item.ts";
export type { AttachmentDraft, MessageDraft, ReplyAuthor, ReplyDraft, ReplyItem, Source } from "./reply-item.ts";
export { SCOPE_ACTIONS, SCOPE_RESOURCES, grantsScope, scopeSchema } from "./scopes.ts";
export type { RequiredScope, Scope } from "./scopes.ts";
export type { RunningService, Service, Stop } from "./service.ts";
export {
  apiSettingsSchema,
  channelsConfigSchema,
  messengerSettingsSchema,
  sealedSchema,
  widgetSettingsSchema,
} from "./settings.ts";
export type { ApiSettings, ChannelsConfig, MessengerSettings, Sealed, WidgetSettings } from "./settings.ts";
export { STAGE_MOVES, isLegalMove, messageStateSchema, ticketStageSchema, ticketStatusSchema } from "./ticket.ts";
export type { MessageState, StageMove, TicketStage, TicketStatus } from "./ticket.ts";
export { countChars, hasControlCharacters, isMalformedText, messageText, wellFormedString } from "./well-formed.ts";
