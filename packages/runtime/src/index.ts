export {
  UNSWITCHED_APPS,
  checkPorts,
  exitOnceStopped,
  readSavedPorts,
  removeSavedPorts,
  runApp,
  savePorts,
} from "./run-app.ts";
export type { ListeningApp } from "./run-app.ts";
export { describeEndpoints, describeErrors, describeSettings } from "./describe-pages.ts";
export { describeVanished } from "./watch-processes.ts";
export { createFetchGuard, createWebhookGuard } from "./guards.ts";
export { ConfigError, loadConfig, readEnvironment } from "./load-config.ts";
export type { Config, EarlyConfig, OidcConfig } from "./load-config.ts";
export {
  StartError,
  closeResources,
  findClockProblem,
  migrateAll,
  openResources,
  readPushKeys,
  readPushSender,
  waitForStore,
} from "./open-resources.ts";
export type { Resources } from "./open-resources.ts";
export { runServices } from "./run-services.ts";
export type { Running } from "./run-services.ts";
export { SETTINGS } from "./settings-schema.ts";
export type { SettingName } from "./settings-schema.ts";
