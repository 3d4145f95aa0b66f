import { z } from "zod";

/**
 * Returns the parsed URL, relative to a base if there is one, or null if the text is not a URL. Use it instead of
 * `URL.canParse`, which on Node 20 and 22, after some thousand calls, rejects valid URLs with letters such as "ü" in
 * their host (its fast path reads their bytes as UTF-8).
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

const EVERYWHERE = ["0.0.0.0", "::"];

/**
 * Returns the URL at which this machine reaches a server that is bound to a host and a port. IPv6 addresses are
 * enclosed in brackets (RFC 3986).
 */
export function localUrl(boundHost: string, port: number): string {
  const host = EVERYWHERE.includes(boundHost) ? "127.0.0.1" : boundHost;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

const WILDCARD = /^(https?):\/\/\*\.(.+)$/;

function fits(origin: URL, allowed: string): boolean {
  const [, scheme, domain] = WILDCARD.exec(allowed) ?? [];
  if (domain === undefined) return origin.origin === allowed;
  return origin.protocol === `${scheme}:` && origin.host.endsWith(`.${domain}`);
}

/**
 * Returns whether a page of this origin may use the widget: any page if the list is empty, otherwise one with an origin
 * in the list, in which `https://*.example.com` matches every subdomain of example.com. A request without `Origin` is
 * allowed, because browsers send the header for pages of other sites; an opaque origin (`null`) matches no list.
 */
export function isOriginAllowed(origin: string | undefined, allowedOrigins: readonly string[]): boolean {
  if (allowedOrigins.length === 0 || origin === undefined) return true;
  const url = parseUrl(origin);
  // Browsers send only bare origins.
  if (url === null || url.origin !== origin.toLowerCase()) return false;
  return allowedOrigins.some((allowed) => fits(url, allowed));
}

const UNTRUSTED = "its certificate is not trusted: set NODE_EXTRA_CA_CERTS to the CA certificate file";

/** Certificate error codes of Node.js and OpenSSL, with explanations for administrators. */
const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  CERT_HAS_EXPIRED: "its certificate has expired: renew it, or correct this machine's clock",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: correct this machine's clock",
  CERT_REVOKED: "its certificate has been revoked: install a new one",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "its certificate is for a different host name: connect with the name in the certificate",
  EPROTO: "it does not use TLS on this port: correct the port, or connect without TLS",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not use TLS on this port: correct the port, or connect without TLS",
};

/** Message of pg, which has no code, for a server without TLS. */
const WITHOUT_TLS = /server does not support SSL/i;

/**
 * Returns why a TLS connection to a server ("it") failed, or null for other errors. Retrying does not fix these errors.
 */
export function explainCertificateError(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (WITHOUT_TLS.test(error.message))
    return "it does not support TLS: enable TLS on the server, or remove sslmode from the URL";
  const code: unknown = "code" in error ? error.code : undefined;
  return typeof code === "string" ? (CERTIFICATE_ERRORS[code] ?? null) : null;
}

/** Limits of the service document (sections 2.1, 4.3 and 8) and of the public contract. */
export const LIMITS = {
  /** Maximum characters (Unicode code points) of a message's text. */
  textMaxChars: 50_000,
  /** Maximum characters (Unicode code points) of a chat ID and of a user ID. */
  chatIdMaxChars: 200,
  userIdMaxChars: 200,
  /** Maximum bytes of `meta` as JSON, and its maximum nesting depth. */
  metaMaxBytes: 64 * 1024,
  metaMaxDepth: 32,
  idempotencyKeyMaxChars: 255,
  /** Maximum bytes of a request body. */
  bodyMaxBytes: 1024 * 1024,
  timeoutMaxMs: 120_000,
  waitMaxMs: 60_000,
  /** Maximum number and bytes of replies in one response of a drain. */
  drainMaxReplies: 100,
  drainMaxBytes: 8 * 1024 * 1024,
  /** Number of attempts to process a message before it becomes a dead letter. */
  maxAttempts: 5,
  /** Default rate limit of a key: requests per minute from one address. */
  rateLimitPerMinute: 120,
  /** Rate limit of a key from all addresses together, as a multiple of its limit for one address. */
  rateLimitAddresses: 10,
  /** Maximum number of failed authentications per minute from one address. */
  failedAuthsPerMinute: 30,
} as const;

/** Limits of a project, by name; each with its maximum value. */
const QUOTA_MAX = {
  messagesPerDay: 1_000_000_000,
  documents: 10_000_000,
  storageMb: 100_000_000,
  sockets: 1_000_000,
} as const;

export type QuotaName = keyof typeof QUOTA_MAX;

const upTo = (name: QuotaName, text: string) =>
  z.int().min(1).max(QUOTA_MAX[name]).nullable().optional().describe(`${text} Null (default) for no limit.`);

/** Limits of a project that administrators set. Omitted limits stay unchanged. */
export const quotasInputSchema = z.strictObject({
  messagesPerDay: upTo("messagesPerDay", "Maximum messages that are accepted per day (UTC), on all channels together."),
  documents: upTo("documents", "Maximum documents in the knowledge bases of the project together."),
  storageMb: upTo("storageMb", "Maximum stored content in MB: files, documents, request bodies of hooks, and texts."),
  sockets: upTo("sockets", "Maximum widget sockets that are open at the same time, on all processes together."),
});

/** Limits of a project; null for no limit. */
export const quotasSchema = z.object({
  messagesPerDay: z.int().nullable(),
  documents: z.int().nullable(),
  storageMb: z.int().nullable(),
  sockets: z.int().nullable(),
});
export type Quotas = z.infer<typeof quotasSchema>;

/** A limit that is reached, as an error response describes it. */
export const reachedQuotaSchema = z.object({
  name: z
    .enum(Object.keys(QUOTA_MAX) as [QuotaName, ...QuotaName[]])
    .describe("Name of the limit in `quotas` of the project."),
  limit: z.number(),
  used: z.number().describe("What the project uses, in the unit of the limit."),
  resetsAt: z.iso
    .datetime()
    .nullable()
    .describe("When the usage starts at zero again. Null: when something is deleted or closed."),
});
export type ReachedQuota = z.infer<typeof reachedQuotaSchema>;

const CONTROL = /\p{Cc}/u;

/**
 * Returns true if a string contains NUL, which Postgres cannot store, or an unpaired surrogate, which UTF-8 cannot
 * encode.
 */
export function isMalformedText(text: string): boolean {
  return text.includes("\u0000") || !text.isWellFormed();
}

/** Returns true if a string contains a C0 or C1 control character (including tabs and line breaks). */
export function hasControlCharacters(text: string): boolean {
  return CONTROL.test(text);
}

/** Direction embeddings, overrides and isolates (Unicode UAX #9), which can make a name look like another one. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Returns a name or title without characters that change the direction of surrounding text. */
export const withoutBidiControls = (text: string): string => text.replace(BIDI_CONTROLS, "");

/** Returns the length in Unicode code points, which is how the service counts characters. */
export function countChars(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) index++;
    }
    count++;
  }
  return count;
}

/** A string that can be stored and transmitted: no NUL, no unpaired surrogate. */
export const wellFormedString = z.string().refine((text) => !isMalformedText(text), {
  error: "must not contain NUL characters or unpaired surrogates",
  params: { code: "malformed_text" },
});

/** Returns the schema of a text, possibly empty, of at most this many code points. */
export function textUpTo(maxChars: number) {
  return wellFormedString
    .refine((text) => countChars(text) <= maxChars, {
      error: `must have at most ${maxChars} characters`,
      params: { code: "too_long" },
    })
    .meta({ maxLength: maxChars });
}

/** A character that a reader sees: neither whitespace nor invisible, such as a zero-width space or a blank of Braille. */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Returns whether a reader sees anything of a text. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);

/** Returns true unless a message has neither a visible text nor files. */
export const hasTextOrFiles = ({
  text = "",
  attachments = [],
}: {
  text?: string | undefined;
  attachments?: readonly object[] | undefined;
}): boolean => isVisible(text) || attachments.length > 0;

/** Error of a message for which `hasTextOrFiles` is false. */
export const TEXT_OR_FILES = {
  path: ["text"],
  error: "must not be empty or only whitespace or invisible characters, unless there is an attachment",
  params: { code: "too_short" },
};

/**
 * Returns the schema of one line of visible text, such as a name: not only whitespace, at most this many code points.
 * Direction controls are removed.
 */
export function lineUpTo(maxChars: number, code = "invalid_name") {
  return wellFormedString
    .overwrite(withoutBidiControls)
    .refine((line) => line.trim() !== "" && countChars(line) <= maxChars && !hasControlCharacters(line), {
      error: `must have 1 to ${maxChars} characters, not only whitespace, and no control characters`,
      params: { code },
    })
    .meta({ minLength: 1, maxLength: maxChars, pattern: "\\S" });
}

/** Returns the schema of a message's text: well formed, not only invisible, at most `maxChars` code points. */
export function messageText(maxChars: number) {
  return z
    .string()
    .check((context) => {
      const text = context.value;
      const error = (code: string, message: string) =>
        context.issues.push({ code: "custom", message, input: text, params: { code } });
      if (isMalformedText(text)) error("malformed_text", "must not contain NUL characters or unpaired surrogates");
      else if (text.trim() === "") error("too_short", "must not be empty or only whitespace");
      else if (!isVisible(text)) error("too_short", "must not consist only of invisible characters");
      else if (text.length > maxChars && countChars(text) > maxChars)
        error("too_long", `must have at most ${maxChars} characters`);
    })
    .meta({ minLength: 1, maxLength: maxChars, pattern: "\\S" });
}
