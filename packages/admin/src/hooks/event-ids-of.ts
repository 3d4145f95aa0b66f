import { createHash } from "node:crypto";
import { HOOK_LIMITS } from "@svc/contracts";
import type { Hook, NewHookBody } from "@svc/store";

const hashOf = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");

/**
 * The ids under which an event is known, the first of them signed where the scheme signs one. Standard Webhooks signs
 * `webhook-id`. GitHub signs the body alone, not the id of the delivery; its bodies name what they are about and when,
 * so that the same body is the same event. Other schemes that sign the body alone may send equal bodies for different
 * events.
 */
export function eventIdsOf(
  { auth }: Pick<Hook, "auth">,
  { headers, content }: Pick<NewHookBody, "headers" | "content">,
  mappedId: string | null,
): string[] {
  const mapped = mappedId === null ? [] : [mappedId];
  if (auth.type === "github") return [`body ${hashOf(content)}`, ...mapped];
  const signedId = headers["webhook-id"];
  if (auth.type !== "standard-webhooks" || mappedId !== null || signedId === undefined) return mapped;
  return [signedId.length > HOOK_LIMITS.eventIdMaxChars ? `webhook-id ${hashOf(signedId)}` : signedId];
}
