import type { ApiSettings, WebhookSecrets } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { OpenLimit } from "@svc/http";
import type { AddressGuard } from "@svc/outbound";
import type { Queues } from "@svc/queue";
import { createBriefCache } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import type { ApiChannel } from "./api-channel.ts";
import type { Heartbeat } from "./messages/heartbeat.ts";
import type { ReplyBoard } from "./messages/reply-board.ts";
import type { Persister } from "./persist.ts";

/** Dependencies of the routes. */
export interface ApiContext {
  store: Store;
  queues: Queues;
  log: Log;
  channel: ApiChannel;
  board: ReplyBoard;
  persister: Persister;
  /** Heartbeat of this process, which holds the calls of waiting callers. */
  heartbeat: Heartbeat;
  /** Checks callback URLs. */
  guard: AddressGuard;
  /** Reads the current settings of the channel. */
  readSettings: () => Promise<ApiSettings>;
  /** Reads the secrets that sign the callbacks of a project. */
  readSecrets: (project: ProjectId) => Promise<WebhookSecrets>;
  /** Limits long polls and event streams of chats. */
  limitPolls: OpenLimit;
  /** Limits calls that wait for the reply to their message. */
  limitHeldCalls: OpenLimit;
}

/** A change of the settings takes effect within this time. */
const SETTINGS_MS = 1_000;

/** Creates the function that reads `channels_config.api.config`, from the store at most once a second. */
export function createSettingsReader(store: Store): () => Promise<ApiSettings> {
  const cache = createBriefCache<ApiSettings>(SETTINGS_MS);
  return async () => {
    const settings = await cache.get("api", async () => (await store.channelsConfig.read()).api.config);
    if (settings === null) throw new Error("the HTTP API settings are missing after they were read");
    return settings;
  };
}

/** Creates the function that reads the secrets that sign callbacks, from the store at most once a second per project. */
export function createSecretsReader(store: Store): (project: ProjectId) => Promise<WebhookSecrets> {
  const cache = createBriefCache<WebhookSecrets>(SETTINGS_MS);
  return async (project) => {
    const secrets = await cache.get(project, () => store.projects.findWebhookSecrets(project));
    // The project was just deleted: the key that sent the message signs.
    return secrets ?? { webhookSecret: null, previousWebhookSecret: null };
  };
}
