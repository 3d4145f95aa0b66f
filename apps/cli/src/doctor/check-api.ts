import { createServer } from "node:net";
import type { EarlyConfig } from "@svc/runtime";
import { apiUrlOf, probeApi } from "../api-client.ts";
import type { ApiState } from "../api-client.ts";
import type { Cli } from "../cli.ts";
import { hasData } from "../with-database.ts";
import type { Check } from "./check.ts";
import { judgeAbsence } from "./judge-absence.ts";
import type { RunningApps } from "./judge-absence.ts";

/** The code with which the system refuses to listen there ("EADDRINUSE"), or null when it would not. */
function findListenFault(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

const LISTEN_ADVICE: Readonly<Record<string, string>> = {
  EACCES: "Set SVC_API_PORT to a port of at least 1024.",
  EADDRNOTAVAIL: "Set SVC_BIND_HOST to an address of this machine.",
};

/** What a probe of a port that is taken means. */
function judge(cli: Cli, port: number, url: string, state: ApiState): Check[] {
  const taken = (by: string): Check[] => [
    {
      name: "Port",
      status: "fail",
      detail: `${port} is already in use by ${by}`,
      advice: "Stop it, or choose another port with SVC_API_PORT.",
    },
  ];
  if (state.kind === "stranger") return taken("another installation of this product, or one with a different key");
  if (state.kind !== "ours") return taken("another program");
  const status = { pass: "ok", warn: "warn", fail: "fail" } as const;
  const detail = [`${url} responds, version ${state.version}, health: ${state.status}`, ...state.details].join("\n");
  const health: Check = { name: "HTTP API", status: status[state.status], detail };
  return [
    { name: "Port", status: "ok", detail: `${port} is used by this service` },
    state.status === "pass" ? health : { ...health, advice: `Check its log, or restart it: ${cli.startWith}` },
  ];
}

/** Checks that the port of the API is free or ours, and how the API is where it runs. */
export async function checkApi(
  cli: Cli,
  config: EarlyConfig,
  key: string | null,
  running: RunningApps,
): Promise<Check[]> {
  const { api: port } = config.ports;
  const fault = await findListenFault(port, config.bindHost ?? "127.0.0.1");
  if (fault === "EADDRINUSE") {
    const state = await probeApi(apiUrlOf(config), key);
    // What answers without a key is ours only where there is an installation here.
    const isNew = config.databaseUrl === undefined && !hasData(config.dataDir);
    return judge(cli, port, apiUrlOf(config), state.kind === "ours" && isNew ? { kind: "stranger" } : state);
  }
  if (fault !== null) {
    const advice = LISTEN_ADVICE[fault] ?? "Correct SVC_API_PORT and SVC_BIND_HOST.";
    return [{ name: "Port", status: "fail", detail: `${port} cannot be used (${fault})`, advice }];
  }
  return [
    { name: "Port", status: "ok", detail: `${port} is free` },
    judgeAbsence({ name: "HTTP API", app: "api", where: "here" }, running, cli),
  ];
}
