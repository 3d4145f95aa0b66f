import type { Service } from "@svc/contracts";
import { CannotListenError, PortTakenError } from "@svc/http";
import { createLog } from "@svc/log";
import { checkPorts, listensAtStart } from "./check-ports.ts";
import { ConfigError, loadConfig } from "./load-config.ts";
import { StartError, openResources } from "./open-resources.ts";
import type { Resources } from "./open-resources.ts";
import { runServices } from "./run-services.ts";
import type { Running } from "./run-services.ts";

/** Time for timers and handles that a library leaves behind after its close. */
const LINGER_MS = 500;

/**
 * Ends a process that has no work left. After a lost connection, BullMQ leaves a timer of 30 s, and the process must
 * end before its supervisor kills it.
 */
function exitSoon(): void {
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** Ends the process once everything has stopped. */
export async function exitOnceStopped({ stopped }: Pick<Running, "stopped">): Promise<void> {
  await stopped;
  exitSoon();
}

/**
 * Runs an app, as its `main.ts`: reads the configuration, opens the resources, runs the service. A configuration error
 * is one log line and exit code 78 (EX_CONFIG); any other startup error is exit code 1.
 */
export async function runApp(
  app: string,
  env: Readonly<Record<string, string | undefined>>,
  makeService: (resources: Resources) => Service,
): Promise<void> {
  // As PID 1 of a container, Node.js ends at a signal only if there is a listener; runServices adds its own later.
  const quit = () => process.exit(0);
  process.once("SIGTERM", quit).once("SIGINT", quit);
  try {
    const config = loadConfig(env);
    await checkPorts(listensAtStart(app) ? [app] : [], config);
    const resources = await openResources(config, { app });
    process.off("SIGTERM", quit).off("SIGINT", quit);
    await exitOnceStopped(await runServices([makeService(resources)], resources));
  } catch (error) {
    const log = createLog({ level: "error", name: app });
    if (error instanceof ConfigError) {
      log.error({ problems: error.problems }, "invalid configuration; see docs/configuration.md");
      process.exitCode = 78;
    } else if (error instanceof StartError || error instanceof PortTakenError || error instanceof CannotListenError) {
      log.error({}, error.message);
      process.exitCode = 1;
    } else {
      log.error({ error }, "app failed to start");
      process.exitCode = 1;
    }
    exitSoon();
  }
}
