import type { Service } from "@svc/contracts";
import type { Resources } from "@svc/runtime";
import { defineCommand } from "../define-command.ts";

/** The apps that run as separate processes, each loaded only when it is started. */
const APPS: Readonly<Record<string, () => Promise<(resources: Resources) => Service>>> = {
  api: async () => (await import("@svc/api")).apiService,
  pipeline: async () => (await import("@svc/pipeline")).pipelineService,
  widget: async () => (await import("@svc/widget")).widgetService,
  messenger: async () => (await import("@svc/messenger")).messengerService,
  console: async () => (await import("@svc/console")).consoleService,
  "tool-server": async () => (await import("@svc/tool-server")).toolServerService,
};

/** `svc start <app>`: runs one app in this process, as its own `main.js` does; the log is JSON on standard output. */
export const start = defineCommand({
  args: { "<app>": { text: "name of the app", choices: Object.keys(APPS) } },
  hasJson: false,
  about: `You can run several processes of each app. Logs are JSON lines on standard output. SIGTERM and Ctrl-C shut the app down
within ten seconds. "{start}" runs all apps in one process.`,
  examples: ["{svc} migrate && {svc} start api", "SVC_LOG_LEVEL=debug {svc} start pipeline"],
  async run({ env }, { app }) {
    const load = APPS[app];
    const { runApp } = await import("@svc/runtime");
    if (load !== undefined) await runApp(app, env, await load());
  },
});
