import { createHash, randomBytes, randomInt, scrypt, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { ServiceError } from "@svc/contracts";
import type { Scope } from "@svc/contracts";
import type { ApiKeyRecord, ProjectId, Store } from "@svc/store";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_CHARS = 32;
const CHECKSUM_CHARS = 6;
const PREFIX_CHARS = 8;

/** Minimum length of an imported key (service document, section 2.6). */
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

/**
 * Generates a key: `svc_`, 32 random base62 characters (190 bits), and their CRC-32, by which scanners recognize it.
 */
export function generateApiKey(): string {
  let secret = "";
  for (let index = 0; index < SECRET_CHARS; index++) secret += ALPHABET[randomInt(ALPHABET.length)] ?? "";
  return `svc_${secret}${base62(crc32(secret), CHECKSUM_CHARS)}`;
}

/** Returns the stored hash of a key: its SHA-256. Looking up a hash takes the same time for every key. */
export function hashApiKey(key: string): Buffer {
  return createHash("sha256").update(key, "utf8").digest();
}

/** Returns the displayed prefix of a key. Shorter for short imported keys, so that most of the key remains secret. */
export function prefixOfApiKey(key: string): string {
  return key.slice(0, Math.min(PREFIX_CHARS, Math.floor(key.length / 4)));
}

/**
 * Bits below which a key can be guessed: 200 guesses per second for a thousand years are 43 bits, and human-chosen keys
 * are less random.
 */
const GUESSABLE_BITS = 80;

/**
 * Returns true for a user-defined key that is short or repetitive: its length times the bits of its distinct characters
 * is below 80. This overestimates: a long key of words passes. Generated keys (`svc_`) are never guessable.
 */
export function isGuessableKey(key: string): boolean {
  const characters = Array.from(key);
  return characters.length * Math.log2(new Set(characters).size) < GUESSABLE_BITS;
}

/** Creator of the key from the configuration. */
const FROM_CONFIGURATION = "configuration";

/** Options of a new or imported key. */
interface IssueKeyOptions {
  name: string;
  scopes: Scope[];
  /** Null for an administrator's key. */
  project: ProjectId | null;
  createdBy: string;
  expiresAt?: Date | undefined;
  /** Requests per minute and address; null for no limit, the default if absent. */
  rateLimit?: number | null | undefined;
  /** An imported key; if absent, a random one is generated. */
  key?: string | undefined;
}

/**
 * Creates a key and returns it once; it cannot be read again. Throws invalid_request if an imported key is already in
 * use, without revealing whose it is.
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
 * Ensures that the administrator key of the configuration exists, and revokes the one from an earlier value. Safe to
 * repeat and to run concurrently.
 */
export async function ensureConfiguredAdminKey(store: Store, key: string): Promise<void> {
  if (key.length < IMPORTED_KEY_MIN_CHARS) {
    throw new ServiceError("invalid_request", `An API key must have at least ${IMPORTED_KEY_MIN_CHARS} characters.`);
  }
  const hash = hashApiKey(key);
  // An existing valid key with this hash is fine if it is a permanent administrator key; otherwise it is replaced.
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

/** Cost of a hash: `2 ** cost` blocks of 128 times `blockSize` bytes, processed `parallel` times. */
interface Parameters {
  cost: number;
  blockSize: number;
  parallel: number;
}

/**
 * 128 MB and 0.1 to 0.3 s per password (measured on two cores of a slow machine: 0.29 s), as the OWASP Password Storage
 * Cheat Sheet recommends for scrypt. A hash contains its parameters, so that these may be raised.
 */
const PRESENT: Parameters = { cost: 17, blockSize: 8, parallel: 1 };

/** Hashes with higher parameters are rejected, so that a forged hash cannot exhaust the memory. */
const MOST: Parameters = { cost: 18, blockSize: 16, parallel: 4 };

const SALT_BYTES = 16;
const KEY_BYTES = 32;

const FORMAT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9_-]{1,86})\$([A-Za-z0-9_-]{1,86})$/;

/** Compared with the passwords of unknown users, so that they take as long as those of known ones. */
const NOBODYS: KnownHash = { parameters: PRESENT, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) };

interface KnownHash {
  parameters: Parameters;
  salt: Buffer;
  key: Buffer;
}

/** One password at a time, so that many concurrent sign-ins cost time and not memory. */
let last: Promise<unknown> = Promise.resolve();

function derive(password: string, salt: Buffer, { cost, blockSize, parallel }: Parameters): Promise<Buffer> {
  const run = () =>
    new Promise<Buffer>((resolve, reject) => {
      const options = { N: 2 ** cost, r: blockSize, p: parallel, maxmem: 2 ** cost * blockSize * 128 * 2 };
      // The same characters may have several forms in Unicode, depending on the keyboard.
      scrypt(password.normalize("NFKC"), salt, KEY_BYTES, options, (error, key) => {
        if (error === null) resolve(key);
        else reject(error);
      });
    });
  const turn = last.then(run, run);
  last = turn;
  return turn;
}

/** Returns the stored hash of a password: scrypt with its parameters and a random salt. Takes 0.1 to 0.3 s. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, PRESENT);
  const { cost, blockSize, parallel } = PRESENT;
  return `$scrypt$ln=${cost},r=${blockSize},p=${parallel}$${salt.toString("base64url")}$${key.toString("base64url")}`;
}

/**
 * Returns true if a password matches a hash. Pass null if there is no hash, for example for an unknown user: the result
 * is false, and takes as long as any other. A text that is not a hash never matches.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const known = hash === null ? null : readHash(hash);
  const { parameters, salt, key } = known ?? NOBODYS;
  const derived = await derive(password, salt, parameters);
  return derived.length === key.length && timingSafeEqual(derived, key) && known !== null;
}

function readHash(hash: string): KnownHash | null {
  const [, cost, blockSize, parallel, salt = "", key = ""] = FORMAT.exec(hash) ?? [];
  const parameters = { cost: Number(cost), blockSize: Number(blockSize), parallel: Number(parallel) };
  const isSound = (Object.keys(MOST) as (keyof Parameters)[]).every(
    (name) => parameters[name] >= 1 && parameters[name] <= MOST[name],
  );
  if (!isSound) return null;
  return { parameters, salt: Buffer.from(salt, "base64url"), key: Buffer.from(key, "base64url") };
}
