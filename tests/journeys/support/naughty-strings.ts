import { createRequire } from "node:module";

/** Strings missing from the Big List of Naughty Strings, and ones that are critical for this product. */
const MORE = [
  "hasOwnProperty",
  "constructor.prototype.polluted",
  "%",
  "%%",
  "%s%n%x",
  "%00",
  "%2e%2e%2f",
  "{0}",
  "${jndi:ldap://127.0.0.1/a}",
  "$1 $& $` $'",
  ".",
  "..",
  "...",
  "../..",
  "issue:1",
  "\\u0000",
  "\\x00",
  "a\u0000b",
  "\ud800",
  "\udc00\ud800",
  "\u{10ffff}",
  "\uffff\ufffe",
  "\u2028\u2029\u0085",
  "\ufeff",
  "\u200b",
  "\u00a0",
  "\t",
  "\r\nX-Injected: yes\r\n\r\n",
  " leading and trailing ",
  "e\u0301 and \u00e9",
  "I\u0307 ı ß ſ K",
  "Z\u0351\u036b\u0343",
  "👩‍👩‍👧‍👦🏳️‍🌈👍🏿🇺🇦",
  "\u202eright to left\u202c",
  "'; DROP TABLE messages; --",
  "$$; SELECT pg_sleep(10); $$",
  '{"text":"x"}',
  "*/*",
  "x".repeat(200),
  "x".repeat(201),
  "🙂".repeat(200),
  "🙂".repeat(201),
];

/**
 * The Big List of Naughty Strings and some more, without duplicates: texts that are known to break parsers. The empty
 * string, NUL and lone surrogates are among them.
 */
export const NAUGHTY_STRINGS: readonly string[] = [
  ...new Set([...(createRequire(import.meta.url)("big-list-of-naughty-strings") as string[]), ...MORE]),
];
