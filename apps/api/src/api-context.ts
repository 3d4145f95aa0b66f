import type { ApiSettings, WebhookSecrets } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { OpenLimit } from "@svc/http";
import type { AddressGuard } from "@svc/outbound";
import type { Queues } from "@svc/queue";
import type { ProjectId, Store } from "@svc/store";
import type { ApiChannel } from "./api-channel.ts";
import type { Persister } from "./persist.ts";
import type { Presence } from "./presence.ts";
import type { ReplyBoard } from "./reply-board.ts";

/** What is known before the channel and the port are there: enough to settle a message. */
export interface SettleContext {
  store: Store;
  queues: Queues;
  log: Log;
  /** Notifies waiters for replies of a conversation, on this replica and on others. */
  tell: (ticketId: string, messageId?: string) => void;
}

/** What the routes work with. */
export interface ApiContext extends SettleContext {
  channel: ApiChannel;
  board: ReplyBoard;
  persister: Persister;
  /** This process as a holder of calls. */
  presence: Presence;
  /** Decides which callback URLs may be named. */
  guard: AddressGuard;
  /** The settings of the channel, as they are now. */
  readSettings: () => Promise<ApiSettings>;
  /** What signs the callbacks of a project. */
  readSecrets: (project: ProjectId) => Promise<WebhookSecrets>;
  /** Limits long polls and event streams of a conversation. */
  limitPolls: OpenLimit;
  /** Limits calls that wait for the reply to their message. */
  limitHeldCalls: OpenLimit;
}
