import { agentEndpoints } from "./endpoints/agents.ts";
import { auditEndpoints } from "./endpoints/audit.ts";
import { cannedReplyEndpoints } from "./endpoints/canned-replies.ts";
import { channelEndpoints } from "./endpoints/channels.ts";
import { deliveryEndpoints } from "./endpoints/deliveries.ts";
import type { Endpoint } from "./endpoints/endpoint.ts";
import { gapEndpoints } from "./endpoints/gaps.ts";
import { hookEndpoints } from "./endpoints/hooks.ts";
import { kbEndpoints } from "./endpoints/kb.ts";
import { keyEndpoints } from "./endpoints/keys.ts";
import { messageEndpoints } from "./endpoints/messages.ts";
import { modelEndpoints } from "./endpoints/models.ts";
import { operatorEndpoints } from "./endpoints/operators.ts";
import { privacyEndpoints } from "./endpoints/privacy.ts";
import { projectEndpoints } from "./endpoints/projects.ts";
import { proposalEndpoints } from "./endpoints/proposals.ts";
import { replyFileEndpoints } from "./endpoints/reply-files.ts";
import { reviewEndpoints } from "./endpoints/reviews.ts";
import { statsEndpoints } from "./endpoints/stats.ts";
import { testMessageEndpoints } from "./endpoints/test-messages.ts";
import { ticketHistoryEndpoints } from "./endpoints/ticket-history.ts";
import { ticketEndpoints } from "./endpoints/tickets.ts";
import { toolCallEndpoints } from "./endpoints/tool-calls.ts";

/** Administration endpoints: every endpoint that requires a key and runs an operation. */
export const ADMIN_ENDPOINTS = {
  ...agentEndpoints,
  ...auditEndpoints,
  ...cannedReplyEndpoints,
  ...channelEndpoints,
  ...deliveryEndpoints,
  ...gapEndpoints,
  ...hookEndpoints,
  ...kbEndpoints,
  ...keyEndpoints,
  ...modelEndpoints,
  ...operatorEndpoints,
  ...privacyEndpoints,
  ...projectEndpoints,
  ...proposalEndpoints,
  ...replyFileEndpoints,
  ...reviewEndpoints,
  ...statsEndpoints,
  ...testMessageEndpoints,
  ...ticketHistoryEndpoints,
  ...ticketEndpoints,
  ...toolCallEndpoints,
} as const satisfies Record<string, Endpoint>;
export type AdminOperation = keyof typeof ADMIN_ENDPOINTS;

/** All endpoints of the HTTP API, by operation name. */
export const ENDPOINTS = { ...messageEndpoints, ...ADMIN_ENDPOINTS } as const satisfies Record<string, Endpoint>;
export type Operation = keyof typeof ENDPOINTS;
