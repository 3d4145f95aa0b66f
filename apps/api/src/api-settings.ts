import type { ApiSettings, WebhookSecrets } from "@svc/contracts";
import { createBriefCache } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";

/** A change of the settings takes effect within this time. */
const SETTINGS_MS = 1_000;

/** Makes the function that reads `channels_config.api.config`, from the store at most once a second. */
export function createSettingsReader(store: Store): () => Promise<ApiSettings> {
  const cache = createBriefCache<ApiSettings>(SETTINGS_MS);
  return async () => {
    const settings = await cache.get("api", async () => (await store.channelsConfig.read()).api.config);
    if (settings === null) throw new Error("the HTTP API settings are missing after they were read");
    return settings;
  };
}

/** Creates the function that reads what signs the callbacks of a project, from the store at most once a second. */
export function createSecretsReader(store: Store): (project: ProjectId) => Promise<WebhookSecrets> {
  const cache = createBriefCache<WebhookSecrets>(SETTINGS_MS);
  return async (project) => {
    const secrets = await cache.get(project, () => store.projects.findWebhookSecrets(project));
    // A project that was deleted a moment ago: the key that sent the message signs.
    return secrets ?? { webhookSecret: null, previousWebhookSecret: null };
  };
}
