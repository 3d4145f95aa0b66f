export type { AgentChange, AgentOutcome, NewAgent } from "./agents.ts";
export type { ApiKeyRecord, NewApiKey } from "./api-keys.ts";
export { createBriefCache } from "./brief-cache.ts";
export type { CallbackRef, DueDelivery } from "./callbacks.ts";
export { LEASE_MS } from "./chats.ts";
export type { LeaseRef } from "./chats.ts";
export type { ChunkEmbedding, ClaimedChunk, EmbeddedKb, EmbeddingModel } from "./chunk-embeddings.ts";
export type { FoundChunk, IndexedChunks, NewChunk, NumberedDocument, PostingBlock, SearchedKb } from "./chunks.ts";
export { isUnavailable } from "./db.ts";
export type { ClaimedDelivery, TryResult } from "./deliveries.ts";
export type {
  DocumentSource,
  DocumentState,
  DocumentStatus,
  KbDocument,
  NewDocument,
  OutdatedDocument,
  PutDocument,
} from "./documents.ts";
export type { Utterance } from "./history.ts";
export { ALIVE_MS } from "./instances.ts";
export { IDEMPOTENCY_HOURS } from "./idempotency-keys.ts";
export type { IdempotencyClaim, IdempotentCall, KeptAnswer } from "./idempotency-keys.ts";
export { asProjectId, newId, ticketIdOf } from "./ids.ts";
export type { ProjectId } from "./ids.ts";
export { INGEST_LEASE_MS } from "./ingests.ts";
export type { ClaimedIngest, DocumentPutter, DueIngest, IngestKind, NewIngest, QueuedIngest } from "./ingests.ts";
export type { Kb, KbState } from "./kbs.ts";
export type { ClaimedMessage, DeadLetter, DueMessage, NewMessage } from "./messages.ts";
export { migrateStore, readSchemaState } from "./migrate.ts";
export type { SchemaState } from "./migrate.ts";
export { openStore } from "./open-store.ts";
export type { Store } from "./open-store.ts";
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
export { DEFAULT_PROJECT } from "./projects.ts";
export type { Project } from "./projects.ts";
export type { CallOutcome, DrainLimits, DrainPage, OutgoingReplies, ReplyRange, StoredReply } from "./replies.ts";
export type { PreparedDocument } from "./put-documents.ts";
export { readPostgresVersion } from "./read-postgres-version.ts";
export type { Sealer } from "./sealer.ts";
export { createTurns } from "./take-turns.ts";
export type { FinishedRun, NewDraft, NewReply, RunOutcome, Ticket } from "./tickets.ts";
export type { DecidedMessage } from "./triage-messages.ts";
