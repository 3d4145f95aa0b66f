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
export {
  AUDIT_LIMITS,
  auditCheckInputSchema,
  auditCheckSchema,
  auditFilterSchema,
  auditItemSchema,
  auditPlaceSchema,
  writeAuditPlace,
} from "./audit.ts";
export type { AuditCheckInput, AuditCheckItem, AuditItem, AuditListInput } from "./audit.ts";
export {
  CANNED_REPLY_LIMITS,
  CANNED_REPLY_VARIABLES,
  cannedReplyChangeSchema,
  cannedReplyInputSchema,
  cannedReplyRenderSchema,
  cannedReplySchema,
  fillVariables,
  renderedReplySchema,
} from "./canned-reply.ts";
export type {
  CannedReply,
  CannedReplyChange,
  CannedReplyInput,
  CannedReplyRender,
  CannedReplyVariable,
  RenderedReply,
} from "./canned-reply.ts";
export { CUSTOMER_LIMITS, customerOf, customerSchema, safeLine } from "./customer.ts";
export type { Customer } from "./customer.ts";
export { DeliveryError } from "./channel.ts";
export type {
  AcceptedMessage,
  CallbackTarget,
  Channel,
  DeliveryFault,
  IncomingContext,
  IncomingHandler,
  OutgoingAttachment,
  ReplyAnnouncement,
  ReplyContext,
  SendMetadata,
} from "./channel.ts";
export {
  CHANNEL_CHANGES,
  CHANNEL_CONFIGS,
  CHANNEL_LIMITS,
  channelItemSchema,
  channelStateSchema,
} from "./channel-item.ts";
export type { ChannelChange, ChannelConfigs, ChannelItem } from "./channel-item.ts";
export { MASKED_SECRET } from "./secret.ts";
export {
  CALLBACK_TYPES,
  callbackBodySchema,
  callbackTypeSchema,
  deliveryAttemptSchema,
  deliveryItemSchema,
  deliveryStateSchema,
} from "./callback.ts";
export type { CallbackBody, CallbackType, DeliveryAttempt, DeliveryItem, DeliveryState } from "./callback.ts";
export { explainCertificateFault } from "./explain-certificate-fault.ts";
export { describeInvalid, describeIssue } from "./describe-issue.ts";
export type { SchemaIssue } from "./describe-issue.ts";
export { ADMIN_ENDPOINTS, ENDPOINTS } from "./endpoints.ts";
export type { AdminOperation, Operation } from "./endpoints.ts";
export { hasField, noBodySchema, pathParameters, queryParameters } from "./endpoints/endpoint.ts";
export type {
  Endpoint,
  EndpointAnswer,
  EndpointBody,
  EndpointExample,
  HttpMethod,
  QueryParameter,
} from "./endpoints/endpoint.ts";
export type { agentEndpoints } from "./endpoints/agents.ts";
export type { auditEndpoints } from "./endpoints/audit.ts";
export type { cannedReplyEndpoints } from "./endpoints/canned-replies.ts";
export type { channelEndpoints } from "./endpoints/channels.ts";
export type { deliveryEndpoints } from "./endpoints/deliveries.ts";
export type { gapEndpoints } from "./endpoints/gaps.ts";
export type { hookEndpoints } from "./endpoints/hooks.ts";
export type { kbEndpoints } from "./endpoints/kb.ts";
export type { keyEndpoints } from "./endpoints/keys.ts";
export type { messageEndpoints } from "./endpoints/messages.ts";
export type { modelEndpoints } from "./endpoints/models.ts";
export type { operatorEndpoints } from "./endpoints/operators.ts";
export type { privacyEndpoints } from "./endpoints/privacy.ts";
export type { projectEndpoints } from "./endpoints/projects.ts";
export type { proposalEndpoints } from "./endpoints/proposals.ts";
export type { replyFileEndpoints } from "./endpoints/reply-files.ts";
export type { reviewEndpoints } from "./endpoints/reviews.ts";
export type { statsEndpoints } from "./endpoints/stats.ts";
export type { testMessageEndpoints } from "./endpoints/test-messages.ts";
export type { ticketHistoryEndpoints } from "./endpoints/ticket-history.ts";
export type { ticketEndpoints } from "./endpoints/tickets.ts";
export type { toolCallEndpoints } from "./endpoints/tool-calls.ts";
export { ERRORS, ServiceError, fieldFaultSchema, problemSchema } from "./errors.ts";
export type { ErrorCode, FieldFault, Problem } from "./errors.ts";
export { healthAnswerSchema, healthCheckSchema, healthStatusSchema, runningChannelSchema } from "./health.ts";
export type { HealthAnswer } from "./health.ts";
export { FRAMING_HEADERS } from "./framing-headers.ts";
export {
  GAP_LIMITS,
  answeredGapSchema,
  encodeGapCursor,
  gapArticleSchema,
  gapChangeSchema,
  gapDetailSchema,
  gapListSchema,
  gapSchema,
  gapSortSchema,
  gapStatusSchema,
} from "./gap.ts";
export type { AnsweredGap, Gap, GapArticle, GapChange, GapDetail, GapListQuery, GapSort, GapStatus } from "./gap.ts";
export { HOOK_PRESETS } from "./hook-presets.ts";
export {
  HOOK_HEADERS,
  HOOK_LIMITS,
  hookBodySchema,
  hookChangeSchema,
  hookInputSchema,
  hookItemSchema,
  hookPresetSchema,
  hookRotateSchema,
  hookTestResultSchema,
  hookTestSchema,
  mappedHookSchema,
} from "./hook.ts";
export type {
  HookAuth,
  HookBodyItem,
  HookChange,
  HookCondition,
  HookInput,
  HookItem,
  HookMapping,
  HookOutcome,
  HookPreset,
  HookRotateInput,
  HookSecretItem,
  HookTemplate,
  HookTestInput,
  HookTestResult,
} from "./hook.ts";
export {
  INTEGRATION_IDS,
  attachmentRefSchema,
  channelIdSchema,
  incomingMessageSchema,
  integrationIdSchema,
} from "./incoming-message.ts";
export type { AttachmentRef, IncomingMessage, IntegrationId } from "./incoming-message.ts";
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
  passageItemSchema,
  kbNameSchema,
  kbSearchSchema,
  kbsSearchSchema,
} from "./kb.ts";
export type {
  DocumentItem,
  DocumentItemStatus,
  DocumentRequest,
  FileFacts,
  ImportItem,
  KbChange,
  PassageItem,
  KbHit,
  KbInput,
  KbItem,
  KbSearchInput,
  KbsSearchInput,
} from "./kb.ts";
export { KEY_LIMITS, keyInputSchema, keyItemSchema, rotateInputSchema } from "./key.ts";
export type { KeyInput, KeyItem, RotateInput } from "./key.ts";
export { LIMITS } from "./limits.ts";
export {
  MODEL_LIMITS,
  encodeModelCursor,
  modelListInputSchema,
  modelListSchema,
  modelPullProgressSchema,
  modelPullSchema,
  modelSchema,
  placeOfModel,
  unreachableProviderSchema,
} from "./model.ts";
export type { Model, ModelList, ModelPull, ModelPullProgress, UnreachableProvider } from "./model.ts";
export { LIST_LIMITS, decodeCursor, encodeCursor, listInputSchema } from "./list-query.ts";
export type { KeyPlace, ListInput, ListPage } from "./list-query.ts";
export { localUrl } from "./local-url.ts";
export {
  asyncAnswerSchema,
  drainAnswerSchema,
  pendingAnswerSchema,
  syncAnswerSchema,
  webhookAnswerSchema,
} from "./message-answers.ts";
export type { AsyncAnswer, DrainAnswer, PendingAnswer, SyncAnswer, WebhookAnswer } from "./message-answers.ts";
export {
  chatIdSchema,
  drainQuerySchema,
  messageModeSchema,
  messageRequestSchema,
  metaSchema,
} from "./message-request.ts";
export type { DrainQuery, MessageMode, MessageRequest } from "./message-request.ts";
export {
  OPERATOR_LIMITS,
  operatorChangeSchema,
  operatorInputSchema,
  operatorLinkSchema,
  operatorRoleSchema,
  operatorSchema,
} from "./operator.ts";
export type { Operator, OperatorChange, OperatorInput, OperatorLink, OperatorRole } from "./operator.ts";
export {
  ISSUE_CHAT_PREFIX,
  ISSUE_LIMITS,
  ISSUE_ORIGIN,
  isIssueChat,
  issueInputSchema,
  submittedIssueSchema,
} from "./issue.ts";
export type { IssueInput, SubmittedIssue } from "./issue.ts";
export { NOTES_INPUT_LIMITS, noteIssueSchema, notePlaceSchema, notesInputSchema, notesSummarySchema } from "./notes.ts";
export type { NotesInput, NotesSummaryItem } from "./notes.ts";
export {
  PROPOSAL_LIMITS,
  proposalInputSchema,
  proposalRejectionSchema,
  proposalSchema,
  proposalStatusSchema,
} from "./proposal.ts";
export type { Proposal, ProposalInput, ProposalRejection, ProposalStatus } from "./proposal.ts";
export { erasureReceiptSchema, privacyExportSchema, privacySubjectSchema, visitorChatId } from "./privacy.ts";
export type { ErasureReceipt, PrivacyExport, PrivacySubject } from "./privacy.ts";
export {
  PROJECT_LIMITS,
  projectChangeSchema,
  projectDeletionSchema,
  projectInputSchema,
  projectItemSchema,
  projectNameSchema,
} from "./project.ts";
export type { ProjectChange, ProjectDeletion, ProjectInput, ProjectItem } from "./project.ts";
export { PUSHING_CHANNELS, REPLY_QUEUES } from "./queues.ts";
export type {
  DeliveryJob,
  IncomingJob,
  IngestJob,
  ModelPullJob,
  QueueJobs,
  QueueName,
  ReplyJob,
  ReviewJob,
} from "./queues.ts";
export { REVIEW_ACTIONS, REVIEW_INPUTS, REVIEW_LIMITS } from "./review.ts";
export type { ReviewAction, ReviewInput } from "./review.ts";
export { REPLAY_LIMITS, replayInputSchema, replayItemSchema, replayResultSchema } from "./replay.ts";
export type { ReplayInput, ReplayItem, ReplayQuery, ReplayResult, ReplaySide } from "./replay.ts";
export { replyAuthorSchema, replyItemSchema, sourceSchema } from "./reply-item.ts";
export type { AttachmentDraft, MessageDraft, ReplyAuthor, ReplyDraft, ReplyItem, Source } from "./reply-item.ts";
export { channelTestResultSchema, channelTestSchema } from "./channel-test.ts";
export type { ChannelTestInput, ChannelTestResult } from "./channel-test.ts";
export { CHANNELS, CHANNEL_IDS, UPDATES_CHANNEL, mapChannels } from "./channels.ts";
export type { ChannelDescriptor, ChannelId } from "./channels.ts";
export { VIEW_FILTERS, VIEW_LIMITS, savedViewNameSchema, savedViewSchema } from "./saved-view.ts";
export type { SavedView, SavedViewsAnswer } from "./saved-view.ts";
export {
  CSRF_HEADER,
  SESSION_LIMITS,
  linkSchema,
  linkUseSchema,
  passwordChangeSchema,
  presenceSchema,
  sessionSchema,
  signInSchema,
} from "./session.ts";
export type {
  ConsoleEvents,
  LinkAnswer,
  LinkUse,
  PasswordChange,
  Presence,
  Colleague,
  ColleaguesAnswer,
  Mention,
  MentionsAnswer,
  PlacesAnswer,
  ServicePlace,
  SessionAnswer,
  SignIn,
} from "./session.ts";
export { SCOPE_ACTIONS, SCOPE_RESOURCES, grantsScope, scopeSchema } from "./scopes.ts";
export type { RequiredScope, Scope } from "./scopes.ts";
export type { RunningService, Service, Stop } from "./service.ts";
export {
  apiSettingsSchema,
  channelsConfigSchema,
  sealedSchema,
  webhookSecretsSchema,
  widgetSettingsSchema,
} from "./settings.ts";
export type { ApiSettings, ChannelsConfig, Sealed, WebhookSecrets, WidgetSettings } from "./settings.ts";
export { modelCallItemSchema, modelUsageSchema, type ModelCallItem, type ModelUsageItem } from "./model-usage.ts";
export { parseUrl } from "./parse-url.ts";
export {
  PERSON_PROMISED,
  STAGE_MOVES,
  isLegalMove,
  messageStateSchema,
  ticketStageSchema,
  ticketStatusSchema,
} from "./ticket.ts";
export type { MessageState, StageMove, TicketStage, TicketStatus } from "./ticket.ts";
export {
  TICKET_LIMITS,
  ticketChangeSchema,
  ticketCountSchema,
  ticketDetailSchema,
  ticketItemSchema,
  ticketPrioritySchema,
} from "./ticket-item.ts";
export type {
  LastMessage,
  PossibleDuplicateItem,
  TicketChange,
  TicketCount,
  TicketDetail,
  TicketDraft,
  TicketEvent,
  TicketItem,
  TicketMessage,
  TicketPriority,
  TicketReply,
} from "./ticket-item.ts";
export {
  TOOL_LIMITS,
  TOOL_METHODS,
  TOOL_RESULT_SHOWN_MAX_CHARS,
  agentToolSchema,
  ARGUMENT_SOURCES,
  placeholdersOf,
  toolAccessSchema,
  toolApprovalSchema,
  toolCallSchema,
  toolCallStateSchema,
} from "./tool.ts";
export type {
  AgentTool,
  HttpTool,
  McpTool,
  ArgumentSource,
  ToolAccess,
  ToolApproval,
  ToolCall,
  ToolCallState,
  ToolMethod,
} from "./tool.ts";
export { TICKET_SORTS, encodeTicketCursor, ticketListSchema } from "./ticket-query.ts";
export type { TicketListInput, TicketListQuery, TicketSort } from "./ticket-query.ts";
export { ticketHistoryInputSchema, ticketHistorySchema } from "./ticket-history.ts";
export type { TicketHistory, TicketHistoryInput } from "./ticket-history.ts";
export { OPERATOR_FILE_LIMITS, operatorFileInputSchema, operatorFileSchema } from "./operator-file.ts";
export type { OperatorFile, OperatorFileInput } from "./operator-file.ts";
export { TEST_MESSAGE_MAX_CHARS, TEST_ORIGIN, testMessageSchema } from "./test-message.ts";
export type { SentTestMessage, TestMessageInput } from "./test-message.ts";
export { QUEUE_COUNT_MAX, WORK_QUEUES, queueHealthSchema } from "./queue-health.ts";
export type { QueueHealth, WorkQueue } from "./queue-health.ts";
export { answerCountsSchema, answerStatsSchema, sumAnswerCounts } from "./answer-stats.ts";
export type { AnswerCounts, AnswerStats } from "./answer-stats.ts";
export { STATS_LIMITS, STATS_UNITS, statsInputSchema, statsSchema, statsUnitOf } from "./stats.ts";
export type { Stats, StatsInput, StatsQuery, StatsUnit } from "./stats.ts";
export { acceptedEventSchema, deltaEventSchema, typingEventSchema } from "./stream-events.ts";
export type { AcceptedEvent, DeltaEvent, TypingEvent } from "./stream-events.ts";
export { VERSION } from "./version.ts";
export {
  countChars,
  hasControlCharacters,
  isMalformedText,
  messageText,
  textUpTo,
  withoutBidiControls,
  wellFormedString,
} from "./well-formed.ts";
export {
  SERVER_FRAMES,
  VISITOR_FRAMES,
  WIDGET_CLOSE_CODES,
  WIDGET_FRAME_VERSION,
  WIDGET_LIMITS,
  clientMessageIdSchema,
  prechatFieldSchema,
  visitorIdSchema,
  visitorMessageSchema,
  visitorPageSchema,
  widgetColorSchema,
  widgetConfigAnswerSchema,
  widgetFileSchema,
  widgetPositionSchema,
  widgetReplyItemSchema,
  widgetStringsSchema,
  widgetThemeSchema,
} from "./widget.ts";
export type {
  ServerFrame,
  ServerFrameData,
  ServerFrameType,
  VisitorFrameData,
  VisitorFrameType,
  VisitorMessage,
  VisitorPage,
  WidgetConfigAnswer,
  WidgetFile,
  WidgetFrame,
  WidgetMessageAnswer,
  WidgetReplyItem,
} from "./widget.ts";
