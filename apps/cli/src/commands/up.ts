import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { APP_NAMES } from "@svc/contracts";
import type { Standalone } from "@svc/standalone";
import { InterruptedError, watchInterrupt } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { handOutSecret } from "../private-files.ts";
import { renderFacts } from "../render-table.ts";

/** `svc start <app>`: runs one app in this process, as its own `main.js` does; the log is JSON on standard output. */
export const start = defineCommand({
  args: { "<app>": { text: "name of the app", choices: APP_NAMES } },
  hasJson: false,
  about: `You can run several processes of each app. Logs are JSON lines on standard output. SIGTERM and Ctrl-C shut the app down
within ten seconds. "{start}" runs all apps in one process.`,
  examples: ["{svc} migrate && {svc} start api", "SVC_LOG_LEVEL=debug {svc} start pipeline"],
  async run({ env }, { app }) {
    const { runApp } = await import("@svc/runtime");
    const { APPS } = await import("@svc/standalone");
    await runApp(app, env, await APPS[app]());
  },
});

/** A question that the product's own documentation answers. */
const QUESTION = "How do I send a message over the HTTP API?";

function curlLine({ urls }: Standalone, keyForShell: string): string {
  const headers = `-H "X-Api-Key: ${keyForShell}" -H "Content-Type: application/json"`;
  return `curl -sS ${urls["HTTP API"]}/api/v1/messages ${headers} -d '${JSON.stringify({ text: QUESTION })}'`;
}

/** Starts everything. Ctrl-C during startup stops what has started. */
async function startEverything(cli: Cli): Promise<Standalone> {
  const interrupt = watchInterrupt();
  try {
    const level = cli.terminal.isJson ? "silent" : "warn";
    const { withLogLevel } = await import("../with-resources.ts");
    const { startStandalone } = await (await import("@svc/standalone")).loadStandalone();
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

/** Pages below the URL of a service, by the service's name. */
const BELOW: Readonly<Record<string, readonly [name: string, path: string]>> = {
  "HTTP API": ["Reference", "/api/v1/docs"],
  Widget: ["Demo page", "/"],
};

/** Shows what runs, where, and how to use it, after everything has started. */
async function showStarted({ terminal, env }: Cli, product: Standalone): Promise<void> {
  const { config, initialized, hasDemo, urls, problems, firstAdministratorUrl } = product;
  const { adminKey } = initialized;
  const { readEnvironment } = await import("@svc/runtime");
  const dataDir = resolve(config.dataDir);
  const handOut = async (secret: string | null, name: string) =>
    secret === null ? null : handOutSecret(terminal, secret, join(dataDir, name));
  const key = await handOut(adminKey, "admin-key");
  const link = await handOut(firstAdministratorUrl, "sign-up-link");
  // A link of an earlier start no longer works.
  if (urls.Console !== undefined && link?.isInFile !== true) await rm(join(dataDir, "sign-up-link"), { force: true });
  const curl = curlLine(product, key === null || key.isInFile ? product.keyForShell : key.shown);
  const document = { ok: true, urls, problems, adminKey, firstAdministratorUrl, dataDir, curl, pid: process.pid };
  terminal.show(document, () => {
    const database =
      readEnvironment(env).databaseUrl === undefined ? "embedded PostgreSQL" : "PostgreSQL of DATABASE_URL";
    const facts: [string, string][] = [
      ...Object.entries(urls).flatMap(([service, url]): [string, string][] => {
        const [name, path] = BELOW[service] ?? [];
        const isThere = name !== undefined && (hasDemo || service !== "Widget");
        return [[service, url], ...(isThere ? [[name, `${url}${path}`] as [string, string]] : [])];
      }),
      ...Object.entries(problems).map(([service, problem]): [string, string] => [
        service,
        `is not running: ${problem}`,
      ]),
    ];
    if (link !== null) {
      const where = link.isInFile ? "the link in this file" : "this link";
      const use = `Open ${where} to become the console's first administrator. It is valid for one day and can be used once.`;
      facts.push(["Sign up", `${link.shown}\n${use}`]);
    }
    facts.push(["Database", `${database}, queues on ${config.redisUrl === undefined ? "PostgreSQL" : "Redis"}`]);
    facts.push(["Data folder", dataDir]);
    if (key !== null) {
      const advice = key.isInFile
        ? "This file contains the key. Store it elsewhere and delete the file."
        : "This key is shown only once: store it safely.";
      facts.push(["Admin key", `${key.shown}\n${advice}`]);
    }
    const { bold, dim } = terminal.paint;
    return [
      bold("The message channels service is running."),
      "",
      renderFacts(facts, "  "),
      "",
      hasDemo
        ? "Open the demo page in a browser, or send a question from another terminal:"
        : "Send a question from another terminal:",
      `  ${curl}`,
      "",
      dim("Press Ctrl-C to stop."),
    ].join("\n");
  });
}

/** `svc up`, which is `npm start`: runs the whole product in this process until Ctrl-C. */
export const up = defineCommand({
  about: `Without DATABASE_URL, an embedded PostgreSQL runs in the data folder (SVC_DATA_DIR, .svc by default). Without REDIS_URL,
the queues run on PostgreSQL. The first start creates a project, an agent with the product's guide, and an
administrator's key, which is shown once. If standard output is not a terminal, the key and the sign-up link are written
to files in the data folder that only their owner can read. Ctrl-C shuts the service down, with exit code 0.`,
  examples: [
    "{start}",
    "SVC_API_PORT=8080 SVC_DATA_DIR=/var/lib/svc {svc} up",
    "up --json        one JSON document when everything is running; no log unless SVC_LOG_LEVEL is set",
  ],
  async run(cli) {
    const product = await startEverything(cli);
    const { explainError } = await import("../explain-error.ts");
    let isTerminalClosed = false;
    const onSignal = () => cli.terminal.note("Stopping …");
    const onClosedTerminal = () => {
      isTerminalClosed = true;
      product.stop().catch((error: unknown) => cli.terminal.note(explainError(error).message));
    };
    process.once("SIGINT", onSignal).once("SIGTERM", onSignal).on("SIGHUP", onClosedTerminal);
    await showStarted(cli, product);
    if (product.initialized.adminKey !== null) await product.markAdminKeyShown();
    await product.stopped;
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal).off("SIGHUP", onClosedTerminal);
    // A normal exit would reset the closed terminal, which Node.js reports as an error.
    if (isTerminalClosed) process.kill(process.pid, "SIGHUP");
    cli.terminal.note(`Stopped. To start again: ${cli.startWith}`);
  },
});
