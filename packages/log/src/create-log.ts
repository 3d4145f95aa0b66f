import { pino } from "pino";
import type { DestinationStream, Logger } from "pino";

/** A structured log: JSON lines, or nothing at level `silent`. */
export type Log = Logger;

export const LOG_LEVELS = ["silent", "error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields whose values never reach a log line, wherever they stand in the first three levels. */
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
 * Hides what looks like a secret inside a text that is about to be logged: product keys, bearer tokens, passwords in
 * URLs, and keys in query strings.
 */
export function redactText(text: string): string {
  return text
    .replaceAll(/svc_[0-9A-Za-z]{6,}/g, "svc_[redacted]")
    .replaceAll(/(bearer\s+)[^\s"',]+/gi, "$1[redacted]")
    .replaceAll(/([?&](?:api_?key|key|token|secret)=)[^&\s"']+/gi, "$1[redacted]")
    .replaceAll(/(:\/\/[^/\s:@]*:)[^@\s/]+@/g, "$1[redacted]@");
}

/** An error as the log shows it: class, message, code and stack, each redacted; the chain of causes up to five deep. */
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
 * Makes the log of a process. Lines are JSON with `time` (RFC 3339), `level`, `msg` and the fields given; values of
 * secret fields and texts that look like secrets are replaced. Control characters are escaped by JSON, so a hostile
 * text cannot forge a line.
 */
export function createLog(options: { level: LogLevel; name?: string; destination?: DestinationStream }): Log {
  const settings = {
    level: options.level,
    base: options.name === undefined ? {} : { app: options.name },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: PATHS, censor: "[redacted]" },
    serializers: { err: serializeError, error: serializeError },
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}
