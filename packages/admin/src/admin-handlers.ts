import type { AdminOperation } from "@svc/contracts";
import type { AdminHandler } from "./admin-handler.ts";
import { agentHandlers } from "./agent-handlers.ts";
import { auditHandlers } from "./audit-handlers.ts";
import { cannedReplyHandlers } from "./canned-reply-handlers.ts";
import { channelHandlers } from "./channel-handlers.ts";
import { deliveryHandlers } from "./delivery-handlers.ts";
import { gapHandlers } from "./gap-handlers.ts";
import { hookHandlers } from "./hook-handlers.ts";
import { kbHandlers } from "./kb-handlers.ts";
import { keyHandlers } from "./key-handlers.ts";
import { modelHandlers } from "./model-handlers.ts";
import { operatorHandlers } from "./operator-handlers.ts";
import { privacyHandlers } from "./privacy-handlers.ts";
import { projectHandlers } from "./project-handlers.ts";
import { proposalHandlers } from "./proposal-handlers.ts";
import { replyFileHandlers } from "./reply-file-handlers.ts";
import { reviewHandlers } from "./review-handlers.ts";
import { statsHandlers } from "./stats-handlers.ts";
import { testMessageHandlers } from "./test-message-handlers.ts";
import { ticketHistoryHandlers } from "./ticket-history-handlers.ts";
import { ticketHandlers } from "./ticket-handlers.ts";
import { toolCallHandlers } from "./tool-call-handlers.ts";

/** Makes the handlers of all endpoints of administration: one for each, or this does not compile. */
export function adminHandlers(): Record<AdminOperation, AdminHandler> {
  return {
    ...agentHandlers,
    ...auditHandlers,
    ...cannedReplyHandlers,
    ...channelHandlers,
    ...deliveryHandlers,
    ...gapHandlers,
    ...hookHandlers,
    ...kbHandlers(),
    ...keyHandlers,
    ...modelHandlers,
    ...operatorHandlers,
    ...privacyHandlers,
    ...projectHandlers,
    ...proposalHandlers,
    ...replyFileHandlers(),
    ...reviewHandlers,
    ...statsHandlers,
    ...testMessageHandlers,
    ...ticketHistoryHandlers,
    ...ticketHandlers,
    ...toolCallHandlers,
  };
}
