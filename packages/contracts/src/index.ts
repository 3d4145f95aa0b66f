export {
  AGENT_LIMITS,
  agentCallSchema,
  agentChangeSchema,
  agentInputSchema,
  agentResultSchema,
  agentSchema,
  reviewPolicySchema,
} from "./agent.ts";
export type { Agent, AgentCall, AgentChange, AgentInput, AgentResult, ReviewPolicy } from "./agent.ts";
export type {
  AcceptedMessage,
  CallbackTarget,
  Channel,
  IncomingContext,
  IncomingHandler,
  OutgoingAttachment,
  ReplyAnnouncement,
  ReplyContext,
  SendMetadata,
} from "./channel.ts";
export { CALLBACK_TYPES, callbackTypeSchema, deliveryStateSchema } from "./callback.ts";
export type { CallbackBody, CallbackType, DeliveryAttempt, DeliveryItem, DeliveryState } from "./callback.ts";
export { describeIssue } from "./describe-issue.ts";
export type { SchemaIssue } from "./describe-issue.ts";
export { ERRORS, ServiceError } from "./errors.ts";
export type { ErrorCode, FieldFault, Problem } from "./errors.ts";
export { CHANNEL_IDS, attachmentRefSchema, channelIdSchema, incomingMessageSchema } from "./incoming-message.ts";
export type { AttachmentRef, ChannelId, IncomingMessage } from "./incoming-message.ts";
export {
  KB_LIMITS,
  TEXT_MIMES,
  documentInputSchema,
  documentItemSchema,
  documentStatusSchema,
  fileFactsSchema,
  importItemSchema,
  kbChangeSchema,
  kbHitSchema,
  kbInputSchema,
  kbItemSchema,
  kbNameSchema,
  kbSearchSchema,
} from "./kb.ts";
export type {
  DocumentItem,
  DocumentItemStatus,
  DocumentRequest,
  FileFacts,
  ImportItem,
  KbChange,
  KbHit,
  KbInput,
  KbItem,
  KbSearchInput,
} from "./kb.ts";
export { KEY_LIMITS, keyInputSchema, keyItemSchema, rotateInputSchema } from "./key.ts";
export type { KeyInput, KeyItem, RotateInput } from "./key.ts";
export { LIMITS } from "./limits.ts";
export { LIST_LIMITS, decodeCursor, encodeCursor, listInputSchema } from "./list-query.ts";
export type { ListInput, ListPage } from "./list-query.ts";
export { localUrl } from "./local-url.ts";
export {
  chatIdSchema,
  drainQuerySchema,
  messageModeSchema,
  messageRequestSchema,
  metaSchema,
} from "./message-request.ts";
export type { DrainQuery, MessageMode, MessageRequest } from "./message-request.ts";
export { PROJECT_LIMITS, projectInputSchema, projectItemSchema, projectNameSchema } from "./project.ts";
export type { ProjectInput, ProjectItem } from "./project.ts";
export { REPLY_QUEUES } from "./queues.ts";
export type { DeliveryJob, IncomingJob, IngestJob, QueueJobs, QueueName, ReplyJob } from "./queues.ts";
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
export { parseUrl } from "./parse-url.ts";
export { STAGE_MOVES, isLegalMove, messageStateSchema, ticketStageSchema, ticketStatusSchema } from "./ticket.ts";
export type { MessageState, StageMove, TicketStage, TicketStatus } from "./ticket.ts";
export { countChars, hasControlCharacters, isMalformedText, messageText, wellFormedString } from "./well-formed.ts";
