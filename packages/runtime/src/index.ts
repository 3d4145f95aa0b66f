export { UNSWITCHED_APPS, checkPorts, removeSavedPorts, readSavedPorts, savePorts } from "./check-ports.ts";
export type { ListeningApp } from "./check-ports.ts";
export { describeEndpoints, describeErrors, describeSettings } from "./describe-pages.ts";
export { describeVanished } from "./watch-processes.ts";
export { createFetchGuard, createWebhookGuard, ownPortsOf } from "./guards.ts";
export { ConfigError, loadConfig, readEnvironment } from "./load-config.ts";
export type { Config, EarlyConfig, EmbeddingsConfig, OidcConfig } from "./load-config.ts";
export {
  StartError,
  closeResources,
  findClockProblem,
  migrateAll,
  openResources,
  waitForStore,
} from "./open-resources.ts";
export type { Resources } from "./open-resources.ts";
export { exitOnceStopped, runApp } from "./run-app.ts";
export { runServices } from "./run-services.ts";
export type { Running } from "./run-services.ts";
export { SETTINGS } from "./settings-schema.ts";
export type { SettingName } from "./settings-schema.ts";
export { readPushKeys, readPushSender } from "./push-keys.ts";
