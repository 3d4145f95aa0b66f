export type { AgentAnswerStats, AnswerStep } from "./platform/stats.ts";
export type { AgentChange, AgentOutcome, NewAgent, StoredTool } from "./knowledge/agents.ts";
export type { ApiKeyRecord, NewApiKey } from "./people/api-keys.ts";
export type {
  AuditCheck,
  AuditEvent,
  AuditProblem,
  AuditProblemKind,
  AuditFilter,
  AuditPosition,
  AuditRange,
  NewAuditEvent,
} from "./people/audit.ts";
export { createBriefCache } from "./brief-cache.ts";
export type { CannedReplyFields, CannedReplyRecord, TicketFacts } from "./tickets/canned-replies.ts";
export type { CallbackRef, DueDelivery } from "./messages/callbacks.ts";
export type { ReplicaState } from "./platform/replicas.ts";
export { LEASE_MS } from "./messages/chats.ts";
export type { LeaseRef } from "./messages/chats.ts";
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
export { isBusy, isUnavailable } from "./db.ts";
export type { PageQuery } from "./db.ts";
export { retryThroughOutage } from "./db.ts";
export type { ClaimedDelivery, DeliveryRequest, TryResult } from "./messages/deliveries.ts";
export type {
  DocumentSource,
  DocumentState,
  DocumentStatus,
  KbDocument,
  OutdatedDocument,
} from "./knowledge/documents.ts";
export { addCounts } from "./people/erasures.ts";
export type { DuePurge, HeldCounts, HeldRecords } from "./people/erasures.ts";
export { TABLES_OF_PROJECTS, TICKET_ROWS } from "./people/personal-data-map.ts";
export type { BodyOwner } from "./people/personal-data-map.ts";
export { similarityOf } from "./knowledge/gaps.ts";
export type { GapRecord, UnansweredMessage } from "./knowledge/gaps.ts";
export type { Utterance } from "./messages/chats.ts";
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
export { ALIVE_MS } from "./platform/replicas.ts";
export { IDEMPOTENCY_HOURS } from "./messages/idempotency-keys.ts";
export type { IdempotencyClaim, IdempotentCall, KeptAnswer } from "./messages/idempotency-keys.ts";
export { asProjectId, issueChatIdOf, issueMessageIdOf, messageFileIdOf, newId, ticketIdOf } from "./ids.ts";
export type { ProjectId } from "./ids.ts";
export { INGEST_LEASE_MS } from "./knowledge/ingests.ts";
export type { ClaimedIngest, DocumentPutter, DueIngest, IngestFilter, IngestKind } from "./knowledge/ingests.ts";
export { ProjectGoneError } from "./tickets/issues.ts";
export type { IssueRecord, IssueRoute, OpenTicket, TicketBrief } from "./tickets/issues.ts";
export type { Kb, KbState } from "./knowledge/kbs.ts";
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
  NewMessengerUpdate,
  SentMessage,
  SettledState,
  WaitingUpdate,
} from "./messages/messenger-updates.ts";
export { migrateStore, readSchemaState } from "./platform/migrate.ts";
export type { SchemaState } from "./platform/migrate.ts";
export { MODEL_PULL_LEASE_MS } from "./platform/model-pulls.ts";
export type {
  ClaimedModelPull,
  DueModelPull,
  ModelPullEnd,
  ModelPullRecord,
  ModelPullState,
} from "./platform/model-pulls.ts";
export { openStore } from "./open-store.ts";
export type { Store } from "./open-store.ts";
export type { LinkRecord } from "./people/operator-sign-in.ts";
export type { PresenceTab, ViewerRecord } from "./people/operator-views.ts";
export type { SessionLimits, SessionRecord } from "./people/operator-sign-in.ts";
export { emailKeyOf } from "./people/operators.ts";
export type { NewRole, OperatorFields, OperatorOutcome, OperatorRecord } from "./people/operators.ts";
export { packWords, unpackWords } from "./knowledge/postings.ts";
export {
  BLOCK_CHUNKS,
  POSTING_UNITS,
  bodyCountOf,
  decodePostings,
  formBit,
  headingCountOf,
  packCounts,
  packLength,
  titleCountOf,
} from "./knowledge/postings.ts";
export type { DocumentPostings, FieldCounts } from "./knowledge/postings.ts";
export { joinDrafts } from "./tickets/tickets.ts";
export type { NewDraft } from "./tickets/tickets.ts";
export type { ModelAllowance, ModelCall, ModelCallRecord, ModelSums } from "./platform/model-calls.ts";
export type { QueueDepth } from "./platform/stats.ts";
export type { NewIngest, QueuedIngest } from "./knowledge/ingest-queue.ts";
export { MAX_LAPSES } from "./messages/chats.ts";
export type { LeaseHistory } from "./messages/chats.ts";
export { SILENT_MS } from "./platform/processes.ts";
export type { ProcessFacts, RunningCount, SilentProcess, VanishedProcess } from "./platform/processes.ts";
export { DEFAULT_PROJECT } from "./platform/projects.ts";
export type { Project, ProjectOutcome, ProjectRemoval, ProjectUpdate } from "./platform/projects.ts";
export type {
  NewProposal,
  OperatorAnswer,
  ProposalOutcome,
  ProposalRecord,
  ProposalTarget,
} from "./knowledge/proposals.ts";
export type { ClaimedReply, DeadReply, OutboxRef, Undelivered } from "./messages/outboxes.ts";
export { OUTBOX_LEASE_MS } from "./messages/outboxes.ts";
export type {
  CallOutcome,
  DrainLimits,
  DrainPage,
  OutgoingReplies,
  ReplyRange,
  StoredReply,
} from "./messages/replies.ts";
export type { Decided, Decision } from "./tickets/apply-decision.ts";
export { OperatorFileGoneError, ToolCallDecidedError } from "./tickets/apply-decision.ts";
export type { ReviewState } from "./tickets/review-state.ts";
export type { DraftWork, SendWork, WaitingMessage } from "./tickets/review-state.ts";
export type { ClaimedReview, DraftOutcome, DueReview, FinishedReview, ReviewedMessage } from "./tickets/reviews.ts";
export type { NewDocument, PreparedDocument, PutDocument } from "./knowledge/put-documents.ts";
export { LEFT_OUT } from "./platform/store-copy.ts";
export type { CopiedTable } from "./platform/store-copy.ts";
export { countStoreRows } from "./platform/store-copy.ts";
export { putStoreCopy } from "./platform/put-store-copy.ts";
export type { PutOptions, PutResult } from "./platform/put-store-copy.ts";
export { StoreCopyError } from "./platform/store-copy.ts";
export type { StoreCopyErrorKind } from "./platform/store-copy.ts";
export { takeStoreCopy } from "./platform/store-copy.ts";
export type { StoreCopy, StoreCopyHead } from "./platform/store-copy.ts";
export { findPooler, isRejectedSetting } from "./platform/find-pooler.ts";
export type { PoolerProblem } from "./platform/find-pooler.ts";
export { readPostgresVersion } from "./platform/find-pooler.ts";
export { listStatements } from "./sql.ts";
export { createSealer } from "./platform/installation.ts";
export type { Sealer } from "./platform/installation.ts";
export { createYielder } from "./knowledge/kb-index.ts";
export { LeaseLostError } from "./tickets/tickets.ts";
export type { Ticket } from "./tickets/open-ticket.ts";
export type { FinishedRun, NewReply, RunOutcome } from "./tickets/tickets.ts";
export type { ToolCallEnd, ToolCallRecord, ToolCaller, WantedCall } from "./tickets/tool-calls.ts";
export type { DecidedMessage } from "./tickets/triage-messages.ts";
export type { OlderThan, EventRecord, MessageRecord, ReplyRecord, TicketContents } from "./tickets/ticket-details.ts";
export type { OperatorReply, OperatorReplyQuery } from "./tickets/ticket-changes.ts";
export type { ListedTicket, TicketPageQuery } from "./tickets/ticket-list.ts";
export type { TicketRecord } from "./tickets/ticket-record.ts";
export type { TicketText, WordQuery } from "./tickets/ticket-index.ts";
export type { UnfinishedReply, UnfinishedText } from "./messages/unfinished-replies.ts";
export type { ChatEntry, ChatView, SeqRange, ReservedMessage } from "./messages/visitors.ts";
export {
  STORAGE_LIMITS,
  STORAGE_WARNING_SHARE,
  STORED_KINDS,
  describeBytes,
  storageWarnings,
  usedShareOf,
} from "./platform/stored-bytes.ts";
export type { ProjectUsage, StorageLimits, StorageUsage, StoredBytes, StoredKind } from "./platform/stored-bytes.ts";
export type { FileContent, OpenedFile, KeptFile, NewWidgetFile } from "./messages/widget-files.ts";
export type { MentionRecord, TicketChangeRecord } from "./tickets/ticket-changes.ts";
