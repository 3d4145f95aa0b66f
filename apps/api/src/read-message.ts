import { messageRequestSchema } from "@svc/contracts";
import type { MessageMode, MessageRequest } from "@svc/contracts";
import { invalidRequest, parseJson } from "@svc/http";
import type { AddressGuard } from "@svc/outbound";
import { chooseMode } from "./modes.ts";

/** A request that is valid, with the mode that it asks for. */
export interface RequestedMessage extends MessageRequest {
  mode: MessageMode;
}

/** A fault of a field, as the schema's own are told. */
interface FieldIssue {
  code: string;
  path: PropertyKey[];
  message: string;
  params: { code: string };
}

const fault = (field: string, code: string, message: string): FieldIssue => ({
  code: "custom",
  path: [field],
  message,
  params: { code },
});

/** What is wrong with how the replies are to be taken, which no schema of a single field can tell. */
function faultsOfMode(body: unknown, guard: AddressGuard): FieldIssue[] {
  if (typeof body !== "object" || body === null) return [];
  const { mode, webhookUrl } = body as { mode?: unknown; webhookUrl?: unknown };
  if (webhookUrl === undefined) {
    return mode === "webhook" ? [fault("webhookUrl", "required", "is required with mode webhook")] : [];
  }
  const check = typeof webhookUrl === "string" ? guard.checkUrl(webhookUrl) : { ok: true as const };
  return check.ok
    ? []
    : [fault("webhookUrl", "forbidden_address", `is not allowed. ${check.reason.replace(/\.$/, "")}`)];
}

/**
 * Reads the body of `POST /api/v1/messages` (service document, section 2.1). A callback URL that is plainly forbidden is
 * refused here; what its name resolves to is checked when it is called. Throws invalid_json, and invalid_request with
 * every fault.
 */
export function readMessage(body: Buffer, guard: AddressGuard): RequestedMessage {
  const json = parseJson(body);
  const parsed = messageRequestSchema.safeParse(json);
  const further = faultsOfMode(json, guard);
  if (!parsed.success || further.length > 0) {
    throw invalidRequest([...(parsed.error?.issues ?? []), ...further], "The message");
  }
  const { webhookUrl, ...message } = parsed.data;
  const mode = chooseMode(parsed.data);
  return webhookUrl === undefined ? { ...message, mode } : { ...message, mode, webhookUrl: new URL(webhookUrl).href };
}
