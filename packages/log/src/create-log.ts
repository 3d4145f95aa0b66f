import { pino } from "pino";
import type { DestinationStream, Logger } from "pino";

/** A structured log: JSON lines, or nothing at level `silent`. */
export type Log = Logger;

export const LOG_LEVELS = ["silent", "error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields whose values are never logged, in the first three levels. */
const SECRET_FIELDS = [
  "authorization",
  "cookie",
  "key",
  "apiKey",
  "api_key",
  "x-api-key",
  "password",
  "secret",
  "webhookSecret",
  "botToken",
  "secretKey",
  "visitorId",
  "x-visitor-id",
];
const PATHS = SECRET_FIELDS.flatMap((field) => ["", "*.", "*.*."].map((prefix) => `${prefix}["${field}"]`));

/**
 * Redacts texts that look like secrets: product keys, webhook secrets, bot and bearer tokens, passwords in URLs, and
 * keys, tokens, secrets and visitor ids in query strings. A JSON text remains valid JSON: no pattern crosses a quote or
 * splits an escape.
 */
export function redactText(text: string): string {
  return (
    text
      // Names of tools, such as svc_search_kb, look like the start of a key; no key has a second underscore.
      .replaceAll(/svc_(?![a-z]{3,12}_[a-z])[0-9A-Za-z]{6,}/g, "svc_[redacted]")
      // Tokens of Telegram bots, which are part of Bot API URLs.
      .replaceAll(/\d{5,16}:[\w-]{30,}/g, "[redacted bot token]")
      .replaceAll(/whsec_[0-9A-Za-z+/=]{6,}/g, "whsec_[redacted]")
      .replaceAll(/(bearer(?:\s|\\[tnr])+)(?:[^\s"',\\]|\\[^"])+/gi, "$1[redacted]")
      .replaceAll(/([?&](?:api_?key|key|token|secret|visitor_?id)=)(?:[^&\s"'\\]|\\[^"])+/gi, "$1[redacted]")
      .replaceAll(/(:\/\/[^/\s:@"]*:)(?:[^\s/"\\]|\\[^"])+@/g, "$1[redacted]@")
  );
}

/** Characters that JSON does not escape, but some terminals and readers treat as commands or line ends. */
const LEFT_BY_JSON = /[\u007f-\u009f\u2028\u2029]/g;

/** Cleans a complete line: no secrets in its texts, and no control characters but its final newline. */
function cleanLine(line: string): string {
  return redactText(line).replaceAll(
    LEFT_BY_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Serializes an error: class, message, code and stack, each redacted, with up to five causes. */
function serializeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? redactText(error) : error;
  const code: unknown = "code" in error ? error.code : undefined;
  return {
    type: error.name,
    message: redactText(error.message),
    ...(typeof code === "string" ? { code } : {}),
    stack: error.stack === undefined ? undefined : redactText(error.stack),
    ...(error.cause !== undefined && depth < 5 ? { cause: serializeError(error.cause, depth + 1) } : {}),
  };
}

/**
 * Creates the log of a process. Lines are JSON with `time` (RFC 3339), `level`, `msg` and the fields given; values of
 * secret fields and texts that look like secrets are replaced. Control characters are escaped, so a hostile text cannot
 * forge a line.
 */
export function createLog(options: { level: LogLevel; name?: string; destination?: DestinationStream }): Log {
  const settings = {
    level: options.level,
    base: options.name === undefined ? {} : { app: options.name },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: PATHS, censor: "[redacted]" },
    serializers: { err: serializeError, error: serializeError },
    hooks: { streamWrite: cleanLine },
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}
