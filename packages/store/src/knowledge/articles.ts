import { ARTICLE_LIMITS } from "@svc/contracts";
import type { ArticleStatus } from "@svc/contracts";
import type { Db, PageQuery, VersionedId } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import { documents } from "./documents.ts";

const sql = statements("knowledge/articles", {
  versionsMaxCount: ARTICLE_LIMITS.versionsMaxCount,
  imagesMaxCount: ARTICLE_LIMITS.imagesMaxCount,
});

/** An article without its text. */
export interface ArticleFacts {
  id: string;
  kbId: string;
  /** The gap that it answers. */
  gapId: string | null;
  /** Title of the newest version. */
  title: string;
  /** Status of the newest version. */
  status: ArticleStatus;
  /** Number of the newest version. */
  revision: number;
  /** Number of the version that agents search; null if there is none. */
  publishedRevision: number | null;
  documentId: string | null;
  createdAt: Date;
  updatedAt: Date;
  /** Who saved the newest version. */
  updatedBy: string;
  version: number;
}

/** An article with the text of its newest version. */
export interface ArticleRecord extends ArticleFacts {
  text: string;
}

/** A version of an article without its text. */
export interface ArticleVersionFacts {
  number: number;
  title: string;
  actor: string;
  /** Number of the version that it restores. */
  restores: number | null;
  createdAt: Date;
}

/** What a version is saved from. */
export interface ArticleText {
  title: string;
  text: string;
  actor: string;
  restores?: number | undefined;
}

/** Result of a change: the article as it is now, and whether it had an expected version. */
export interface ArticleOutcome {
  changed: boolean;
  article: ArticleRecord;
}

/** Returns an article, or null if the project has none with this id. */
export const find = (db: Db, project: ProjectId, id: string) => sql.find.one<ArticleRecord>(db, { project, id });

/** Articles, newest first: those created before the one with the id `before`, and with `q` in the title. */
export const listPage = (
  db: Db,
  project: ProjectId,
  { limit, before, q, status, gapId }: PageQuery & { status?: ArticleStatus | undefined; gapId?: string | undefined },
) => sql.listPage.all<ArticleFacts>(db, { project, limit, before, q, status, gapId });

/** Creates an article; null if the knowledge base has one with this key, or is deleted. `keyOf` gets the article's id. */
export const insert = (
  db: Db,
  project: ProjectId,
  { kbId, gapId, keyOf, ...text }: ArticleText & { kbId: string; gapId: string | null; keyOf: (id: string) => string },
): Promise<ArticleRecord | null> =>
  db.transaction(async (tx) => {
    const id = newId();
    if (!(await sql.insert.any(tx, { id, project, kbId, gapId, key: keyOf(id) }))) return null;
    await sql.insertVersion.run(tx, { project, id, number: 1, ...text, restores: text.restores });
    return find(tx, project, id);
  });

/**
 * Saves a new version if `text` is given, and sets whether the newest version is in review. `changed` is false if the
 * article has another version than `versions` expects. Null if there is no such article.
 */
export const update = (
  db: Db,
  project: ProjectId,
  { id, versions = null }: VersionedId,
  { text, inReview }: { text: ArticleText | null; inReview: boolean },
): Promise<ArticleOutcome | null> =>
  db.transaction(async (tx) => {
    const row = await sql.lock.one(tx, { project, id });
    if (row === null) return null;
    const changed = versions === null || versions.includes(row.version);
    if (changed) {
      const revision = row.revision + (text === null ? 0 : 1);
      if (text !== null)
        await sql.insertVersion.run(tx, { project, id, number: revision, ...text, restores: text.restores });
      await sql.update.run(tx, { project, id, revision, inReview });
      await sql.dropOldVersions.run(tx, { project, id });
    }
    const article = await find(tx, project, id);
    return article === null ? null : { changed, article };
  });

/** Records that this version is published as a document; false if there is no such article. */
export const setPublished = (
  db: Db,
  project: ProjectId,
  { id, number, documentId }: { id: string; number: number; documentId: string },
) => sql.setPublished.any(db, { project, id, number, documentId });

/** Records a text that was published without a draft: a new version of the article with this key, or its first one. */
export async function recordPublished(
  db: Db,
  project: ProjectId,
  { kbId, gapId, key, documentId, ...text }: ArticleText & Record<"kbId" | "gapId" | "key" | "documentId", string>,
): Promise<void> {
  const created = await insert(db, project, { kbId, gapId, keyOf: () => key, ...text });
  const found = created ?? (await sql.findByKey.one<{ id: string }>(db, { project, kbId, key }));
  if (found === null) return;
  const saved = created === null ? await update(db, project, { id: found.id }, { text, inReview: false }) : null;
  const number = saved?.article.revision ?? 1;
  await setPublished(db, project, { id: found.id, number, documentId });
}

/**
 * Saves a correction of an article's document as a version that is published: `correct` gets the text of the version that
 * was. A draft stays among the versions. Does nothing if no article has this key.
 */
export async function recordCorrection(
  db: Db,
  project: ProjectId,
  correction: Record<"kbId" | "key" | "documentId" | "actor", string> & { correct: (text: string) => string },
): Promise<void> {
  const { kbId, key, documentId, actor, correct } = correction;
  const found = await sql.findByKey.one<{ id: string }>(db, { project, kbId, key });
  const article = found === null ? null : await find(db, project, found.id);
  if (article === null || article.publishedRevision === null) return;
  const published = await findVersion(db, project, article.id, article.publishedRevision);
  if (published === null) return;
  const text = { title: published.title, text: correct(published.text), actor };
  const saved = await update(db, project, { id: article.id }, { text, inReview: false });
  if (saved === null) return;
  await setPublished(db, project, { id: article.id, number: saved.article.revision, documentId });
}

/** Deletes an article with its document, in one transaction; false if it has another version than `versions` expects. */
export const remove = (db: Db, project: ProjectId, { id, versions }: VersionedId): Promise<boolean> =>
  db.transaction(async (tx) => {
    await sql.lockKb.run(tx, { project, id });
    const row = await sql.remove.one<{ kbId: string; documentId: string | null }>(tx, { project, id, versions });
    if (row === null) return false;
    if (row.documentId !== null) await documents.remove(tx, project, row.kbId, row.documentId);
    return true;
  });

/** The versions of an article, newest first, without their texts. */
export const listVersions = (db: Db, project: ProjectId, id: string) =>
  sql.listVersions.all<ArticleVersionFacts>(db, { project, id });

/** Returns a version with its text, or null. */
export const findVersion = (db: Db, project: ProjectId, id: string, number: number) =>
  sql.findVersion.one<ArticleVersionFacts & { text: string }>(db, { project, id, number });

/** Stores an image and returns its id; null if the article has too many. */
export async function insertImage(
  db: Db,
  project: ProjectId,
  id: string,
  image: { mime: string; content: Buffer },
): Promise<string | null> {
  const imageId = newId();
  return (await sql.insertImage.any(db, { project, id, imageId, ...image })) ? imageId : null;
}

/** Returns an image of an article, or null. */
export const findImage = (db: Db, project: ProjectId, id: string, imageId: string) =>
  sql.findImage.one<{ mime: string; content: Buffer }>(db, { project, id, imageId });
