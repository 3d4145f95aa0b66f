import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const TOKEN_BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** A new token, which nobody can guess: 32 random bytes, written for a cookie or a link. */
export function generateToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** What is stored of a token. It is random throughout, so that a fast hash is enough. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** True for a text that may be a token of ours. */
export const isToken = (text: string): boolean => FORM.test(text);

/**
 * What calls of a session prove with that they come from a page of the console. It follows from the token, which pages
 * cannot read, so that it belongs to one session, and nothing of it has to be stored.
 */
export function csrfTokenOf(token: string): string {
  return createHmac("sha256", token).update("svc console csrf").digest("base64url");
}

/** True when a call has the token that belongs to its session; compared in constant time. */
export function isCsrfTokenOf(token: string, given: string | undefined): boolean {
  const expected = Buffer.from(csrfTokenOf(token));
  const got = Buffer.from(given ?? "");
  return expected.length === got.length && timingSafeEqual(expected, got);
}
