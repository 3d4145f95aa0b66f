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
  /** The identity secret that has proven the user id; null where there is none. */
  provenBy: string | null;
}

/** The conversation of a visitorId that has passed its schema. Throws invalid_identity. */
export function findVisitor(site: WidgetSite, visitorId: string, identity: ClaimedIdentity): Visitor {
  const userId = checkIdentity(site, identity);
  const chatId = visitorChatId(visitorId);
  return {
    project: site.project,
    chatId,
    ticketId: ticketIdOf(site.project, "widget", chatId),
    userId,
    provenBy: userId === null ? null : site.identitySecret,
  };
}

/** False when the settings have changed so that a visitor has to say anew who it is. */
export function isStillKnown({ project, userId, provenBy }: Visitor, site: WidgetSite): boolean {
  if (project !== site.project) return false;
  return userId === null ? !site.settings.requireIdentity : provenBy === site.identitySecret;
}
