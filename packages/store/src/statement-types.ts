import type { Statement } from "./sql.ts";

// Made from packages/store/sql and a real PostgreSQL, and compared with them, by tests/packages/store/statements.test.ts;
// with UPDATE_STATEMENTS=1 it writes this file.

/** Parameters and columns of every statement, by file and name. */
// prettier-ignore
export interface Statements {
  "knowledge/agents": {
    addKb: Statement<{ kbId: string; project: string; id: string }, object>;
    find: Statement<{ project: string; id: string }, { id: string; name: string; description: string; instructions: string; model: string; kbIds: string[]; examples: string[]; reviewPolicy: string; autoThreshold: number; fixedReply: string; tools: unknown; enabled: boolean; version: number }>;
    findMark: Statement<{ project: string }, { mark: string }>;
    holdKbs: Statement<{ project: string; kbIds: readonly (string | null)[] }, { id: string }>;
    list: Statement<{ project: string }, { id: string; name: string; description: string; instructions: string; model: string; kbIds: string[]; examples: string[]; reviewPolicy: string; autoThreshold: number; fixedReply: string; tools: unknown; enabled: boolean; version: number }>;
    listPage: Statement<{ project: string; id: string; q: string; limit: number | string }, { id: string; name: string; description: string; instructions: string; model: string; kbIds: string[]; examples: string[]; reviewPolicy: string; autoThreshold: number; fixedReply: string; tools: unknown; enabled: boolean; version: number }>;
    readTools: Statement<{ project: string; id: string }, { tools: unknown }>;
    remove: Statement<{ project: string; id: string; versions: readonly (number | null)[] }, { id: string }>;
  };
  "knowledge/chunk-embeddings": {
    announceModel: Statement<{ model: string; dimensions: number }, object>;
    claim: Statement<{ claimLock: number | string }, { pgAdvisoryXactLock: string }>;
    count: Statement<{ model: string }, { passages: number; embedded: number; refused: number }>;
    findChunks: Statement<{ fromId: string; model: string; dimensions: number; limit: number | string; claimLeaseMs: number }, { id: string; title: string; headingPath: string[]; text: string }>;
    findChunks2: Statement<{ project: string; kbIds: readonly (string | null)[]; chunkIds: readonly (string | null)[] }, { id: string; documentId: string; kbId: string; title: string; url: string; mime: string; ordinal: number; headingPath: string[]; text: string; page: number }>;
    findFirstMissing: Statement<{ id: string; model: string; dimensions: number }, { id: string }>;
    findMarks: Statement<{ model: string; maxChunks: number; project: string; kbIds: readonly (string | null)[] }, { id: string; chunkCount: number; embeddedCount: number; lastSeq: number }>;
    isModelOfInstallation: Statement<{ model: string; dimensions: number }, object>;
    listEmbedded: Statement<{ project: string; kbId: string; model: string; dimensions: number }, { chunkId: string }>;
    read: Statement<{ project: string; kbIds: readonly (string | null)[]; chunkIds: readonly (string | null)[]; model: string; dimensions: number }, { chunkId: string; embedding: Buffer }>;
    release: Statement<{ model: string; chunkIds: readonly (string | null)[] }, object>;
    save: Statement<{ chunkId: readonly (string | null)[]; model: string; embedding: readonly (string | null)[] }, { chunkId: string }>;
  };
  "knowledge/chunks": {
    findChunks: Statement<{ kbId: string; documentId: string }, { chunkCount: number; termCount: number }>;
    findDocuments: Statement<{ kbId: readonly (string | null)[]; number: readonly (number | null)[] }, { id: string; kbNumber: number; firstChunkNumber: number; chunkCount: number; termCount: number }>;
    findKbWords: Statement<{ kbNumbers: readonly (number | null)[]; word: string }, { word: string }>;
    findSimilarWords: Statement<{ kbNumbers: readonly (number | null)[]; variants: readonly (string | null)[] }, { word: string }>;
    insert: Statement<{ project: string; kbId: string; id: readonly (string | null)[]; documentId: readonly (string | null)[]; ordinal: readonly (number | null)[]; headingPath: readonly (object | string | null)[]; text: readonly (string | null)[]; startOffset: readonly (number | null)[]; endOffset: readonly (number | null)[]; termCount: readonly (number | null)[]; page: readonly (number | null)[] }, object>;
    knowsTrigrams: Statement<object, { has: boolean }>;
    list: Statement<{ project: string; documentIds: readonly (string | null)[] }, { documentId: string; headingPath: string[]; text: string; startOffset: number; endOffset: number; termCount: number; page: number }>;
    listAround: Statement<{ distance: number; project: string; id: string }, { id: string; kbId: string; documentId: string; ordinal: number; headingPath: string[]; text: string; page: number }>;
    rangesOf: Statement<{ documentIds: readonly (string | null)[] }, { id: string; first: number; count: number }>;
    read: Statement<{ id: readonly (string | null)[]; firstChunkNumber: readonly (number | null)[]; ordinal: readonly (number | null)[]; project: string }, { place: number; id: string; documentId: string; kbId: string; title: string; url: string; mime: string; ordinal: number; headingPath: string[]; text: string; page: number }>;
    readPostings: Statement<{ project: string; kbIds: readonly (string | null)[]; terms: readonly (string | null)[] }, { id: string; number: number; documentCount: number; chunkCount: number; termTotal: number; deadNumbers: number[]; term: number; block: number; bytes: number; postings: Buffer }>;
    removeOfDocument: Statement<{ documentId: string }, object>;
  };
  "knowledge/documents": {
    deleteDocuments: Statement<{ id: string }, object>;
    find: Statement<{ project: string; kbId: string; id: string }, { id: string; kbId: string; key: string; title: string; url: string; chunkCount: number; updatedAt: Date; language: string; mime: string; sizeBytes: number; status: string; error: string }>;
    findAllUnchanged: Statement<{ key: readonly (string | null)[]; contentHash: readonly (Uint8Array | null)[]; project: string; kbId: string }, { place: number; id: string; chunkCount: number }>;
    findBySource: Statement<{ project: string; kbId: string; key: string; hash: Uint8Array }, { id: string; chunkCount: number }>;
    findOutdated: Statement<{ version: number; indexVersion: number; id: string; limit: number | string }, { id: string; projectId: string; kbId: string; title: string; language: string; chunkCount: number; indexVersion: number }>;
    findUnchanged: Statement<{ project: string; kbId: string; key: string; contentHash: Uint8Array }, { id: string; chunkCount: number }>;
    list: Statement<{ project: string; kbId: string }, { id: string; kbId: string; key: string; title: string; url: string; mime: string; sizeBytes: number; language: string; status: string; error: string; chunkCount: number; updatedAt: Date }>;
    listPage: Statement<{ project: string; kbId: string; id: string; q: string; status: string; limit: number | string }, { id: string; kbId: string; key: string; title: string; url: string; chunkCount: number; updatedAt: Date; language: string; mime: string; sizeBytes: number; status: string; error: string }>;
    lockDocuments: Statement<{ project: string; kbId: string; id: string }, { wasRead: boolean }>;
    noteSource: Statement<{ hash: Uint8Array; mime: string; sizeBytes: number; project: string; id: string; contentHash: Uint8Array }, object>;
    remove: Statement<{ project: string; kbId: string }, { id: string }>;
    updateKbs: Statement<{ documentCount: number; chunkCount: number; termCount: number | string; kbId: string }, object>;
  };
  "knowledge/gaps": {
    deleteGapExamples: Statement<{ project: string; ticketIds: readonly (string | null)[] }, { gapId: string; messageId: string }>;
    deleteGapTerms: Statement<{ project: string; ids: readonly (string | null)[] }, object>;
    deleteGaps: Statement<{ project: string; gapIds: readonly (string | null)[] }, object>;
    eraseGapsOfTickets: Statement<{ project: string; ticketIds: readonly (string | null)[] }, { id: string }>;
    find: Statement<{ project: string; id: string }, { id: string; question: string; language: string; agentId: string; count: number; status: string; kbId: string; documentId: string; createdAt: Date; lastAt: Date; version: number; kbIds: string[]; examples: unknown }>;
    findChats: Statement<{ ticketId: string }, object>;
    findGapExamples: Statement<{ messageId: string }, object>;
    findMessages: Statement<{ messageId: string }, object>;
    findSame: Statement<{ project: string; terms: readonly (string | null)[] }, { id: string; terms: string[] }>;
    indexTerms: Statement<{ project: string; gapIds: readonly (string | null)[] }, object>;
    insertGap: Statement<{ id: string; project: string; question: string; messageId: string; language: string; terms: readonly (string | null)[]; agentId: string }, object>;
    insertGapExamples: Statement<{ messageId: string; project: string; id: string; ticketId: string; text: string; terms: readonly (string | null)[] }, object>;
    listByCount: Statement<{ project: string; status: string; q: string; id: string; value: number | string; limit: number | string }, { id: string; question: string; language: string; agentId: string; count: number; status: string; kbId: string; documentId: string; createdAt: Date; lastAt: Date; version: number; kbIds: string[]; value: number; examples: unknown }>;
    listByTime: Statement<{ project: string; status: string; q: string; id: string; value: number | string; limit: number | string }, { id: string; question: string; language: string; agentId: string; count: number; status: string; kbId: string; documentId: string; createdAt: Date; lastAt: Date; version: number; kbIds: string[]; value: number; examples: unknown }>;
    note: Statement<{ noteLock: number; project: string }, { pgAdvisoryXactLock: string }>;
    update: Statement<{ status: string; kbId: string; documentId: string; project: string; id: string; versions: readonly (number | null)[] }, { id: string }>;
    updateGapExamples: Statement<{ id: string; project: string }, object>;
    updateGaps: Statement<{ agentId: string; project: string; id: string }, object>;
    updateGaps2: Statement<{ project: string; gapIds: readonly (string | null)[] }, object>;
    updateGaps3: Statement<{ project: string; gapIds: readonly (string | null)[]; questionMessageId: readonly (string | null)[] }, { id: string }>;
  };
  "knowledge/imports": {
    find: Statement<{ project: string; kbId: string; id: string }, { id: string; kbId: string; url: string; maxPages: number; foundCount: number; doneCount: number; failedCount: number; error: string; createdAt: Date; updatedAt: Date; waitingCount: number }>;
    list: Statement<{ project: string; kbId: string; id: string; q: string; limit: number | string }, { id: string; kbId: string; url: string; maxPages: number; foundCount: number; doneCount: number; failedCount: number; error: string; createdAt: Date; updatedAt: Date; waitingCount: number }>;
    purge: Statement<object, object>;
  };
  "knowledge/ingests": {
    checkRoom: Statement<{ project: string }, { count: number; bytes: number }>;
    claim: Statement<{ projectId: string; handedIn: number; ofSitemap: number; maxBytes: number; fetchingFor: readonly (string | null)[]; leaseId: string; processId: string }, { id: string; projectId: string; leaseId: string; kbId: string; kind: string; documentId: string; importId: string; key: string; name: string; mime: string; title: string; url: string; sourceHash: Buffer; sizeBytes: number; attempts: number; expiredLeases: unknown; maxPages: number; crashes: number; lapses: number }>;
    countInImport: Statement<{ done: number; failed: number; id: string }, object>;
    deleteIngests: Statement<{ id: string; project: string; leaseId: string }, { id: string }>;
    due: Statement<{ limit: number | string }, { id: string; projectId: string; attempts: number }>;
    endUnderLease: Statement<{ project: string; kbId: string }, { id: string }>;
    fail: Statement<{ error: string; importId: string }, object>;
    finishSitemap: Statement<{ found: number; importId: string }, object>;
    insertImportRow: Statement<{ id: string; project: string; kbId: string; url: string; maxPages: number }, object>;
    insertIngests: Statement<{ project: string; kbId: string; importId: string; id: readonly (string | null)[]; key: readonly (string | null)[] }, { id: string }>;
    lockDocuments: Statement<{ documentId: string }, { id: string }>;
    lockUnnest: Statement<{ key: readonly (string | null)[]; kbId: string }, { id: string }>;
    queuePages: Statement<{ project: string; kbId: string; id: readonly (string | null)[]; key: readonly (string | null)[] }, object>;
    queueSitemap: Statement<{ ingestId: string; project: string; kbId: string; importId: string; url: string }, object>;
    readBytes: Statement<{ id: string; ordinal: number; project: string }, { bytes: Buffer }>;
    renew: Statement<{ id: string; leaseId: string }, object>;
    retryLater: Statement<{ failure: string; uncounted: number; delayMs: number; id: string; leaseId: string }, object>;
    updateDocuments: Statement<{ error: string; documentId: string }, object>;
  };
  "knowledge/kb-index": {
    appendRows: Statement<{ kbNumber: number; bytes: Uint8Array; block: readonly (number | null)[]; term: readonly (string | null)[]; start: readonly (number | null)[]; length: readonly (number | null)[] }, object>;
    deleteKbPostings: Statement<{ kbNumber: number; block: number }, object>;
    flush: Statement<{ kbNumber: number; words: readonly (string | null)[] }, object>;
    loadKbIndex: Statement<{ kbId: string }, { number: number; nextChunkNumber: number; blocks: number[]; deadNumbers: number[] }>;
    readBlock: Statement<{ kbNumber: number; block: number; last: string }, { term: string; postings: Buffer }>;
    removeSomePostings: Statement<{ kbId: string }, object>;
    removeSomeWords: Statement<{ kbId: string }, object>;
    saveKbIndex: Statement<{ nextChunkNumber: number; blocks: readonly (number | null)[]; deadNumbers: readonly (number | null)[]; kbId: string }, object>;
    tidyIndex: Statement<{ kbId: string; firstChunkNumber: number; from: number }, { id: string; first: number; count: number }>;
    updateDocuments: Statement<{ id: readonly (string | null)[]; number: readonly (number | null)[] }, object>;
  };
  "knowledge/kbs": {
    ensure: Statement<{ id: string; project: string; name: string }, { id: string; name: string; documentCount: number; chunkCount: number; languages: string[]; createdAt: Date; updatedAt: Date; version: number }>;
    findAll: Statement<{ project: string; ids: readonly (string | null)[] }, { id: string; name: string; documentCount: number; chunkCount: number; languages: string[]; createdAt: Date; updatedAt: Date; version: number }>;
    findKbs: Statement<{ project: string; name: string }, { id: string; name: string; documentCount: number; chunkCount: number; languages: string[]; createdAt: Date; updatedAt: Date; version: number }>;
    findState: Statement<{ project: string; id: string }, { id: string; name: string; chunkCount: number; createdAt: Date; updatedAt: Date; version: number; documentCount: number; queuedCount: number; failedCount: number }>;
    holdKb: Statement<{ project: string; kbId: string }, { id: string }>;
    insert: Statement<{ id: string; project: string; name: string }, { id: string }>;
    list: Statement<{ project: string }, { id: string; name: string; documentCount: number; chunkCount: number; languages: string[]; createdAt: Date; updatedAt: Date; version: number }>;
    listPage: Statement<{ project: string; id: string; q: string; limit: number | string }, { id: string; name: string; chunkCount: number; createdAt: Date; updatedAt: Date; version: number; documentCount: number; queuedCount: number; failedCount: number }>;
    purge: Statement<object, { id: string }>;
    purgeDocuments: Statement<{ id: string }, object>;
    purgeIngests: Statement<{ id: string }, object>;
    purgePostings: Statement<{ id: string }, object>;
    purgeSelf: Statement<{ id: string }, object>;
    purgeTerms: Statement<{ id: string }, object>;
    purgeWords: Statement<{ id: string }, object>;
    remove: Statement<{ project: string; id: string; versions: readonly (number | null)[] }, { id: string }>;
    update: Statement<{ name: string; project: string; id: string; versions: readonly (number | null)[] }, { id: string }>;
    updateAgents: Statement<{ id: string; project: string }, object>;
  };
  "knowledge/proposals": {
    accept: Statement<{ project: string; kbId: string }, { id: string }>;
    decide: Statement<{ project: string; id: string }, { id: string; kbId: string; documentId: string; ticketId: string; action: string; title: string; question: string; before: string; after: string; baseHash: Buffer; status: string; reason: string; createdAt: Date; createdBy: string; decidedAt: Date; decidedBy: string; resultDocumentId: string; version: number }>;
    find: Statement<{ project: string; id: string }, { id: string; kbId: string; documentId: string; ticketId: string; action: string; title: string; question: string; before: string; after: string; baseHash: Buffer; status: string; reason: string; createdAt: Date; createdBy: string; decidedAt: Date; decidedBy: string; resultDocumentId: string; version: number }>;
    findOperatorAnswer: Statement<{ project: string; ticketId: string }, { text: string; sources: unknown; agentId: string; question: string }>;
    findQuestion: Statement<{ project: string; ticketId: string }, { agentId: string; question: string }>;
    findTarget: Statement<{ project: string; documentId: string }, { id: string; kbId: string; key: string; title: string; url: string; mime: string; contentHash: Buffer; chunkCount: number; sourceMime: string }>;
    insert: Statement<{ ticketId: string; id: string; project: string; kbId: string; documentId: string; action: string; title: string; question: string; before: string; after: string; baseHash: Uint8Array; createdBy: string }, { id: string; kbId: string; documentId: string; ticketId: string; action: string; title: string; question: string; before: string; after: string; baseHash: Buffer; status: string; reason: string; createdAt: Date; createdBy: string; decidedAt: Date; decidedBy: string; resultDocumentId: string; version: number }>;
    listPage: Statement<{ project: string; id: string; q: string; searchesQuestions: boolean; status: string; kbId: string; limit: number | string }, { id: string; kbId: string; documentId: string; ticketId: string; action: string; title: string; question: string; before: string; after: string; baseHash: Buffer; status: string; reason: string; createdAt: Date; createdBy: string; decidedAt: Date; decidedBy: string; resultDocumentId: string; version: number }>;
    lockDocuments: Statement<{ project: string; kbId: string; id: string; contentHash: Uint8Array }, { id: string }>;
    mark: Statement<{ status: string; by: string; reason: string; action: string; resultDocumentId: string; project: string; id: string }, { id: string; kbId: string; documentId: string; ticketId: string; action: string; title: string; question: string; before: string; after: string; baseHash: Buffer; status: string; reason: string; createdAt: Date; createdBy: string; decidedAt: Date; decidedBy: string; resultDocumentId: string; version: number }>;
    updateDocuments: Statement<{ project: string; id: string; contentHash: Uint8Array }, object>;
  };
  "knowledge/put-documents": {
    countChanges: Statement<{ documents: number; chunks: number; terms: number | string; languages: readonly (string | null)[]; kbId: string }, object>;
    deleteChunkTerms: Statement<{ ids: readonly (string | null)[] }, object>;
    dropWaiting: Statement<{ project: string; documentIds: readonly (string | null)[] }, object>;
    findExisting: Statement<{ key: readonly (string | null)[]; contentHash: readonly (Uint8Array | null)[]; project: string; kbId: string }, { id: string; key: string; chunkCount: number; wasRead: boolean; isSame: boolean }>;
    indexAgain: Statement<{ id: readonly (string | null)[]; version: readonly (number | null)[]; chunkCount: readonly (number | null)[]; kbId: string }, { id: string }>;
    lockKb: Statement<{ project: string; kbId: string }, { id: string }>;
    numberFromZero: Statement<{ documentIds: readonly (string | null)[] }, object>;
    removeReplaced: Statement<{ ids: readonly (string | null)[] }, { chunkCount: number; termCount: number }>;
    updateChunks: Statement<{ documentIds: readonly (string | null)[] }, object>;
    updateChunks2: Statement<{ documentId: readonly (string | null)[]; ordinal: readonly (number | null)[]; termCount: readonly (number | null)[] }, object>;
    updateDocuments: Statement<{ id: readonly (string | null)[]; first: readonly (number | null)[]; termCount: readonly (number | null)[]; version: readonly (number | null)[] }, object>;
    updateKbs: Statement<{ kbId: string }, object>;
    writeDocuments: Statement<{ project: string; kbId: string; id: readonly (string | null)[]; key: readonly (string | null)[]; title: readonly (string | null)[]; url: readonly (string | null)[]; mime: readonly (string | null)[]; sizeBytes: readonly (number | null)[]; contentHash: readonly (Uint8Array | null)[]; language: readonly (string | null)[]; chunkCount: readonly (number | null)[]; first: readonly (number | null)[]; termCount: readonly (number | null)[]; version: readonly (number | null)[] }, object>;
  };
  "knowledge/queue-document": {
    deleteIngests: Statement<{ documentId: string }, object>;
    insertIngests: Statement<{ id: string; project: string; kbId: string; kind: string; documentId: string; key: string; name: string; mime: string; title: string; url: string; sourceHash: Uint8Array; sizeBytes: number; priority: number }, object>;
    insertParts: Statement<{ ingestId: string; ordinal: number; bytes: Uint8Array }, object>;
    lockDocument: Statement<{ id: string; project: string; kbId: string; key: string; title: string; url: string; mime: string; sizeBytes: number }, object>;
    lockDocuments: Statement<{ kbId: string; key: string }, { id: string }>;
    queueDocument: Statement<{ kind: string; url: string; sourceHash: Uint8Array; documentId: string }, { id: string; isSame: boolean }>;
  };
  "knowledge/stem-words": {
    stem: Statement<{ word: readonly (string | null)[]; config: string }, { stem: string }>;
  };
  "messages/callbacks": {
    eraseOldSecrets: Statement<{ limit: number | string }, object>;
    eraseRevokedSecrets: Statement<{ limit: number | string }, object>;
    findDeliveryId: Statement<{ messageId: string; project: string }, { deliveryId: string }>;
    findUnsettled: Statement<{ limit: number | string }, { projectId: string; ticketId: string }>;
    hasSecret: Statement<{ messageId: string; project: string }, object>;
    lock: Statement<{ projectId: readonly (string | null)[]; ticketId: readonly (string | null)[] }, { messageId: string }>;
    make: Statement<{ messageId: readonly (string | null)[]; newId: readonly (string | null)[] }, { id: string; projectId: string; ticketId: string }>;
    markTimeouts: Statement<{ limit: number | string }, { projectId: string; ticketId: string }>;
  };
  "messages/chats": {
    release: Statement<{ ticketId: string; project: string; leaseId: string }, object>;
    renew: Statement<{ projectId: readonly (string | null)[]; ticketId: readonly (string | null)[]; leaseId: readonly (string | null)[] }, { leaseId: string }>;
    saveProgress: Statement<{ progress: object | string; messageId: string; project: string; leaseId: string }, object>;
  };
  "messages/deliveries": {
    begin: Statement<{ id: string; project: string; leaseId: string; attempt: number }, { id: string; chatId: string; channelMeta: unknown; coveredBy: string; sealedSecret: string; isKeyRevoked: boolean }>;
    claim: Statement<{ ticketId: string; project: string; leaseId: string }, { id: string; messageId: string; type: string; url: string; replyIds: string[]; createdAt: Date; tries: number; lapses: number; number: number; trace: string }>;
    countDead: Statement<object, { count: number }>;
    countFailing: Statement<{ tries: number }, { count: number }>;
    due: Statement<{ limit: number | string }, { id: string; projectId: string; ticketId: string; tries: number }>;
    find: Statement<{ project: string; id: string }, { chatId: string; id: string; type: string; ticketId: string; messageId: string; url: string; state: string; nextAt: Date; createdAt: Date; attempts: unknown }>;
    finishDead: Statement<{ attempt: number; durationMs: number; status: number; error: string; id: string; leaseId: string }, object>;
    finishDelivered: Statement<{ attempt: number; durationMs: number; status: number; error: string; id: string; leaseId: string }, object>;
    finishLater: Statement<{ attempt: number; durationMs: number; status: number; error: string; id: string; delayMs: number; leaseId: string }, object>;
    interrupt: Statement<{ durationMs: number; error: string; id: string; attempt: number; leaseId: string }, object>;
    listPage: Statement<{ project: string; state: string; id: string; limit: number | string }, { chatId: string; id: string; type: string; ticketId: string; messageId: string; url: string; state: string; nextAt: Date; createdAt: Date; attempts: unknown }>;
    oldestDueMs: Statement<object, { age: number }>;
    postpone: Statement<{ delayMs: number; id: string; leaseId: string; attempt: number }, object>;
    replay: Statement<{ project: string; id: string }, { ticketId: string; tries: number }>;
    replies: Statement<{ ticketId: string; project: string; replyIds: readonly (string | null)[] }, { id: string; ticketId: string; seq: number; inReplyTo: string; author: string; createdAt: Date; type: string; text: string; markdown: boolean; sources: unknown; filename: string; mime: string; content: Buffer }>;
  };
  "messages/history": {
    listBefore: Statement<{ ticketId: string; project: string; seq: number | string; limit: number | string }, { author: string; text: string; sources: unknown }>;
  };
  "messages/idempotency-keys": {
    answer: Statement<{ apiKeyId: readonly (string | null)[]; method: readonly (string | null)[]; path: readonly (string | null)[]; key: readonly (string | null)[]; callId: readonly (string | null)[]; status: readonly (number | null)[]; headers: readonly (object | string | null)[]; body: readonly (string | null)[]; projectId: readonly (string | null)[]; id: readonly (string | null)[]; projectId2: readonly (string | null)[]; id2: readonly (string | null)[] }, object>;
    claim: Statement<{ apiKeyId: string; project: string; method: string; path: string; key: string; bodyHash: Uint8Array; messageId: string; chatId: string; callId: string; instance: string }, { messageId: string; chatId: string }>;
    deleteExpired: Statement<{ limit: number | string }, object>;
    read: Statement<{ bodyHash: Uint8Array; instance: string; apiKeyId: string; method: string; path: string; key: string }, { messageId: string; chatId: string; bodyHash: Buffer; status: number; headers: unknown; body: string; isClaimable: boolean }>;
    reclaim: Statement<{ callId: string; instance: string; apiKeyId: string; method: string; path: string; key: string; status: number; body: string }, object>;
    release: Statement<{ apiKeyId: string; method: string; path: string; key: string; callId: string }, object>;
  };
  "messages/messages": {
    accept: Statement<{ id: readonly (string | null)[]; projectId: readonly (string | null)[]; ticketId: readonly (string | null)[]; channelId: readonly (string | null)[]; chatId: readonly (string | null)[]; userId: readonly (string | null)[]; text: readonly (string | null)[]; timestampMs: readonly (number | string | null)[]; attachments: readonly (object | string | null)[]; channelMeta: readonly (object | string | null)[]; mode: readonly (string | null)[]; callInstance: readonly (string | null)[]; callback: readonly (object | string | null)[]; trace: readonly (string | null)[] }, { id: string; seq: number }>;
    claim: Statement<{ projectId: readonly (string | null)[]; ticketId: readonly (string | null)[]; leaseId: readonly (string | null)[]; processId: string }, { projectId: string; ticketId: string; channelId: string; chatId: string; leaseId: string; id: string; seq: number; userId: string; text: string; channelMeta: unknown; mode: string; attempts: number; progress: unknown; trace: string; crashes: number; lapses: number; lastGroup: number }>;
    claimExpired: Statement<{ ticketId: string; project: string; group: number; leaseId: string; processId: string }, { projectId: string; ticketId: string; channelId: string; chatId: string; leaseId: string; id: string; seq: number; userId: string; text: string; channelMeta: unknown; mode: string; attempts: number; progress: unknown; trace: string; crashes: number; lapses: number; lastGroup: number }>;
    due: Statement<{ limit: number | string }, { id: string; ticketId: string; projectId: string; attempts: number; channelId: string; chatId: string }>;
    findAccepted: Statement<{ id: string; project: string }, { ticketId: string; seq: number }>;
    findDeadLetter: Statement<{ messageId: string; project: string }, { id: string; projectId: string; ticketId: string; isOpened: boolean }>;
    findLastMeta: Statement<{ ticketId: string; project: string }, { channelMeta: unknown }>;
    findMeta: Statement<{ messageId: string; project: string }, { channelMeta: unknown }>;
    findState: Statement<{ messageId: string; project: string }, { state: string }>;
    findSyncCall: Statement<{ messageId: string; project: string }, { chatId: string; text: string }>;
    findTraces: Statement<{ project: string; messageIds: readonly (string | null)[] }, { id: string; trace: string }>;
    listDeadLetters: Statement<{ project: string; limit: number | string }, { id: string; ticketId: string; text: string; failure: string; finishedAt: Date; channelId: string; chatId: string }>;
    oldestWaitingMs: Statement<{ issueChatPrefix: string }, { age: number }>;
    retryLater: Statement<{ ticketId: string; project: string; leaseId: string; delayMs: number; progress: object | string; failure: string; uncounted: number; messageId: string }, object>;
  };
  "messages/messenger-updates": {
    bury: Statement<{ failure: string; botId: number | string; updateIds: readonly (number | string | null)[] }, object>;
    findMessage: Statement<{ ticketId: string; project: string; telegramMessageId: string }, { text: string; channelMeta: unknown }>;
    insert: Statement<{ botId: number | string; project: string; updateId: readonly (number | string | null)[]; ticketId: readonly (string | null)[]; messageId: readonly (string | null)[]; chatId: readonly (string | null)[]; userId: readonly (string | null)[]; body: readonly (string | null)[]; excerpt: readonly (string | null)[]; albumId: readonly (string | null)[] }, object>;
    isWaiting: Statement<{ botId: number | string; updateId: number | string }, object>;
    joinAlbum: Statement<{ botId: number | string; updateId: number | string }, object>;
    listAlbum: Statement<{ botId: number | string; updateId: number | string }, { projectId: string; botId: number; updateId: number; ticketId: string; messageId: string; chatId: string; body: string; albumId: string; tries: number; receivedAt: Date }>;
    listDead: Statement<{ project: string; limit: number | string }, { messageId: string; ticketId: string; chatId: string; excerpt: string; failure: string; settledAt: Date }>;
    listHeads: Statement<{ botId: number | string; busyTicketIds: readonly (string | null)[]; limit: number | string }, { projectId: string; botId: number; updateId: number; ticketId: string; messageId: string; chatId: string; body: string; albumId: string; tries: number; receivedAt: Date }>;
    prune: Statement<object, { isUnanswered: boolean }>;
    retryLater: Statement<{ delayMs: number; failure: string; counted: number; botId: number | string; updateId: number | string }, object>;
    revive: Statement<{ project: string; messageId: string }, object>;
    settle: Statement<{ state: string; botId: number | string; updateIds: readonly (number | string | null)[] }, object>;
  };
  "messages/outboxes": {
    claim: Statement<{ ticketId: string; project: string; leaseId: string; processId: string }, { channelId: string; chatId: string; tries: number; deferrals: number; sentParts: number; crashes: number; lapses: number; id: string; ticketId: string; seq: number; inReplyTo: string; author: string; createdAt: Date; type: string; text: string; markdown: boolean; sources: unknown; filename: string; mime: string; content: Buffer }>;
    delivered: Statement<{ seq: number | string; ticketId: string; project: string; leaseId: string; id: string }, object>;
    due: Statement<{ channelId: string; limit: number | string }, { projectId: string; ticketId: string }>;
    findOutcome: Statement<{ project: string; replyId: string }, { isDelivered: boolean; failure: string }>;
    giveBack: Statement<{ delaySeconds: number; counts: boolean; ticketId: string; project: string; leaseId: string }, object>;
    insertNotice: Statement<{ project: string; ticketId: string }, { lastSeq: number; channelId: string }>;
    insertOutboxes: Statement<{ ticketId: string; project: string; channelId: string; lastSeq: number | string }, object>;
    insertReplies: Statement<{ id: string; project: string; ticketId: string; lastSeq: number | string; text: string }, object>;
    listDead: Statement<{ project: string; limit: number | string }, { id: string; ticketId: string; channelId: string; chatId: string; text: string; failure: string; undeliverableAt: Date }>;
    noteSent: Statement<{ parts: number; ticketId: string; project: string; leaseId: string }, object>;
    oldestDueMs: Statement<{ channelId: string }, { age: number }>;
    release: Statement<{ project: string; ticketId: string; leaseId: string }, object>;
    renew: Statement<{ ticketId: string; project: string; leaseId: string }, object>;
    sendAgain: Statement<{ project: string; replyId: string; actor: string }, { ticketId: string; projectId: string }>;
    undelivered: Statement<{ seq: number | string; ticketId: string; project: string; leaseId: string; reason: string; isDead: boolean; id: string }, object>;
  };
  "messages/replies": {
    acknowledge: Statement<{ upTo: number | string; ticketId: string; project: string }, { isKnown: boolean }>;
    confirm: Statement<{ projectId: readonly (string | null)[]; id: readonly (string | null)[] }, object>;
    endCall: Statement<{ projectId: readonly (string | null)[]; messageId: readonly (string | null)[]; projectId2: readonly (string | null)[]; id: readonly (string | null)[] }, object>;
    endResumedCall: Statement<{ delivered: readonly (string | null)[]; project: string; messageId: string }, object>;
    haveUndelivered: Statement<{ projectId: readonly (string | null)[]; ticketId: readonly (string | null)[]; after: readonly (number | string | null)[] }, { place: number }>;
    listHandedOver: Statement<{ project: string; messageId: string }, { id: string; ticketId: string; seq: number; inReplyTo: string; author: string; createdAt: Date; type: string; text: string; markdown: boolean; sources: unknown; filename: string; mime: string; content: Buffer; isDelivered: boolean }>;
    readBuffer: Statement<{ ticketId: string; project: string; after: number | string; keptDays: number; maxReplies: number; maxBytes: number | string }, { id: string; ticketId: string; seq: number; inReplyTo: string; author: string; createdAt: Date; type: string; text: string; markdown: boolean; sources: unknown; filename: string; mime: string; content: Buffer; sizeBytes: number; place: number; total: number; candidates: number }>;
    readForCall: Statement<{ project: readonly (string | null)[]; messageId: readonly (string | null)[]; instance: readonly (string | null)[] }, { messageId: string; projectId: string; instance: string; state: string; coveredBy: string; id: string; ticketId: string; seq: number; inReplyTo: string; author: string; createdAt: Date; type: string; text: string; markdown: boolean; sources: unknown; filename: string; mime: string; content: Buffer }>;
    readRanges: Statement<{ projectId: readonly (string | null)[]; ticketId: readonly (string | null)[]; fromSeq: readonly (number | string | null)[]; toSeq: readonly (number | string | null)[] }, { projectId: string; channelId: string; chatId: string; id: string; ticketId: string; seq: number; inReplyTo: string; author: string; createdAt: Date; type: string; text: string; markdown: boolean; sources: unknown; filename: string; mime: string; content: Buffer }>;
    release: Statement<{ project: string; ticketId: string; takeId: string }, object>;
    reopenCall: Statement<{ instance: string; project: string; messageId: string }, object>;
    takeForCall: Statement<{ instance: string; messageId: string; project: string; takeId: string }, { state: string; coveredBy: string; id: string; ticketId: string; seq: number; inReplyTo: string; author: string; createdAt: Date; type: string; text: string; markdown: boolean; sources: unknown; filename: string; mime: string; content: Buffer }>;
    takeFromBuffer: Statement<{ ticketId: string; project: string; keptDays: number; maxReplies: number; maxBytes: number | string; instance: string; takeId: string }, { id: string; ticketId: string; seq: number; inReplyTo: string; author: string; createdAt: Date; type: string; text: string; markdown: boolean; sources: unknown; filename: string; mime: string; content: Buffer; candidates: number; firstHidden: number }>;
  };
  "messages/unfinished-replies": {
    find: Statement<{ projectId: readonly (string | null)[]; ticketId: readonly (string | null)[] }, { projectId: string; ticketId: string; messageId: string; text: string; isCollected: boolean }>;
    removeIdle: Statement<object, object>;
    write: Statement<{ projectId: readonly (string | null)[]; ticketId: readonly (string | null)[]; leaseId: readonly (string | null)[]; messageId: readonly (string | null)[]; text: readonly (string | null)[] }, { messageId: string }>;
  };
  "messages/visitors": {
    confirm: Statement<{ projectId: readonly (string | null)[]; ticketId: readonly (string | null)[]; after: readonly (number | string | null)[]; upTo: readonly (number | string | null)[] }, { ticketId: string; inReplyTo: string }>;
    look: Statement<{ projectId: readonly (string | null)[]; ticketId: readonly (string | null)[] }, { place: number; lastSeq: number; messageId: string; text: string; score: number; state: string }>;
    rate: Statement<{ ticketId: string; project: string; score: number; comment: string }, { id: string }>;
    read: Statement<{ ticketId: string; project: string; seq: number | string; limit: number | string }, { kind: string; id: string; seq: number; createdAt: Date; clientMessageId: string; text: string; files: unknown; author: string; inReplyTo: string; type: string; markdown: boolean; sources: unknown; filename: string; mime: string; sizeBytes: number }>;
    readUpTo: Statement<{ seq: number | string; ticketId: string; project: string }, object>;
    reserve: Statement<{ project: string; ticketId: string; clientMessageId: string; messageId: string }, { messageId: string; seq: number }>;
    sweep: Statement<object, { seen: number }>;
  };
  "messages/widget-files": {
    expire: Statement<object, { id: string; days: number }>;
    expire2: Statement<{ id: string; days: number }, { seen: number; expired: number }>;
    findKept: Statement<{ project: string; messageId: string; fileId: string }, { id: string; filename: string; mime: string; sizeBytes: number }>;
    insert: Statement<{ id: string; project: string; ticketId: string; filename: string; mime: string; content: Uint8Array; chatMaxBytes: number | string; projectMaxBytes: number | string }, object>;
    keep: Statement<{ id: string; project: string; ticketId: string; messageId: string; filename: string; mime: string; content: Uint8Array }, object>;
    read: Statement<{ project: string; ticketId: string; fileId: string }, { filename: string; mime: string; content: Buffer }>;
    readChat: Statement<{ ticketId: string; project: string }, { total: number; day: number }>;
    readPiece: Statement<{ from: number; project: string; ticketId: string; fileId: string }, { filename: string; mime: string; sizeBytes: number; piece: Buffer }>;
    sweep: Statement<object, { seen: number; removed: number }>;
    take: Statement<{ project: string; ticketId: string; fileIds: readonly (string | null)[]; messageId: string }, { id: string; filename: string; mime: string; sizeBytes: number }>;
    updateProjects: Statement<{ id: string }, object>;
  };
  "people/api-keys": {
    find: Statement<{ id: string }, { id: string; name: string; prefix: string; scopes: string[]; projectId: string; createdAt: Date; createdBy: string; expiresAt: Date; lastUsedAt: Date; revokedAt: Date; rateLimit: number; projectName: string }>;
    findLiveByHash: Statement<{ hash: Uint8Array }, { id: string; name: string; prefix: string; scopes: string[]; projectId: string; createdAt: Date; createdBy: string; expiresAt: Date; lastUsedAt: Date; revokedAt: Date; rateLimit: number }>;
    hasLiveAdminBeside: Statement<{ makers: readonly (string | null)[] }, object>;
    insert: Statement<{ hash: Uint8Array }, object>;
    insertApiKeys: Statement<{ id: string; name: string; prefix: string; hash: Uint8Array; scopes: readonly (string | null)[]; project: string; createdBy: string; expiresAt: Date | string; rateLimit: number }, { id: string; name: string; prefix: string; scopes: string[]; projectId: string; createdAt: Date; createdBy: string; expiresAt: Date; lastUsedAt: Date; revokedAt: Date; rateLimit: number }>;
    listLiveCreatedBy: Statement<{ createdBy: string }, { id: string; name: string; prefix: string; scopes: string[]; projectId: string; createdAt: Date; createdBy: string; expiresAt: Date; lastUsedAt: Date; revokedAt: Date; rateLimit: number }>;
    listPage: Statement<{ id: string; q: string; limit: number | string }, { id: string; name: string; prefix: string; scopes: string[]; projectId: string; createdAt: Date; createdBy: string; expiresAt: Date; lastUsedAt: Date; revokedAt: Date; rateLimit: number; projectName: string }>;
    revoke: Statement<{ id: string }, { id: string }>;
    revokeOthersOf: Statement<{ createdBy: string; hash: Uint8Array }, { id: string }>;
    rotate: Statement<{ id: string; overlapSeconds: number; id2: string; prefix: string; hash: Uint8Array; createdBy: string }, { id: string; name: string; prefix: string; scopes: string[]; projectId: string; createdAt: Date; createdBy: string; expiresAt: Date; lastUsedAt: Date; revokedAt: Date; rateLimit: number; projectName: string }>;
    touch: Statement<{ ids: readonly (string | null)[] }, object>;
  };
  "people/audit": {
    appendAll: Statement<object, object>;
    findBefore: Statement<{ day: Date | string }, { day: string; number: number; hash: Buffer }>;
    findHash: Statement<{ day: Date | string; number: number }, { hash: Buffer }>;
    findNames: Statement<{ actorIds: readonly (string | null)[]; project: string; objectIds: readonly (string | null)[] }, { id: string; name: string }>;
    insertAuditEvents: Statement<{ id: readonly (string | null)[]; day: readonly (Date | string | null)[]; number: readonly (number | null)[]; at: readonly (Date | string | null)[]; actor: readonly (string | null)[]; action: readonly (string | null)[]; object: readonly (string | null)[]; projectId: readonly (string | null)[]; project: readonly (string | null)[]; result: readonly (string | null)[]; requestId: readonly (string | null)[]; count: readonly (number | null)[]; network: readonly (string | null)[]; hash: readonly (Uint8Array | null)[] }, object>;
    listPage: Statement<{ id: string; id2: string; id3: string; projectId: string; project: string; actor: string; action: string; object: string; result: string; limit: number | string }, { id: string; at: Date; actor: string; action: string; object: string; project: string; result: string; requestId: string; count: number; network: string }>;
    lockAuditHead: Statement<object, { day: string; number: number; at: Date; hash: Buffer; now: Date }>;
    readAfter: Statement<{ day: Date | string; number: number; checkPage: number | string }, { id: string; at: Date; actor: string; action: string; object: string; project: string; result: string; requestId: string; count: number; network: string; day: string; number: number; projectId: string; hash: Buffer }>;
    readHead: Statement<object, { day: string; number: number; at: Date; hash: Buffer }>;
    updateAuditHead: Statement<{ day: Date | string; number: number; at: Date | string; hash: Uint8Array }, object>;
  };
  "people/erasures": {
    deleteChats: Statement<{ ticketId: string }, object>;
    deleteMessengerUpdates: Statement<{ project: string; userId: string; messengerChatId: string; ticketIds: readonly (string | null)[] }, object>;
    deleteOperatorViews: Statement<{ project: string; userId: string }, object>;
    deleteOutboxes: Statement<{ ticketId: string }, object>;
    deleteProjects: Statement<{ project: string; isSettled: boolean }, object>;
    deleteStoredBytes: Statement<{ project: string }, object>;
    eraseLoose: Statement<{ project: string; ticketIds: readonly (string | null)[]; userId: string; chatId: string }, object>;
    eraseQuestions: Statement<{ ticketId: string }, { projectId: string }>;
    eraseTicket: Statement<{ ticketId: string }, { id: string }>;
    findChats: Statement<{ ticketId: string; retentionDays: number }, object>;
    findChats2: Statement<{ project: string }, { ticketId: string }>;
    findMessengerUpdates: Statement<{ project: string; userId: string; messengerChatId: string; ticketIds: readonly (string | null)[] }, { messageId: string }>;
    findTickets: Statement<{ ticketId: string }, { projectId: string }>;
    findTickets2: Statement<{ project: string; ticketIds: readonly (string | null)[] }, { ticketId: string }>;
    findTicketsOfUser: Statement<{ userId: string; project: string }, { ticketId: string }>;
    lockChats: Statement<{ project: string; ticketId: string }, object>;
    lockDeliveries: Statement<{ messages: readonly (string | null)[] }, { id: string }>;
    lockTickets: Statement<{ ticketId: string }, { version: number }>;
    messagesOf: Statement<{ ticketId: string }, { id: string }>;
    purgeBodies: Statement<{ project: string; retentionDays: number }, object>;
    purgeDeleted: Statement<object, { id: string; isSettled: boolean }>;
    purgeIdle: Statement<{ retentionDays: number; project: string; after: string }, { ticketId: string; isIdle: boolean }>;
    purgeModelCalls: Statement<{ project: string; retentionDays: number }, object>;
    purgeUpdates: Statement<{ project: string; retentionDays: number }, object>;
    purgeViews: Statement<{ project: string }, object>;
    read: Statement<{ project: string; ticketId: string }, object>;
    readLoose: Statement<{ project: string; ticketIds: readonly (string | null)[]; userId: string; chatId: string }, { id: string }>;
    readMessageIds: Statement<{ ticketId: string; after: number | string }, { id: string; seq: number }>;
    takeDuePurge: Statement<object, { id: string; name: string; retentionDays: number }>;
    updateChats: Statement<{ ticketVersion: number; ticketId: string }, object>;
    updateKbs: Statement<{ project: string }, object>;
    updateProjects: Statement<{ id: readonly (string | null)[] }, object>;
    updateProjects2: Statement<{ project: string }, object>;
  };
  "people/operator-links": {
    deleteOperatorLinks: Statement<{ hash: Uint8Array }, { id: string }>;
    deleteOperatorRoles: Statement<{ id: string }, object>;
    deleteOperatorSessions: Statement<{ id: string }, object>;
    find: Statement<{ hash: Uint8Array }, { operatorId: string; expiresAt: Date }>;
    insertOperatorRoles: Statement<{ id: string }, object>;
    insertOperators: Statement<{ id: string; email: string; emailKey: string; name: string; passwordHash: string }, { id: string }>;
    isFirstMissing: Statement<object, { has: boolean }>;
    put: Statement<{ id: string; operatorId: string; hash: Uint8Array; lifetimeSeconds: number }, { operatorId: string; expiresAt: Date }>;
    updateOperators: Statement<{ passwordHash: string; id: string }, { id: string }>;
    useFirst: Statement<{ firstLock: number | string }, { pgAdvisoryXactLock: string }>;
    usePassword: Statement<{ hash: Uint8Array }, { operatorId: string }>;
  };
  "people/operator-presence": {
    list: Statement<{ ticketIds: readonly (string | null)[]; goneSeconds: number }, { ticketId: string; projectId: string; operatorId: string; name: string; isTyping: boolean }>;
    put: Statement<{ sessionId: string; tab: string; operatorId: string; project: string; isTyping: boolean; ticketId: string }, { before: string }>;
    remove: Statement<{ sessionId: string; tab: string }, { ticketId: string }>;
    sweep: Statement<{ goneSeconds: number }, { ticketId: string }>;
  };
  "people/operator-sessions": {
    deleteOperatorSessions: Statement<{ totalSeconds: number; operatorId: string; idleSeconds: number }, object>;
    deleteOperatorSessions2: Statement<{ operatorId: string; kept: number | string }, object>;
    findLive: Statement<{ hash: Uint8Array; totalSeconds: number; idleSeconds: number }, { id: string; operatorId: string; createdAt: Date; lastUsedAt: Date }>;
    insert: Statement<{ operatorId: string }, { id: string }>;
    insertOperatorSessions: Statement<{ id: string; operatorId: string; hash: Uint8Array }, { id: string; operatorId: string; createdAt: Date; lastUsedAt: Date }>;
    remove: Statement<{ id: string }, object>;
    removeByHash: Statement<{ hash: Uint8Array }, object>;
    removeOf: Statement<{ operatorId: string }, { id: string }>;
    touch: Statement<{ ids: readonly (string | null)[] }, object>;
  };
  "people/operator-views": {
    insertOperatorViews: Statement<{ operatorId: string; name: string; project: string; view: string; filters: object | string; maxCount: number | string }, object>;
    list: Statement<{ operatorId: string }, { name: string; project: string; part: string; filters: unknown }>;
    put: Statement<{ operatorId: string }, object>;
    remove: Statement<{ operatorId: string; name: string }, object>;
  };
  "people/operators": {
    deleteOperatorLinks: Statement<{ id: string }, object>;
    deleteOperatorSessions: Statement<{ id: string }, object>;
    find: Statement<{ id: string }, { id: string; email: string; name: string; hasPassword: boolean; createdAt: Date; lastSeenAt: Date; disabledAt: Date; version: number; roles: unknown }>;
    findByEmail: Statement<{ emailKey: string }, { id: string; email: string; name: string; hasPassword: boolean; createdAt: Date; lastSeenAt: Date; disabledAt: Date; version: number; roles: unknown }>;
    findPassword: Statement<{ emailKey: string }, { id: string; passwordHash: string }>;
    insert: Statement<{ id: string; email: string; emailKey: string; name: string; passwordHash: string }, { id: string }>;
    insertOperatorRoles: Statement<{ id: string; projectId: readonly (string | null)[]; role: readonly (string | null)[] }, object>;
    listOfProject: Statement<{ project: string; limit: number | string }, { id: string; name: string; roles: string[] }>;
    listPage: Statement<{ id: string; q: string; limit: number | string }, { id: string; email: string; name: string; hasPassword: boolean; createdAt: Date; lastSeenAt: Date; disabledAt: Date; version: number; roles: unknown }>;
    lockAdministrators: Statement<object, { id: string }>;
    remove: Statement<{ id: string; versions: readonly (number | null)[] }, { id: string }>;
    setRoles: Statement<{ id: string }, object>;
    update: Statement<{ email: string; emailKey: string; name: string; setsPassword: boolean; passwordHash: string; disabled: boolean; id: string; versions: readonly (number | null)[] }, { id: string }>;
  };
  "platform/answer-stats": {
    buckets: Statement<{ project: string; from: Date | string; channelId: string; to: Date | string; agentId: string }, { agentId: string; percent: number; answers: number; automatic: number; accepted: number; edited: number; askedPerson: number; ratedBadly: number; rejected: number; undecided: number }>;
    listAgents: Statement<{ project: string; ids: readonly (string | null)[] }, { id: string; name: string; reviewPolicy: string; autoThreshold: number }>;
  };
  "platform/channel-states": {
    forget: Statement<{ replica: string }, object>;
    list: Statement<object, { channelId: string; state: string; since: Date; error: string }>;
    report: Statement<{ replica: string; id: readonly (string | null)[]; state: readonly (string | null)[]; since: readonly (Date | string | null)[]; error: readonly (string | null)[] }, object>;
  };
  "platform/channels-config": {
    findProjects: Statement<{ project: string }, object>;
    read: Statement<object, { enabled: string[]; toolServerEnabled: boolean; api: unknown; widget: unknown; messenger: unknown; version: number }>;
    setEnabled: Statement<{ enabled: boolean }, { version: number }>;
    update: Statement<{ toolServerEnabled: boolean; version: number }, { version: number }>;
    updateChannelsConfig: Statement<{ enabled: boolean; channelId: string }, { version: number }>;
  };
  "platform/hooks": {
    addBody: Statement<{ project: string; messageId: string; id: string; contentType: string; headers: object | string; content: Uint8Array; outcome: string; faults: object | string; eventId: string; ticketId: string; chatId: string; userId: string; hookId: string }, object>;
    claimEvent: Statement<{ project: string; eventId: string; messageId: string; chatId: string; hookId: string }, { messageId: string; chatId: string }>;
    deleteHookEvents: Statement<{ limit: number | string }, object>;
    find: Statement<{ project: string; id: string }, { id: string; projectId: string; projectName: string; name: string; preset: string; auth: unknown; sealedSecret: string; previousSealedSecret: string; previousUntil: Date; mapping: unknown; filter: unknown; createdAt: Date; createdBy: string; updatedAt: Date; version: number }>;
    findBody: Statement<{ project: string; hookId: string; bodyId: string }, { id: string; receivedAt: Date; contentType: string; headers: unknown; sizeBytes: number; outcome: string; faults: unknown; eventId: string; messageId: string; ticketId: string; chatId: string; userId: string; tries: number; triedAt: Date; content: Buffer }>;
    findForCall: Statement<{ id: string }, { id: string; projectId: string; projectName: string; name: string; preset: string; auth: unknown; sealedSecret: string; previousSealedSecret: string; previousUntil: Date; mapping: unknown; filter: unknown; createdAt: Date; createdBy: string; updatedAt: Date; version: number }>;
    forgetOld: Statement<{ limit: number | string }, object>;
    insert: Statement<{ project: string; id: string; name: string; preset: string; auth: object | string; sealed: string; mapping: object | string; filter: object | string; createdBy: string }, { id: string }>;
    listBodies: Statement<{ project: string; hookId: string }, { id: string; receivedAt: Date; contentType: string; headers: unknown; sizeBytes: number; outcome: string; faults: unknown; eventId: string; messageId: string; ticketId: string; chatId: string; userId: string; tries: number; triedAt: Date; content: Buffer }>;
    listPage: Statement<{ project: string; id: string; q: string; limit: number | string }, { id: string; projectId: string; projectName: string; name: string; preset: string; auth: unknown; sealedSecret: string; previousSealedSecret: string; previousUntil: Date; mapping: unknown; filter: unknown; createdAt: Date; createdBy: string; updatedAt: Date; version: number }>;
    noteBody: Statement<{ project: string; messageId: string; id: string; outcome: string; faults: object | string; eventId: string; ticketId: string; chatId: string; userId: string }, object>;
    remove: Statement<{ project: string; id: string; versions: readonly (number | null)[] }, { id: string }>;
    rotate: Statement<{ sealed: string; overlapSeconds: number; project: string; id: string }, object>;
    update: Statement<{ name: string; auth: object | string; mapping: object | string; filter: object | string; project: string; id: string; versions: readonly (number | null)[] }, { id: string }>;
  };
  "platform/installation": {
    checkSecretKey: Statement<{ sealed: string }, object>;
    exclusively: Statement<{ initializeLock: number | string }, { pgAdvisoryXactLock: string }>;
    findInstallation: Statement<object, { secretKeyCheck: string }>;
    isAdminKeyShown: Statement<object, { done: boolean }>;
    isInitialized: Statement<object, { done: boolean }>;
    markAdminKeyShown: Statement<object, object>;
    markInitialized: Statement<object, object>;
    runRow: Statement<object, object>;
  };
  "platform/instances": {
    beat: Statement<{ id: string; app: string }, object>;
    countAlive: Statement<{ app: string }, { count: number }>;
    end: Statement<{ id: string }, object>;
  };
  "platform/model-calls": {
    findAllowance: Statement<{ project: string }, { concurrency: number; tokensPerDay: number; tokensToday: number }>;
    insert: Statement<{ project: string; tokens: number | string; id: string; ticketId: string; purpose: string; model: string; inputTokens: number | string; outputTokens: number | string; costUsd: number; ms: number; fault: string }, object>;
    listOfTicket: Statement<{ ticketId: string; project: string }, { at: Date; purpose: string; model: string; inputTokens: number; outputTokens: number; costUsd: number; ms: number; fault: string }>;
    sumTicket: Statement<{ ticketId: string; project: string }, { calls: number; inputTokens: number; outputTokens: number; costUsd: number }>;
  };
  "platform/model-pulls": {
    begin: Statement<{ catalogId: string; id: string }, { id: string; catalogId: string; state: string; status: string; completedBytes: number; totalBytes: number; version: number; errorCode: string; error: string }>;
    cancel: Statement<{ catalogId: string }, { id: string; catalogId: string; state: string; status: string; completedBytes: number; totalBytes: number; version: number; errorCode: string; error: string }>;
    claim: Statement<{ leaseId: string }, { id: string; catalogId: string; status: string; completedBytes: number; totalBytes: number; leaseId: string; attempts: number; startedAt: Date }>;
    find: Statement<{ catalogId: string }, { id: string; catalogId: string; state: string; status: string; completedBytes: number; totalBytes: number; version: number; errorCode: string; error: string }>;
    finish: Statement<{ state: string; errorCode: string; error: string; catalogId: string; leaseId: string }, object>;
    keep: Statement<{ hasGrown: boolean; status: string; completedBytes: number | string; totalBytes: number | string; catalogId: string; leaseId: string }, object>;
    listRunning: Statement<object, { id: string; catalogId: string; state: string; status: string; completedBytes: number; totalBytes: number; version: number; errorCode: string; error: string }>;
    purge: Statement<object, object>;
    retryLater: Statement<{ failure: string; counted: number; delayMs: number; catalogId: string; leaseId: string }, object>;
    takeDue: Statement<{ limit: number | string }, { id: string; catalogId: string; attempts: number }>;
  };
  "platform/processes": {
    beat: Statement<{ ownId: string; app: string; host: string; pid: number; memoryBytes: number | string; memoryLimitBytes: number | string }, object>;
    countRunning: Statement<{ host: string }, { app: string; count: number; elsewhere: number }>;
    crash: Statement<{ ownId: string }, object>;
    end: Statement<{ ownId: string }, object>;
    listSilent: Statement<{ host: string; ownId: string }, { id: string; pid: number }>;
    listVanished: Statement<object, { app: string; host: string; pid: number; startedAt: Date; heardAt: Date; memoryBytes: number; memoryLimitBytes: number }>;
    takeMissing: Statement<{ ids: readonly (string | null)[] }, { app: string; host: string; pid: number; startedAt: Date; heardAt: Date; memoryBytes: number; memoryLimitBytes: number }>;
    takeVanished: Statement<{ app: string }, { app: string; host: string; pid: number; startedAt: Date; heardAt: Date; memoryBytes: number; memoryLimitBytes: number }>;
  };
  "platform/projects": {
    countHeld: Statement<{ id: string }, { agents: number; "knowledge bases": number; documents: number; tickets: number; "API keys": number; hooks: number; gaps: number; proposals: number; "canned replies": number }>;
    deleteOperatorRoles: Statement<{ id: string }, object>;
    deleteOperatorViews: Statement<{ id: string }, object>;
    find: Statement<{ id: string }, { webhookSecret: unknown; previousWebhookSecret: unknown; id: string; name: string; handoffText: string; handoffTexts: unknown; greeting: string; tablesAsXlsx: boolean; retentionDays: number; fileRetentionDays: number; modelConcurrency: number; modelTokensPerDay: number; createdAt: Date; version: number }>;
    findByName: Statement<{ name: string }, { webhookSecret: unknown; previousWebhookSecret: unknown; id: string; name: string; handoffText: string; handoffTexts: unknown; greeting: string; tablesAsXlsx: boolean; retentionDays: number; fileRetentionDays: number; modelConcurrency: number; modelTokensPerDay: number; createdAt: Date; version: number }>;
    findChannelsConfig: Statement<{ name: string }, object>;
    findWebhookSecrets: Statement<{ id: string }, { webhookSecret: unknown; previousWebhookSecret: unknown }>;
    insert: Statement<{ id: string; name: string; handoffText: string; greeting: string; tablesAsXlsx: boolean; retentionDays: number; fileRetentionDays: number; modelConcurrency: number; modelTokensPerDay: number | string; handoffTexts: object | string }, { webhookSecret: unknown; previousWebhookSecret: unknown; id: string; name: string; handoffText: string; handoffTexts: unknown; greeting: string; tablesAsXlsx: boolean; retentionDays: number; fileRetentionDays: number; modelConcurrency: number; modelTokensPerDay: number; createdAt: Date; version: number }>;
    list: Statement<object, { webhookSecret: unknown; previousWebhookSecret: unknown; id: string; name: string; handoffText: string; handoffTexts: unknown; greeting: string; tablesAsXlsx: boolean; retentionDays: number; fileRetentionDays: number; modelConcurrency: number; modelTokensPerDay: number; createdAt: Date; version: number }>;
    listPage: Statement<{ id: string; q: string; limit: number | string }, { webhookSecret: unknown; previousWebhookSecret: unknown; id: string; name: string; handoffText: string; handoffTexts: unknown; greeting: string; tablesAsXlsx: boolean; retentionDays: number; fileRetentionDays: number; modelConcurrency: number; modelTokensPerDay: number; createdAt: Date; version: number }>;
    remove: Statement<{ id: string; versions: readonly (number | null)[] }, { name: string }>;
    renameInWidget: Statement<{ after: string; name: string }, object>;
    takeTicketsBack: Statement<{ id: string }, object>;
    update: Statement<{ id: string; versions: readonly (number | null)[] }, { name: string }>;
    updateApiKeys: Statement<{ id: string }, object>;
    updateKbs: Statement<{ id: string }, object>;
    updateProjects: Statement<{ id: string }, object>;
  };
  "platform/queue-depths": {
    depths: Statement<{ issueChatPrefix: string }, { queue: string; waiting: number; due: number; age: number; dead: number }>;
  };
  "platform/service-leases": {
    release: Statement<{ name: string; holder: string }, object>;
    take: Statement<{ name: string; holder: string; leaseMs: number }, object>;
  };
  "platform/stats": {
    callbacks: Statement<{ project: string }, { waiting: number; oldest: Date; failed: number }>;
    count: Statement<{ unit: string; timeZone: string; project: string; from: Date | string; to: Date | string; channelId: string; agentId: string }, { isChannel: boolean; isAgent: boolean; isPoint: boolean; point: Date; channelId: string; agentId: string; messages: number; automatic: number; handoffs: number; edits: number; approvals: number }>;
    days: Statement<{ timeZone: string; from: Date | string; to: Date | string }, { at: Date }>;
    documents: Statement<{ project: string }, { waiting: number; oldest: Date; failed: number }>;
    hours: Statement<{ from: Date | string; timeZone: string; to: Date | string }, { at: Date }>;
    listAgents: Statement<{ project: string; ids: readonly (string | null)[] }, { id: string; name: string }>;
    messages: Statement<{ project: string }, { waiting: number; oldest: Date; failed: number }>;
    models: Statement<{ project: string; from: Date | string; to: Date | string; channelId: string; agentId: string }, { model: string; faults: number; calls: number; inputTokens: number; outputTokens: number; costUsd: number }>;
    replies: Statement<{ project: string }, { waiting: number; oldest: Date; failed: number }>;
    setMemory: Statement<object, object>;
    setSnapshot: Statement<object, object>;
    setTimeout: Statement<object, object>;
    times: Statement<{ unit: string; timeZone: string; from: Date | string; to: Date | string; project: string; channelId: string; agentId: string }, { isChannel: boolean; isAgent: boolean; isPoint: boolean; point: Date; channelId: string; agentId: string; p50: number; p90: number }>;
    topUnanswered: Statement<{ from: Date | string; to: Date | string; channelId: string; agentId: string; project: string }, { question: string; count: number; lastAt: Date }>;
    weeks: Statement<{ timeZone: string; from: Date | string; to: Date | string }, { at: Date }>;
  };
  "platform/stored-bytes": {
    fold: Statement<object, { count: number }>;
    read: Statement<{ project: string; kind: string }, { ofKind: number; ofProject: number; ofKindEverywhere: number; ofInstallation: number }>;
    read2: Statement<object, { projectId: string; name: string; kind: string; bytes: number }>;
    readProject: Statement<{ project: string }, { kind: string; bytes: number }>;
  };
  "tickets/apply-decision": {
    applyDecision: Statement<{ reviewId: string; homeProject: string; id: string }, object>;
    deleteDrafts: Statement<{ homeProject: string; id: string }, object>;
    findTickets: Statement<{ project2: string; status: string; stage: string; assignee: string; agentId: string; project: string; id: string }, { id: string; homeProjectId: string; homeProjectName: string; projectId: string; channelId: string; chatId: string; userId: string; subject: string; status: string; stage: string; priority: string; assignee: string; agentId: string; confidence: number; language: string; tags: string[]; channelMeta: unknown; version: number; createdAt: Date; updatedAt: Date; firstReplyAt: Date; resolvedAt: Date }>;
    insertWork: Statement<{ reviewId: string; homeProject: string; id: string; kind: string; actor: string; author: string; text: string; markdown: boolean; sources: object | string; answers: string; covers: readonly (string | null)[]; fileIds: readonly (string | null)[] }, object>;
    interruptRun: Statement<{ homeProject: string; id: string }, object>;
    reject: Statement<{ homeProject: string; messageIds: readonly (string | null)[] }, object>;
    teach: Statement<{ homeProject: string; id: string }, { text: string }>;
    updateMessages: Statement<{ answers: string; homeProject: string; covers: readonly (string | null)[] }, object>;
    updateMessages2: Statement<{ uncounted: number; homeProject: string; id: string }, object>;
  };
  "tickets/canned-replies": {
    find: Statement<{ project: string; id: string }, { id: string; name: string; text: string; folder: string; tags: string[]; createdAt: Date; updatedAt: Date; version: number }>;
    findTicketFacts: Statement<{ project: string; ticketId: string }, { userId: string; chatId: string; subject: string; channelId: string; language: string; agentName: string; projectName: string }>;
    insert: Statement<{ id: string; project: string; name: string; text: string; folder: string; tags: readonly (string | null)[] }, { id: string; name: string; text: string; folder: string; tags: string[]; createdAt: Date; updatedAt: Date; version: number }>;
    listPage: Statement<{ project: string; id: string; q: string; folder: string; tag: string; limit: number | string }, { id: string; name: string; text: string; folder: string; tags: string[]; createdAt: Date; updatedAt: Date; version: number }>;
    remove: Statement<{ project: string; id: string; versions: readonly (number | null)[] }, { id: string }>;
    update: Statement<{ name: string; text: string; setsFolder: boolean; folder: string; tags: readonly (string | null)[]; project: string; id: string; versions: readonly (number | null)[] }, { id: string }>;
  };
  "tickets/close-ticket": {
    dropBeforeClosing: Statement<{ homeProject: string; id: string }, object>;
    findMessages: Statement<{ homeProject: string; id: string }, { id: string; state: string }>;
    insertDrafts: Statement<{ homeProject: string; id: string }, object>;
    keepBeforeClosing: Statement<{ homeProject: string; id: string }, object>;
    readClosedState: Statement<{ homeProject: string; id: string }, { before: unknown }>;
    restoreClosed: Statement<{ homeProject: string; id: readonly (string | null)[] }, object>;
  };
  "tickets/drafts": {
    addDraft: Statement<{ project: string; ticketId: string }, { text: string; markdown: boolean; sources: unknown; confidence: number; why: string }>;
    insert: Statement<{ ticketId: string; project: string; text: string; markdown: boolean; sources: object | string; confidence: number; why: string; messageId: string }, object>;
    replace: Statement<{ text: string; markdown: boolean; sources: object | string; confidence: number; why: string; messageId: string; project: string; ticketId: string }, object>;
  };
  "tickets/insert-review-event": {
    insertReviewEvent: Statement<{ ticketId: string; project: string; messageId: string; actor: string; moves: object | string; data: object | string; answerStep: string; answerConfidence: number; answerAgentId: string }, object>;
  };
  "tickets/issues": {
    applyRoute: Statement<{ project: string; priority: string; home: string; ticketId: string }, object>;
    find: Statement<{ home: string; ticketId: string }, { projectId: string; projectName: string; agentId: string; confidence: number; stage: string; why: string }>;
    findResolutions: Statement<{ home: string; ticketId: string }, { isResolved: boolean; count: number }>;
    isFirst: Statement<{ home: string; ticketId: string; seq: number | string }, object>;
    isRouted: Statement<{ home: string; ticketId: string }, object>;
    listBriefs: Statement<{ project: string; ticketIds: readonly (string | null)[] }, { id: string; subject: string; status: string; stage: string }>;
    listComparable: Statement<{ project: string; anyTwo: string; ticketId: string }, { id: string; subject: string; text: string }>;
    lockRoute: Statement<{ project: string }, object>;
  };
  "tickets/lock-review-state": {
    findDrafts: Statement<{ home: string; ticketId: string }, { text: string; markdown: boolean; sources: unknown; covers: string[] }>;
    findMessages: Statement<{ home: string; ticketId: string }, { id: string; state: string }>;
    findMessages2: Statement<{ home: string; ticketId: string }, { workedOn: string; received: string }>;
    findReplies: Statement<{ home: string; ticketId: string }, object>;
    findReviews: Statement<{ home: string; ticketId: string }, { kind: string; author: string; text: string; markdown: boolean; sources: unknown; fileIds: string[]; answersMessageId: string; covers: string[]; isFailed: boolean }>;
    findTicketEvents: Statement<{ promise: object | string; home: string; ticketId: string }, { isOpen: boolean }>;
    lockChats: Statement<{ home: string; ticketId: string }, { reviewId: string; isLeased: boolean }>;
    lockReviewState: Statement<{ project: string; ticketId: string }, { homeProjectId: string }>;
    lockTickets: Statement<{ project: string; ticketId: string }, { id: string; homeProjectId: string; projectId: string; channelId: string; chatId: string; subject: string; status: string; stage: string; assignee: string; agentId: string; language: string; version: number }>;
  };
  "tickets/operator-files": {
    dropOperatorFiles: Statement<{ home: string; ticketId: string; ids: readonly (string | null)[] }, object>;
    freeOperatorFiles: Statement<{ home: string; ticketId: string; ids: readonly (string | null)[] }, object>;
    insert: Statement<{ id: string; home: string; ticketId: string; filename: string; mime: string; content: Uint8Array }, { id: string }>;
    read: Statement<{ ids: readonly (string | null)[]; home: string; ticketId: string }, { filename: string; mime: string; content: Buffer }>;
    sweep: Statement<object, object>;
    takeOperatorFiles: Statement<{ home: string; ticketId: string; ids: readonly (string | null)[] }, object>;
  };
  "tickets/operator-replies": {
    findTickets: Statement<{ project: string; ticketIds: readonly (string | null)[] }, { id: string }>;
    list: Statement<{ project: string; ticketIds: readonly (string | null)[]; agentId: string; from: Date | string; to: Date | string; limit: number | string }, { homeProjectId: string; ticketId: string; messageId: string; firstSeq: number; questions: string[]; language: string; author: string; text: string; createdAt: Date; decision: string }>;
  };
  "tickets/review-messages": {
    findWebhookMessage: Statement<{ project: string; messageIds: readonly (string | null)[] }, { id: string }>;
    noteNews: Statement<{ project: string; messageIds: readonly (string | null)[]; forgetsFailure: boolean }, object>;
    receiveAgain: Statement<{ project: string; messageIds: readonly (string | null)[] }, object>;
  };
  "tickets/reviews": {
    claim: Statement<{ ticketId: string; project: string; isExclusive: boolean; leaseId: string; processId: string }, { id: string; ticketId: string; kind: string; actor: string; author: string; text: string; markdown: boolean; sources: unknown; fileIds: string[]; answersMessageId: string; covers: string[]; attempts: number; channelId: string; chatId: string; crashes: number; lapses: number; messageId: string; seq: number; userId: string; messageText: string; channelMeta: unknown; mode: string }>;
    decide: Statement<object, object>;
    deleteDrafts: Statement<{ project: string; ticketId: string }, object>;
    due: Statement<{ limit: number | string }, { id: string; projectId: string; ticketId: string; attempts: number }>;
    endLease: Statement<{ replyCount: number | string; project: string; ticketId: string; leaseId: string; reviewId: string }, { lastSeq: number }>;
    endReview: Statement<{ failure: string; attempts: number; project: string; reviewId: string }, object>;
    findMessages: Statement<{ project: string; ticketId: string; messageId: string }, object>;
    findRest: Statement<{ project: string; ticketId: string }, { stage: string; isHeld: boolean; isFailed: boolean }>;
    finishDraft: Statement<{ ticketId: string; project: string; text: string; markdown: boolean; sources: object | string; confidence: number; why: string; covers: readonly (string | null)[] }, object>;
    finishSend: Statement<{ project: string; answered: readonly (string | null)[] }, object>;
    giveUp: Statement<{ project: string; covers: readonly (string | null)[] }, object>;
    insertOutboxes: Statement<{ ticketId: string; project: string; pushingChannels: readonly (string | null)[] }, object>;
    insertReplies: Statement<{ id: string; project: string; ticketId: string; seq: number | string; answers: string; author: string; type: string; text: string; markdown: boolean; sources: object | string; filename: string; mime: string; content: Uint8Array }, object>;
    listEarlier: Statement<{ project: string; ticketId: string; covers: readonly (string | null)[]; answers: string }, { id: string; seq: number; userId: string; messageText: string; channelMeta: unknown; mode: string }>;
    lockChats: Statement<{ project: string; ticketId: string }, object>;
    moveTicket: Statement<{ stage: string; status: string; isReplied: boolean; project: string; ticketId: string }, object>;
    oldestWaitingMs: Statement<object, { age: number }>;
    retryLater: Statement<{ project: string; ticketId: string; leaseId: string; delayMs: number; failure: string; counted: number; reviewId: string }, object>;
    reviveUnopened: Statement<object, object>;
    updateTickets: Statement<{ agentId: string; confidence: number; language: string; project: string; ticketId: string }, object>;
  };
  "tickets/ticket-changes": {
    findNewest: Statement<object, { id: number }>;
    listAfter: Statement<{ id: number | string; known: readonly (number | string | null)[]; limit: number | string }, { id: number; ticketId: string; projectId: string; version: number; status: string; stage: string; assignee: string; actor: string; formerProjectId: string; stages: string[]; mentions: string[] }>;
    listMentions: Statement<{ projects: readonly (string | null)[]; operatorId: string; limit: number | string }, { id: number; ticketId: string; projectId: string; subject: string; at: Date; actor: string; author: string; text: string }>;
  };
  "tickets/ticket-details": {
    findDraft: Statement<{ home: string; ticketId: string }, { text: string; markdown: boolean; sources: unknown; confidence: number; why: string; covers: string[]; createdAt: Date; isStale: boolean }>;
    findOpened: Statement<{ project: string; ticketId: string }, { id: string; homeProjectId: string; homeProjectName: string; projectId: string; channelId: string; chatId: string; userId: string; subject: string; status: string; stage: string; priority: string; assignee: string; agentId: string; confidence: number; language: string; tags: string[]; channelMeta: unknown; version: number; createdAt: Date; updatedAt: Date; firstReplyAt: Date; resolvedAt: Date }>;
    findReceived: Statement<{ project: string; ticketId: string }, { id: string; projectId: string; projectName: string; channelId: string; chatId: string; createdAt: Date; updatedAt: Date; userId: string; subject: string; metas: unknown[] }>;
    listEvents: Statement<{ home: string; ticketId: string; before: number | string }, { place: number; id: number; at: Date; actor: string; messageId: string; moves: unknown; data: unknown; bytes: number; totalBytes: number; number: number; found: number }>;
    listMessages: Statement<{ home: string; ticketId: string; before: number | string }, { place: number; id: string; seq: number; userId: string; text: string; timestampMs: number; attachments: unknown; channelMeta: unknown; mode: string; state: string; attempts: number; failure: string; createdAt: Date; finishedAt: Date; bytes: number; totalBytes: number; number: number; found: number }>;
    listProjects: Statement<{ home: string; ticketId: string }, { id: number; projectId: string }>;
    listReplies: Statement<{ home: string; ticketId: string; before: number | string }, { place: number; id: string; seq: number; inReplyTo: string; author: string; type: string; text: string; markdown: boolean; sources: unknown; filename: string; mime: string; sizeBytes: number; createdAt: Date; deliveredAt: Date; bytes: number; totalBytes: number; number: number; found: number }>;
    read: Statement<object, object>;
    update: Statement<{ subject: string; priority: string; tags: readonly (string | null)[]; project: string; ticketId: string; versions: readonly (number | null)[]; actor: string; data: object | string }, { id: string; homeProjectId: string; homeProjectName: string; projectId: string; channelId: string; chatId: string; userId: string; subject: string; status: string; stage: string; priority: string; assignee: string; agentId: string; confidence: number; language: string; tags: string[]; channelMeta: unknown; version: number; createdAt: Date; updatedAt: Date; firstReplyAt: Date; resolvedAt: Date }>;
  };
  "tickets/ticket-index": {
    findChanged: Statement<{ settledId: number | string }, { ticketId: string }>;
    follow: Statement<{ ids: readonly (string | null)[] }, object>;
    hold: Statement<object, { settledId: number; reachedId: number; topId: number; topXmax: string; isReachedSettled: boolean }>;
    isBehind: Statement<object, { isBehind: boolean }>;
    queueTexts: Statement<{ id: readonly (string | null)[] }, object>;
    updateTicketIndex: Statement<{ topId: number | string; topXmax: string }, object>;
  };
  "tickets/ticket-list": {
    listFresh: Statement<object, { ticketId: string }>;
    listMatches: Statement<{ text: string; project: string }, { ticketId: string }>;
  };
  "tickets/ticket-texts": {
    indexNext: Statement<object, { isEmpty: boolean; isComplete: boolean }>;
    queueAgain: Statement<{ unfinished: readonly (string | null)[] }, object>;
    queueWithoutCustomer: Statement<object, object>;
    read: Statement<{ ticketIds: readonly (string | null)[] }, { ticketId: string; subject: string; userId: string; channelMeta: unknown; createdUs: number; seq: number; lexemes: string[] }>;
    readSaid: Statement<{ ticketId: readonly (string | null)[]; seq: readonly (number | string | null)[] }, { ticketId: string; seq: number; text: string }>;
    take: Statement<object, { ticketId: string }>;
    write: Statement<{ ticketId: readonly (string | null)[]; lexemes: readonly (object | string | null)[]; subject: readonly (string | null)[]; seq: readonly (number | string | null)[]; createdUs: readonly (number | string | null)[] }, object>;
  };
  "tickets/tickets": {
    find: Statement<{ project: string; ticketId: string }, { id: string; homeProjectId: string; projectId: string; channelId: string; chatId: string; subject: string; status: string; stage: string; assignee: string; agentId: string; language: string; version: number }>;
    finish: Statement<{ projectId: readonly (string | null)[]; ticketId: readonly (string | null)[]; messageId: readonly (string | null)[]; leaseId: readonly (string | null)[]; state: readonly (string | null)[]; failure: readonly (string | null)[]; stage: readonly (string | null)[]; status: readonly (string | null)[]; agentId: readonly (string | null)[]; confidence: readonly (number | null)[]; language: readonly (string | null)[]; moves: readonly (object | string | null)[]; trace: readonly (object | string | null)[]; replyCount: readonly (number | null)[]; isFirstReply: readonly (boolean | null)[]; answerStep: readonly (string | null)[]; id: readonly (string | null)[]; leaseId2: readonly (string | null)[]; place: readonly (number | null)[]; author: readonly (string | null)[]; type: readonly (string | null)[]; text: readonly (string | null)[]; markdown: readonly (boolean | null)[]; sources: readonly (object | string | null)[]; filename: readonly (string | null)[]; mime: readonly (string | null)[]; content: readonly (Uint8Array | null)[] }, { leaseId: string; lastSeq: number; seq: number }>;
    listMoves: Statement<{ project: string; ticketId: string }, { moves: unknown }>;
    open: Statement<{ id: readonly (string | null)[]; projectId: readonly (string | null)[]; channelId: readonly (string | null)[]; chatId: readonly (string | null)[]; userId: readonly (string | null)[]; subject: readonly (string | null)[]; channelMeta: readonly (object | string | null)[]; leaseId: readonly (string | null)[] }, { id: string; homeProjectId: string; projectId: string; channelId: string; chatId: string; subject: string; status: string; stage: string; assignee: string; agentId: string; language: string; version: number }>;
  };
  "tickets/tool-calls": {
    begin: Statement<{ home: string; ticketId: string; leaseId: string }, object>;
    beginAgain: Statement<{ project: string; id: string }, object>;
    decideToolCall: Statement<{ state: string; actor: string; project: string; id: string }, { id: string }>;
    drop: Statement<{ result: string; project: string; id: string }, object>;
    find: Statement<{ project: string; id: string }, { id: string; projectId: string; ticketId: string; messageId: string; agentId: string; tool: string; mark: string; access: string; arguments: unknown; state: string; result: string; durationMs: number; createdAt: Date; finishedAt: Date; decidedBy: string; decidedAt: Date }>;
    findToolCalls: Statement<{ project: string; ticketId: string; key: string; occurrence: number; messageId: string }, { id: string; projectId: string; ticketId: string; messageId: string; agentId: string; tool: string; mark: string; access: string; arguments: unknown; state: string; result: string; durationMs: number; createdAt: Date; finishedAt: Date; decidedBy: string; decidedAt: Date }>;
    finish: Statement<{ state: string; result: string; durationMs: number; project: string; id: string }, object>;
    giveUp: Statement<{ result: string; project: string; id: string }, object>;
    insertToolCalls: Statement<{ id: string; project: string; ticketId: string; messageId: string; agentId: string; tool: string; mark: string; access: string; key: string; occurrence: number; arguments: object | string; state: string }, { id: string; projectId: string; ticketId: string; messageId: string; agentId: string; tool: string; mark: string; access: string; arguments: unknown; state: string; result: string; durationMs: number; createdAt: Date; finishedAt: Date; decidedBy: string; decidedAt: Date }>;
    listApproved: Statement<{ project: string; ticketId: string }, { id: string; projectId: string; ticketId: string; messageId: string; agentId: string; tool: string; mark: string; access: string; arguments: unknown; state: string; result: string; durationMs: number; createdAt: Date; finishedAt: Date; decidedBy: string; decidedAt: Date }>;
    listKnown: Statement<{ project: string; ticketId: string }, { id: string; projectId: string; ticketId: string; messageId: string; agentId: string; tool: string; mark: string; access: string; arguments: unknown; state: string; result: string; durationMs: number; createdAt: Date; finishedAt: Date; decidedBy: string; decidedAt: Date }>;
    listOfTicket: Statement<{ ticketId: string; project: string }, { id: string; projectId: string; ticketId: string; messageId: string; agentId: string; tool: string; mark: string; access: string; arguments: unknown; state: string; result: string; durationMs: number; createdAt: Date; finishedAt: Date; decidedBy: string; decidedAt: Date }>;
    takeApproved: Statement<{ project: string; id: string }, { id: string }>;
    updateToolCalls: Statement<{ messageId: string; project: string; id: string }, object>;
  };
  "tickets/triage-messages": {
    deleteTriageMessages: Statement<{ project: string }, object>;
    findMark: Statement<{ project: string }, { mark: string }>;
    list: Statement<{ project: string }, { agentId: string; text: string }>;
    note: Statement<{ project: string; messageId: string; ticketId: string; agentId: string; text: string }, object>;
  };
}
