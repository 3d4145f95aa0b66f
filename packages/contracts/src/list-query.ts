import { crc32 } from "node:zlib";
import { z } from "zod";
import { countChars, wellFormedString } from "./limits.ts";

/** Limits of all administration lists. */
export const LIST_LIMITS = {
  /** Maximum and default number of items per page. */
  maxItems: 200,
  defaultItems: 50,
  /** Maximum characters (Unicode code points) of a search. */
  searchMaxChars: 200,
} as const;

/** Query of a list: page size, cursor and search text. */
export interface ListInput {
  /** From 1 to 200. Defaults to 50. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
  /** Part of a name, case-insensitive. */
  q?: string | undefined;
}

/** One page of a list, newest items first. */
export interface ListPage<Item> {
  items: Item[];
  /** Cursor of the next page. Null on the last page. */
  nextCursor: string | null;
}

const ID_BYTES = 16;
const VALUE_BYTES = 8;
const CHECKSUM_BYTES = 4;

/** Binds a position to its list, so that cursors of other lists and modified cursors are detected. */
function checksumOf(list: string, position: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(Buffer.concat([Buffer.from(list, "utf8"), position])));
  return checksum;
}

function encodePosition(list: string, position: Buffer): string {
  return Buffer.concat([position, checksumOf(list, position)]).toString("base64url");
}

/** Returns the bytes of a position that `encodePosition` encoded for this list, or null. */
function decodePosition(list: string, cursor: string, sizeBytes: number): Buffer | null {
  const bytes = Buffer.from(cursor, "base64url");
  const position = bytes.subarray(0, sizeBytes);
  // Decoding is lenient, so the result is encoded again and compared.
  if (bytes.length !== sizeBytes + CHECKSUM_BYTES || bytes.toString("base64url") !== cursor) return null;
  return checksumOf(list, position).equals(bytes.subarray(sizeBytes)) ? position : null;
}

const bytesOfId = (id: string) => Buffer.from(id.replaceAll("-", ""), "hex");
const idOfBytes = (bytes: Buffer) =>
  bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/**
 * Returns the opaque cursor (27 characters of base64url) of the page after the item with this UUID in the list of this
 * name.
 */
export function encodeCursor(list: string, id: string): string {
  return encodePosition(list, bytesOfId(id));
}

/** Returns the UUID in a cursor of this list, or null if it is not a cursor of this list. */
export function decodeCursor(list: string, cursor: string): string | null {
  const position = decodePosition(list, cursor, ID_BYTES);
  return position === null ? null : idOfBytes(position);
}

/** A position in a list sorted by a value, and by ID (UUID) among equal values. */
export interface KeyPosition {
  /** A safe integer. */
  value: number;
  id: string;
}

/**
 * Returns the opaque cursor (38 characters of base64url) of the page after this position in the list of this name. The
 * name includes the sort order.
 */
export function encodeKeyCursor(list: string, { value, id }: KeyPosition): string {
  const bytes = Buffer.alloc(VALUE_BYTES);
  bytes.writeBigInt64BE(BigInt(value));
  return encodePosition(list, Buffer.concat([bytes, bytesOfId(id)]));
}

/** Returns the position in a cursor of this list, or null if it is not a cursor of this list. */
export function decodeKeyCursor(list: string, cursor: string): KeyPosition | null {
  const position = decodePosition(list, cursor, VALUE_BYTES + ID_BYTES);
  if (position === null) return null;
  const value = Number(position.readBigInt64BE());
  // A forged cursor must not contain an invalid position.
  return Number.isSafeInteger(value) ? { value, id: idOfBytes(position.subarray(VALUE_BYTES)) } : null;
}

/** Returns the opaque cursor of the page after the item with this name, in a list sorted by name. */
export function encodeTextCursor(list: string, text: string): string {
  return encodePosition(list, Buffer.from(text, "utf8"));
}

/** Returns the name in a cursor of this list, or null if it is not a cursor of this list. */
export function decodeTextCursor(list: string, cursor: string): string | null {
  const sizeBytes = Buffer.from(cursor, "base64url").length - CHECKSUM_BYTES;
  const position = sizeBytes > 0 ? decodePosition(list, cursor, sizeBytes) : null;
  return position === null ? null : position.toString("utf8");
}

/** Returns the schema of a list's cursor, decoded with `decode`. */
export function cursorSchema<Position>(decode: (cursor: string) => Position | null) {
  return z.string({ error: "must be a single nextCursor value" }).transform((cursor, context): Position => {
    const position = decode(cursor);
    if (position !== null) return position;
    context.issues.push({
      code: "custom",
      message: "must be the nextCursor of an earlier page of this list",
      input: cursor,
    });
    return z.NEVER;
  });
}

const wantedLimit = `must be an integer from 1 to ${LIST_LIMITS.maxItems}`;

/** Query parameters of every list: page size and search text. */
export const listFields = {
  limit: z
    .int({ error: wantedLimit })
    .min(1, { error: wantedLimit })
    .max(LIST_LIMITS.maxItems, { error: wantedLimit })
    .default(LIST_LIMITS.defaultItems),
  q: wellFormedString
    .refine((text) => countChars(text) <= LIST_LIMITS.searchMaxChars, {
      error: `must have at most ${LIST_LIMITS.searchMaxChars} characters`,
      params: { code: "too_long" },
    })
    .optional(),
};

/**
 * Returns the schema of a query for the list of this name, see `ListInput`. The result has `before`, the UUID after
 * which the page starts, instead of the cursor.
 */
export function listInputSchema(list: string) {
  const { limit, q } = listFields;
  return z
    .object({ limit, cursor: cursorSchema((cursor) => decodeCursor(list, cursor)).optional(), q })
    .transform(({ cursor, ...rest }) => ({ ...rest, before: cursor }));
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * A time in a query: RFC 3339 with an offset, or a date, which is its start in UTC. A space is treated as the plus of
 * an offset, because an unencoded plus in a query is decoded as a space.
 */
export const timeParameter = z
  .string()
  .transform((text) => (DATE.test(text) ? `${text}T00:00:00Z` : text.replace(/ (?=\d\d:\d\d$)/, "+")))
  .pipe(
    z.iso.datetime({ offset: true, error: "must be a time such as 2026-11-21T09:30:00Z or a date such as 2026-11-21" }),
  )
  .transform((text) => new Date(text));
