import { z } from "zod";
import { countChars, isMalformedText, textUpTo, wellFormedString, withoutBidiControls } from "./well-formed.ts";
import { parseUrl } from "./parse-url.ts";

/** Bounds of knowledge bases and of what is put into them. */
export const KB_LIMITS = {
  /** UTF-16 units of a name. */
  nameMaxChars: 200,
  /** Bytes in UTF-8 of a document's key and title, characters of its URL (percent-encoded) and of a file's name. */
  keyMaxBytes: 2_000,
  titleMaxBytes: 4_000,
  urlMaxChars: 2_000,
  fileNameMaxChars: 255,
  /** Bytes of one file, and of all files of a request together. */
  fileMaxBytes: 50 * 1024 * 1024,
  /** Files of one request. */
  filesMaxCount: 20,
  /** Bytes of a body of JSON that carries a text. */
  jsonMaxBytes: 15 * 1024 * 1024,
  /** Pages that are read of one sitemap, at most and where nothing is said. */
  pagesMaxCount: 10_000,
  pagesDefaultCount: 1_000,
  /** What of one project may wait to be read: bytes, and documents. */
  queuedMaxBytes: 1024 * 1024 * 1024,
  queuedMaxCount: 20_000,
  /** Passages of one search, at most and where nothing is said. */
  hitsMaxCount: 50,
  hitsDefaultCount: 5,
  /** Of a search in several knowledge bases: how many, and characters of the query. */
  searchedMaxCount: 100,
  queryMaxChars: 50_000,
  /** Times that a document is tried when it fails for what is no fault of its own. */
  maxAttempts: 5,
} as const;

/** What a text that is sent as JSON may be. */
export const TEXT_MIMES = ["text/markdown", "text/plain", "text/html", "text/csv"] as const;

/** Name of a knowledge base, unique in its project. */
export const kbNameSchema = z
  .string()
  .overwrite(withoutBidiControls)
  .refine((name) => name.trim() !== "" && name.length <= KB_LIMITS.nameMaxChars && !isMalformedText(name), {
    error: `1 to ${KB_LIMITS.nameMaxChars} characters, not only white space`,
    params: { code: "invalid_name" },
  })
  .meta({ minLength: 1, maxLength: KB_LIMITS.nameMaxChars, pattern: "\\S" });

/** Body of `POST /api/v1/admin/kb`. Unknown fields are faults. */
export const kbInputSchema = z.strictObject({ name: kbNameSchema });
export type KbInput = z.infer<typeof kbInputSchema>;

/** Body of `PATCH /api/v1/admin/kb/:id`. Unknown fields are faults. */
export const kbChangeSchema = z.strictObject({ name: kbNameSchema.optional() });
export type KbChange = z.infer<typeof kbChangeSchema>;

/** A knowledge base as the administration shows it. */
export const kbItemSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  project: z.string().describe("Name of its project."),
  documents: z.int().describe("Its documents, those that wait and those that failed included."),
  chunks: z.int().describe("Passages that a search can find."),
  queued: z.int().describe("Of its documents, those that wait to be read."),
  failed: z.int().describe("Of its documents, those that could not be read."),
  status: z.enum(["ready", "ingesting"]).describe("`ingesting` while anything waits to be read."),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  version: z.int(),
});
export type KbItem = z.infer<typeof kbItemSchema>;

export const documentStatusSchema = z.enum(["queued", "ready", "failed"]);

/** A document of a knowledge base as the administration shows it. */
export const documentItemSchema = z.object({
  id: z.uuid(),
  kbId: z.uuid(),
  key: z.string().describe("What its source calls it: the same key again replaces the document."),
  title: z.string(),
  url: z.string().nullable(),
  mime: z.string().describe("What was handed in, as in application/pdf."),
  bytes: z.int().describe("Size of what was handed in."),
  language: z.string().nullable().describe("ISO 639-1; null until it was read for the first time."),
  chunks: z
    .int()
    .describe(
      "Passages that a search can find now: while a new version waits or has failed, those of the version before.",
    ),
  status: documentStatusSchema,
  error: z
    .string()
    .nullable()
    .describe(
      "Why it could not be read, in words; while it waits, why the last try failed. Null when nothing went wrong.",
    ),
  updatedAt: z.iso.datetime(),
});
export type DocumentItem = z.infer<typeof documentItemSchema>;
export type DocumentItemStatus = DocumentItem["status"];

/** The reading of a sitemap as the administration shows it. */
export const importItemSchema = z.object({
  id: z.uuid(),
  kbId: z.uuid(),
  sitemap: z.string(),
  maxPages: z.int(),
  status: z
    .enum(["queued", "running", "ready", "failed"])
    .describe(
      "`queued` until the sitemap was read, `running` until all its pages were, `failed` when it could not be read.",
    ),
  found: z.int().nullable().describe("Pages to read; null until the sitemap was read."),
  done: z.int().describe("Pages that became documents."),
  failed: z.int().describe("Pages that could not be read."),
  skipped: z
    .int()
    .describe(
      "Pages that were deleted or handed in otherwise before they were read. Once it is `ready`, `found` is the sum of `done`, `failed` and `skipped`.",
    ),
  error: z.string().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type ImportItem = z.infer<typeof importItemSchema>;

const passageSchema = z.object({
  id: z.string(),
  headingPath: z.array(z.string()).describe("The headings that it stands under, the outermost first."),
  text: z.string(),
  page: z.int().nullable().describe("Of a PDF."),
});

/** A passage in its document: what a source of an answer stands in. */
export const passageItemSchema = z.object({
  id: z.string(),
  kbId: z.string(),
  documentId: z.string(),
  title: z.string(),
  url: z.string().nullable(),
  passages: z.array(passageSchema).describe("It and up to 20 before and after it, in their order."),
});
export type PassageItem = z.infer<typeof passageItemSchema>;

/** A passage that `GET /api/v1/admin/kb/:id/search` found. */
export const kbHitSchema = z.object({
  documentId: z.uuid(),
  chunkId: z.uuid(),
  title: z.string(),
  url: z.string().optional(),
  headingPath: z.array(z.string()).describe("The headings that it stands under, outermost first."),
  text: z.string().describe("As it stands in the document."),
  score: z.number(),
  page: z.int().optional().describe("From 1, of a document with pages."),
});
export type KbHit = z.infer<typeof kbHitSchema>;

/** A text that has characters to show, of so many bytes in UTF-8 at most. Controls of direction are removed. */
function lineSchema(maxBytes: number) {
  return wellFormedString
    .overwrite(withoutBidiControls)
    .refine((text) => text.trim() !== "", {
      error: "at least 1 character that is not white space",
      params: { code: "too_short" },
    })
    .refine((text) => Buffer.byteLength(text) <= maxBytes, {
      error: `at most ${maxBytes} bytes in UTF-8`,
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

/** URLs are keys of indexes, so what counts is their bytes, and those of the form in which they are fetched. */
function isShortUrl(text: string): boolean {
  const { urlMaxChars } = KB_LIMITS;
  return Buffer.byteLength(text) <= urlMaxChars && (parseUrl(text)?.href.length ?? 0) <= urlMaxChars;
}

/** A URL with a user name or password would show them to everybody who may see the document. */
function hasNoUser(text: string): boolean {
  const url = parseUrl(text);
  return url === null || (url.username === "" && url.password === "");
}

const webUrlSchema = wellFormedString
  .refine(isShortUrl, {
    error: `at most ${KB_LIMITS.urlMaxChars} characters, percent-encoded`,
    params: { code: "too_long" },
  })
  .refine(isWebUrl, { error: "must be an http or https URL", params: { code: "invalid_url" } })
  .refine(hasNoUser, { error: "must have no user name and no password", params: { code: "invalid_url" } })
  .meta({ format: "uri", maxLength: KB_LIMITS.urlMaxChars });

/** What a document is told besides its bytes: in the query of an upload, or in the fields of a form. */
export const fileFactsSchema = z.strictObject({
  name: lineSchema(KB_LIMITS.keyMaxBytes)
    .refine((name) => countChars(name) <= KB_LIMITS.fileNameMaxChars, {
      error: `at most ${KB_LIMITS.fileNameMaxChars} characters`,
      params: { code: "too_long" },
    })
    .optional()
    .describe("Its ending is a hint of what is in the file."),
  title: documentTitleSchema.optional(),
  url: webUrlSchema.optional(),
  key: documentKeySchema.optional(),
});
export type FileFacts = z.infer<typeof fileFactsSchema>;

/** The fields that each kind of document has, by the field that makes it one. */
const FIELDS_OF = {
  text: ["text", "title", "mime", "url", "key"],
  sitemap: ["sitemap", "maxPages"],
  url: ["url", "key", "title"],
} as const;

/**
 * Body of `POST /api/v1/admin/kb/:id/documents` as JSON: a text (`text`), a page to fetch (`url` without `text`), or all
 * pages of a sitemap (`sitemap`). Unknown fields are faults, and so are those of another kind.
 */
export const documentInputSchema = z
  .strictObject({
    text: z.string().meta({ maxLength: KB_LIMITS.jsonMaxBytes }).optional(),
    title: documentTitleSchema.optional(),
    mime: z
      .enum(TEXT_MIMES, { error: `one of ${TEXT_MIMES.join(", ")}` })
      .optional()
      .describe("Of the text; `text/markdown` where absent."),
    url: webUrlSchema.optional().describe("Where people can read the text; without a text, the page to fetch."),
    key: documentKeySchema.optional(),
    sitemap: webUrlSchema.optional(),
    maxPages: z
      .int()
      .min(1, { error: `a whole number from 1 to ${KB_LIMITS.pagesMaxCount}` })
      .max(KB_LIMITS.pagesMaxCount, { error: `a whole number from 1 to ${KB_LIMITS.pagesMaxCount}` })
      .optional(),
  })
  .check((context) => {
    const given = context.value;
    const kind = (["text", "sitemap", "url"] as const).find((name) => given[name] !== undefined);
    const fault = (path: string[], message: string, code: string) =>
      context.issues.push({ code: "custom", message, input: given, path, params: { code } });
    if (kind === undefined) {
      fault([], "needs a text, a url to fetch, or a sitemap", "required");
      return;
    }
    const allowed: readonly string[] = FIELDS_OF[kind];
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined && !allowed.includes(name)) fault([name], `does not go with ${kind}`, "not_allowed");
    }
  });
export type DocumentRequest = z.infer<typeof documentInputSchema>;

/** Query of `GET /api/v1/admin/kb/:id/search`. */
export const kbSearchSchema = z.object({
  q: z
    .string({ error: "is required, once" })
    .refine((text) => text.trim() !== "", { error: "is required", params: { code: "required" } }),
  limit: z
    .int({ error: `a whole number from 1 to ${KB_LIMITS.hitsMaxCount}` })
    .min(1, { error: `a whole number from 1 to ${KB_LIMITS.hitsMaxCount}` })
    .max(KB_LIMITS.hitsMaxCount, { error: `a whole number from 1 to ${KB_LIMITS.hitsMaxCount}` })
    .default(KB_LIMITS.hitsDefaultCount),
});
/** What is asked of a search in several knowledge bases of a project, or in all of them. Unknown fields are faults. */
export const kbsSearchSchema = z.strictObject({
  query: textUpTo(KB_LIMITS.queryMaxChars)
    .refine((text) => text.trim() !== "", {
      error: "at least 1 character that is not white space",
      params: { code: "too_short" },
    })
    .describe("What is looked for, in the words of whoever asks. Any language; no query syntax."),
  kbIds: z
    .array(z.string())
    .min(1, { error: "at least 1 knowledge base; leave it out to search all" })
    .max(KB_LIMITS.searchedMaxCount, { error: `at most ${KB_LIMITS.searchedMaxCount} knowledge bases` })
    .optional()
    .describe("Ids of the knowledge bases to search; all of the project where absent."),
  limit: kbSearchSchema.shape.limit.describe("How many passages at most."),
});
export type KbsSearchInput = z.input<typeof kbsSearchSchema>;

/** What is asked of a search. */
export interface KbSearchInput {
  /** Not empty; of any length. */
  q: string;
  /** 1 to 50; 5 where absent. */
  limit?: number | undefined;
}
