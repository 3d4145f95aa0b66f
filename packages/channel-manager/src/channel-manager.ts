import { REPLY_QUEUES, ServiceError } from "@svc/contracts";
import type { Channel, ChannelsConfig, IntegrationId } from "@svc/contracts";
import { errorMessage } from "@svc/primitives";
import { newsOf } from "@svc/queue";
import { newId } from "@svc/store";
import type { ReplicaState } from "@svc/store";
import { acceptMessage } from "./accept-message.ts";
import type { ChannelResources } from "./accept-message.ts";
import { deliverReplies } from "./deliver-replies.ts";

/** How a registered channel is doing. */
export type ChannelState = ReplicaState;

/** What is only started and stopped: a server that others call. */
export type SwitchedServer = Pick<Channel, "start" | "stop" | "findFault"> & { readonly id: IntegrationId };

/** Passes announced replies to a channel until it is stopped. */
interface ReplyConsumer {
  stop(): Promise<void>;
}

interface Registered {
  channel: SwitchedServer;
  /** Starts to pass announced replies to the channel; null for a server, which gets none. */
  consume: (() => ReplyConsumer) | null;
  state: ChannelState;
  /** True between a start and a stop, also while something is wrong with it. */
  isStarted: boolean;
  /** What was logged of its last failure, and null while there is none. */
  cause: string | null;
  replies: ReplyConsumer | null;
  /** Not to be started again before this time (epoch milliseconds) after a failed start. */
  retryAt: number;
}

/** Errors of packages/http, whose messages say which setting to change. */
const LISTEN_ERRORS = new Set(["PortTakenError", "CannotListenError"]);
/** Interval at which the settings are read: a change is in effect within two seconds. */
const WATCH_MS = 1_600;
const RETRY_START_MS = 5_000;
const REPLIES_DEADLINE_MS = 4_000;

/**
 * The registry of the channels in this process. It starts and stops each as the settings say, hands their messages to
 * the pipeline, and their replies back to them.
 */
export function createChannelManager(resources: ChannelResources) {
  const { store, queues, log } = resources;
  const channels = new Map<IntegrationId, Registered>();
  let reconciling: Promise<void> = Promise.resolve();

  function setState(entry: Registered, state: "running" | "stopped"): void {
    if (entry.state.state === state) return;
    entry.state = { id: entry.channel.id, state, since: new Date(), error: null };
    entry.cause = null;
    log.info({ channel: entry.channel.id, state }, "channel state");
  }

  /** Notes a failure: its own words go to the log, the state shows `text` or what is written to be read by callers. */
  function setFailing(entry: Registered, error: unknown, text: string): void {
    const cause = errorMessage(error);
    if (entry.state.state === "failing" && entry.cause === cause) return;
    // A library's text may hold an address with a token, or a secret of the settings.
    const isOurs = error instanceof ServiceError || (error instanceof Error && LISTEN_ERRORS.has(error.name));
    const shown = isOurs ? error.message : text;
    const since = entry.state.state === "failing" ? entry.state.since : new Date();
    entry.state = { id: entry.channel.id, state: "failing", since, error: shown };
    entry.cause = cause;
    const why = isOurs ? { reason: shown } : { error };
    log.warn({ channel: entry.channel.id, state: "failing", ...why }, "channel state");
  }

  /**
   * Passes announced replies to their channel. Idempotent: a channel whose replies are collected is only notified, and a
   * channel that pushes does not send again what is sent.
   */
  function consumeReplies(channel: Channel): ReplyConsumer {
    if (channel.announce === undefined) {
      const work = deliverReplies(resources, channel);
      work.start();
      return work;
    }
    const consumer = queues.consume(REPLY_QUEUES[channel.id], async (job) => channel.announce?.(newsOf(job)));
    return { stop: () => consumer.close(REPLIES_DEADLINE_MS) };
  }

  /** A started channel is running, or says what keeps it from its work. */
  function showFault(entry: Registered): void {
    const fault = entry.channel.findFault?.() ?? null;
    if (fault === null) setState(entry, "running");
    else setFailing(entry, new ServiceError("unavailable", fault), fault);
  }

  async function startChannel(entry: Registered): Promise<void> {
    try {
      await entry.channel.start();
      entry.replies = entry.consume?.() ?? null;
      entry.isStarted = true;
      showFault(entry);
    } catch (error) {
      entry.retryAt = Date.now() + RETRY_START_MS;
      await entry.channel.stop().catch((stopError: unknown) => {
        log.debug({ error: stopError, channel: entry.channel.id }, "failed to stop a channel that did not start");
      });
      setFailing(entry, error, "The channel could not be started. See the log.");
    }
  }

  async function stopChannel(entry: Registered): Promise<void> {
    const { replies } = entry;
    entry.replies = null;
    entry.isStarted = false;
    try {
      await replies?.stop();
      await entry.channel.stop();
      setState(entry, "stopped");
    } catch (error) {
      setFailing(entry, error, "The channel could not be stopped. See the log.");
    }
  }

  async function reconcileNow(enabled: readonly IntegrationId[]): Promise<void> {
    for (const entry of channels.values()) {
      const wanted = enabled.includes(entry.channel.id);
      if (wanted && entry.isStarted) showFault(entry);
      if (wanted && !entry.isStarted && Date.now() >= entry.retryAt) await startChannel(entry);
      if (!wanted && entry.state.state !== "stopped") await stopChannel(entry);
    }
  }

  /** Starts the registered channels that are in the list and stops the others. Calls wait for each other. */
  function reconcile(enabled: readonly IntegrationId[]): Promise<void> {
    reconciling = reconciling.then(() => reconcileNow(enabled));
    return reconciling;
  }

  /** How each channel of this process is doing. */
  function states(): ChannelState[] {
    return [...channels.values()].map((entry) => entry.state);
  }

  function add(channel: SwitchedServer, consume: Registered["consume"]): void {
    if (channels.has(channel.id)) throw new Error(`channel ${channel.id} is already registered`);
    channels.set(channel.id, {
      channel,
      consume,
      state: { id: channel.id, state: "stopped", since: new Date(), error: null },
      isStarted: false,
      cause: null,
      replies: null,
      retryAt: 0,
    });
  }

  return {
    /** Adds a channel of this process; each id once. It is started by the next `reconcile`. */
    register(channel: Channel): void {
      add(channel, () => consumeReplies(channel));
      channel.onMessage((message, context) => acceptMessage(resources, channel, message, context));
    },

    /** Adds a server of this process that is no channel; each id once. It is started by the next `reconcile`. */
    registerServer(server: SwitchedServer): void {
      add(server, null);
    },

    reconcile,

    /**
     * Follows the settings: now and every 1.6 s, and says in the store how each channel is doing. While the store is
     * away the channels stay as they are. `onSettings` is called with the settings each time, before the channels are
     * reconciled. Answers a function that stops following and stops every channel.
     */
    async follow(onSettings?: (settings: ChannelsConfig) => Promise<void>): Promise<() => Promise<void>> {
      const replica = newId();
      let stopped = false;
      let timer: NodeJS.Timeout | undefined;
      const report = () => store.channelStates.report(replica, states());
      const look = async () => {
        try {
          const settings = await store.channelsConfig.read();
          // A look that was under way when following ended must not start anything again.
          if (!stopped) await onSettings?.(settings);
          if (!stopped) await reconcile(settings.enabled);
          if (!stopped) await report();
        } catch (error) {
          log.debug({ error }, "cannot read the channel settings; channels keep their current state");
        }
      };
      const lookLater = () => {
        if (stopped) return;
        timer = setTimeout(() => void look().finally(lookLater), WATCH_MS);
      };
      const settings = await store.channelsConfig.read();
      await reconcile(settings.enabled);
      await report();
      lookLater();
      return async () => {
        stopped = true;
        clearTimeout(timer);
        await reconcile([]);
        await store.channelStates.forget(replica).catch((error: unknown) => {
          // What is left says nothing any more after five seconds.
          log.debug({ error }, "failed to record that the channels of this process have stopped");
        });
      };
    },

    states,
  };
}

export type ChannelManager = ReturnType<typeof createChannelManager>;
