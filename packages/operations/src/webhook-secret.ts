import { randomBytes } from "node:crypto";
import { CHANNEL_LIMITS, ServiceError } from "@svc/contracts";
import type { ApiSettings } from "@svc/contracts";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { isWebhookSecret } from "@svc/outbound";
import type { Store } from "@svc/store";
import { audited } from "./audited.ts";

const SECRET_BYTES = 32;
/** Of a secret that somebody brings: shorter ones can be found by trying. */
const SECRET_MIN_BYTES = CHANNEL_LIMITS.secretMinBytes;
/** An earlier secret signs at most this long beside the current one. */
const OVERLAP_MAX_SECONDS = CHANNEL_LIMITS.overlapMaxSeconds;

/** What may be known of the webhook secret. */
export interface WebhookSecretState {
  isSet: boolean;
  /** Until when the secret before signs as well (RFC 3339); null when none does. */
  previousUntil: string | null;
}

/** Makes a webhook secret as Standard Webhooks writes them: `whsec_` and the base64 of 32 random bytes. */
export function generateWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}

/** The secret that signs beside the new one, and until when. */
function previousOf(
  store: Store,
  { webhookSecret, previousWebhookSecret }: ApiSettings,
  { secret, overlapSeconds }: { secret: string | null; overlapSeconds: number },
): ApiSettings["previousWebhookSecret"] {
  // Without a current secret the key of each message signs, and nothing beside it.
  if (secret === null || overlapSeconds === 0) return null;
  // A call that is repeated must not end the overlap that it has begun.
  if (webhookSecret === null || store.sealer.open(webhookSecret) === secret) {
    const isOver = previousWebhookSecret === null || Date.parse(previousWebhookSecret.until) <= Date.now();
    return isOver ? null : previousWebhookSecret;
  }
  return { ...webhookSecret, until: new Date(Date.now() + overlapSeconds * 1_000).toISOString() };
}

/**
 * What a secret makes of the settings: the one before goes on signing beside it for `overlapSeconds` (0 to 30 days).
 * With null none is set. Throws invalid_request for what can be no secret.
 */
export function nextWebhookSecret(
  store: Store,
  present: ApiSettings,
  { secret, overlapSeconds }: { secret: string | null; overlapSeconds: number },
): Pick<ApiSettings, "webhookSecret" | "previousWebhookSecret"> {
  if (secret !== null && (!isWebhookSecret(secret) || Buffer.byteLength(secret) < SECRET_MIN_BYTES)) {
    throw new ServiceError(
      "invalid_request",
      `A webhook secret has at least ${SECRET_MIN_BYTES} bytes, and is base64 with padding where it begins with whsec_. Let one be made: svc webhook secret --generate.`,
      { errors: [{ pointer: "/config/webhookSecret", code: "invalid_secret", detail: "is not fit to sign with" }] },
    );
  }
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > OVERLAP_MAX_SECONDS) {
    throw new ServiceError("invalid_request", `The overlap is 0 to ${OVERLAP_MAX_SECONDS} whole seconds (30 days).`);
  }
  return {
    webhookSecret: secret === null ? null : store.sealer.seal(secret),
    previousWebhookSecret: previousOf(store, present, { secret, overlapSeconds }),
  };
}

/**
 * Sets the secret that signs callbacks. The one before goes on signing beside it for `overlapSeconds` (0 to 30 days),
 * so that receivers can be changed in the meantime; it takes the place of one that is still in the overlap of an earlier
 * change. Setting the same secret again leaves a running overlap as it is, or ends it with an overlap of 0. With null
 * none is set, from now on and without an overlap: each callback is signed with the API key that sent its message. A
 * running product follows within a second. Scope admin:*. Throws invalid_request for what can be no secret.
 */
export const setWebhookSecret = audited(
  "webhook-secret.set",
  async function setWebhookSecret(
    { store }: { store: Store },
    principal: Principal,
    { secret, overlapSeconds }: { secret: string | null; overlapSeconds: number },
  ): Promise<WebhookSecretState> {
    requireScope(principal, "admin:*");
    for (;;) {
      const { api, version } = await store.channelsConfig.read();
      const next = nextWebhookSecret(store, api.config, { secret, overlapSeconds });
      // Of two changes at once, the later one must see the secret of the earlier one as the one before.
      const isChanged = await store.channelsConfig.update("api", next, { ifVersion: version });
      if (isChanged) return { isSet: secret !== null, previousUntil: next.previousWebhookSecret?.until ?? null };
    }
  },
  undefined,
  { isGlobal: true },
);
