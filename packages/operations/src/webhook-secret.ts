import { randomBytes } from "node:crypto";
import { CHANNEL_LIMITS, ServiceError } from "@svc/contracts";
import type { WebhookSecrets } from "@svc/contracts";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { isWebhookSecret } from "@svc/outbound";
import { DEFAULT_PROJECT } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { audited } from "./audited.ts";

const SECRET_BYTES = 32;
/** Of a secret that somebody brings: shorter ones can be found by trying. */
const SECRET_MIN_BYTES = CHANNEL_LIMITS.secretMinBytes;
/** An earlier secret signs at most this long beside the current one. */
const OVERLAP_MAX_SECONDS = CHANNEL_LIMITS.overlapMaxSeconds;

/** Facts about the webhook secret that can be shown. */
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
  { webhookSecret, previousWebhookSecret }: WebhookSecrets,
  { secret, overlapSeconds }: { secret: string | null; overlapSeconds: number },
): WebhookSecrets["previousWebhookSecret"] {
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
 * Secrets that follow from a new one: the previous one goes on signing beside it for `overlapSeconds` (0 to 30 days).
 * With null none is set. Throws invalid_request, with `pointer`, for what can be no secret.
 */
export function nextWebhookSecret(
  store: Store,
  present: WebhookSecrets,
  { secret, overlapSeconds }: { secret: string | null; overlapSeconds: number },
  pointer = "/config/webhookSecret",
): WebhookSecrets {
  if (secret !== null && (!isWebhookSecret(secret) || Buffer.byteLength(secret) < SECRET_MIN_BYTES)) {
    throw new ServiceError(
      "invalid_request",
      `A webhook secret must have at least ${SECRET_MIN_BYTES} bytes and, if it starts with whsec_, must be padded base64. To generate one: svc webhook secret --generate.`,
      { errors: [{ pointer, code: "invalid_secret", detail: "is not a valid signing secret" }] },
    );
  }
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > OVERLAP_MAX_SECONDS) {
    throw new ServiceError(
      "invalid_request",
      `The overlap must be an integer from 0 to ${OVERLAP_MAX_SECONDS} seconds (30 days).`,
    );
  }
  return {
    webhookSecret: secret === null ? null : store.sealer.seal(secret),
    previousWebhookSecret: previousOf(store, present, { secret, overlapSeconds }),
  };
}

/**
 * Stores a new secret of a project, made from what is stored now: of two changes at once, the later one sees the secret
 * of the earlier one as the previous one. Throws as `nextWebhookSecret`, and not_found.
 */
export async function storeWebhookSecret(
  store: Store,
  { id, name }: Pick<Project, "id" | "name">,
  change: { secret: string | null; overlapSeconds: number },
): Promise<WebhookSecrets> {
  for (;;) {
    if (name === DEFAULT_PROJECT) {
      const { api, version } = await store.channelsConfig.read();
      const next = nextWebhookSecret(store, api.config, change);
      if (await store.channelsConfig.update("api", next, { ifVersion: version })) return next;
    } else {
      const project = await store.projects.find(id);
      if (project === null) throw new ServiceError("not_found", "No project with this ID exists.");
      const next = nextWebhookSecret(store, project, change);
      const { result } = await store.projects.update(id, next, [project.version]);
      if (result === "changed") return next;
    }
  }
}

/**
 * Sets the secret that signs the callbacks of the principal's project; that of `default` is the setting of the channel
 * `api`. The previous one goes on signing beside it for `overlapSeconds` (0 to 30 days), so that receivers can be changed
 * in the meantime; it replaces one that is still in the overlap of an earlier change. Setting the same secret again leaves
 * a running overlap as it is, or ends it with an overlap of 0. With null none is set, from now on and without an overlap:
 * each callback is signed with the API key that sent its message. A running product follows within a second. Scope
 * admin:*. Throws invalid_request for what can be no secret.
 */
export const setWebhookSecret = audited(
  "webhook-secret.set",
  async function setWebhookSecret(
    { store }: { store: Store },
    principal: Principal,
    { secret, overlapSeconds }: { secret: string | null; overlapSeconds: number },
  ): Promise<WebhookSecretState> {
    requireScope(principal, "admin:*");
    const project = { id: principal.project, name: principal.projectName };
    const next = await storeWebhookSecret(store, project, { secret, overlapSeconds });
    return { isSet: secret !== null, previousUntil: next.previousWebhookSecret?.until ?? null };
  },
  { isGlobal: true },
);
