import { crc32 } from "node:zlib";
import { z } from "zod";
import { countChars, wellFormedString } from "./well-formed.ts";

/** Bounds of every list of the administration. */
export const LIST_LIMITS = {
  /** Items of one page, at most and where nothing is said. */
  maxItems: 200,
  defaultItems: 50,
  /** Characters (Unicode code points) of a search. */
  searchMaxChars: 200,
} as const;

/** What is asked of a list: how many items, after which page, and what they should contain. */
export interface ListInput {
  /** 1 to 200; 50 where absent. */
  limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  cursor?: string | undefined;
  /** Part of a name, in any case of its letters. */
  q?: string | undefined;
}

/** One page of a list, newest items first. */
export interface ListPage<Item> {
  items: Item[];
  /** What gets the next page; null at the end. */
  nextCursor: string | null;
}

const ID_BYTES = 16;
const VALUE_BYTES = 8;
const CHECKSUM_BYTES = 4;

/** Ties a place to its list, so that a cursor of another list, or one with a changed character, is noticed. */
function checksumOf(list: string, place: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(Buffer.concat([Buffer.from(list, "utf8"), place])));
  return checksum;
}

function encodePlace(list: string, place: Buffer): string {
  return Buffer.concat([place, checksumOf(list, place)]).toString("base64url");
}

/** The bytes of a place that `encodePlace` has written for this list; null for anything else. */
function decodePlace(list: string, cursor: string, sizeBytes: number): Buffer | null {
  const bytes = Buffer.from(cursor, "base64url");
  const place = bytes.subarray(0, sizeBytes);
  // Decoding is lenient: only what is encoded again as it came is the cursor that was given.
  if (bytes.length !== sizeBytes + CHECKSUM_BYTES || bytes.toString("base64url") !== cursor) return null;
  return checksumOf(list, place).equals(bytes.subarray(sizeBytes)) ? place : null;
}

const bytesOfId = (id: string) => Buffer.from(id.replaceAll("-", ""), "hex");
const idOfBytes = (bytes: Buffer) =>
  bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** The opaque cursor (27 characters of base64url) of what follows the item with this UUID in the list of this name. */
export function encodeCursor(list: string, id: string): string {
  return encodePlace(list, bytesOfId(id));
}

/** The UUID that a cursor of this list stands for; null when it is no cursor that this list has given. */
export function decodeCursor(list: string, cursor: string): string | null {
  const place = decodePlace(list, cursor, ID_BYTES);
  return place === null ? null : idOfBytes(place);
}

/** A place in a list that is sorted by a value, and by the id (UUID) where values are the same. */
export interface KeyPlace {
  /** A safe integer. */
  value: number;
  id: string;
}

/**
 * The opaque cursor (38 characters of base64url) of what follows this place in the list of this name; the name says how
 * the list is sorted, too.
 */
export function encodeKeyCursor(list: string, { value, id }: KeyPlace): string {
  const bytes = Buffer.alloc(VALUE_BYTES);
  bytes.writeBigInt64BE(BigInt(value));
  return encodePlace(list, Buffer.concat([bytes, bytesOfId(id)]));
}

/** The place that a cursor of this list stands for; null when it is no cursor that this list has given. */
export function decodeKeyCursor(list: string, cursor: string): KeyPlace | null {
  const place = decodePlace(list, cursor, VALUE_BYTES + ID_BYTES);
  if (place === null) return null;
  const value = Number(place.readBigInt64BE());
  // Whoever knows how cursors are made can make one up; it must not get any further than any other.
  return Number.isSafeInteger(value) ? { value, id: idOfBytes(place.subarray(VALUE_BYTES)) } : null;
}

/** The opaque cursor of what follows the item with this name in a list that is sorted by names. */
export function encodeTextCursor(list: string, text: string): string {
  return encodePlace(list, Buffer.from(text, "utf8"));
}

/** The name that a cursor of this list stands for; null when it is no cursor that this list has given. */
export function decodeTextCursor(list: string, cursor: string): string | null {
  const sizeBytes = Buffer.from(cursor, "base64url").length - CHECKSUM_BYTES;
  const place = sizeBytes > 0 ? decodePlace(list, cursor, sizeBytes) : null;
  return place === null ? null : place.toString("utf8");
}

/** The cursor of a list, as what `decode` makes of it. */
export function cursorSchema<Place>(decode: (cursor: string) => Place | null) {
  return z.string({ error: "must be a single nextCursor value" }).transform((cursor, context): Place => {
    const place = decode(cursor);
    if (place !== null) return place;
    context.issues.push({
      code: "custom",
      message: "must be the nextCursor of an earlier page of this list",
      input: cursor,
    });
    return z.NEVER;
  });
}

const wantedLimit = `must be an integer from 1 to ${LIST_LIMITS.maxItems}`;

/** What every list is asked: how many items, and what they should contain. */
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
 * What is asked of the list of this name, as `ListInput` has it. The result has, in place of the cursor, `before`: the
 * UUID after which the list goes on.
 */
export function listInputSchema(list: string) {
  const { limit, q } = listFields;
  return z
    .object({ limit, cursor: cursorSchema((cursor) => decodeCursor(list, cursor)).optional(), q })
    .transform(({ cursor, ...rest }) => ({ ...rest, before: cursor }));
}
