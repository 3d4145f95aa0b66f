import type { ChannelId, ChannelItem } from "@svc/contracts";
import { listChannels } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import { apiUrlOf, probeApi } from "./api-client.ts";
import type { ApiState, RunningChannel } from "./api-client.ts";
import { findKey } from "./find-key.ts";
import { localPrincipal } from "./local-principal.ts";

/** A channel as the settings have it, and how it is doing as far as can be found out. */
export interface ChannelReport {
  id: ChannelId;
  enabled: boolean;
  /** Null for a channel that listens on none. */
  port: number | null;
  /**
   * `running`, `stopped` and `failing` are what the running product says; `not_running`: nothing runs that could say
   * so; `unknown`: it does not tell.
   */
  state: RunningChannel["state"] | "not_running" | "unknown";
  /** Since when it is in that state (RFC 3339). */
  since: string | null;
  /** Why it is in that state, in words. */
  detail: string | null;
}

type Found = Pick<ChannelReport, "state" | "since" | "detail">;

const found = (state: ChannelReport["state"], detail: string | null): Found => ({ state, since: null, detail });

/** What it means when this installation does not answer. */
const WITHOUT_ANSWER: Record<Exclude<ApiState["kind"], "ours">, (url: string) => Found> = {
  nothing: () => found("not_running", null),
  other_program: (url) => found("not_running", `another program listens at ${url}`),
  stranger: (url) => found("unknown", `another installation of this product runs at ${url}, or one with another key`),
};

/** What a look at the API's address says of one channel. */
export function judgeChannel(
  { id, state, since, error }: Pick<ChannelItem, "id" | "state" | "since" | "error">,
  url: string,
  probe: ApiState,
): Found {
  if (probe.kind !== "ours") return WITHOUT_ANSWER[probe.kind](url);
  if (probe.status === "fail") return found("unknown", `the product at ${url} is not healthy`);
  if (probe.channels === null) {
    return found("unknown", `there is no key to ask the product at ${url} with; set SVC_ADMIN_KEY`);
  }
  // The API speaks for the channel that it holds; of the others there is what their processes have noted.
  const channel = probe.channels[id] ?? { state, since, error };
  return { state: channel.state, since: channel.since, detail: channel.error };
}

/** Every channel, and how it is doing in the product that runs on this machine. */
export async function findChannelStates({ store, config }: Resources): Promise<ChannelReport[]> {
  const { items } = await listChannels({ store }, await localPrincipal(store));
  const url = apiUrlOf(config);
  const probe = await probeApi(url, await findKey(config));
  const ports = { api: config.ports.api, widget: config.ports.widget, messenger: null };
  return items.map((item) => ({
    id: item.id,
    enabled: item.enabled,
    port: ports[item.id],
    ...judgeChannel(item, url, probe),
  }));
}
