import { Argument } from "commander";
import type { Command } from "commander";
import type { Service } from "@svc/contracts";
import type { Resources } from "@svc/runtime";
import type { Cli } from "../cli.ts";

/** The apps that run as processes of their own, each loaded only when it is started. */
const APPS: Readonly<Record<string, () => Promise<(resources: Resources) => Service>>> = {
  api: async () => (await import("@svc/api")).apiService,
  pipeline: async () => (await import("@svc/pipeline")).pipelineService,
  widget: async () => (await import("@svc/widget")).widgetService,
  messenger: async () => (await import("@svc/messenger")).messengerService,
  console: async () => (await import("@svc/console")).consoleService,
  "tool-server": async () => (await import("@svc/tool-server")).toolServerService,
};

/** `svc start <app>`: runs one app in this process, as its own `main.js` does; the log is JSON on standard output. */
export function addStart(program: Command, cli: Cli): void {
  program
    .command("start")
    .description("run a single app in this process (requires DATABASE_URL and SVC_SECRET_KEY)")
    .addArgument(new Argument("<app>", "name of the app").choices(Object.keys(APPS)))
    .addHelpText(
      "after",
      `
You can run several processes of each app. Logs are JSON lines on standard output. SIGTERM and Ctrl-C shut the app down
within ten seconds. "${cli.startWith}" runs all apps in one process.
Examples:
  ${cli.self} migrate && ${cli.self} start api
  SVC_LOG_LEVEL=debug ${cli.self} start pipeline`,
    )
    .action(async (app: string) => {
      const load = APPS[app];
      if (load === undefined) return;
      const [{ runApp }, makeService] = await Promise.all([import("@svc/runtime"), load()]);
      await runApp(app, cli.env, makeService);
    });
}
