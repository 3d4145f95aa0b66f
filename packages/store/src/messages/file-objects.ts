import { ServiceError } from "@svc/contracts";
import type { Context } from "../context.ts";
import { newId } from "../ids.ts";
import type { HeldRecords } from "../people/erasures.ts";
import type { ObjectStore } from "../platform/object-store.ts";
import { statements } from "../sql.ts";

/** Files moved, or objects deleted, per step. */
const PAGE = 20;
/** Much longer than it takes to write an object. */
const RESERVED_MINUTES = 10;

const sql = statements("messages/file-objects", {
  movePage: PAGE,
  deletePage: PAGE,
  reservedMinutes: RESERVED_MINUTES,
});

/** Writes an object whose id is in `object_deletions` until a file refers to it. */
async function moveFile(context: Context, objects: ObjectStore, id: string): Promise<void> {
  const { db } = context;
  const row = await sql.readContent.one(db, { id });
  if (row === null) return;
  const objectId = newId();
  await sql.reserve.run(db, { objectId });
  await objects.put(objectId, row.content);
  await sql.setObject.run(db, { id, objectId, bytes: row.content.length });
}

/**
 * Moves the contents of some files from PostgreSQL to the object store, oldest first. A crash leaves each file readable
 * where it was, and the next call moves it. Returns true if there may be more to move. Throws unavailable if the object
 * store is.
 */
export async function moveFiles(context: Context): Promise<boolean> {
  if (context.objects === null) return false;
  const files = await sql.listToMove.all(context.db);
  for (const { id } of files) await moveFile(context, context.objects, id);
  return files.length === PAGE;
}

/** Deletes some objects that no file needs any more. Returns true if there may be more. Throws as `moveFiles`. */
export async function removeObjects(context: Context): Promise<boolean> {
  if (context.objects === null) return false;
  const due = await sql.claimDeletions.all<{ objectId: string }>(context.db);
  for (const { objectId } of due) {
    await context.objects.remove(objectId);
    await sql.endDeletion.run(context.db, { objectId });
  }
  return due.length === PAGE;
}

/**
 * Writes, reads and deletes an object. Returns false if no object store is configured. Throws unavailable, or an error
 * that describes the difference.
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

/** Reads a whole object. */
export async function readWhole(objects: ObjectStore | null, id: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of readObject(objects, id)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Reads an object from a position on. Throws unavailable if no object store is configured. */
export function readObject(objects: ObjectStore | null, id: string, from = 0): AsyncIterable<Buffer> {
  if (objects !== null) return objects.read(id, from);
  throw new ServiceError("unavailable", "This file is in an object store. An administrator must set SVC_FILES_URL.");
}

/** Yields rows of an export, with the content of each file in place of the name of its object. */
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
