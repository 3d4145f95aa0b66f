import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { DocumentItem, DocumentItemStatus, ImportItem, KbHit, KbItem } from "@svc/contracts";
import type { Connection } from "./connection.ts";

/** As many as the server gives at once. */
const LIMIT = 200;
const PAGE_LIMIT = 50;
/** 50 MB at 1 Mbit/s take seven minutes. */
const UPLOAD_TIMEOUT_MS = 15 * 60_000;
/** While something is read, it is asked for how far it is. */
const READING_MS = 1_000;
const RESTING_MS = 10_000;

/** The knowledge bases of a project, followed while anything in them is being read. */
export const kbsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["kbs", project],
    queryFn: async ({ signal }): Promise<KbItem[]> =>
      (await connection.call("listKbs", project, { query: { limit: LIMIT }, signal })).items,
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "ingesting") === true ? READING_MS : RESTING_MS,
  });

/** What narrows the documents of a knowledge base down. */
export interface DocumentFilter {
  q: string;
  status: DocumentItemStatus | null;
}

/** The documents of a knowledge base, newest first, page by page; followed while any that is shown waits. */
export const documentsQuery = (
  connection: Connection,
  { project, kbId, q, status }: DocumentFilter & { project: string; kbId: string },
) =>
  infiniteQueryOptions({
    queryKey: ["documents", project, kbId, q, status],
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor,
    queryFn: ({ signal, pageParam }) =>
      connection.call("listDocuments", project, {
        params: { id: kbId },
        query: {
          limit: PAGE_LIMIT,
          ...(q === "" ? {} : { q }),
          ...(status === null ? {} : { status }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ items }) => items.some((item) => item.status === "queued")) === true
        ? READING_MS
        : false,
  });

/** The sitemaps that a knowledge base was filled from, newest first. */
export const importsQuery = (connection: Connection, { project, kbId }: { project: string; kbId: string }) =>
  queryOptions({
    queryKey: ["imports", project, kbId],
    queryFn: async ({ signal }): Promise<ImportItem[]> =>
      (await connection.call("listImports", project, { params: { id: kbId }, signal })).items,
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "queued" || status === "running") === true ? READING_MS : false,
  });

/** What a search in a knowledge base finds, best first. */
export const searchQuery = (
  connection: Connection,
  { project, kbId, q, limit }: { project: string; kbId: string; q: string; limit: number },
) =>
  queryOptions({
    queryKey: ["kb-search", project, kbId, q, limit],
    staleTime: 0,
    queryFn: async ({ signal }): Promise<KbHit[]> =>
      (await connection.call("searchKb", project, { params: { id: kbId }, query: { q, limit }, signal })).items,
  });

/** Puts one file into a knowledge base. */
export async function uploadFile(
  connection: Connection,
  { project, kbId, signal }: { project: string; kbId: string; signal: AbortSignal },
  file: File,
): Promise<DocumentItem> {
  const form = new FormData();
  form.append("file", file, file.name);
  const path = `/api/v1/admin/kb/${encodeURIComponent(kbId)}/documents`;
  const answer = await connection.send("POST", path, { project, form, signal, timeoutMs: UPLOAD_TIMEOUT_MS });
  // One file is answered as one document.
  return (answer as { item: DocumentItem }).item;
}

/** What a document is made of besides files: a text, a page to fetch, or all pages of a sitemap. */
export type DocumentSource = { text: string; title: string } | { url: string } | { sitemap: string; maxPages?: number };

/** Puts a document, or the pages of a sitemap, into a knowledge base. */
export async function addDocument(
  connection: Connection,
  { project, kbId }: { project: string; kbId: string },
  source: DocumentSource,
): Promise<void> {
  await connection.call("addDocuments", project, { params: { id: kbId }, body: source });
}

/** The knowledge base that comes with the service: its own guide. */
export const GUIDE_KB = "guide";

/** The knowledge base that was made for one's own documents; undefined where there is none yet. */
export const ownKb = (kbs: readonly KbItem[]): KbItem | undefined =>
  kbs.find(({ documents, name }) => name !== GUIDE_KB && documents > 0) ?? kbs.find(({ name }) => name !== GUIDE_KB);
