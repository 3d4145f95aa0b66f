import { isWebhookSecret, verifyWebhook } from "@svc/outbound";
import type { WebhookScheme, WebhookVerdict } from "@svc/outbound";
import type { Headers } from "./parse-header-lines.ts";
import { renderAge } from "./render-age.ts";

/** A callback as it was received, and the secret that should have signed it. */
export interface Callback {
  /** The bytes of the body as received. */
  body: Buffer;
  headers: Headers;
  secret: string;
  now: Date;
  maxAgeMs: number;
}

/** What a verification has found. */
export interface CallbackReport {
  ok: boolean;
  /** Which proof was checked: Standard Webhooks, or X-Svc-Signature where the callback has nothing else. */
  scheme: WebhookScheme;
  reason: Reason | null;
  /** What was found, in a sentence. */
  detail: string;
  /** What to do or to know. */
  hints: string[];
}

type Reason = Exclude<WebhookVerdict, { ok: true }>["reason"];
type Finding = Pick<CallbackReport, "detail" | "hints">;

const HEADERS = {
  standard: ["webhook-id", "webhook-timestamp", "webhook-signature"],
  body: ["x-svc-signature"],
} satisfies Record<WebhookScheme, string[]>;

/** What a signature header looks like when nothing of it got lost. */
const SIGNATURE_FORM = {
  standard: {
    header: "webhook-signature",
    pattern: /^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/,
    text: "v1, and 44 characters of base64; several are separated by spaces",
  },
  body: {
    header: "x-svc-signature",
    pattern: /^sha256=[0-9a-f]{64}$/,
    text: "sha256= and 64 hexadecimal digits in lower case",
  },
} satisfies Record<WebhookScheme, { header: string; pattern: RegExp; text: string }>;

/** The signature alone, whenever it was made. */
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
  const faults = [
    ...(absent.length === 0 ? [] : [`without ${absent.join(" and ")}`]),
    ...(repeated.length === 0 ? [] : [`with more than one ${repeated.join(" and ")}`]),
  ];
  return {
    detail: `The callback comes ${faults.join(" and ")}.`,
    hints: ["Is that all that the receiver got? A proxy may leave out headers that it does not know."],
  };
}

function untimely(callback: Callback, scheme: WebhookScheme): Finding {
  const { headers, now, maxAgeMs, secret } = callback;
  const timestamp = String(headers["webhook-timestamp"]);
  if (!/^\d{1,12}$/.test(timestamp)) return { detail: "webhook-timestamp is no time in whole seconds.", hints: [] };
  const ageMs = now.getTime() - Number(timestamp) * 1_000;
  const signature = isSignedBy(callback, scheme, secret)
    ? ["Its signature is right. To look at an old one, say how old it may be with --max-age."]
    : ["Its signature is not right either.", ...mismatch(callback, scheme).hints];
  if (ageMs < 0) {
    return {
      detail: `It was signed ${renderAge(-ageMs)} in the future.`,
      hints: ["Check the clocks of sender and receiver.", ...signature],
    };
  }
  return {
    detail: `It is too old: it was signed ${renderAge(ageMs)} ago, and ${renderAge(maxAgeMs)} are allowed.`,
    hints: ["A receiver has to refuse it: somebody may have kept it and sent it again.", ...signature],
  };
}

/** The same secret as it may have been given wrongly, with what has to be done about it. */
function otherSecrets(secret: string): { secret: string; hint: string }[] {
  return [
    { secret: secret.trim(), hint: "It is right for this secret without the spaces around it." },
    { secret: `whsec_${secret}`, hint: "It is right for this secret with whsec_ before it, which belongs to it." },
    {
      secret: secret.replace(/^whsec_/, ""),
      hint: "It is right for this secret without whsec_, which does not belong to it.",
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

/** The same body as it may have been before something changed it, with what has changed it. */
function otherBodies(body: Buffer): { body: Buffer; hint: string }[] {
  const text = body.toString("utf8");
  return [
    {
      text: text.replace(/(?:\r?\n)+$/, ""),
      hint: "It is right for this body without the line end after it, which an editor or echo has added.",
    },
    {
      text: text.replace(/^\ufeff/, ""),
      hint: "It is right for this body without the byte order mark before it, which an editor has added.",
    },
    {
      text: reserialize(text) ?? text,
      hint:
        "It is right for this body before it was parsed and written again. A receiver has to verify the raw bytes, " +
        "before anything parses them.",
    },
  ]
    .filter((other) => other.text !== text)
    .map((other) => ({ body: Buffer.from(other.text, "utf8"), hint: other.hint }));
}

/** What can be said of a body when nothing that was tried makes the signature right. */
function suspectBody(body: Buffer): string[] {
  const text = body.toString("utf8");
  const compact = reserialize(text);
  if (compact === null) return ["The body is not JSON, as every callback is. Give the body alone, without headers."];
  if (compact === text) return [];
  return ["The body looks as if it was parsed and written again. The signature is over the raw bytes: keep those."];
}

function mismatch(callback: Callback, scheme: WebhookScheme): Finding {
  const { body, headers, secret } = callback;
  const detail = "The signature is not the one of this body with this secret.";
  const { header, pattern, text } = SIGNATURE_FORM[scheme];
  if (!pattern.test(String(headers[header]))) return { detail, hints: [`${header} is not complete: it is ${text}.`] };
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
      "Is it the secret that was set when the callback was made? While none is set, the API key that sent the message is it.",
    ],
  };
}

const FINDINGS = {
  missing_header: missing,
  bad_timestamp: untimely,
  bad_signature: mismatch,
} satisfies Record<Reason, (callback: Callback, scheme: WebhookScheme) => Finding>;

/** What else is to be known of a callback that is genuine. */
function remarks(callback: Callback, scheme: WebhookScheme): string[] {
  if (scheme === "body") {
    return ["X-Svc-Signature does not prove when it was sent: a receiver is safer with webhook-signature."];
  }
  const isOther = callback.headers["x-svc-signature"] !== undefined && !isSignedBy(callback, "body", callback.secret);
  return isOther ? ["X-Svc-Signature is of another secret: during a rotation it is the newer one's."] : [];
}

/**
 * Verifies a callback as a receiver does, and finds out why when it is not genuine. Where it has a header of Standard
 * Webhooks, those decide; X-Svc-Signature decides only where it stands alone. The secret must be usable.
 */
export function checkCallback(callback: Callback): CallbackReport {
  const { body, headers, secret, now, maxAgeMs } = callback;
  const scheme = HEADERS.standard.some((name) => headers[name] !== undefined) ? "standard" : "body";
  const verdict = verifyWebhook({ body, headers, secrets: [secret], scheme, now, toleranceMs: maxAgeMs });
  if (verdict.ok) {
    return { ok: true, scheme, reason: null, detail: "The callback is genuine.", hints: remarks(callback, scheme) };
  }
  return { ok: false, scheme, reason: verdict.reason, ...FINDINGS[verdict.reason](callback, scheme) };
}
