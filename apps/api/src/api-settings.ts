import type { ApiSettings } from "@svc/contracts";
import { createBriefCache } from "@svc/store";
import type { Store } from "@svc/store";

/** A change of the settings takes effect within this time. */
const SETTINGS_MS = 1_000;

/** Makes the function that reads `channels_config.api.config`, from the store at most once a second. */
export function createSettingsReader(store: Store): () => Promise<ApiSettings> {
  const cache = createBriefCache<ApiSettings>(SETTINGS_MS);
  return async () => {
    const settings = await cache.get("api", async () => (await store.channelsConfig.read()).api.config);
    if (settings === null) throw new Error("the settings of the HTTP API were read and are not there");
    return settings;
  };
}
