import { z } from "zod";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { messageText } from "./limits.ts";

const IMAGE_MAX_BYTES = 2 * 1024 * 1024;
const IMAGE_MAX_CHARS = Math.ceil(IMAGE_MAX_BYTES / 3) * 4;

/** Limits of articles. Characters are Unicode code points. */
export const ARTICLE_LIMITS = {
  titleMaxChars: 300,
  textMaxChars: 100_000,
  /** Maximum bytes of the JSON body that contains a text: each character may be escaped. */
  bodyMaxBytes: 1024 * 1024,
  /** Number of stored versions, the newest ones and the published one. */
  versionsMaxCount: 100,
  /** Maximum bytes of an image, and number of images per article. */
  imageMaxBytes: IMAGE_MAX_BYTES,
  imagesMaxCount: 50,
} as const;

/** Status of the newest version of an article. */
export const articleStatusSchema = z.enum(["draft", "in_review", "published"]);
export type ArticleStatus = z.infer<typeof articleStatusSchema>;

/** An article as lists show it. */
export const articleSummarySchema = z.object({
  id: z.uuid(),
  kbId: z.uuid(),
  gapId: z.uuid().nullable().describe("The gap that it answers."),
  title: z.string(),
  status: articleStatusSchema.describe(
    "Of the newest version. While it is a draft or in review, agents keep searching the published version, if there is one.",
  ),
  revision: z.int().describe("Number of the newest version."),
  publishedRevision: z.int().nullable().describe("Number of the version that agents search. Null if there is none."),
  documentId: z.uuid().nullable().describe("The document of the published version."),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  updatedBy: z.string().describe("Who saved the newest version."),
  version: z.int(),
});
export type ArticleSummary = z.infer<typeof articleSummarySchema>;

/** An article with the text of its newest version. */
export const articleSchema = articleSummarySchema.extend({ text: z.string().describe("Markdown.") });
export type Article = z.infer<typeof articleSchema>;

/** A version of an article as lists show it. */
export const articleVersionSummarySchema = z.object({
  number: z.int(),
  title: z.string(),
  savedAt: z.iso.datetime(),
  savedBy: z.string(),
  restores: z.int().nullable().describe("Number of the version that it restores."),
});
export type ArticleVersionSummary = z.infer<typeof articleVersionSummarySchema>;

/** A version of an article. */
export const articleVersionSchema = articleVersionSummarySchema.extend({ text: z.string() });

/** Title of an article: one line of printable characters. */
export const articleTitleField = messageText(ARTICLE_LIMITS.titleMaxChars).refine((title) => !/[\r\n]/.test(title), {
  error: "must be a single line",
  params: { code: "invalid_title" },
});

/** Text of an article. */
export const articleTextField = messageText(ARTICLE_LIMITS.textMaxChars).describe(
  "Markdown. Refer to an uploaded image as `![description](images/{imageId})`.",
);

/** Body of `POST /api/v1/admin/articles`. Unknown fields are rejected. */
export const articleInputSchema = z.strictObject({
  kbId: z.uuid({ error: "must be the ID of a knowledge base" }),
  gapId: z.uuid({ error: "must be the ID of a gap" }).optional(),
  title: articleTitleField,
  text: articleTextField,
});
export type ArticleInput = z.infer<typeof articleInputSchema>;

/** Body of `PATCH /api/v1/admin/articles/:id`. Unknown fields are rejected. */
export const articleChangeSchema = z.strictObject({
  title: articleTitleField.optional(),
  text: articleTextField.optional(),
  status: z
    .enum(["draft", "in_review"])
    .optional()
    .describe(
      "`in_review` sends the newest version to review, `draft` takes it back; rejected if that version is published. A changed title or text is a draft by default.",
    ),
});

/** Body of `POST /api/v1/admin/articles/:id/restore`. Unknown fields are rejected. */
export const articleRestoreSchema = z.strictObject({
  number: z.int({ error: "must be the number of a version" }).min(1, { error: "must be the number of a version" }),
});

/** Body of `POST /api/v1/admin/articles/:id/images`. Unknown fields are rejected. */
export const articleImageInputSchema = z.strictObject({
  content: z
    .base64({ error: "must be the content of the image in base64" })
    .min(1, { error: "must be the content of the image in base64" })
    .max(IMAGE_MAX_CHARS, { error: "must be an image of at most 2 MB" }),
});

/** An uploaded image. */
export const articleImageSchema = z.object({
  imageId: z.uuid(),
  mime: z.string().describe("Detected from the content."),
  sizeBytes: z.int(),
});
export type ArticleImage = z.infer<typeof articleImageSchema>;

const route = routesAt("Articles", "/api/v1/admin/articles");

/** Articles: texts that operators write for a knowledge base, with versions and a review. */
export const articleEndpoints = {
  listArticles: {
    ...route("GET", "kb:read", "List articles, newest first"),
    description: "`q` searches the title.",
    query: listQuery.extend({
      status: z.string().optional().describe("Only articles with this status: `draft`, `in_review` or `published`."),
      gapId: z.string().optional().describe("Only articles that answer this gap."),
    }),
    answers: [listAnswer(articleSummarySchema)],
  },
  createArticle: {
    ...route("POST", "kb:write", "Create an article as a draft"),
    description: "Agents do not search it until it is published. A gap has one article per knowledge base.",
    body: { schema: articleInputSchema, maxBytes: ARTICLE_LIMITS.bodyMaxBytes },
    answers: [createdAnswer(articleSchema)],
    errors: ["storage_full", "storage_quota_exceeded"],
    example: {
      body: {
        kbId: "01890a5d-ac96-774b-bcce-b302099a8057",
        title: "Do you ship to Iceland?",
        text: "We ship to Iceland within ten days.",
      },
    },
  },
  getArticle: {
    ...route("GET /{id}", "kb:read", "Get an article"),
    answers: [itemAnswer(articleSchema)],
  },
  updateArticle: {
    ...route("PATCH /{id}", "kb:write", "Save a new version of an article, or send it to review"),
    description:
      "A changed title or text becomes a new version. The published version stays searchable until the new one is published. The newest 100 versions are stored.",
    body: { schema: articleChangeSchema, maxBytes: ARTICLE_LIMITS.bodyMaxBytes },
    ifMatch: true,
    answers: [itemAnswer(articleSchema)],
    errors: ["storage_full", "storage_quota_exceeded"],
    example: { body: { status: "in_review" } },
  },
  publishArticle: {
    ...route("POST /{id}/publish", "kb:write", "Publish the newest version of an article"),
    description:
      "The text replaces the article's document and is searchable within seconds. Images are left out; their descriptions are searchable. The gap of the article is marked as answered.",
    ifMatch: true,
    answers: [itemAnswer(articleSchema)],
    errors: ["payload_too_large", "rate_limited", "storage_full", "storage_quota_exceeded"],
  },
  deleteArticle: {
    ...route("DELETE /{id}", "kb:write", "Delete an article with its document, versions and images"),
    ifMatch: true,
    answers: [itemAnswer(articleSchema)],
  },
  listArticleVersions: {
    ...route("GET /{id}/versions", "kb:read", "List the versions of an article, newest first"),
    answers: [listAnswer(articleVersionSummarySchema)],
  },
  getArticleVersion: {
    ...route("GET /{id}/versions/{number}", "kb:read", "Get a version of an article"),
    params: z.object({ number: z.string().describe("Number of the version.") }),
    answers: [itemAnswer(articleVersionSchema)],
  },
  restoreArticleVersion: {
    ...route("POST /{id}/restore", "kb:write", "Restore a version of an article as a new draft"),
    body: { schema: articleRestoreSchema },
    ifMatch: true,
    answers: [itemAnswer(articleSchema)],
    errors: ["storage_full", "storage_quota_exceeded"],
    example: { body: { number: 1 } },
  },
  addArticleImage: {
    ...route("POST /{id}/images", "kb:write", "Upload an image for an article"),
    description:
      "PNG, JPEG, GIF or WebP with at most 2 MB, detected from the content. Refer to it in the text as `![description](images/{imageId})`.",
    body: { schema: articleImageInputSchema, maxBytes: IMAGE_MAX_CHARS + 1_000 },
    answers: [createdAnswer(articleImageSchema, "/api/v1/admin/articles/{id}/images/{imageId}")],
    errors: ["storage_full", "storage_quota_exceeded"],
    example: { body: { content: "R0lGODlhAQABAAAAACw=" } },
  },
  getArticleImage: {
    ...route("GET /{id}/images/{imageId}", "kb:read", "Download an image of an article"),
    description: "Always sent as a download with the media type application/octet-stream.",
    answers: [{ status: 200, when: "The content of the image.", schema: null, mediaType: "application/octet-stream" }],
  },
} as const satisfies Record<string, Endpoint>;
