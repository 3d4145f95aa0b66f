import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { ServiceError } from "@svc/contracts";
import type { Scope } from "@svc/contracts";
import type { ApiKeyRecord, ProjectId, Store } from "@svc/store";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_CHARS = 32;
const CHECKSUM_CHARS = 6;
const PREFIX_CHARS = 8;

/** Shortest key that may be brought from elsewhere (service document, section 2.6). */
export const IMPORTED_KEY_MIN_CHARS = 16;

function base62(value: number, length: number): string {
  let rest = value;
  let text = "";
  for (let index = 0; index < length; index++) {
    text = (ALPHABET[rest % ALPHABET.length] ?? "") + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

/** Makes a key: `svc_`, 32 random base62 characters (190 bits), and their CRC-32 so that scanners can tell a real one. */
export function generateApiKey(): string {
  let secret = "";
  for (let index = 0; index < SECRET_CHARS; index++) secret += ALPHABET[randomInt(ALPHABET.length)] ?? "";
  return `svc_${secret}${base62(crc32(secret), CHECKSUM_CHARS)}`;
}

/** What is stored of a key: its SHA-256. Looking a hash up takes the same time whatever the key was. */
export function hashApiKey(key: string): Buffer {
  return createHash("sha256").update(key, "utf8").digest();
}

/** What people see of a key. Shorter for short imported keys, so that most of them stays unknown. */
export function prefixOfApiKey(key: string): string {
  return key.slice(0, Math.min(PREFIX_CHARS, Math.floor(key.length / 4)));
}

/** Bits below which a key can be guessed: 200 guesses a second for a thousand years are 43 bits, and people choose words. */
const GUESSABLE_BITS = 80;

/**
 * True for a key of somebody's own making that is short or repeats itself: its length times the bits of its different
 * characters is below 80. An estimate from above: a long key of words passes. Keys that were made here (`svc_`) never are.
 */
export function isGuessableKey(key: string): boolean {
  const characters = Array.from(key);
  return characters.length * Math.log2(new Set(characters).size) < GUESSABLE_BITS;
}

/** Who made the key that configuration names. */
const FROM_CONFIGURATION = "configuration";

/** What a key should be that is made or brought from elsewhere. */
export interface IssueKeyOptions {
  name: string;
  scopes: Scope[];
  /** Null for an administrator's key. */
  project: ProjectId | null;
  createdBy: string;
  expiresAt?: Date | undefined;
  /** Requests a minute from one address; null for no limit, the service's default where absent. */
  rateLimit?: number | null | undefined;
  /** A key from elsewhere, which is taken as it is; a new random one is made where absent. */
  key?: string | undefined;
}

/**
 * Makes a key and answers it once; it cannot be read again. Throws invalid_request when a key that was brought from
 * elsewhere is live already, without telling whose it is.
 */
export async function issueKey(store: Store, options: IssueKeyOptions): Promise<{ record: ApiKeyRecord; key: string }> {
  const { key = generateApiKey(), expiresAt = null, ...rest } = options;
  const record = await store.apiKeys.insert({
    ...rest,
    expiresAt,
    prefix: prefixOfApiKey(key),
    hash: hashApiKey(key),
  });
  if (record === null) {
    throw new ServiceError("invalid_request", "This key already exists. Import a different key, or generate one.", {
      errors: [{ pointer: "/key", code: "taken", detail: "this key already exists" }],
    });
  }
  return { record, key };
}

/**
 * Makes sure that the administrator's key of the configuration exists, and revokes the one that an earlier value of
 * it made. Safe to repeat and to run in several processes at once.
 */
export async function ensureConfiguredAdminKey(store: Store, key: string): Promise<void> {
  if (key.length < IMPORTED_KEY_MIN_CHARS) {
    throw new ServiceError("invalid_request", `An API key must have at least ${IMPORTED_KEY_MIN_CHARS} characters.`);
  }
  const hash = hashApiKey(key);
  // A live key of this hash that somebody else has made is as good if it is an administrator's for good; else this one
  // takes its place.
  const known = await store.apiKeys.findLiveByHash(hash);
  const isAsGood = known !== null && known.scopes.includes("admin:*") && known.expiresAt === null;
  const note = (action: string, object: string | null, count = 1) =>
    store.audit.append({
      actor: FROM_CONFIGURATION,
      action,
      object,
      project: null,
      result: "ok",
      requestId: null,
      count,
    });
  if (known !== null && !isAsGood) {
    await store.apiKeys.revoke(known.id);
    await note("keys.revoke", known.id);
  }
  const made = await store.apiKeys.insert({
    name: "SVC_ADMIN_KEY",
    prefix: prefixOfApiKey(key),
    hash,
    scopes: ["admin:*"],
    project: null,
    createdBy: FROM_CONFIGURATION,
    expiresAt: null,
  });
  if (made !== null) await note("keys.create", made.id);
  const revokedCount = await store.apiKeys.revokeOthersOf(FROM_CONFIGURATION, hash);
  if (revokedCount > 0) await note("keys.revoke", null, revokedCount);
}
