export type { AgentChange, AgentOutcome, NewAgent, StoredTool } from "./agents.ts";
export type { ApiKeyRecord, NewApiKey } from "./api-keys.ts";
export type {
  AuditCheck,
  AuditEvent,
  AuditFault,
  AuditFaultKind,
  AuditFilter,
  AuditPlace,
  AuditRange,
  NewAuditEvent,
} from "./audit.ts";
export { createBriefCache } from "./brief-cache.ts";
export type { CannedReplyFields, CannedReplyRecord, TicketFacts } from "./canned-replies.ts";
export type { CallbackRef, DueDelivery } from "./callbacks.ts";
export type { ReplicaState } from "./channel-states.ts";
export { LEASE_MS } from "./chats.ts";
export type { LeaseRef } from "./chats.ts";
export type { ChunkEmbedding, ClaimedChunk, EmbeddedKb, EmbeddingModel } from "./chunk-embeddings.ts";
export type {
  FoundChunk,
  IndexedChunks,
  NewChunk,
  NumberedDocument,
  PassageRecord,
  PostingBlock,
  SearchedKb,
} from "./chunks.ts";
export { isBusy, isUnavailable } from "./db.ts";
export { outlastOutage } from "./outlast-outage.ts";
export type { ClaimedDelivery, DeliveryRequest, TryResult } from "./deliveries.ts";
export type {
  DocumentSource,
  DocumentState,
  DocumentStatus,
  KbDocument,
  NewDocument,
  OutdatedDocument,
  PutDocument,
} from "./documents.ts";
export { addCounts } from "./erasures.ts";
export type { DuePurge, HeldCounts, HeldRecords } from "./erasures.ts";
export { TABLES_OF_PROJECTS, TICKET_ROWS } from "./held-data.ts";
export type { BodyOwner } from "./held-data.ts";
export { similarityOf } from "./gap-similarity.ts";
export type { GapRecord, UnansweredMessage } from "./gaps.ts";
export type { Utterance } from "./history.ts";
export type { Hook, HookBody, HookBodyResult, HookEvent, HookPatch, HookWrite, NewHook, NewHookBody } from "./hooks.ts";
export { ALIVE_MS } from "./instances.ts";
export { IDEMPOTENCY_HOURS } from "./idempotency-keys.ts";
export type { IdempotencyClaim, IdempotentCall, KeptAnswer } from "./idempotency-keys.ts";
export { asProjectId, issueChatIdOf, issueMessageIdOf, messageFileIdOf, newId, ticketIdOf } from "./ids.ts";
export type { ProjectId } from "./ids.ts";
export { INGEST_LEASE_MS } from "./ingests.ts";
export type { ClaimedIngest, DocumentPutter, DueIngest, IngestFilter, IngestKind } from "./ingests.ts";
export { ProjectGoneError } from "./issues.ts";
export type { IssueRecord, IssueRoute, OpenTicket, TicketBrief } from "./issues.ts";
export type { Kb, KbState } from "./kbs.ts";
export type { ClaimedMessage, DeadLetter, DueMessage, NewMessage, Suspect } from "./messages.ts";
export type { DeadUpdate, NewMessengerUpdate, SentMessage, SettledState, WaitingUpdate } from "./messenger-updates.ts";
export { migrateStore, readSchemaState } from "./migrate.ts";
export type { SchemaState } from "./migrate.ts";
export { MODEL_PULL_LEASE_MS } from "./model-pulls.ts";
export type { ClaimedModelPull, DueModelPull, ModelPullEnd, ModelPullRecord, ModelPullState } from "./model-pulls.ts";
export { openStore } from "./open-store.ts";
export type { Store } from "./open-store.ts";
export type { LinkRecord } from "./operator-links.ts";
export type { PresencePlace, ViewerRecord } from "./operator-presence.ts";
export type { SessionLimits, SessionRecord } from "./operator-sessions.ts";
export { emailKeyOf } from "./operators.ts";
export type { NewRole, OperatorFields, OperatorOutcome, OperatorRecord } from "./operators.ts";
export { packWords, unpackWords } from "./packed-words.ts";
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
} from "./postings.ts";
export type { DocumentPostings, FieldCounts } from "./postings.ts";
export { joinDrafts } from "./drafts.ts";
export type { NewDraft } from "./drafts.ts";
export type { ModelAllowance, ModelCall, ModelCallRecord, ModelSums } from "./model-calls.ts";
export type { QueueDepth } from "./queue-depths.ts";
export type { NewIngest, QueuedIngest } from "./queue-document.ts";
export { MAX_LAPSES } from "./expired-leases.ts";
export type { LeaseHistory } from "./expired-leases.ts";
export { SILENT_MS } from "./processes.ts";
export type { ProcessFacts, RunningCount, VanishedProcess } from "./processes.ts";
export { DEFAULT_PROJECT } from "./projects.ts";
export type { Project, ProjectOutcome, ProjectRemoval, ProjectUpdate } from "./projects.ts";
export type { NewProposal, OperatorAnswer, ProposalOutcome, ProposalRecord, ProposalTarget } from "./proposals.ts";
export type { ClaimedReply, DeadReply, OutboxRef, Undelivered } from "./outboxes.ts";
export { OUTBOX_LEASE_MS } from "./outboxes.ts";
export type { CallOutcome, DrainLimits, DrainPage, OutgoingReplies, ReplyRange, StoredReply } from "./replies.ts";
export type { Decided, Decision } from "./apply-decision.ts";
export { OperatorFileGoneError, ToolCallDecidedError } from "./apply-decision.ts";
export type { ReviewState } from "./lock-review-state.ts";
export type { DraftWork, SendWork, WaitingMessage } from "./review-work.ts";
export type { ClaimedReview, DraftOutcome, DueReview, FinishedReview, ReviewedMessage } from "./reviews.ts";
export type { PreparedDocument } from "./put-documents.ts";
export { LEFT_OUT } from "./copied-tables.ts";
export type { CopiedTable } from "./copied-tables.ts";
export { countStoreRows } from "./count-store-rows.ts";
export { putStoreCopy } from "./put-store-copy.ts";
export type { PutOptions, PutResult } from "./put-store-copy.ts";
export { StoreCopyError } from "./store-copy-error.ts";
export type { StoreCopyFault } from "./store-copy-error.ts";
export { takeStoreCopy } from "./take-store-copy.ts";
export type { StoreCopy, StoreCopyHead } from "./take-store-copy.ts";
export { findPooler, isRejectedSetting } from "./find-pooler.ts";
export type { PoolerProblem } from "./find-pooler.ts";
export { readPostgresVersion } from "./read-postgres-version.ts";
export { createSealer } from "./sealer.ts";
export type { Sealer } from "./sealer.ts";
export { createTurns } from "./take-turns.ts";
export { LeaseLostError } from "./tickets.ts";
export type { FinishedRun, NewReply, RunOutcome, Ticket } from "./tickets.ts";
export type { ToolCallEnd, ToolCallRecord, ToolCaller, WantedCall } from "./tool-calls.ts";
export type { DecidedMessage } from "./triage-messages.ts";
export type { OlderThan, EventRecord, MessageRecord, ReplyRecord, TicketContents } from "./ticket-details.ts";
export type { OperatorReply, OperatorReplyQuery } from "./operator-replies.ts";
export type { ListedTicket, TicketPageQuery } from "./ticket-list.ts";
export type { TicketRecord } from "./ticket-record.ts";
export type { TicketText, WordQuery } from "./ticket-texts.ts";
export type { UnfinishedReply, UnfinishedText } from "./unfinished-replies.ts";
export type { ChatEntry, ChatView, PlaceRange, ReservedMessage } from "./visitors.ts";
export {
  STORAGE_LIMITS,
  STORAGE_WARNING_SHARE,
  STORED_KINDS,
  describeBytes,
  storageWarnings,
  usedShareOf,
} from "./stored-bytes.ts";
export type { ProjectUsage, StorageLimits, StorageUsage, StoredBytes, StoredKind } from "./stored-bytes.ts";
export type { FileContent, OpenedFile, KeptFile, NewWidgetFile } from "./widget-files.ts";
export type { MentionRecord, TicketChangeRecord } from "./ticket-changes.ts";
