export { addDocument } from "./add-document.ts";
export type { AddedDocument } from "./add-document.ts";
export { DOCUMENT_MAX_BYTES } from "./check-document.ts";
export type { DocumentInput } from "./check-document.ts";
export { chunkDocument } from "./chunk-document.ts";
export type { Chunk, ChunkedDocument } from "./chunk-document.ts";
export { ensureKb } from "./ensure-kb.ts";
export { searchKnowledge } from "./search-knowledge.ts";
export type { SearchHit, SearchResult } from "./search-knowledge.ts";
