import { ServiceError } from "@svc/contracts";
import type { Context } from "../context.ts";
import { newId } from "../ids.ts";
import type { HeldRecords } from "../people/erasures.ts";
import type { ObjectStore } from "../platform/object-store.ts";
import { statements } from "../sql.ts";

/** Files that one step moves, and objects that one step deletes. */
const PAGE = 20;
/** Far longer than writing an object may take. */
const RESERVED_MINUTES = 10;

const sql = statements("messages/file-objects", {
  movePage: PAGE,
  deletePage: PAGE,
  reservedMinutes: RESERVED_MINUTES,
});

/** Writes an object that is named in `object_deletions` until a file names it. */
async function moveFile(context: Context, objects: ObjectStore, id: string): Promise<void> {
  const { db } = context;
  const row = await sql.readContent.one<{ content: Buffer }>(db, { id });
  if (row === null) return;
  const objectId = newId();
  await sql.reserve.run(db, { objectId });
  await objects.put(objectId, row.content);
  await sql.setObject.run(db, { id, objectId, bytes: row.content.length });
}

/**
 * Moves the contents of some files from PostgreSQL to the object store, oldest first. A crash leaves each file readable
 * where it was, and the next call moves it. True when there may be more to move. Throws unavailable while the object store
 * is.
 */
export async function moveFiles(context: Context): Promise<boolean> {
  if (context.objects === null) return false;
  const files = await sql.listToMove.all<{ id: string }>(context.db);
  for (const { id } of files) await moveFile(context, context.objects, id);
  return files.length === PAGE;
}

/** Deletes some objects that no file needs any more. True when there may be more. Throws as `moveFiles`. */
export async function removeObjects(context: Context): Promise<boolean> {
  if (context.objects === null) return false;
  const due = await sql.takeDeletions.all<{ objectId: string }>(context.db);
  for (const { objectId } of due) {
    await context.objects.remove(objectId);
    await sql.endDeletion.run(context.db, { objectId });
  }
  return due.length === PAGE;
}

/**
 * Writes, reads and deletes an object. Returns false where files are kept in PostgreSQL. Throws unavailable, or an error
 * that says what was different.
 */
export async function checkObjects({ objects }: Context): Promise<boolean> {
  if (objects === null) return false;
  const id = `check-${newId()}`;
  const content = Buffer.from(id);
  await objects.put(id, content);
  const read = await readWhole(objects, id);
  await objects.remove(id);
  if (!read.equals(content))
    throw new ServiceError("unavailable", "The file store returned other content than was written.");
  return true;
}

/** Reads an object whole. */
export async function readWhole(objects: ObjectStore | null, id: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of readObject(objects, id)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Reads an object from a position on. Throws unavailable where no object store is configured. */
export function readObject(objects: ObjectStore | null, id: string, from = 0): AsyncIterable<Buffer> {
  if (objects !== null) return objects.read(id, from);
  throw new ServiceError("unavailable", "This file is in an object store. An administrator must set SVC_FILES_URL.");
}

/** Rows of an export, in which the content of a file stands for the name of its object. */
export async function* withContents(
  { objects }: Pick<Context, "objects">,
  parts: AsyncIterable<HeldRecords>,
): AsyncGenerator<HeldRecords> {
  for await (const { kind, records } of parts) {
    const read = records.map(async ({ objectId, ...record }) =>
      typeof objectId === "string" ? { ...record, content: await readWhole(objects, objectId) } : record,
    );
    yield { kind, records: await Promise.all(read) };
  }
}
