import { z } from "zod";
import { countChars, isMalformedText, parseUrl, textUpTo, wellFormedString, withoutBidiControls } from "./limits.ts";

/** Limits of knowledge bases and their documents. */
export const KB_LIMITS = {
  /** Maximum UTF-16 code units of a name. */
  nameMaxChars: 200,
  /**
   * Maximum bytes (UTF-8) of a document's key and title, and characters of its URL (percent-encoded) and of a file
   * name.
   */
  keyMaxBytes: 2_000,
  titleMaxBytes: 4_000,
  urlMaxChars: 2_000,
  fileNameMaxChars: 255,
  /** Maximum bytes of one file, and of all files of a request. */
  fileMaxBytes: 50 * 1024 * 1024,
  /** Maximum number of files per request. */
  filesMaxCount: 20,
  /** Maximum bytes of a JSON body that contains a text. */
  jsonMaxBytes: 15 * 1024 * 1024,
  /** Maximum and default number of pages read from a website. */
  pagesMaxCount: 10_000,
  pagesDefaultCount: 1_000,
  /** Maximum bytes and documents of a project that can wait to be processed. */
  queuedMaxBytes: 1024 * 1024 * 1024,
  queuedMaxCount: 20_000,
  /** Maximum and default number of passages of a search. */
  hitsMaxCount: 50,
  hitsDefaultCount: 5,
  /** Maximum number of knowledge bases of one search, and characters of its query. */
  searchedMaxCount: 100,
  queryMaxChars: 50_000,
  /** Number of attempts to process a document that fails for reasons outside of it. */
  maxAttempts: 5,
} as const;

/** Allowed media types of a text sent as JSON. */
export const TEXT_MIMES = ["text/markdown", "text/plain", "text/html", "text/csv"] as const;

/** Name of a knowledge base, unique in its project. */
export const kbNameSchema = z
  .string()
  .overwrite(withoutBidiControls)
  .refine((name) => name.trim() !== "" && name.length <= KB_LIMITS.nameMaxChars && !isMalformedText(name), {
    error: `must have 1 to ${KB_LIMITS.nameMaxChars} characters, not only whitespace`,
    params: { code: "invalid_name" },
  })
  .meta({ minLength: 1, maxLength: KB_LIMITS.nameMaxChars, pattern: "\\S" });

/** Body of `POST /api/v1/admin/kb`. Unknown fields are rejected. */
export const kbInputSchema = z.strictObject({ name: kbNameSchema });

/** Body of `PATCH /api/v1/admin/kb/:id`. Unknown fields are rejected. */
export const kbChangeSchema = z.strictObject({ name: kbNameSchema.optional() });

/** A knowledge base as shown to administrators. */
export const kbItemSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  project: z.string().describe("Name of its project."),
  documents: z.int().describe("Number of documents, including waiting and failed ones."),
  chunks: z.int().describe("Number of searchable passages."),
  queued: z.int().describe("Number of documents waiting to be processed."),
  failed: z.int().describe("Number of documents that could not be processed."),
  status: z.enum(["ready", "ingesting"]).describe("`ingesting` while documents are waiting to be processed."),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  version: z.int(),
});
export type KbItem = z.infer<typeof kbItemSchema>;

export const documentStatusSchema = z.enum(["queued", "ready", "failed"]);

/** A document of a knowledge base as shown to administrators. */
export const documentItemSchema = z.object({
  id: z.uuid(),
  kbId: z.uuid(),
  key: z.string().describe("Key of the document in its source. Adding a document with the same key replaces it."),
  title: z.string(),
  url: z.string().nullable(),
  mime: z.string().describe("Media type of the source, as in application/pdf."),
  bytes: z.int().describe("Size of the source."),
  language: z.string().nullable().describe("ISO 639-1. Null until the document is processed for the first time."),
  chunks: z
    .int()
    .describe(
      "Number of searchable passages. While a new version is waiting or has failed, those of the previous version.",
    ),
  status: documentStatusSchema,
  error: z
    .string()
    .nullable()
    .describe(
      "Why the document could not be processed; while it is waiting, why the last attempt failed. Null without an error.",
    ),
  updatedAt: z.iso.datetime(),
});
export type DocumentItem = z.infer<typeof documentItemSchema>;
export type DocumentItemStatus = DocumentItem["status"];

/** An import of a website as shown to administrators. */
export const importItemSchema = z.object({
  id: z.uuid(),
  kbId: z.uuid(),
  sitemap: z.string().describe("URL of the website or of its sitemap."),
  maxPages: z.int(),
  status: z
    .enum(["queued", "running", "ready", "failed"])
    .describe(
      "`queued` until the pages of the site are found, `running` until all of them are processed, `failed` if the site could not be read.",
    ),
  found: z.int().nullable().describe("Number of pages to process. Null until the pages are found."),
  done: z.int().describe("Number of pages that became documents."),
  failed: z.int().describe("Number of pages that could not be processed."),
  skipped: z
    .int()
    .describe(
      "Number of pages that were deleted or added separately before they were processed. When the import is `ready`, `found` is the sum of `done`, `failed` and `skipped`.",
    ),
  error: z
    .string()
    .nullable()
    .describe(
      "Why the site could not be read; while `queued`, why the last attempt failed. If pages were found: why others are missing.",
    ),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type ImportItem = z.infer<typeof importItemSchema>;

const passageSchema = z.object({
  id: z.string(),
  headingPath: z.array(z.string()).describe("Headings above the passage, outermost first."),
  text: z.string(),
  page: z.int().nullable().describe("Page number, for PDF."),
});

/** A passage in the context of its document, such as a source of an answer. */
export const passageItemSchema = z.object({
  id: z.string(),
  kbId: z.string(),
  documentId: z.string(),
  title: z.string(),
  url: z.string().nullable(),
  passages: z.array(passageSchema).describe("The passage and up to 20 before and after it, in order."),
});
export type PassageItem = z.infer<typeof passageItemSchema>;

/** A passage found by `GET /api/v1/admin/kb/:id/search`. */
export const kbHitSchema = z.object({
  documentId: z.uuid(),
  chunkId: z.uuid(),
  title: z.string(),
  url: z.string().optional(),
  headingPath: z.array(z.string()).describe("Headings above the passage, outermost first."),
  text: z.string().describe("Text of the passage, as in the document."),
  score: z.number(),
  page: z.int().optional().describe("Page number, starting at 1, for documents with pages."),
});
export type KbHit = z.infer<typeof kbHitSchema>;

/** A text with printable characters and a maximum number of UTF-8 bytes. Direction controls are removed. */
function lineSchema(maxBytes: number) {
  return wellFormedString
    .overwrite(withoutBidiControls)
    .refine((text) => text.trim() !== "", {
      error: "must not be empty or only whitespace",
      params: { code: "too_short" },
    })
    .refine((text) => Buffer.byteLength(text) <= maxBytes, {
      error: `must have at most ${maxBytes} bytes in UTF-8`,
      params: { code: "too_long" },
    })
    .meta({ minLength: 1, maxLength: maxBytes, pattern: "\\S" });
}

const documentKeySchema = lineSchema(KB_LIMITS.keyMaxBytes);
const documentTitleSchema = lineSchema(KB_LIMITS.titleMaxBytes);

function isWebUrl(text: string): boolean {
  const url = parseUrl(text);
  return url !== null && ["http:", "https:"].includes(url.protocol);
}

/** URLs are index keys, so the limit applies to the bytes of the form in which they are fetched. */
function isShortUrl(text: string): boolean {
  const { urlMaxChars } = KB_LIMITS;
  return Buffer.byteLength(text) <= urlMaxChars && (parseUrl(text)?.href.length ?? 0) <= urlMaxChars;
}

/** A URL with a user name or password would reveal them to everyone who can see the document. */
function hasNoUser(text: string): boolean {
  const url = parseUrl(text);
  return url === null || (url.username === "" && url.password === "");
}

const webUrlSchema = wellFormedString
  .refine(isShortUrl, {
    error: `must have at most ${KB_LIMITS.urlMaxChars} characters, percent-encoded`,
    params: { code: "too_long" },
  })
  .refine(isWebUrl, { error: "must be an http or https URL", params: { code: "invalid_url" } })
  .refine(hasNoUser, { error: "must not contain a user name or password", params: { code: "invalid_url" } })
  .meta({ format: "uri", maxLength: KB_LIMITS.urlMaxChars });

/** Metadata of an uploaded document: in the query of an upload, or in form fields. */
export const fileFactsSchema = z.strictObject({
  name: lineSchema(KB_LIMITS.keyMaxBytes)
    .refine((name) => countChars(name) <= KB_LIMITS.fileNameMaxChars, {
      error: `must have at most ${KB_LIMITS.fileNameMaxChars} characters`,
      params: { code: "too_long" },
    })
    .optional()
    .describe("The extension is used to detect the file type."),
  title: documentTitleSchema.optional(),
  url: webUrlSchema.optional(),
  key: documentKeySchema.optional(),
});
export type FileFacts = z.infer<typeof fileFactsSchema>;

/** Fields allowed for each kind of document, by the field that identifies the kind. */
const FIELDS_OF = {
  text: ["text", "title", "mime", "url", "key"],
  sitemap: ["sitemap", "maxPages"],
  url: ["url", "key", "title"],
} as const;

/**
 * Body of `POST /api/v1/admin/kb/:id/documents` as JSON: a text (`text`), a page to fetch (`url` without `text`), or
 * all pages of a website (`sitemap`). Unknown fields, and fields of another kind, are rejected.
 */
export const documentInputSchema = z
  .strictObject({
    text: z.string().meta({ maxLength: KB_LIMITS.jsonMaxBytes }).optional(),
    title: documentTitleSchema.optional(),
    mime: z.enum(TEXT_MIMES).optional().describe("Media type of the text. Defaults to `text/markdown`."),
    url: webUrlSchema.optional().describe("Where people can read the text. Without a text, the page to fetch."),
    key: documentKeySchema.optional(),
    sitemap: webUrlSchema
      .optional()
      .describe("A sitemap, or a page of a website. Without a sitemap, links are followed from the page."),
    maxPages: z
      .int()
      .min(1, { error: `must be an integer from 1 to ${KB_LIMITS.pagesMaxCount}` })
      .max(KB_LIMITS.pagesMaxCount, { error: `must be an integer from 1 to ${KB_LIMITS.pagesMaxCount}` })
      .optional(),
  })
  .check((context) => {
    const given = context.value;
    const kind = (["text", "sitemap", "url"] as const).find((name) => given[name] !== undefined);
    const error = (path: string[], message: string, code: string) =>
      context.issues.push({ code: "custom", message, input: given, path, params: { code } });
    if (kind === undefined) {
      error([], "must have a text, a url to fetch, or a sitemap", "required");
      return;
    }
    const allowed: readonly string[] = FIELDS_OF[kind];
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined && !allowed.includes(name))
        error([name], `cannot be combined with ${kind}`, "not_allowed");
    }
  });
export type DocumentRequest = z.infer<typeof documentInputSchema>;

/** Query of `GET /api/v1/admin/kb/:id/search`. */
export const kbSearchSchema = z.object({
  q: z
    .string({ error: "is required exactly once" })
    .refine((text) => text.trim() !== "", { error: "is required", params: { code: "required" } }),
  limit: z
    .int({ error: `must be an integer from 1 to ${KB_LIMITS.hitsMaxCount}` })
    .min(1, { error: `must be an integer from 1 to ${KB_LIMITS.hitsMaxCount}` })
    .max(KB_LIMITS.hitsMaxCount, { error: `must be an integer from 1 to ${KB_LIMITS.hitsMaxCount}` })
    .default(KB_LIMITS.hitsDefaultCount),
});
/** Input of a search in several or all knowledge bases of a project. Unknown fields are rejected. */
export const kbsSearchSchema = z.strictObject({
  query: textUpTo(KB_LIMITS.queryMaxChars)
    .refine((text) => text.trim() !== "", {
      error: "must not be empty or only whitespace",
      params: { code: "too_short" },
    })
    .describe("Search query in natural language. Any language; no query syntax."),
  kbIds: z
    .array(z.string())
    .min(1, { error: "must have at least 1 knowledge base; omit it to search all of them" })
    .max(KB_LIMITS.searchedMaxCount, { error: `must have at most ${KB_LIMITS.searchedMaxCount} knowledge bases` })
    .optional()
    .describe("IDs of the knowledge bases to search. Defaults to all knowledge bases of the project."),
  limit: kbSearchSchema.shape.limit.describe("Maximum number of passages."),
});
export type KbsSearchInput = z.input<typeof kbsSearchSchema>;
