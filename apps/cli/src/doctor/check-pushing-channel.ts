import { CHANNELS } from "@svc/contracts";
import type { ChannelDescriptor, ChannelId } from "@svc/contracts";
import type { ReplicaState, Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import type { Check } from "./check.ts";

/** What the replicas that say how they are doing make of the channel; one that fails counts before those that run. */
export function judgeReplicas(
  id: ChannelId,
  replicas: readonly ReplicaState[],
  cli: Pick<Cli, "self" | "startWith">,
): Check {
  const name = CHANNELS[id].label;
  const failing = replicas.find(({ state }) => state === "failing");
  if (failing !== undefined) {
    const since = `${failing.since.toISOString().slice(0, 19)}Z`;
    const advice = `docs/${id}.md describes the states; see also: ${cli.self} channels list`;
    return { name, status: "fail", detail: `${failing.error ?? "failing"} (since ${since})`, advice };
  }
  const running = replicas.filter(({ state }) => state === "running").length;
  if (running === 0)
    return { name, status: "warn", detail: "is not running", advice: `Start it with: ${cli.startWith}` };
  return {
    name,
    status: "ok",
    detail: running === 1 ? "runs" : `running in ${running} replicas, one of which is active`,
  };
}

/** Checks a channel that pushes replies, if it is enabled: whether its secrets are set, and the state of its replicas. */
export async function checkPushingChannel({ self, startWith }: Cli, store: Store, id: ChannelId): Promise<Check[]> {
  const { label: name, secrets }: ChannelDescriptor = CHANNELS[id];
  const { enabled, [id]: settings } = await store.channelsConfig.read();
  if (!enabled.includes(id)) return [];
  const unset = Object.entries(settings.config).find(([setting, value]) => setting in secrets && value === null);
  const secret = secrets[unset?.[0] ?? ""];
  if (secret !== undefined) {
    const advice = `${secret.advice}: ${self} channels set ${id} ${unset?.[0]}=…`;
    return [{ name, status: "fail", detail: `is enabled, but has no ${secret.label}`, advice }];
  }
  const replicas = (await store.channelStates.list()).filter((replica) => replica.id === id);
  return [judgeReplicas(id, replicas, { self, startWith })];
}
