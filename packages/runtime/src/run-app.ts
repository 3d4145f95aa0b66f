import type { Service } from "@svc/contracts";
import { CannotListenError, PortTakenError } from "@svc/http";
import { createLog } from "@svc/log";
import { checkPorts, listensAtStart } from "./check-ports.ts";
import { ConfigError, loadConfig } from "./load-config.ts";
import { StartError, openResources } from "./open-resources.ts";
import type { Resources } from "./open-resources.ts";
import { runServices } from "./run-services.ts";
import type { Running } from "./run-services.ts";

/** What a library leaves behind after its close gets this long to end by itself. */
const LINGER_MS = 500;

/**
 * Ends a process that has nothing left to do. BullMQ keeps a timer of 30 s after a lost connection that its close does
 * not end, and such a process must not outlive its supervisor's patience.
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
 * What the `main.ts` of an app does: reads the configuration, opens the resources, runs the service. A fault of the
 * configuration is one clear log line and exit code 78 (EX_CONFIG), any other failure to start is exit code 1.
 */
export async function runApp(
  app: string,
  env: Readonly<Record<string, string | undefined>>,
  makeService: (resources: Resources) => Service,
): Promise<void> {
  // As the first process of a container, Node ends at a signal only when somebody listens; runServices does later.
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
