import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

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
