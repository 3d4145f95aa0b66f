import { visitorChatId } from "@svc/contracts";
import { ticketIdOf } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { checkIdentity } from "./check-identity.ts";
import type { ClaimedIdentity } from "./check-identity.ts";
import type { WidgetSite } from "./widget-site.ts";

/** Whose conversation it is. The visitorId, which is a secret, is not kept. */
export interface Visitor {
  project: ProjectId;
  chatId: string;
  ticketId: string;
  /** Proven by its hash; null where there is none. */
  userId: string | null;
}

/** The conversation of a visitorId that has passed its schema. Throws invalid_identity. */
export function findVisitor(site: WidgetSite, visitorId: string, identity: ClaimedIdentity): Visitor {
  const userId = checkIdentity(site, identity);
  const chatId = visitorChatId(visitorId);
  return { project: site.project, chatId, ticketId: ticketIdOf(site.project, "widget", chatId), userId };
}
