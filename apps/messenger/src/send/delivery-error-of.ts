import { DeliveryError } from "@svc/contracts";
import type { DeliveryFault } from "@svc/contracts";
import type { BotApiError, BotApiErrorKind } from "../telegram/bot-api-error.ts";

const FAULTS = {
  unauthorized: "later",
  conflict: "later",
  too_many: "later",
  unreachable: "later",
  forbidden: "closed",
  bad_request: "refused",
  too_large: "refused",
} as const satisfies Record<BotApiErrorKind, DeliveryFault>;

/** What Telegram says of chats that are gone, where it does not answer 403. */
const GONE =
  /chat not found|user not found|user is deactivated|bot was (?:blocked|kicked)|chat was (?:deactivated|deleted|upgraded)|PEER_ID_INVALID|USER_IS_BLOCKED|INPUT_USER_DEACTIVATED/i;

/** True where Telegram says that it takes nothing for this chat any more. */
export const isGone = (error: BotApiError): boolean =>
  error.kind === "forbidden" || (error.kind === "bad_request" && GONE.test(error.description));

/** What becomes of a reply by why a call failed. */
export function deliveryErrorOf(error: BotApiError): DeliveryError {
  const fault = isGone(error) ? "closed" : FAULTS[error.kind];
  return new DeliveryError(fault, `Telegram: ${error.description}`, { retryAfterMs: error.retryAfterMs, cause: error });
}
