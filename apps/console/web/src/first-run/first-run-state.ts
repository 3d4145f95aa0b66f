import { PUSHING_CHANNELS } from "@svc/contracts";
import type { ChannelItem, KbItem, KeyItem } from "@svc/contracts";
import { channelOf } from "../api/channels.ts";
import type { Connection } from "../api/connection.ts";
import { ownKb } from "../api/knowledge.ts";
import { mayDo } from "../api/session.ts";
import type { Session } from "../api/session.ts";
import type { KeptTexts } from "../session/services.ts";

/** Number of documents of a knowledge base that were read, or will be. */
export const countAdded = ({ documents, failed }: KbItem): number => documents - failed;

/** True when the agents can know something besides the service's own guide. */
export function isTaught(kbs: readonly KbItem[]): boolean {
  const own = ownKb(kbs);
  return own !== undefined && countAdded(own) > 0;
}

/** True when somebody has said on which sites the widget may be; it runs without, for the page that demonstrates it. */
const hasSites = (channels: readonly ChannelItem[]) =>
  (channelOf(channels, "widget")?.config.allowedOrigins.length ?? 0) > 0;

/** True when people can write: on one's own site, in a chat app, or by the API with a key that was made for it. */
export function isReachable(channels: readonly ChannelItem[], keys: readonly KeyItem[]): boolean {
  const isOn = (id: ChannelItem["id"]) => channels.some((channel) => channel.id === id && channel.enabled);
  // The first keys are the service's own, for its command line and its first administrator.
  const isMade = ({ createdBy, revokedAt }: KeyItem) => revokedAt === null && /^(?:operator|key):/.test(createdBy);
  return (isOn("widget") && hasSites(channels)) || PUSHING_CHANNELS.some(isOn) || (isOn("api") && keys.some(isMade));
}

/** A document of a knowledge base. */
export interface KbTarget {
  kbId: string;
  documentId: string;
}

const confirmedKey = (project: string) => `console.first-run.right.${project}`;

/** Stores in this browser that somebody has found an answer of the project's agents right. */
export const confirmAnswer = (storage: KeptTexts, project: string): void =>
  storage.setItem(confirmedKey(project), "right");

/** True when somebody has found an answer of the project's agents right, in this browser. */
export const isConfirmed = (storage: KeptTexts, project: string): boolean =>
  storage.getItem(confirmedKey(project)) !== null;

const skipKey = (session: Session) => `console.first-run.${session.operator.id}`;

/** Notes in this browser that somebody does not want to be led. */
export const skipFirstRun = (storage: KeptTexts, session: Session): void =>
  storage.setItem(skipKey(session), "skipped");

/** True for who can do what the guide leads through. */
export const mayBeLed = (session: Session, project: string): boolean =>
  (["agents:write", "kb:write", "channels:read", "messages:write", "tickets:read"] as const).every((scope) =>
    mayDo(session, project, scope),
  );

/** True where somebody should be led: an administrator of a project to which nothing came in, who has not skipped it. */
export async function needsFirstRun(
  { connection, storage }: { connection: Connection; storage: KeptTexts },
  session: Session,
  project: string,
): Promise<boolean> {
  if (!mayBeLed(session, project) || storage.getItem(skipKey(session)) !== null) return false;
  try {
    const { items } = await connection.call("listTickets", project, { query: { limit: 1 } });
    return items.length === 0;
  } catch {
    // The inbox says what is wrong.
    return false;
  }
}
