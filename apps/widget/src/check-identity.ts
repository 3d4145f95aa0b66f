import { createHmac, timingSafeEqual } from "node:crypto";
import { ServiceError } from "@svc/contracts";
import type { WidgetSite } from "./widget-site.ts";

/** Who a visitor says to be. */
export interface ClaimedIdentity {
  userId?: string | undefined;
  /** Lower-case hex HMAC-SHA256 of `userId` under the identity secret. */
  userHash?: string | undefined;
}

/** Of what follows the last digit Node would take no notice. */
const HASH = /^[0-9a-f]{64}$/i;

function isSigned(secret: string, userId: string, userHash: string): boolean {
  if (!HASH.test(userHash)) return false;
  const right = createHmac("sha256", secret).update(userId).digest();
  return timingSafeEqual(Buffer.from(userHash, "hex"), right);
}

/**
 * The proven user id of a visitor; null for one without. An id counts only with its hash: without an identity secret none
 * can be proven, and what is claimed is left out. Throws invalid_identity for a wrong hash, for an id without one, and
 * where the settings demand an id and there is none.
 */
export function checkIdentity(
  { settings, identitySecret }: WidgetSite,
  { userId, userHash }: ClaimedIdentity,
): string | null {
  const isSent = userId !== undefined || userHash !== undefined;
  if (identitySecret !== null && isSent) {
    if (userId !== undefined && userHash !== undefined && isSigned(identitySecret, userId, userHash)) return userId;
    throw new ServiceError(
      "invalid_identity",
      "The user hash is missing or wrong. It must be the HMAC-SHA256 of the user ID with the identity secret, in lowercase hex.",
    );
  }
  if (!settings.requireIdentity) return null;
  throw new ServiceError(
    "invalid_identity",
    "Only signed-in users can write on this website: send userId and userHash.",
  );
}
