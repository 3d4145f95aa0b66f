import { setTimeout as sleep } from "node:timers/promises";
import type { Principal } from "@svc/auth";
import { sniffMime } from "@svc/channel-manager";
import {
  ARTICLE_LIMITS,
  ServiceError,
  articleChangeSchema,
  articleImageInputSchema,
  articleInputSchema,
  articleRestoreSchema,
  articleStatusSchema,
  checkInput,
  invalidInput,
} from "@svc/contracts";
import type { Article, ArticleImage, ArticleVersionSummary } from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import { newId } from "@svc/store";
import type { ArticleFacts, ArticleVersionFacts, Store } from "@svc/store";
import { addDocuments } from "./documents.ts";
import type { IngestDeps } from "./documents.ts";
import { requireKb } from "./kbs.ts";
import { operation, readPage, staleVersion, objectReader, notInProject } from "./operation.ts";
import type { VersionedId } from "./operation.ts";

/** Returns an article as shown. */
const asItem = <Record extends ArticleFacts>({ createdAt, updatedAt, ...rest }: Record) => ({
  ...rest,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

const asVersion = ({ number, title, actor, restores, createdAt }: ArticleVersionFacts): ArticleVersionSummary => ({
  number,
  title,
  savedAt: createdAt.toISOString(),
  savedBy: actor,
  restores,
});

const readArticle = objectReader("article", ({ articles }) => articles.find);

async function readVersion(store: Store, principal: Principal, id: string, number: number) {
  const article = await readArticle(store, principal, id);
  const version = await store.articles.findVersion(principal.project, article.id, number);
  if (version === null) throw new ServiceError("not_found", "This article has no version with this number.");
  return { article, version };
}

/** Returns the key of an article's document. A gap has one article per knowledge base. */
export const keyOfArticle = (id: string, gapId: string | null): string =>
  gapId === null ? `article:${id}` : `gap:${gapId}`;

/** Lease duration of a publication, in milliseconds: longer than it takes. If its process crashes, the lease expires. */
const PUBLICATION_LEASE_MS = 30_000;
const PUBLICATION_ATTEMPTS = 100;
const PUBLICATION_PAUSE_MS = 100;

/**
 * Runs `work`, which publishes an article, exclusively: of two concurrent publications, the older text could otherwise
 * win. Waits up to ten seconds for the other one, then throws unavailable.
 */
export async function publishExclusively<Result>(
  { serviceLeases }: Pick<Store, "serviceLeases">,
  { kbId, key }: { kbId: string; key: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const [name, holder] = [`publication ${kbId} ${key}`, newId()];
  for (let attempt = 1; !(await serviceLeases.claim(name, holder, PUBLICATION_LEASE_MS)); attempt += 1) {
    if (attempt === PUBLICATION_ATTEMPTS) {
      throw new ServiceError("unavailable", "Somebody else is publishing this article. Try again in a minute.");
    }
    await sleep(PUBLICATION_PAUSE_MS);
  }
  try {
    return await work();
  } finally {
    await serviceLeases.release(name, holder);
  }
}

/** Returns a page of articles, newest first; `q` searches the title. */
export const listArticles = operation("listArticles", async ({ store }, principal, { status, gapId, ...input }) => {
  const known = articleStatusSchema.optional().safeParse(status);
  const found = known.success
    ? []
    : [{ pointer: "/status", code: "invalid_value", detail: "must be one of draft, in_review, published" }];
  if (gapId !== undefined && !isUuid(gapId)) {
    found.push({ pointer: "/gapId", code: "invalid_value", detail: "must be the ID of a gap" });
  }
  return readPage("articles", input, {
    read: (query) => store.articles.listPage(principal.project, { ...query, status: known.data, gapId }),
    asItem,
    found,
  });
});

/** Returns an article with its newest text. */
export const getArticle = operation("getArticle", async ({ store }, principal, id) =>
  asItem(await readArticle(store, principal, id)),
);

/**
 * Creates an article as a draft. Throws not_found for an unknown knowledge base, and invalid_request with every error
 * of the input, also if the gap has an article in this knowledge base.
 */
export const createArticle = operation(
  "createArticle",
  async ({ store }, principal, input) => {
    const { kbId, gapId = null, title, text } = checkInput(articleInputSchema, input, "The article");
    const { project, actor } = principal;
    await requireKb(store, principal, kbId);
    if (gapId !== null && (await store.gaps.find(project, gapId)) === null) {
      const detail = "is not the ID of a gap in this project";
      throw invalidInput([{ pointer: "/gapId", code: "not_found", detail }], "The article");
    }
    await store.storedBytes.checkRoom(project, "documents", Buffer.byteLength(text));
    const keyOf = (id: string) => keyOfArticle(id, gapId);
    const article = await store.articles.insert(project, { kbId, gapId, keyOf, title, text, actor });
    if (article !== null) return asItem(article);
    const detail = "has an article in this knowledge base";
    throw invalidInput([{ pointer: "/gapId", code: "taken", detail }], "The article");
  },
  { audit: "articles.create" },
);

interface Change {
  text: { title: string; text: string; restores?: number } | null;
  inReview: boolean;
}

/** Changes an article. Throws not_found, version_conflict and storage_full. */
async function change(
  store: Store,
  { project, actor }: Principal,
  target: VersionedId,
  { text, inReview }: Change,
): Promise<Article> {
  if (text !== null) await store.storedBytes.checkRoom(project, "documents", Buffer.byteLength(text.text));
  const saved = { text: text === null ? null : { ...text, actor }, inReview };
  const outcome = await store.articles.update(project, target, saved);
  if (outcome === null) throw notInProject("article");
  if (!outcome.changed) throw staleVersion("The article", outcome.article.version);
  return asItem(outcome.article);
}

/**
 * Saves a changed title or text as a new version, and sets whether the newest version is in review. Throws
 * version_conflict, and invalid_request if that version is published: only a changed title or text needs a review.
 */
export const updateArticle = operation(
  "updateArticle",
  async ({ store }, principal, { id, versions = null }, input) => {
    const { status, ...fields } = checkInput(articleChangeSchema, input, "The article");
    for (;;) {
      const { title, text, status: before, version } = await readArticle(store, principal, id);
      const next = { title: fields.title ?? title, text: fields.text ?? text };
      const isChanged = next.title !== title || next.text !== text;
      const isExpected = versions === null || versions.includes(version);
      if (isExpected && status !== undefined && before === "published" && !isChanged) {
        const detail = "cannot be set, because the newest version is published; change the title or text first";
        throw invalidInput([{ pointer: "/status", code: "not_allowed", detail }], "The article");
      }
      const inReview = status === undefined ? !isChanged && before === "in_review" : status === "in_review";
      try {
        // Omitted fields are copied from the version that was read, so no other one may be changed.
        const target = { id, versions: versions ?? [version] };
        return await change(store, principal, target, { text: isChanged ? next : null, inReview });
      } catch (error) {
        const isOvertaken = error instanceof ServiceError && error.code === "version_conflict";
        if (versions !== null || !isOvertaken) throw error;
      }
    }
  },
  { audit: "articles.update" },
);

/** Saves an earlier version as a new draft. Throws as `updateArticle`. */
export const restoreArticleVersion = operation(
  "restoreArticleVersion",
  async ({ store }, principal, { id, versions = null }, input) => {
    const { number } = checkInput(articleRestoreSchema, input, "The call");
    const { title, text } = (await readVersion(store, principal, id, number)).version;
    return change(store, principal, { id, versions }, { text: { title, text, restores: number }, inReview: false });
  },
  { audit: "articles.restore" },
);

/** A reference to an image of an article, with or without a title. Its length is bounded, so that reading takes linear time. */
const IMAGE = /!\[([^\][\n]{0,500})\]\(images\/[\da-f-]{36}(?: {1,3}"[^"\n]{0,500}")?\)/giu;

/** Returns the text that agents search: images are replaced with their descriptions. */
const searchableText = (text: string): string => text.replaceAll(IMAGE, "$1");

/** Adds the document that agents search for an article, and returns its ID. Throws like `addDocuments`. */
export async function addArticle(
  deps: IngestDeps,
  principal: Principal,
  { kbId, text, ...named }: Record<"kbId" | "key" | "title" | "text", string>,
): Promise<string> {
  const document = { ...named, text: searchableText(text), mime: "text/markdown" as const };
  const added = await addDocuments(deps, principal, kbId, document);
  if ("import" in added) throw new Error("an article was mistaken for a sitemap");
  return added.item.id;
}

/**
 * Publishes the newest version as a document that agents search, and marks the article's gap as answered. Idempotent.
 * Throws the errors of `addDocuments`.
 */
export const publishArticle = operation(
  "publishArticle",
  async (deps: IngestDeps, principal, { id, versions = null }) => {
    const { store } = deps;
    const { project } = principal;
    const { id: articleId, kbId, gapId } = await readArticle(store, principal, id);
    const key = keyOfArticle(articleId, gapId);
    return publishExclusively(store, { kbId, key }, async () => {
      const { title, text, revision, version } = await readArticle(store, principal, id);
      // The version changes only once it is published, so that a call that was rejected with rate_limited can be repeated.
      if (versions !== null && !versions.includes(version)) throw staleVersion("The article", version);
      const documentId = await addArticle(deps, principal, { kbId, key, title, text });
      if (!(await store.articles.setPublished(project, { id: articleId, number: revision, documentId }))) {
        // The article was deleted meanwhile; its document would be orphaned.
        await store.documents.remove(project, kbId, documentId);
        throw notInProject("article");
      }
      if (gapId !== null) {
        await store.gaps.update(project, { id: gapId }, { status: "answered", article: { kbId, documentId } });
      }
      return asItem(await readArticle(store, principal, id));
    });
  },
  { audit: "articles.publish" },
);

/** Deletes an article with its document, versions and images, and returns it as it was. */
export const deleteArticle = operation(
  "deleteArticle",
  async ({ store }, principal, { id, versions = null }) => {
    const article = await readArticle(store, principal, id);
    if (!(await store.articles.remove(principal.project, { id: article.id, versions }))) {
      throw staleVersion("The article", (await readArticle(store, principal, id)).version);
    }
    return asItem(article);
  },
  { audit: "articles.delete" },
);

/** Returns the versions of an article, newest first. */
export const listArticleVersions = operation("listArticleVersions", async ({ store }, principal, id) => {
  const article = await readArticle(store, principal, id);
  return (await store.articles.listVersions(principal.project, article.id)).map(asVersion);
});

/** Returns a version of an article with its text. */
export const getArticleVersion = operation("getArticleVersion", async ({ store }, principal, id, number) => {
  const { version } = await readVersion(store, principal, id, /^\d{1,9}$/.test(number) ? Number(number) : 0);
  return { ...asVersion(version), text: version.text };
});

const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/**
 * Stores an image for an article. Throws storage_full, payload_too_large, and invalid_request for what is not a PNG,
 * JPEG, GIF or WebP, or if the article has too many.
 */
export const addArticleImage = operation(
  "addArticleImage",
  async ({ store }, principal, id, input): Promise<ArticleImage> => {
    const content = Buffer.from(checkInput(articleImageInputSchema, input, "The image").content, "base64");
    const { project } = principal;
    const error = (code: string, detail: string) => invalidInput([{ pointer: "/content", code, detail }], "The image");
    const mime = sniffMime(content);
    if (!IMAGE_TYPES.includes(mime)) throw error("invalid_type", "must be a PNG, JPEG, GIF or WebP image");
    if (content.length > ARTICLE_LIMITS.imageMaxBytes) {
      throw new ServiceError("payload_too_large", "An image must not exceed 2 MB.");
    }
    const article = await readArticle(store, principal, id);
    await store.storedBytes.checkRoom(project, "documents", content.length);
    const imageId = await store.articles.insertImage(project, article.id, { mime, content });
    if (imageId === null) {
      throw error("too_many", `is one too many: an article has at most ${ARTICLE_LIMITS.imagesMaxCount} images`);
    }
    return { imageId, mime, sizeBytes: content.length };
  },
  { audit: "articles.add_image", objectOf: ([id]) => id },
);

/** Returns an image of an article, for download. */
export const getArticleImage = operation("getArticleImage", async ({ store }, principal, id, imageId) => {
  const image = isUuid(id) && isUuid(imageId) ? await store.articles.findImage(principal.project, id, imageId) : null;
  if (image === null) throw new ServiceError("not_found", "This article has no image with this ID.");
  return { filename: `${imageId}.${image.mime.slice("image/".length)}`, content: image.content };
});
