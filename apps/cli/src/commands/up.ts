import { join, resolve } from "node:path";
import type { Command } from "commander";
import type { Standalone } from "@svc/standalone";
import type { Cli } from "../cli.ts";
import { InterruptedError } from "../cli-error.ts";
import { explainError } from "../explain-error.ts";
import { handOutSecret } from "../hand-out-secret.ts";
import { jsonOption } from "../options.ts";
import { watchInterrupt } from "../watch-interrupt.ts";
import { withLogLevel } from "../with-log-level.ts";

/** A question that the product's own guide answers. */
const QUESTION = "How do I send a message over the HTTP API?";

function curlLine({ urls }: Standalone, keyForShell: string): string {
  const headers = `-H "X-Api-Key: ${keyForShell}" -H "Content-Type: application/json"`;
  return `curl -sS ${urls["HTTP API"]}/api/v1/messages ${headers} -d '${JSON.stringify({ text: QUESTION })}'`;
}

/** Starts everything. Ctrl-C before it is up stops what has started by then. */
async function startEverything(cli: Cli): Promise<Standalone> {
  const { startStandalone } = await import("@svc/standalone");
  const interrupt = watchInterrupt();
  try {
    const level = cli.terminal.isJson ? "silent" : "warn";
    const product = await startStandalone(withLogLevel(cli.env, level), (text) => cli.terminal.note(text));
    if (!interrupt.hasHappened()) return product;
    await product.stop();
    throw new InterruptedError();
  } catch (error) {
    throw interrupt.hasHappened() ? new InterruptedError() : error;
  } finally {
    interrupt.release();
  }
}

/** What is found below the address of a service, by the service's name. */
const BELOW: Readonly<Record<string, readonly [name: string, path: string]>> = {
  "HTTP API": ["Reference", "/api/v1/docs"],
  Widget: ["Demo page", "/"],
};

/** Says what runs, where, and how it is used: once, when everything is up. */
async function introduce({ terminal, env }: Cli, product: Standalone): Promise<void> {
  const [{ readEnvironment }, { isDemoShown }, { renderFacts }] = await Promise.all([
    import("@svc/runtime"),
    import("@svc/widget"),
    import("../render-facts.ts"),
  ]);
  const { config, initialized, urls, problems, firstAdministratorUrl } = product;
  const { adminKey } = initialized;
  const dataDir = resolve(config.dataDir);
  const handOut = async (secret: string | null, name: string) =>
    secret === null ? null : handOutSecret(terminal, secret, join(dataDir, name));
  const key = await handOut(adminKey, "admin-key");
  const link = await handOut(firstAdministratorUrl, "sign-up-link");
  const curl = curlLine(product, key === null || key.isInFile ? product.keyForShell : key.shown);
  const hasDemo = urls.Widget !== undefined && isDemoShown(config);
  terminal.show({ ok: true, urls, problems, adminKey, firstAdministratorUrl, dataDir, curl, pid: process.pid }, () => {
    const addresses = Object.entries(urls).flatMap(([service, url]): [string, string][] => {
      const [name, path] = BELOW[service] ?? [];
      const isThere = name !== undefined && (hasDemo || service !== "Widget");
      return [[service, url], ...(isThere ? [[name, `${url}${path}`] as [string, string]] : [])];
    });
    const database =
      readEnvironment(env).databaseUrl === undefined ? "embedded PostgreSQL" : "PostgreSQL of DATABASE_URL";
    const facts: [string, string][] = [
      ...addresses,
      ...Object.entries(problems).map(([service, problem]): [string, string] => [
        service,
        `is not running: ${problem}`,
      ]),
      ...(link === null
        ? []
        : [
            [
              "Sign up",
              `${link.shown}\nOpen ${link.isInFile ? "the link in this file" : "this link"} to become the console's first administrator. It is valid for one day and can be used once.`,
            ] as [string, string],
          ]),
      ["Database", `${database}, queues on ${config.redisUrl === undefined ? "PostgreSQL" : "Redis"}`],
      ["Data folder", dataDir],
      ...(key === null
        ? []
        : [
            [
              "Admin key",
              key.isInFile
                ? `${key.shown}\nThis file contains the key. Store it elsewhere and delete the file.`
                : `${key.shown}\nThis key is shown only once: store it safely.`,
            ] as [string, string],
          ]),
    ];
    const { bold, dim } = terminal.paint;
    return [
      bold("The message channels service is running."),
      "",
      renderFacts(facts, "  "),
      "",
      ...(hasDemo
        ? ["Open the demo page in a browser, or send a question from another terminal:"]
        : ["Send a question from another terminal:"]),
      `  ${curl}`,
      "",
      dim("Press Ctrl-C to stop."),
    ].join("\n");
  });
}

async function up(cli: Cli): Promise<void> {
  const product = await startEverything(cli);
  let isTerminalClosed = false;
  const onSignal = () => cli.terminal.note("Stopping …");
  const onClosedTerminal = () => {
    isTerminalClosed = true;
    product.stop().catch((error: unknown) => cli.terminal.note(explainError(error).message));
  };
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal).on("SIGHUP", onClosedTerminal);
  await introduce(cli, product);
  if (product.initialized.adminKey !== null) await product.noteAdminKeyShown();
  await product.stopped;
  process.off("SIGINT", onSignal).off("SIGTERM", onSignal).off("SIGHUP", onClosedTerminal);
  // An ordinary exit would reset a terminal that is not there any more, which Node.js takes for a fault of its own.
  if (isTerminalClosed) process.kill(process.pid, "SIGHUP");
  cli.terminal.note(`Stopped. To start again: ${cli.startWith}`);
}

/** `svc up`, which is `npm start`: runs the whole product in this process until Ctrl-C. */
export function addUp(program: Command, cli: Cli): void {
  program
    .command("up")
    .description("run everything on this machine, in this process")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Without DATABASE_URL, an embedded PostgreSQL runs in the data folder (SVC_DATA_DIR, .svc by default). Without REDIS_URL,
the queues run on PostgreSQL. The first start creates a project, an agent with the product's guide, and an
administrator's key, which is shown once. If standard output is not a terminal, the key and the sign-up link are written
to files in the data folder that only their owner can read. Ctrl-C shuts the service down, with exit code 0.
Examples:
  ${cli.startWith}
  SVC_API_PORT=8080 SVC_DATA_DIR=/var/lib/svc ${cli.self} up
  ${cli.self} up --json        one JSON document when everything is running; no log unless SVC_LOG_LEVEL is set`,
    )
    .action(() => up(cli));
}
