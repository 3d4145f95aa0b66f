export type { NewAgent } from "./agents.ts";
export type { ApiKeyRecord, NewApiKey } from "./api-keys.ts";
export { createBriefCache } from "./brief-cache.ts";
export { LEASE_MS } from "./chats.ts";
export type { LeaseRef } from "./chats.ts";
export { MAX_SATURATION } from "./chunks.ts";
export type { ChunkWord, FoundChunk, FoundChunks, NewChunk, QueryWord } from "./chunks.ts";
export { isUnavailable } from "./db.ts";
export type { DocumentStatus, KbDocument, NewDocument, PutDocument } from "./documents.ts";
export { ALIVE_MS } from "./instances.ts";
export { asProjectId, newId, ticketIdOf } from "./ids.ts";
export type { ProjectId } from "./ids.ts";
export type { Kb } from "./kbs.ts";
export type { ClaimedMessage, DeadLetter, DueMessage, NewMessage } from "./messages.ts";
export { migrateStore, readSchemaState } from "./migrate.ts";
export type { SchemaState } from "./migrate.ts";
export { openStore } from "./open-store.ts";
export type { Store } from "./open-store.ts";
export { DEFAULT_PROJECT } from "./projects.ts";
export type { Project } from "./projects.ts";
export type {
  CallOutcome,
  DrainLimits,
  DrainPage,
  OutgoingReplies,
  ReplyRange,
  StoredReply,
} from "./replies.ts";
export type { Sealer } from "./sealer.ts";
export type { FinishedRun, NewDraft, NewReply, RunOutcome, Ticket } from "./tickets.ts";
