import type { Log } from "@svc/log";
import type { Store } from "@svc/store";
import type { ApiChannel } from "./api-channel.ts";
import type { Persister } from "./persist.ts";
import type { Presence } from "./presence.ts";
import type { ReplyBoard } from "./reply-board.ts";

/** What the routes work with. */
export interface ApiContext {
  store: Store;
  log: Log;
  channel: ApiChannel;
  board: ReplyBoard;
  persister: Persister;
  /** This process as a holder of calls. */
  presence: Presence;
}
