import type { WebhookSecrets } from "@svc/contracts";
import { isWebhookSecret } from "@svc/outbound";
import type { DeliveryRequest, Sealer } from "@svc/store";

/** The secrets that sign a callback, the current one first, or the reason for operators why there is none. */
export type SigningSecrets = { secrets: string[] } | { problem: string };

const NO_KEY =
  "the API key of the sender is no longer stored; set a project secret with: svc webhook secret --project NAME --generate, then replay this delivery";

/**
 * Returns the secrets that sign a callback: the webhook secret of its project, and the previous one until it expires;
 * if none is set, the API key that sent the message (service document, section 6). A revoked key signs nothing.
 */
export function findSigningSecrets(
  { webhookSecret, previousWebhookSecret: previous }: WebhookSecrets,
  delivery: Pick<DeliveryRequest, "sealedSecret" | "isKeyRevoked">,
  sealer: Sealer,
  now: number,
): SigningSecrets {
  if (webhookSecret !== null) {
    const current = sealer.open(webhookSecret);
    if (current === null)
      return { problem: "cannot decrypt the webhook secret with this SVC_SECRET_KEY; set a new secret" };
    if (!isWebhookSecret(current)) return { problem: "the webhook secret is not usable; set a new secret" };
    const older = previous !== null && Date.parse(previous.until) > now ? sealer.open(previous) : null;
    return { secrets: older === null || !isWebhookSecret(older) ? [current] : [current, older] };
  }
  if (delivery.isKeyRevoked)
    return { problem: "the API key that sent the message is revoked and cannot sign callbacks" };
  const key = delivery.sealedSecret === null ? null : sealer.open(delivery.sealedSecret);
  if (key === null || !isWebhookSecret(key)) return { problem: NO_KEY };
  return { secrets: [key] };
}
