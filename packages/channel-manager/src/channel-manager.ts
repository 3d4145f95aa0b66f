import { REPLY_QUEUES, ServiceError, incomingMessageSchema } from "@svc/contracts";
import type {
  AcceptedMessage,
  Channel,
  ChannelsConfig,
  IncomingContext,
  IncomingMessage,
  IntegrationId,
} from "@svc/contracts";
import type { Log } from "@svc/log";
import { errorMessage, withinMs } from "@svc/primitives";
import { QueueDownError, announceWork, jobsOf } from "@svc/queue";
import { asProjectId } from "@svc/store";
import type { ReplicaState } from "@svc/store";
import { count, startSpan } from "@svc/telemetry";
import { msUntilTick } from "@svc/work";
import { deliverReplies } from "./deliver-replies.ts";
import type { ChannelResources } from "./deliver-replies.ts";

/** Maximum wait of a sync call for the announcement of its message; after that, the sweeper publishes it. */
const PUBLISH_WAIT_MS = 250;

/**
 * Entry point of every channel: commits a message, announces it to the pipeline and shows that a reply is pending. When
 * it resolves, the message is durable and will be processed, whatever happens to the queue. Rejects with `unavailable`
 * if the store is; if the connection drops during the commit, the message may be committed anyway.
 */
export async function acceptMessage(
  resources: ChannelResources,
  channel: Channel,
  incoming: IncomingMessage,
  context: IncomingContext,
): Promise<AcceptedMessage> {
  const message = incomingMessageSchema.parse(incoming);
  const span = startSpan("accept message", {
    parent: context.trace,
    kind: "producer",
    attributes: { "svc.channel": channel.id },
  });
  try {
    const accepted = await commitAndAnnounce(resources, channel, message, { ...context, trace: span.traceparent });
    span.annotate({ "svc.message_id": accepted.messageId, "svc.ticket_id": accepted.ticketId });
    count("svc_messages_accepted_total", { channel: channel.id });
    return accepted;
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

async function commitAndAnnounce(
  { store, queues, log }: ChannelResources,
  channel: Channel,
  message: IncomingMessage,
  context: IncomingContext,
): Promise<AcceptedMessage> {
  const project = asProjectId(context.project);
  const { priority, ...accepted } = await store.messages.accept(
    project,
    {
      channelId: message.channelId,
      chatId: message.chatId,
      userId: message.userId ?? null,
      text: message.text,
      timestampMs: message.timestamp,
      attachments: message.attachments ?? null,
      channelMeta: message.channelMeta,
      mode: context.mode ?? null,
      callInstance: context.callInstance ?? null,
      callback: context.callback ?? null,
      trace: context.trace ?? null,
    },
    context.messageId,
  );
  const { messageId, ticketId } = accepted;
  const mayWait = context.mode !== "sync";
  const work = { project, messageId, ticketId, attempts: 0, priority, isNew: true, mayWait };
  const published = announceWork(queues, "incoming-messages", [work]).catch((error: unknown) => {
    const text = "message accepted but not announced; the sweeper will announce it";
    if (error instanceof QueueDownError) log.debug({ messageId }, text);
    else log.warn({ error, messageId }, text);
  });
  channel.markTyping?.(message.chatId, { project, ticketId }).catch((error: unknown) => {
    log.debug({ error, ticketId }, "failed to show the typing indicator");
  });
  if (!mayWait) await withinMs(published, PUBLISH_WAIT_MS);
  return accepted;
}

/** State of a registered channel. */
export type ChannelState = ReplicaState;

/** A server that is only started and stopped, and receives no replies. */
export type SwitchedServer = Pick<Channel, "start" | "stop" | "findProblem" | "countSockets"> & {
  readonly id: IntegrationId;
};

/** Passes announced replies to a channel until it is stopped. */
interface ReplyConsumer {
  stop(): Promise<void>;
}

interface Registered {
  channel: SwitchedServer;
  /** Starts to pass announced replies to the channel; null for a server, which receives none. */
  consume: (() => ReplyConsumer) | null;
  state: ChannelState;
  /** True between a start and a stop, also while it is failing. */
  isStarted: boolean;
  /** Message of its last failure, as logged; null without one. */
  cause: string | null;
  replies: ReplyConsumer | null;
  /** Time before which it is not started again after a failed start (epoch milliseconds). */
  retryAt: number;
}

/** Errors of packages/http, whose messages say which setting to change. */
const LISTEN_ERRORS = new Set(["PortTakenError", "CannotListenError"]);
/**
 * Interval at which the settings are read: a change is in effect within two seconds. Every third reading is at the
 * moment of the process's heartbeat and shares its statement.
 */
const WATCH_MS = 5_000 / 3;
const RETRY_START_MS = 5_000;
const REPLIES_DEADLINE_MS = 4_000;

/** How settings are followed. */
interface FollowOptions {
  /** Called with the settings each time they are read, before the channels are reconciled. */
  onSettings?: (settings: ChannelsConfig) => Promise<void>;
  /** Interval in milliseconds, for a process that has another statement to share. */
  everyMs?: number;
}

function setState(log: Log, entry: Registered, state: "running" | "stopped"): void {
  if (entry.state.state === state) return;
  entry.state = { id: entry.channel.id, state, since: new Date(), error: null };
  entry.cause = null;
  log.info({ channel: entry.channel.id, state }, "channel state");
}

/** Records a failure: its message is logged, and the state shows `text`, or the message if it is meant for callers. */
function setFailing(log: Log, entry: Registered, error: unknown, text: string): void {
  const cause = errorMessage(error);
  if (entry.state.state === "failing" && entry.cause === cause) return;
  // A library's message may contain a URL with a token, or a secret setting.
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
 * channel that pushes does not send twice.
 */
function consumeReplies(resources: ChannelResources, channel: Channel): ReplyConsumer {
  if (channel.announce === undefined) {
    const work = deliverReplies(resources, channel);
    work.start();
    return work;
  }
  const consumer = resources.queues.consume(REPLY_QUEUES[channel.id], async (job) => channel.announce?.(jobsOf(job)));
  return { stop: () => consumer.close(REPLIES_DEADLINE_MS) };
}

/** Updates the state of a started channel: running, or failing with what its channel reports. */
function updateState(log: Log, entry: Registered): void {
  const problem = entry.channel.findProblem?.() ?? null;
  if (problem === null) setState(log, entry, "running");
  else setFailing(log, entry, new ServiceError("unavailable", problem), problem);
}

async function startChannel(log: Log, entry: Registered): Promise<void> {
  try {
    await entry.channel.start();
    entry.replies = entry.consume?.() ?? null;
    entry.isStarted = true;
    updateState(log, entry);
  } catch (error) {
    entry.retryAt = Date.now() + RETRY_START_MS;
    await entry.channel.stop().catch((stopError: unknown) => {
      log.debug({ error: stopError, channel: entry.channel.id }, "failed to stop a channel that did not start");
    });
    setFailing(log, entry, error, "The channel could not be started. See the log.");
  }
}

async function stopChannel(log: Log, entry: Registered): Promise<void> {
  const { replies } = entry;
  entry.replies = null;
  entry.isStarted = false;
  try {
    await replies?.stop();
    await entry.channel.stop();
    setState(log, entry, "stopped");
  } catch (error) {
    setFailing(log, entry, error, "The channel could not be stopped. See the log.");
  }
}

/**
 * Follows the settings: reconciles the channels now and at an interval, and reports the state of each in the store. While
 * the store is unavailable, the channels are unchanged. Returns a function that stops following and stops every
 * channel.
 */
async function followSettings(
  { store, log }: ChannelResources,
  { reconcile, states }: Pick<ChannelManager, "reconcile" | "states">,
  { onSettings, everyMs = WATCH_MS }: FollowOptions = {},
): Promise<() => Promise<void>> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let reported: readonly ChannelState[] = [];
  const report = () => {
    reported = states();
    return store.channelStates.report(reported);
  };
  // The number of sockets changes often and can wait for the next report.
  const isReported = () =>
    states().every(({ id, state, since, error }) =>
      reported.some(
        (known) => known.id === id && known.state === state && known.since === since && known.error === error,
      ),
    );
  const check = async () => {
    try {
      const settings = await report();
      // A check that was in progress at the end must not start anything.
      if (!stopped) await onSettings?.(settings);
      if (!stopped) await reconcile(settings.enabled);
      if (!stopped && !isReported()) await report();
    } catch (error) {
      log.debug({ error }, "cannot read the channel settings; channels keep their current state");
    }
  };
  const checkLater = () => {
    if (stopped) return;
    timer = setTimeout(() => void check().finally(checkLater), msUntilTick(everyMs));
  };
  const settings = await store.channelsConfig.read();
  await reconcile(settings.enabled);
  await report();
  checkLater();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await reconcile([]);
    await store.channelStates.remove(states().map(({ id }) => id)).catch((error: unknown) => {
      // A state that is not reported again expires after five seconds.
      log.debug({ error }, "failed to record that the channels of this process have stopped");
    });
  };
}

/**
 * The registry of the channels in this process. Starts and stops each according to the settings, passes
 * their messages to the pipeline, and replies to them.
 */
export function createChannelManager(resources: ChannelResources) {
  const { log } = resources;
  const channels = new Map<IntegrationId, Registered>();
  let reconciling: Promise<void> = Promise.resolve();

  async function reconcileNow(enabled: readonly IntegrationId[]): Promise<void> {
    for (const entry of channels.values()) {
      const wanted = enabled.includes(entry.channel.id);
      if (wanted && entry.isStarted) updateState(log, entry);
      if (wanted && !entry.isStarted && Date.now() >= entry.retryAt) await startChannel(log, entry);
      if (!wanted && entry.state.state !== "stopped") await stopChannel(log, entry);
    }
  }

  /** Starts the registered channels that are in the list and stops the others. Calls wait for each other. */
  function reconcile(enabled: readonly IntegrationId[]): Promise<void> {
    reconciling = reconciling.then(() => reconcileNow(enabled));
    return reconciling;
  }

  /** Returns the state of each channel of this process. */
  function states(): ChannelState[] {
    return [...channels.values()].map(({ channel, state }) => ({
      ...state,
      ...(channel.countSockets && { sockets: channel.countSockets() }),
    }));
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
      add(channel, () => consumeReplies(resources, channel));
      channel.onMessage((message, context) => acceptMessage(resources, channel, message, context));
    },

    /** Adds a server of this process that is not a channel; each id once. The next `reconcile` starts it. */
    registerServer(server: SwitchedServer): void {
      add(server, null);
    },

    reconcile,

    /** Follows the settings, see `followSettings`. */
    follow: (options?: FollowOptions) => followSettings(resources, { reconcile, states }, options),

    states,
  };
}

export type ChannelManager = ReturnType<typeof createChannelManager>;
