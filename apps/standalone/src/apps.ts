import type { AppName, Service } from "@svc/contracts";
import type { Resources } from "@svc/runtime";

/** The apps of the product, in the order in which one process starts them. Each is loaded only when it is started. */
export const APPS: Readonly<Record<AppName, () => Promise<(resources: Resources) => Service>>> = {
  pipeline: async () => (await import("@svc/pipeline")).pipelineService,
  api: async () => (await import("@svc/api")).apiService,
  widget: async () => (await import("@svc/widget")).widgetService,
  messenger: async () => (await import("@svc/messenger")).messengerService,
  "tool-server": async () => (await import("@svc/tool-server")).toolServerService,
  console: async () => (await import("@svc/console")).consoleService,
};
