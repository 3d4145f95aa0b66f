import { isWebhookSecret, verifyWebhook } from "@svc/outbound";
import type { WebhookScheme, WebhookVerdict } from "@svc/outbound";
import { renderAge } from "../render-table.ts";

/** Headers as in Node: names in lower case, and a list for a header that was sent more than once. */
export type Headers = Record<string, string | string[]>;

/** A header line: marks of `curl -v`, a name (RFC 9110, section 5.6.2) with or without quotes, and its value. */
const LINE = /^[<>]?\s*(["']?)([!#$%&'*+.^_`|~0-9a-z-]+)\1\s*:\s*(.*?)\s*$/i;

/** Returns the value of a header in quotes, as in a JSON log. */
function unquote(value: string): string {
  return /^(["'])(.*)\1,?$/.exec(value)?.[2] ?? value;
}

/**
 * Parses headers from lines as in a request log or the output of `curl -i` or `curl -v`. Skips the first line of a
 * request or response and everything else that is not a header; text after the first empty line is a body.
 */
export function parseHeaderLines(text: string): Headers {
  const headers = new Map<string, string | string[]>();
  for (const line of text.trimStart().split(/\r?\n/)) {
    if (line.trim() === "" || /^[<>]\s*$/.test(line)) break;
    const [, quote, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const known = headers.get(name.toLowerCase());
    const found = quote === "" ? value : unquote(value);
    headers.set(name.toLowerCase(), known === undefined ? found : [known, found].flat());
  }
  return Object.fromEntries(headers);
}

/** A received callback, and the secret that should have signed it. */
export interface Callback {
  /** The bytes of the body as received. */
  body: Buffer;
  headers: Headers;
  secret: string;
  now: Date;
  maxAgeMs: number;
}

/** Result of a verification. */
export interface CallbackReport {
  ok: boolean;
  /** The verified proof: Standard Webhooks, or X-Svc-Signature if the callback has nothing else. */
  scheme: WebhookScheme;
  reason: Reason | null;
  /** The result, as a sentence. */
  detail: string;
  /** Advice. */
  hints: string[];
}

type Reason = Exclude<WebhookVerdict, { ok: true }>["reason"];
type Finding = Pick<CallbackReport, "detail" | "hints">;

const HEADERS = {
  standard: ["webhook-id", "webhook-timestamp", "webhook-signature"],
  body: ["x-svc-signature"],
} satisfies Record<WebhookScheme, string[]>;

/** Form of a complete signature header. */
const SIGNATURE_FORM = {
  standard: {
    header: "webhook-signature",
    pattern: /^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/,
    text: "v1, followed by 44 characters of base64; several signatures are separated by spaces",
  },
  body: {
    header: "x-svc-signature",
    pattern: /^sha256=[0-9a-f]{64}$/,
    text: "sha256= followed by 64 lowercase hex digits",
  },
} satisfies Record<WebhookScheme, { header: string; pattern: RegExp; text: string }>;

/** Returns true if the signature is valid, regardless of its time. */
function isSignedBy({ body, headers, now }: Callback, scheme: WebhookScheme, secret: string, bytes = body): boolean {
  const toleranceMs = Number.POSITIVE_INFINITY;
  return (
    isWebhookSecret(secret) && verifyWebhook({ body: bytes, headers, secrets: [secret], scheme, now, toleranceMs }).ok
  );
}

function missing({ headers }: Callback, scheme: WebhookScheme): Finding {
  const names: readonly string[] = HEADERS[scheme];
  const absent = names.filter((name) => headers[name] === undefined);
  const repeated = names.filter((name) => Array.isArray(headers[name]));
  const reasons = [
    ...(absent.length === 0 ? [] : [`without ${absent.join(" and ")}`]),
    ...(repeated.length === 0 ? [] : [`with more than one ${repeated.join(" and ")}`]),
  ];
  return {
    detail: `The callback was received ${reasons.join(" and ")}.`,
    hints: ["Is this everything the receiver got? A proxy may remove headers it does not know."],
  };
}

function untimely(callback: Callback, scheme: WebhookScheme): Finding {
  const { headers, now, maxAgeMs, secret } = callback;
  const timestamp = String(headers["webhook-timestamp"]);
  if (!/^\d{1,12}$/.test(timestamp))
    return { detail: "webhook-timestamp is not a Unix time in whole seconds.", hints: [] };
  const ageMs = now.getTime() - Number(timestamp) * 1_000;
  const signature = isSignedBy(callback, scheme, secret)
    ? ["The signature is valid. To verify an old callback, set its maximum age with --max-age."]
    : ["The signature is not valid either.", ...mismatch(callback, scheme).hints];
  if (ageMs < 0) {
    return {
      detail: `The timestamp is ${renderAge(-ageMs)} in the future.`,
      hints: ["Check the clocks of the sender and the receiver.", ...signature],
    };
  }
  return {
    detail: `The callback is too old: it was signed ${renderAge(ageMs)} ago, and the maximum is ${renderAge(maxAgeMs)}.`,
    hints: ["Receivers must reject it, because it may be a replay attack.", ...signature],
  };
}

/** Returns variants of the secret that may have been meant, each with what to do about it. */
function otherSecrets(secret: string): { secret: string; hint: string }[] {
  return [
    { secret: secret.trim(), hint: "It is valid for this secret without the surrounding spaces." },
    {
      secret: `whsec_${secret}`,
      hint: "It is valid for this secret with the prefix whsec_, which is part of the secret.",
    },
    {
      secret: secret.replace(/^whsec_/, ""),
      hint: "It is valid for this secret without the prefix whsec_, which is not part of the secret.",
    },
  ].filter((other) => other.secret !== secret);
}

function reserialize(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Returns variants of the body before a possible change, each with the cause of the change. */
function otherBodies(body: Buffer): { body: Buffer; hint: string }[] {
  const text = body.toString("utf8");
  return [
    {
      text: text.replace(/(?:\r?\n)+$/, ""),
      hint: "It is valid for this body without the trailing line break, which an editor or echo has added.",
    },
    {
      text: text.replace(/^\ufeff/, ""),
      hint: "It is valid for this body without the byte order mark, which an editor has added.",
    },
    {
      text: reserialize(text) ?? text,
      hint:
        "It is valid for this body before it was parsed and serialized again. A receiver must verify the raw bytes " +
        "before anything parses them.",
    },
  ]
    .filter((other) => other.text !== text)
    .map((other) => ({ body: Buffer.from(other.text, "utf8"), hint: other.hint }));
}

/** Returns hints about a body for which no variant has a valid signature. */
function suspectBody(body: Buffer): string[] {
  const text = body.toString("utf8");
  const compact = reserialize(text);
  if (compact === null) return ["The body is not JSON, which every callback is. Pass only the body, without headers."];
  if (compact === text) return [];
  return ["The body seems to have been parsed and serialized again. The signature covers the raw bytes: keep those."];
}

function mismatch(callback: Callback, scheme: WebhookScheme): Finding {
  const { body, headers, secret } = callback;
  const detail = "The signature does not match this body and secret.";
  const { header, pattern, text } = SIGNATURE_FORM[scheme];
  if (!pattern.test(String(headers[header]))) return { detail, hints: [`${header} is malformed: it must be ${text}.`] };
  const found = [
    ...otherSecrets(secret).filter((other) => isSignedBy(callback, scheme, other.secret)),
    ...otherBodies(body).filter((other) => isSignedBy(callback, scheme, secret, other.body)),
  ];
  const [likeliest] = found;
  if (likeliest !== undefined) return { detail, hints: [likeliest.hint] };
  return {
    detail,
    hints: [
      ...suspectBody(body),
      "Is this the secret that was set when the callback was created? If none is set, the secret is the API key that sent the message.",
    ],
  };
}

const FINDINGS = {
  missing_header: missing,
  bad_timestamp: untimely,
  bad_signature: mismatch,
} satisfies Record<Reason, (callback: Callback, scheme: WebhookScheme) => Finding>;

/** Returns remarks on a genuine callback. */
function remarks(callback: Callback, scheme: WebhookScheme): string[] {
  if (scheme === "body") {
    return ["X-Svc-Signature does not cover the time of sending: webhook-signature is more secure."];
  }
  const isOther = callback.headers["x-svc-signature"] !== undefined && !isSignedBy(callback, "body", callback.secret);
  return isOther ? ["X-Svc-Signature uses a different secret: during a rotation, it is signed with the new one."] : [];
}

/**
 * Verifies a callback as a receiver does, and finds out why it is not genuine. If it has a header of Standard
 * Webhooks, only those count; otherwise X-Svc-Signature. The secret must be valid.
 */
export function checkCallback(callback: Callback): CallbackReport {
  const { body, headers, secret, now, maxAgeMs } = callback;
  const scheme = HEADERS.standard.some((name) => headers[name] !== undefined) ? "standard" : "body";
  const verdict = verifyWebhook({ body, headers, secrets: [secret], scheme, now, toleranceMs: maxAgeMs });
  if (verdict.ok) {
    return { ok: true, scheme, reason: null, detail: "The callback is authentic.", hints: remarks(callback, scheme) };
  }
  return { ok: false, scheme, reason: verdict.reason, ...FINDINGS[verdict.reason](callback, scheme) };
}
