import { localUrl } from "@svc/contracts";
import type { WidgetSettings } from "@svc/contracts";
import type { EarlyConfig } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import type { Check } from "./check.ts";
import { judgeAbsence, judgeFailedProbe, silentCheck } from "./judge-absence.ts";
import type { RunningApps } from "./judge-absence.ts";

const TIMEOUT_MS = 3_000;

/** What answers at the widget's address: this installation's widget, something else, something that does not respond, or nothing. */
async function probeWidget(url: string, apiKey: string): Promise<"ours" | "other" | "silent" | "nothing"> {
  try {
    const answer = await fetch(`${url}/api/widget/config/${encodeURIComponent(apiKey)}`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.body?.cancel();
    // A limit or a refused site is an answer of a widget that knows the key.
    return [200, 403, 429].includes(answer.status) ? "ours" : "other";
  } catch (error) {
    return judgeFailedProbe(error);
  }
}

/** What the settings say, without a look at what runs. */
export function judgeSettings(config: WidgetSettings, hasProject: boolean, self: string): Check[] {
  const set = `${self} channels set widget`;
  if (config.apiKey === null) {
    const advice = `Generate a key: ${self} channels disable widget, then ${self} channels enable widget`;
    return [{ name: "Widget", status: "fail", detail: "is enabled, but has no key: no page can use it", advice }];
  }
  return [
    ...(hasProject
      ? []
      : [
          {
            name: "Widget project",
            status: "fail" as const,
            detail: `the project ${config.project} does not exist: visitors' messages are rejected`,
            advice: `Choose another project: ${set} '{"project":"default"}'`,
          },
        ]),
    config.allowedOrigins.length > 0
      ? { name: "Widget sites", status: "ok", detail: config.allowedOrigins.join(", ") }
      : {
          name: "Widget sites",
          status: "warn",
          detail: "any site can load the widget",
          advice: `Restrict it: ${set} '{"allowedOrigins":["https://www.example.com"]}'`,
        },
  ];
}

/** Checks the widget where it is enabled: its key, its project, its sites, and whether it answers. */
export async function checkWidget(
  { self, startWith }: Cli,
  store: Store,
  { bindHost, ports }: Pick<EarlyConfig, "bindHost" | "ports">,
  running: RunningApps,
): Promise<Check[]> {
  const { enabled, widget } = await store.channelsConfig.read();
  if (!enabled.includes("widget")) return [];
  const { config } = widget;
  const hasProject = (await store.projects.findByName(config.project)) !== null;
  const checks = judgeSettings(config, hasProject, self);
  if (config.apiKey === null) return checks;
  const url = localUrl(bindHost ?? "127.0.0.1", ports.widget);
  const advice = "Stop it, or choose another port with SVC_WIDGET_PORT.";
  const found: Record<Awaited<ReturnType<typeof probeWidget>>, Check> = {
    ours: { name: "Widget", status: "ok", detail: `${url} responds; its messages go to the project ${config.project}` },
    other: {
      name: "Widget",
      status: "fail",
      detail: `the server at ${url} does not know the widget's key: another program or installation`,
      advice,
    },
    silent: silentCheck("Widget", url, advice),
    nothing: judgeAbsence({ name: "Widget", app: "widget", where: `at ${url}` }, running, { startWith }),
  };
  const answer = await probeWidget(url, config.apiKey);
  const states = answer === "ours" ? [] : await store.channelStates.list();
  const error = states.find(({ id, state }) => id === "widget" && state === "failing")?.error ?? null;
  const failing: Check = {
    name: "Widget",
    status: "fail",
    detail: error ?? "",
    advice: `See also: ${self} channels list`,
  };
  return [error === null ? found[answer] : failing, ...checks];
}
