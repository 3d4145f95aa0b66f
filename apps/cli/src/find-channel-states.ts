import { CHANNELS } from "@svc/contracts";
import type { ChannelItem, IntegrationId } from "@svc/contracts";
import { listChannels } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import { apiUrlOf, probeApi } from "./api-client.ts";
import type { ApiState, RunningChannel } from "./api-client.ts";
import { findKey } from "./find-key.ts";
import { localPrincipal } from "./local-principal.ts";

/** A channel as the settings have it, and how it is doing as far as can be found out. */
export interface ChannelReport {
  id: IntegrationId;
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
  other_program: (url) => found("not_running", `another program is listening on ${url}`),
  stranger: (url) =>
    found("unknown", `another installation of this product, or one with a different key, is running at ${url}`),
};

/**
 * How a channel is doing: what the processes that hold it have reported in the last seconds, else what a request to the
 * API's address shows.
 */
export function judgeChannel(
  { id, state, since, error }: Pick<ChannelItem, "id" | "state" | "since" | "error">,
  url: string,
  probe: ApiState,
): Found {
  if (since !== null) return { state, since, detail: error };
  if (probe.kind !== "ours") return WITHOUT_ANSWER[probe.kind](url);
  if (probe.status === "fail") return found("unknown", `the service at ${url} is unhealthy`);
  const channel = probe.channels?.[id];
  if (channel === undefined) return found("not_running", null);
  return { state: channel.state, since: channel.since, detail: channel.error };
}

/** Every channel and the tool server, and how each is doing; without a key where the database is reached. */
export async function findChannelStates({ store, config }: Resources): Promise<ChannelReport[]> {
  const { items } = await listChannels({ store }, await localPrincipal(store));
  const url = apiUrlOf(config);
  const probe = await probeApi(url, await findKey(config));
  const portOf = (id: IntegrationId) => {
    const port = id === "tool-server" ? "tools" : CHANNELS[id].port;
    return port === null ? null : config.ports[port];
  };
  return items.map((item) => ({
    id: item.id,
    enabled: item.enabled,
    port: portOf(item.id),
    ...judgeChannel(item, url, probe),
  }));
}
