import { REPLY_QUEUES } from "@svc/contracts";
import type { Channel, ChannelId } from "@svc/contracts";
import type { Consumer } from "@svc/queue";
import { acceptMessage } from "./accept-message.ts";
import type { ChannelResources } from "./accept-message.ts";
import { deliverReply } from "./deliver-reply.ts";

/** How a registered channel is doing. */
export interface ChannelState {
  id: ChannelId;
  state: "running" | "stopped" | "failing";
  since: Date;
  /** What is wrong, in words, while it is failing. */
  error: string | null;
}

interface Registered {
  channel: Channel;
  state: ChannelState;
  replies: Consumer | null;
  /** Not to be started again before this time (epoch milliseconds) after a failed start. */
  retryAt: number;
}

const WATCH_MS = 1_000;
const RETRY_START_MS = 5_000;
const REPLIES_DEADLINE_MS = 4_000;

/**
 * The registry of the channels in this process. It starts and stops each as the settings say, hands their messages to
 * the pipeline, and their replies back to them.
 */
export function createChannelManager(resources: ChannelResources) {
  const { store, queues, log } = resources;
  const channels = new Map<ChannelId, Registered>();
  let reconciling: Promise<void> = Promise.resolve();

  function setState(entry: Registered, state: ChannelState["state"], error: string | null = null): void {
    if (entry.state.state === state && entry.state.error === error) return;
    entry.state = { id: entry.channel.id, state, since: new Date(), error };
    log.info({ channel: entry.channel.id, state, ...(error === null ? {} : { reason: error }) }, "channel state");
  }

  async function startChannel(entry: Registered): Promise<void> {
    try {
      await entry.channel.start();
      entry.replies = queues.consume(REPLY_QUEUES[entry.channel.id], (job) =>
        deliverReply(resources, entry.channel, job),
      );
      setState(entry, "running");
    } catch (error) {
      entry.retryAt = Date.now() + RETRY_START_MS;
      await entry.channel.stop().catch((stopError: unknown) => {
        log.debug({ error: stopError, channel: entry.channel.id }, "a channel that did not start could not be stopped");
      });
      setState(entry, "failing", error instanceof Error ? error.message : String(error));
    }
  }

  async function stopChannel(entry: Registered): Promise<void> {
    const replies = entry.replies;
    entry.replies = null;
    try {
      await replies?.close(REPLIES_DEADLINE_MS);
      await entry.channel.stop();
      setState(entry, "stopped");
    } catch (error) {
      setState(entry, "failing", error instanceof Error ? error.message : String(error));
    }
  }

  async function reconcileNow(enabled: readonly ChannelId[]): Promise<void> {
    for (const entry of channels.values()) {
      const wanted = enabled.includes(entry.channel.id);
      const running = entry.state.state === "running";
      if (wanted && !running && Date.now() >= entry.retryAt) await startChannel(entry);
      if (!wanted && entry.state.state !== "stopped") await stopChannel(entry);
    }
  }

  /** Starts the registered channels that are in the list and stops the others. Calls wait for each other. */
  function reconcile(enabled: readonly ChannelId[]): Promise<void> {
    reconciling = reconciling.then(() => reconcileNow(enabled));
    return reconciling;
  }

  return {
    /** Adds a channel of this process; each id once. It is started by the next `reconcile`. */
    register(channel: Channel): void {
      if (channels.has(channel.id)) throw new Error(`channel ${channel.id} is registered twice`);
      channel.onMessage((message, context) => acceptMessage(resources, channel, message, context));
      channels.set(channel.id, {
        channel,
        state: { id: channel.id, state: "stopped", since: new Date(), error: null },
        replies: null,
        retryAt: 0,
      });
    },

    reconcile,

    /**
     * Follows the settings: now, and once a second. While the store is away the channels stay as they are. Answers a function that stops following and stops every channel.
     */
    async follow(): Promise<() => Promise<void>> {
      let stopped = false;
      let timer: NodeJS.Timeout | undefined;
      const look = async () => {
        try {
          const settings = await store.channelsConfig.read();
          // A look that was under way when following ended must not start anything again.
          if (!stopped) await reconcile(settings.enabled);
        } catch (error) {
          log.debug({ error }, "the settings cannot be read; the channels stay as they are");
        }
      };
      const lookLater = () => {
        if (stopped) return;
        timer = setTimeout(() => void look().finally(lookLater), WATCH_MS);
      };
      const settings = await store.channelsConfig.read();
      await reconcile(settings.enabled);
      lookLater();
      return async () => {
        stopped = true;
        clearTimeout(timer);
        await reconcile([]);
      };
    },

    /** How each channel of this process is doing. */
    states(): ChannelState[] {
      return [...channels.values()].map((entry) => entry.state);
    },
  };
}

export type ChannelManager = ReturnType<typeof createChannelManager>;
