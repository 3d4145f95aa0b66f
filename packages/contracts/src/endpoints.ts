import { agentEndpoints } from "./agent.ts";
import { articleEndpoints } from "./article.ts";
import { auditEndpoints } from "./audit.ts";
import { cannedReplyEndpoints } from "./canned-reply.ts";
import { channelEndpoints } from "./channel-item.ts";
import { customerEndpoints } from "./customer.ts";
import { deliveryEndpoints, webhookEndpoints } from "./webhook.ts";
import { emailEndpoints, operatorEndpoints } from "./operator.ts";
import type { Endpoint } from "./endpoint.ts";
import { gapEndpoints, proposalEndpoints } from "./gap.ts";
import { hookCallEndpoints, hookEndpoints } from "./hook-endpoints.ts";
import { kbEndpoints } from "./kb-endpoints.ts";
import { keyEndpoints } from "./key.ts";
import { messageEndpoints } from "./message-endpoints.ts";
import { modelEndpoints } from "./model.ts";
import { privacyEndpoints } from "./privacy.ts";
import { projectEndpoints } from "./project.ts";
import { replayEndpoints } from "./replay.ts";
import { replyFileEndpoints, reviewEndpoints } from "./review.ts";
import { serviceEndpoints } from "./service.ts";
import { reportEndpoints, usageEndpoints } from "./report.ts";
import { statsEndpoints } from "./stats.ts";
import { tagEndpoints } from "./tag.ts";
import { ticketEndpoints } from "./ticket-endpoints.ts";
import { toolCallEndpoints } from "./tool-call.ts";

/** Administration endpoints: every endpoint that requires a key and runs an operation. */
export const ADMIN_ENDPOINTS = {
  ...agentEndpoints,
  ...replayEndpoints,
  ...articleEndpoints,
  ...auditEndpoints,
  ...cannedReplyEndpoints,
  ...channelEndpoints,
  ...customerEndpoints,
  ...deliveryEndpoints,
  ...emailEndpoints,
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
  ...reportEndpoints,
  ...statsEndpoints,
  ...tagEndpoints,
  ...ticketEndpoints,
  ...toolCallEndpoints,
  ...usageEndpoints,
  ...webhookEndpoints,
} as const satisfies Record<string, Endpoint>;
export type AdminOperation = keyof typeof ADMIN_ENDPOINTS;

/** All endpoints of the HTTP API, by operation name. */
export const ENDPOINTS = {
  ...messageEndpoints,
  ...hookCallEndpoints,
  ...serviceEndpoints,
  ...ADMIN_ENDPOINTS,
} as const satisfies Record<string, Endpoint>;
export type Operation = keyof typeof ENDPOINTS;
