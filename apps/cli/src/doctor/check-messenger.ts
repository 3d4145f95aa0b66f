import type { ReplicaState, Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import type { Check } from "./check.ts";

const name = "Messenger";

/** What the replicas that say how they are doing make of the channel; one that fails counts before those that run. */
export function judgeReplicas(replicas: readonly ReplicaState[], cli: Pick<Cli, "self" | "startWith">): Check {
  const failing = replicas.find(({ state }) => state === "failing");
  if (failing !== undefined) {
    const since = `${failing.since.toISOString().slice(0, 19)}Z`;
    const advice = `docs/messenger.md describes the states; see also: ${cli.self} channels list`;
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

/** Checks the messenger where it is enabled: whether a bot token is set, and how its replicas are doing. */
export async function checkMessenger({ self, startWith }: Cli, store: Store): Promise<Check[]> {
  const { enabled, messenger } = await store.channelsConfig.read();
  if (!enabled.includes("messenger")) return [];
  if (messenger.config.botToken === null) {
    const advice = `Get a token from @BotFather: ${self} channels set messenger botToken=…`;
    return [{ name, status: "fail", detail: "is enabled, but has no bot token", advice }];
  }
  const replicas = (await store.channelStates.list()).filter(({ id }) => id === "messenger");
  return [judgeReplicas(replicas, { self, startWith })];
}
