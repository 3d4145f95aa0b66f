import { ServiceError, messageRequestSchema } from "@svc/contracts";
import type { MessageMode, MessageRequest } from "@svc/contracts";
import { invalidRequest, parseJson } from "@svc/http";
import type { AddressGuard } from "@svc/outbound";
import { chooseMode } from "./modes.ts";

/** A request that is valid, with the mode that it asks for. */
export interface RequestedMessage extends MessageRequest {
  mode: MessageMode;
}

/**
 * Reads the body of `POST /api/v1/messages` (service document, section 2.1). A callback URL that is plainly forbidden is
 * refused here; what its name resolves to is checked when it is called. Throws invalid_json, invalid_request.
 */
export function readMessage(body: Buffer, guard: AddressGuard): RequestedMessage {
  const parsed = messageRequestSchema.safeParse(parseJson(body));
  if (!parsed.success) throw invalidRequest(parsed.error.issues, "The message");
  const message = { ...parsed.data, mode: chooseMode(parsed.data) };
  if (message.webhookUrl === undefined) return message;
  const check = guard.checkUrl(message.webhookUrl);
  if (!check.ok) {
    throw new ServiceError("invalid_request", `The message is not valid: /webhookUrl is refused. ${check.reason}`, {
      errors: [{ pointer: "/webhookUrl", code: "forbidden_address", detail: check.reason }],
    });
  }
  return { ...message, webhookUrl: new URL(message.webhookUrl).href };
}
