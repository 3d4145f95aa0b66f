import { excerptOf } from "@svc/outbound";
import { ModelError } from "./model-error.ts";
import type { ModelFault } from "./model-error.ts";

/** Error of one request, and whether a retry may resolve it. */
export interface RequestFault {
  error: ModelError;
  canRetry: boolean;
  /** How long the provider asks to be left alone, in milliseconds, or null. */
  retryAfterMs: number | null;
}

const EXCERPT_CHARS = 120;

const STATUS_FAULTS: Readonly<Record<number, { fault: ModelFault; text: string }>> = {
  401: { fault: "unauthorized", text: "the provider rejected the API key (401)" },
  402: { fault: "unauthorized", text: "the provider requires payment (402)" },
  403: { fault: "unauthorized", text: "the provider rejected the API key (403)" },
  404: { fault: "unknown_model", text: "the provider does not know this model or URL (404)" },
  413: { fault: "too_long", text: "the question is too long for the model (413)" },
};

/** What refusals with other statuses say of their reason. */
const TOLD_FAULTS: readonly { told: RegExp; fault: ModelFault; text: string }[] = [
  {
    told: /context.{0,20}(?:length|window|size)|too (?:long|large)|maximum context|prompt is too/i,
    fault: "too_long",
    text: "the question is too long for the model",
  },
  {
    told: /content.?(?:filter|policy|management)|safety|moderation/i,
    fault: "refused",
    text: "the provider's content filter blocked the question",
  },
  {
    told: /model.{0,80}(?:not found|not exist|not a valid|unknown|not loaded)|(?:unknown|invalid|not a valid) model/i,
    fault: "unknown_model",
    text: "the provider does not know this model",
  },
];

/** A request that came too early or while the server was busy: the same one may go through later. */
const MENDABLE: ReadonlySet<number> = new Set([408, 409, 425]);

/** A quota that is used up does not come back in seconds. */
const USED_UP = /insufficient_quota|quota.{0,40}exceeded|billing/i;

/** What an answer means that is no success. */
export function explainStatus(
  { status, headers }: Pick<Response, "status" | "headers">,
  body: string,
  secret: string | undefined,
): RequestFault {
  const retryAfterMs = retryAfterOf(headers);
  const known = STATUS_FAULTS[status];
  // The message about a wrong key omits the server's own: some servers repeat half of the key.
  if (known !== undefined) return lasting(known.fault, known.text);
  if (status >= 300 && status < 400) {
    return lasting("provider_fault", `the provider redirects to another URL (${status}); set that URL instead`);
  }
  const excerpt = excerptOf(body, { secret, maxChars: EXCERPT_CHARS });
  const said = excerpt === "" ? "" : `: ${excerpt}`;
  if (status === 429) {
    const error = new ModelError("rate_limited", `the provider's rate limit is exceeded (429${said})`);
    return { error, canRetry: !USED_UP.test(body), retryAfterMs };
  }
  const told = TOLD_FAULTS.find((fault) => fault.told.test(excerpt));
  if (status < 500 && !MENDABLE.has(status)) {
    return told === undefined
      ? lasting("refused", `the provider rejected the request (${status}${said})`)
      : lasting(told.fault, `${told.text} (${status}${said})`);
  }
  // llama.cpp responds with 500 to a question that is too long.
  if (told?.fault === "too_long") return lasting(told.fault, `${told.text} (${status}${said})`);
  return {
    error: new ModelError("provider_fault", `the provider returned ${status}${said}`),
    canRetry: true,
    retryAfterMs,
  };
}

function lasting(fault: ModelFault, text: string): RequestFault {
  return { error: new ModelError(fault, text), canRetry: false, retryAfterMs: null };
}

/** `Retry-After` in milliseconds: it comes as seconds or as a date. Null without one that can be read. */
function retryAfterOf(headers: Headers): number | null {
  const given = headers.get("retry-after")?.trim() ?? "";
  if (given === "") return null;
  const ms = /^\d+(?:\.\d+)?$/.test(given) ? Number(given) * 1_000 : Date.parse(given) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
