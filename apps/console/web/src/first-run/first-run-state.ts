import { PUSHING_CHANNELS } from "@svc/contracts";
import type { ChannelItem, KbItem, KeyItem } from "@svc/contracts";
import { channelOf } from "../api/administration.ts";
import type { Connection } from "../api/connection.ts";
import { ownKb } from "../api/knowledge.ts";
import { mayDo } from "../api/session.ts";
import type { Session } from "../api/session.ts";
import type { TextStorage } from "../session/services.ts";

/** Returns the number of documents of a knowledge base that were read, or will be. */
export const countAdded = ({ documents, failed }: KbItem): number => documents - failed;

/** Returns true if the agents have documents besides the service's own guide. */
export function isTaught(kbs: readonly KbItem[]): boolean {
  const own = ownKb(kbs);
  return own !== undefined && countAdded(own) > 0;
}

/** Returns true if allowed sites are set for the widget; without them it runs only for its demo page. */
const hasSites = (channels: readonly ChannelItem[]) =>
  (channelOf(channels, "widget")?.config.allowedOrigins.length ?? 0) > 0;

/** Returns true if customers can write: on a site, in a chat app, or through the API with a key created for it. */
export function isReachable(channels: readonly ChannelItem[], keys: readonly KeyItem[]): boolean {
  const isOn = (id: ChannelItem["id"]) => channels.some((channel) => channel.id === id && channel.enabled);
  // The first keys belong to the service itself, for its command line and its first administrator.
  const isMade = ({ createdBy, revokedAt }: KeyItem) => revokedAt === null && /^(?:operator|key):/.test(createdBy);
  return (isOn("widget") && hasSites(channels)) || PUSHING_CHANNELS.some(isOn) || (isOn("api") && keys.some(isMade));
}

/** A document of a knowledge base. */
export interface KbTarget {
  kbId: string;
  documentId: string;
}

const confirmedKey = (project: string) => `console.first-run.right.${project}`;

/** Stores in this browser that an answer of the project's agents was confirmed. */
export const confirmAnswer = (storage: TextStorage, project: string): void =>
  storage.setItem(confirmedKey(project), "right");

/** Returns true if an answer of the project's agents was confirmed in this browser. */
export const isConfirmed = (storage: TextStorage, project: string): boolean =>
  storage.getItem(confirmedKey(project)) !== null;

const skipKey = (session: Session) => `console.first-run.${session.operator.id}`;

/** Stores in this browser that the operator has skipped the guide. */
export const skipFirstRun = (storage: TextStorage, session: Session): void =>
  storage.setItem(skipKey(session), "skipped");

/** Returns true if the operator has the permissions for the steps of the guide. */
export const canUseGuide = (session: Session, project: string): boolean =>
  (["agents:write", "kb:write", "channels:read", "messages:write", "tickets:read"] as const).every((scope) =>
    mayDo(session, project, scope),
  );

/** Returns true for an administrator of a project without messages who has not skipped the guide. */
export async function needsFirstRun(
  { connection, storage }: { connection: Connection; storage: TextStorage },
  session: Session,
  project: string,
): Promise<boolean> {
  if (!canUseGuide(session, project) || storage.getItem(skipKey(session)) !== null) return false;
  try {
    const { items } = await connection.call("listTickets", project, { query: { limit: 1 } });
    return items.length === 0;
  } catch {
    // The inbox shows the error.
    return false;
  }
}
