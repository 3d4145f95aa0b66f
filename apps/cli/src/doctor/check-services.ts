import { CHANNELS } from "@svc/contracts";
import type { ChannelDescriptor, ChannelId } from "@svc/contracts";
import { createServer } from "node:net";
import { isValidHeaderValue } from "@svc/client";
import { localUrl } from "@svc/contracts";
import type { WidgetSettings } from "@svc/contracts";
import type { EarlyConfig } from "@svc/runtime";
import type { ReplicaState, Store } from "@svc/store";
import { apiUrlOf, probeApi } from "../api-client.ts";
import type { ApiState } from "../api-client.ts";
import type { Cli } from "../cli.ts";
import { toSecond } from "../render-table.ts";
import { hasData } from "../with-resources.ts";
import { fail, judgeAbsence, judgeProbe, ok, probe, warn } from "./check.ts";
import type { Check, RunningApps } from "./check.ts";

/** Settings of the addresses of apps. */
type Addresses = Pick<EarlyConfig, "bindHost" | "ports">;

/** Returns the code of the error of listening there, as in "EADDRINUSE", or null if listening is possible. */
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

/** Returns the checks of a port in use, by what is there. */
function judgeApi(cli: Cli, port: number, url: string, state: ApiState): Check[] {
  if (state.kind !== "ours") {
    const isStranger = state.kind === "stranger";
    const by = isStranger ? "another installation of this product, or one with a different key" : "another program";
    return [fail("Port", `${port} is already in use by ${by}`, "Stop it, or choose another port with SVC_API_PORT.")];
  }
  const judge = { pass: ok, warn, fail }[state.status];
  const detail = [`${url} responds, version ${state.version}, health: ${state.status}`, ...state.details].join("\n");
  const advice = state.status === "pass" ? undefined : `Check its log, or restart it: ${cli.startWith}`;
  return [ok("Port", `${port} is used by this service`), judge("HTTP API", detail, advice)];
}

/** Checks that the port of the API is free or used by this service, and its health if it is running. */
export async function checkApi(
  cli: Cli,
  config: EarlyConfig,
  key: string | null,
  running: RunningApps,
): Promise<Check[]> {
  const { api: port } = config.ports;
  const fault = await findListenFault(port, config.bindHost ?? "127.0.0.1");
  if (fault === "EADDRINUSE") {
    const url = apiUrlOf(config);
    const state = await probeApi(url, key);
    // A service that responds without a key is this one only if there is an installation here.
    const isNew = config.databaseUrl === undefined && !hasData(config.dataDir);
    return judgeApi(cli, port, url, state.kind === "ours" && isNew ? { kind: "stranger" } : state);
  }
  if (fault !== null) {
    const advice = LISTEN_ADVICE[fault] ?? "Correct SVC_API_PORT and SVC_BIND_HOST.";
    return [fail("Port", `${port} cannot be used (${fault})`, advice)];
  }
  return [ok("Port", `${port} is free`), judgeAbsence({ name: "HTTP API", app: "api", where: "here" }, running, cli)];
}

/** Checks whether the console responds at its port, and shows how the first administrator signs up. */
export async function checkConsole(
  cli: Cli,
  { bindHost, ports }: Addresses,
  store: Store,
  running: RunningApps,
): Promise<Check> {
  const url = localUrl(bindHost ?? "127.0.0.1", ports.console);
  const hint = `; no operator has a password yet: ${cli.self} operators link`;
  const isFirstMissing = await store.operatorLinks.isFirstMissing();
  const result = await probe(`${url}/sign-in-ways`, { redirect: "error" }, async (response) => {
    const text = await response.text();
    return response.ok && text.startsWith('{"ok":true,"password":true') ? "ours" : "other";
  });
  const ours = `${url} responds${isFirstMissing ? hint : ""}`;
  const app = { name: "Console", app: "console", url, portSetting: "SVC_CONSOLE_PORT", ours };
  return judgeProbe(app, result, running, cli);
}

const LIST_TOOLS = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

/** Checks whether the tool server responds at its port, and accepts the key of this installation. */
export async function checkTools(
  cli: Cli,
  { bindHost, ports }: Addresses,
  key: string | null,
  running: RunningApps,
): Promise<Check> {
  const url = `${localUrl(bindHost ?? "127.0.0.1", ports.tools)}/mcp`;
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
    ...(key === null || !isValidHeaderValue(key) ? {} : { "X-Api-Key": key }),
  };
  const init = { method: "POST", headers, body: LIST_TOOLS, redirect: "error" } as const;
  const result = await probe(url, init, (response) => {
    const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json") === true;
    if (response.status === 401 && isProblem) return key === null ? "ours" : "stranger";
    return response.ok || (response.status === 429 && isProblem) ? "ours" : "other";
  });
  const ours = `${url} responds`;
  const app = { name: "Tool server", app: "tool-server", url, portSetting: "SVC_TOOLS_PORT", ours };
  return judgeProbe(app, result, running, cli);
}

/** Returns the checks of the widget's settings. */
export function judgeSettings(config: WidgetSettings, hasProject: boolean, self: string): Check[] {
  const set = `${self} channels set widget`;
  if (config.apiKey === null) {
    const advice = `Generate a key: ${self} channels disable widget, then ${self} channels enable widget`;
    return [fail("Widget", "is enabled, but has no key: no page can use it", advice)];
  }
  const { project, allowedOrigins } = config;
  const missing = `the project ${project} does not exist: visitors' messages are rejected`;
  return [
    ...(hasProject ? [] : [fail("Widget project", missing, `Choose another project: ${set} '{"project":"default"}'`)]),
    allowedOrigins.length > 0
      ? ok("Widget sites", allowedOrigins.join(", "))
      : warn(
          "Widget sites",
          "any site can load the widget",
          `Restrict it: ${set} '{"allowedOrigins":["https://www.example.com"]}'`,
        ),
  ];
}

/** Checks the widget if it is enabled: its key, its project, its sites, and whether it responds. */
export async function checkWidget(
  cli: Cli,
  store: Store,
  { bindHost, ports }: Addresses,
  running: RunningApps,
): Promise<Check[]> {
  const { enabled, widget } = await store.channelsConfig.read();
  if (!enabled.includes("widget")) return [];
  const { project, apiKey } = widget.config;
  const hasProject = (await store.projects.findByName(project)) !== null;
  const checks = judgeSettings(widget.config, hasProject, cli.self);
  if (apiKey === null) return checks;
  const url = localUrl(bindHost ?? "127.0.0.1", ports.widget);
  // A rate limit and a forbidden site are responses of a widget that knows the key.
  const result = await probe(`${url}/api/widget/config/${encodeURIComponent(apiKey)}`, {}, ({ status }) =>
    [200, 403, 429].includes(status) ? "ours" : "other",
  );
  const states = result === "ours" ? [] : await store.channelStates.list();
  const error = states.find(({ id, state }) => id === "widget" && state === "failing")?.error ?? null;
  if (error !== null) return [fail("Widget", error, `See also: ${cli.self} channels list`), ...checks];
  const app = {
    name: "Widget",
    app: "widget",
    url,
    portSetting: "SVC_WIDGET_PORT",
    ours: `${url} responds; its messages go to the project ${project}`,
    other: `the server at ${url} does not know the widget's key: another program or installation`,
  };
  return [judgeProbe(app, result, running, cli), ...checks];
}

/** Returns the check of a channel that pushes replies by its replicas; a failing one counts before those that run. */
export function judgeReplicas(
  id: ChannelId,
  replicas: readonly ReplicaState[],
  cli: Pick<Cli, "self" | "startWith">,
): Check {
  const { label } = CHANNELS[id];
  const failing = replicas.find(({ state }) => state === "failing");
  if (failing !== undefined) {
    const since = toSecond(failing.since.toISOString());
    const advice = `docs/${id}.md describes the states; see also: ${cli.self} channels list`;
    return fail(label, `${failing.error ?? "failing"} (since ${since})`, advice);
  }
  const running = replicas.filter(({ state }) => state === "running").length;
  if (running === 0) return warn(label, "is not running", `Start it with: ${cli.startWith}`);
  return ok(label, running === 1 ? "runs" : `running in ${running} replicas, one of which is active`);
}

/** Checks a channel that pushes replies, if it is enabled: whether its secrets are set, and the states of its replicas. */
export async function checkPushingChannel(cli: Cli, store: Store, id: ChannelId): Promise<Check[]> {
  const { label, secrets }: ChannelDescriptor = CHANNELS[id];
  const { enabled, [id]: settings } = await store.channelsConfig.read();
  if (!enabled.includes(id)) return [];
  const unset = Object.entries(settings.config).find(([setting, value]) => setting in secrets && value === null);
  const secret = secrets[unset?.[0] ?? ""];
  if (secret !== undefined) {
    const advice = `${secret.advice}: ${cli.self} channels set ${id} ${unset?.[0]}=…`;
    return [fail(label, `is enabled, but has no ${secret.label}`, advice)];
  }
  const replicas = (await store.channelStates.list()).filter((replica) => replica.id === id);
  return [judgeReplicas(id, replicas, cli)];
}
