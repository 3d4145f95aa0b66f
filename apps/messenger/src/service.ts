import { createChannelManager } from "@svc/channel-manager";
import type { RunningService, Service } from "@svc/contracts";
import type { Resources } from "@svc/runtime";
import { followBot } from "./follow-bot.ts";
import { createMessengerChannel } from "./messenger-channel.ts";
import { startPruning } from "./start-pruning.ts";

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
    manager.register(createMessengerChannel((receive) => followBot({ store, log, apiRoot, receive })));
    const pruning = startPruning({ store, log });
    const unfollow = await manager.follow();
    return {
      async findFault() {
        if (isDraining) return "stopping";
        return (await store.ping()) ? null : "the store cannot be reached";
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
