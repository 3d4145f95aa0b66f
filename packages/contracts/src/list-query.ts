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
const CHECKSUM_BYTES = 4;

/** Ties a place to its list, so that a cursor of another list, or one with a changed character, is noticed. */
function checksumOf(list: string, id: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(Buffer.concat([Buffer.from(list, "utf8"), id])));
  return checksum;
}

/** The opaque cursor (27 characters of base64url) of what follows the item with this UUID in the list of this name. */
export function encodeCursor(list: string, id: string): string {
  const bytes = Buffer.from(id.replaceAll("-", ""), "hex");
  return Buffer.concat([bytes, checksumOf(list, bytes)]).toString("base64url");
}

/** The UUID that a cursor of this list stands for; null when it is no cursor that this list has given. */
export function decodeCursor(list: string, cursor: string): string | null {
  const bytes = Buffer.from(cursor, "base64url");
  const id = bytes.subarray(0, ID_BYTES);
  // Decoding is lenient: only what is encoded again as it came is the cursor that was given.
  if (bytes.length !== ID_BYTES + CHECKSUM_BYTES || bytes.toString("base64url") !== cursor) return null;
  if (!checksumOf(list, id).equals(bytes.subarray(ID_BYTES))) return null;
  return id.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * What is asked of the list of this name, as `ListInput` has it. The result has, in place of the cursor, `before`: the
 * UUID after which the list goes on.
 */
export function listInputSchema(list: string) {
  const wanted = `a whole number from 1 to ${LIST_LIMITS.maxItems}`;
  return z
    .object({
      limit: z
        .int({ error: wanted })
        .min(1, { error: wanted })
        .max(LIST_LIMITS.maxItems, { error: wanted })
        .default(LIST_LIMITS.defaultItems),
      cursor: z
        .string({ error: "one nextCursor of an earlier answer" })
        .transform((cursor, context) => {
          const id = decodeCursor(list, cursor);
          if (id !== null) return id;
          context.issues.push({
            code: "custom",
            message: "the nextCursor of an earlier answer of this list",
            input: cursor,
          });
          return z.NEVER;
        })
        .optional(),
      q: wellFormedString
        .refine((text) => countChars(text) <= LIST_LIMITS.searchMaxChars, {
          error: `at most ${LIST_LIMITS.searchMaxChars} characters`,
          params: { code: "too_long" },
        })
        .optional(),
    })
    .transform(({ cursor, ...rest }) => ({ ...rest, before: cursor }));
}
