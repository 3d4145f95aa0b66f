import type { ApiSettings } from "@svc/contracts";
import { isWebhookSecret } from "@svc/outbound";
import type { ClaimedDelivery, Sealer } from "@svc/store";

/** The secrets that sign a callback, the current one first; or why there is none, for the operator. */
export type SigningSecrets = { secrets: string[] } | { fault: string };

const NO_KEY =
  "the sender's API key is not kept any more; set a secret with: svc webhook secret --generate, then replay this";

/**
 * What signs a callback: the webhook secret, beside it the one before until its time is over; where none is set, the
 * API key that sent the message (service document, section 6). A revoked key signs nothing.
 */
export function findSigningSecrets(
  settings: Pick<ApiSettings, "webhookSecret" | "previousWebhookSecret">,
  delivery: Pick<ClaimedDelivery, "sealedSecret" | "isKeyRevoked">,
  sealer: Sealer,
  now: number,
): SigningSecrets {
  const { webhookSecret, previousWebhookSecret: previous } = settings;
  if (webhookSecret !== null) {
    const current = sealer.open(webhookSecret);
    if (current === null) return { fault: "the webhook secret cannot be opened with this SVC_SECRET_KEY; set it anew" };
    if (!isWebhookSecret(current)) return { fault: "the webhook secret is not usable; set it anew" };
    const older = previous !== null && Date.parse(previous.until) > now ? sealer.open(previous) : null;
    return { secrets: older === null || !isWebhookSecret(older) ? [current] : [current, older] };
  }
  if (delivery.isKeyRevoked) return { fault: "the API key that sent the message is revoked and signs nothing" };
  const key = delivery.sealedSecret === null ? null : sealer.open(delivery.sealedSecret);
  if (key === null || !isWebhookSecret(key)) return { fault: NO_KEY };
  return { secrets: [key] };
}
