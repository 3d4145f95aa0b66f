import { createChannelManager } from "@svc/channel-manager";
import type { RunningService, Service } from "@svc/contracts";
import type { Resources } from "@svc/runtime";
import { startSweeps } from "@svc/work";
import { createMessengerChannel, followBot } from "./messenger-channel.ts";

/** Age of the oldest due reply from which this replica counts as not working. */
const WAITING_TOO_LONG_MS = 120_000;

const PRUNE_EVERY_MS = 10 * 60_000;

/** Removes updates that Telegram can no longer send again; replicas share the work. */
async function pruneUpdates({ store, log }: Resources, isStopped: () => boolean): Promise<void> {
  for (let isMore = true; isMore && !isStopped();) {
    const pruned = await store.channelUpdates.prune();
    isMore = pruned.isMore;
    if (pruned.unanswered > 0) log.warn({ unanswered: pruned.unanswered }, "removed updates that waited for a month");
  }
}

/**
 * The messenger: a bot of Telegram as a channel. It listens on no port: it fetches the bot's updates by long polling, in
 * one replica at a time.
 */
export function messengerService(resources: Resources): Service {
  const { config, store, log } = resources;

  async function start(): Promise<RunningService> {
    let isDraining = false;
    const apiRoot = config.telegramApiRoot;
    const manager = createChannelManager(resources);
    const channel = createMessengerChannel((receive) => followBot({ store, log, apiRoot, receive }));
    manager.register(channel);
    const pruning = startSweeps(log, "old updates", [
      { everyMs: PRUNE_EVERY_MS, run: (isStopped) => pruneUpdates(resources, isStopped) },
    ]);
    const unfollow = await manager.follow();
    return {
      async findProblem() {
        if (isDraining) return "stopping";
        const storeError = await store.findProblem();
        if (storeError !== null) return storeError;
        // A standby replica sends nothing.
        const dueMs = channel.isActive?.() === true ? await store.outboxes.oldestDueMs("messenger") : 0;
        return dueMs < WAITING_TOO_LONG_MS ? null : `a reply has been waiting for ${Math.round(dueMs / 1_000)} s`;
      },
      drain() {
        isDraining = true;
      },
      async stop() {
        isDraining = true;
        await unfollow();
        await pruning.stop();
      },
    };
  }

  return { name: "messenger", start };
}
