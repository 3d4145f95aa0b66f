export { createBriefCache } from "./context.ts";
export { isBusy, isUnavailable, retryThroughOutage } from "./db.ts";
export type { PageQuery } from "./db.ts";
export { asProjectId, issueChatIdOf, issueMessageIdOf, messageFileIdOf, newId, ticketIdOf } from "./ids.ts";
export type { ProjectId } from "./ids.ts";
export { openStore } from "./open-store.ts";
export type { Store } from "./open-store.ts";
export { listStatements } from "./sql.ts";
export type { AgentChange, AgentOutcome, NewAgent, StoredTool } from "./knowledge/agents.ts";
export type { ChunkEmbedding, ClaimedChunk, EmbeddedKb, EmbeddingModel } from "./knowledge/chunk-embeddings.ts";
export type {
  FoundChunk,
  IndexedChunks,
  NewChunk,
  NumberedDocument,
  PassageRecord,
  PostingBlock,
  SearchedKb,
} from "./knowledge/chunks.ts";
export type { ArticleFacts, ArticleRecord, ArticleVersionFacts } from "./knowledge/articles.ts";
export { similarityOf } from "./knowledge/gaps.ts";
export type { GapRecord, UnansweredMessage } from "./knowledge/gaps.ts";
export type { NewIngest, QueuedIngest } from "./knowledge/ingest-queue.ts";
export { INGEST_LEASE_MS } from "./knowledge/ingests.ts";
export type { ClaimedIngest, DocumentPutter, DueIngest, IngestFilter, IngestKind } from "./knowledge/ingests.ts";
export { createYielder } from "./knowledge/kb-index.ts";
export type {
  DocumentSource,
  DocumentState,
  DocumentStatus,
  KbDocument,
  OutdatedDocument,
} from "./knowledge/documents.ts";
export type { Kb, KbState } from "./knowledge/kbs.ts";
export {
  BLOCK_CHUNKS,
  POSTING_UNITS,
  bodyCountOf,
  decodePostings,
  formBit,
  headingCountOf,
  packCounts,
  packLength,
  packWords,
  titleCountOf,
  unpackWords,
} from "./knowledge/postings.ts";
export type { DocumentPostings, FieldCounts } from "./knowledge/postings.ts";
export type {
  NewProposal,
  OperatorAnswer,
  ProposalOutcome,
  ProposalRecord,
  ProposalTarget,
} from "./knowledge/proposals.ts";
export type { NewDocument, PreparedDocument, PutDocument } from "./knowledge/put-documents.ts";
export { LEASE_MS, MAX_LAPSES } from "./messages/chats.ts";
export type { LeaseHistory, LeaseRef, Utterance } from "./messages/chats.ts";
export type { CallbackRef } from "./messages/callbacks.ts";
export type {
  ClaimedDelivery,
  DeliveredEvent,
  DeliveryRequest,
  DueDelivery,
  AttemptResult,
} from "./messages/deliveries.ts";
export type { FileContent, NewMessageFile, NewWidgetFile, OpenedFile } from "./messages/files.ts";
export { IDEMPOTENCY_HOURS } from "./messages/idempotency-keys.ts";
export type { IdempotencyClaim, IdempotentCall, StoredResponse } from "./messages/idempotency-keys.ts";
export type {
  ClaimedChat,
  ClaimedMessage,
  DeadLetter,
  DueMessage,
  NewMessage,
  OpenedChat,
  Suspect,
} from "./messages/messages.ts";
export type {
  DeadUpdate,
  NewChannelUpdate,
  SentMessage,
  FinishedState,
  WaitingUpdate,
} from "./messages/channel-updates.ts";
export { PARTITIONED_TABLES } from "./platform/partitions.ts";
export type { PartitionChanges } from "./platform/partitions.ts";
export { OUTBOX_LEASE_MS } from "./messages/outboxes.ts";
export type {
  ClaimedReply,
  DeadReply,
  OutboxRef,
  UndeliverableReason,
  UnfinishedReply,
  UnfinishedText,
} from "./messages/outboxes.ts";
export type { CallOutcome, DrainLimits, DrainPage, StoredReply } from "./messages/replies.ts";
export type { ChatEntry, ChatSummary, ChatView, ReservedMessage, SeqRange } from "./messages/visitors.ts";
export type {
  AuditCheck,
  AuditEvent,
  AuditFilter,
  AuditPosition,
  AuditProblem,
  AuditProblemKind,
  AuditRange,
  NewAuditEvent,
} from "./people/audit.ts";
export type { ApiKeyRecord, LinkRecord, NewApiKey, SessionLimits, SessionRecord } from "./people/credentials.ts";
export type { Deadline, DeadlineFacts } from "./tickets/ticket-index.ts";
export { friendlyNameOf } from "./people/customer-facts.ts";
export type {
  CustomerIdentity,
  CustomerNote,
  CustomerRecord,
  DetailedCustomer,
  TicketPerson,
} from "./people/customer-facts.ts";
export { EMAIL_LEASE_MS, REPLY_MAX_DAYS } from "./people/notifications.ts";
export type {
  ClaimedEmail,
  DigestPart,
  EmailConversation,
  EmailOperator,
  EmailReason,
  PushDevice,
  PushSubscriptionKeys,
  StoredPushKeys,
  TicketReason,
  UnseenReply,
} from "./people/notifications.ts";
export { addCounts } from "./people/erasures.ts";
export type { DuePurge, HeldCounts, HeldRecords } from "./people/erasures.ts";
export { emailKeyOf } from "./people/operators.ts";
export type {
  NewRole,
  OperatorFields,
  OperatorOutcome,
  OperatorRecord,
  PresenceTab,
  ViewerRecord,
} from "./people/operators.ts";
export type { NewWebhook, TicketEventFacts, Webhook, WebhookPatch } from "./platform/webhooks.ts";
export { TABLES_OF_PROJECTS, TICKET_ROWS } from "./people/personal-data-map.ts";
export type { BodyOwner } from "./people/personal-data-map.ts";
export type {
  Hook,
  HookBody,
  HookBodyResult,
  HookEvent,
  HookPatch,
  HookWrite,
  NewHook,
  NewHookBody,
} from "./platform/hooks.ts";
export { createSealer, migrateStore, readDatabaseState, readSchemaState } from "./platform/installation.ts";
export type { DatabaseState, SchemaState, Sealer, StoredModelSettings } from "./platform/installation.ts";
export { MODEL_PULL_LEASE_MS } from "./platform/models.ts";
export type {
  ClaimedModelPull,
  DueModelPull,
  ModelAllowance,
  ModelCall,
  ModelCallRecord,
  ModelPullEnd,
  ModelPullRecord,
  ModelPullState,
  ModelSums,
} from "./platform/models.ts";
export { ALIVE_MS, SILENT_MS } from "./platform/processes.ts";
export type {
  DueWork,
  ProcessFacts,
  ReplicaState,
  RunningCount,
  SilentProcess,
  VanishedProcess,
} from "./platform/processes.ts";
export { DEFAULT_PROJECT } from "./platform/projects.ts";
export type { Project, ProjectOutcome, ProjectRemoval, ProjectUpdate } from "./platform/projects.ts";
export { openObjectStore, parseFilesUrl } from "./platform/object-store.ts";
export type { ObjectStore } from "./platform/object-store.ts";
export { putStoreCopy } from "./platform/put-store-copy.ts";
export type { PutOptions, PutResult } from "./platform/put-store-copy.ts";
export { findPooler, isRejectedSetting, readPostgresVersion } from "./platform/server-checks.ts";
export type { PoolerMode } from "./platform/server-checks.ts";
export { noFigures, periodBefore } from "./platform/reports.ts";
export type { RatingRow, ReportPeriod, ReportSpan } from "./platform/reports.ts";
export type { AgentAnswerStats, AnswerStep, QueueDepth } from "./platform/stats.ts";
export { LEFT_OUT, StoreCopyError, countStoreRows, takeStoreCopy } from "./platform/store-copy.ts";
export type { CopiedTable, StoreCopy, StoreCopyErrorKind, StoreCopyHead } from "./platform/store-copy.ts";
export {
  STORAGE_LIMITS,
  STORAGE_WARNING_SHARE,
  STORED_KINDS,
  describeBytes,
  storageWarnings,
  usedShareOf,
} from "./platform/stored-bytes.ts";
export type { ProjectUsage, StorageLimits, StorageUsage, StoredBytes, StoredKind } from "./platform/stored-bytes.ts";
export { OperatorFileNotFoundError, TooManyTagsError, ToolCallDecidedError } from "./tickets/apply-decision.ts";
export type { DecisionResult, DecidedMessage, Decision } from "./tickets/apply-decision.ts";
export type { DraftWork, ReviewState, SendWork, WaitingMessage } from "./tickets/review-state.ts";
export type { ClaimedReview, DraftOutcome, DueReview, FinishedReview, ReviewedMessage } from "./tickets/reviews.ts";
export type { TagFields, TagOutcome, TagRecord } from "./tickets/tags.ts";
export type {
  EventRecord,
  MessageRecord,
  OlderThan,
  ReplyRecord,
  TicketContents,
  TicketFieldChange,
} from "./tickets/ticket-details.ts";
export type { CannedReplyFields, CannedReplyRecord, TicketFacts } from "./tickets/canned-replies.ts";
export { ProjectNotFoundError } from "./tickets/issues.ts";
export type { IssueRecord, IssueRoute, OpenTicket, TicketBrief } from "./tickets/issues.ts";
export type { TicketText, TicketWords, WordQuery } from "./tickets/ticket-index.ts";
export type { ListedTicket, TicketPageQuery } from "./tickets/ticket-list.ts";
export type {
  MentionRecord,
  OperatorReply,
  OperatorReplyQuery,
  Ticket,
  TicketChangeRecord,
  TicketRecord,
} from "./tickets/ticket-record.ts";
export { LeaseLostError, joinDrafts } from "./tickets/tickets.ts";
export type { FinishedRun, NewDraft, NewReply, RunOutcome } from "./tickets/tickets.ts";
export type { ToolCallEnd, ToolCallRecord, ToolCaller, WantedCall } from "./tickets/tool-calls.ts";
