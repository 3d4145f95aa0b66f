import { createChannelManager } from "@svc/channel-manager";
import { DeliveryError, ServiceError } from "@svc/contracts";
import type { Channel, IncomingHandler, RunningService, Service } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { Resources } from "@svc/runtime";
import { DEFAULT_PROJECT, isUnavailable } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { startSweeps } from "@svc/work";
import { botIdOf, runBot } from "./poll/run-bot.ts";
import type { BotContext, RunningBot } from "./poll/run-bot.ts";
import type { Sender } from "./send/create-sender.ts";

/** The bot that the settings configure at the moment. */
interface FollowedBot {
  /** Returns the running bot; null if there is none. */
  find: () => RunningBot | null;
  /** Returns why no bot runs, or what is wrong with it, in words for operators. */
  findProblem: () => string | null;
  stop: () => Promise<void>;
}

const WATCH_MS = 1_000;
const SET_TOKEN = "Get a token from @BotFather and set it: svc channels set messenger botToken=…";
const ERRORS = {
  none: `No bot token is set. ${SET_TOKEN}`,
  sealed: `The bot token cannot be decrypted: SVC_SECRET_KEY has changed since it was set. ${SET_TOKEN}`,
  malformed: `The bot token is not valid: it must have the form 123456:ABC-DEF. ${SET_TOKEN}`,
} as const;

/** The bot that the settings configure, or the reason why there is none. */
type BotSettings = { token: string; botId: number } | keyof typeof ERRORS;

const isSame = (one: BotSettings | null, other: BotSettings) =>
  typeof one === "object" && one !== null && typeof other === "object" ? one.token === other.token : one === other;

async function readBotSettings(store: Store): Promise<BotSettings> {
  const { botToken } = (await store.channelsConfig.read()).messenger.config;
  if (botToken === null) return "none";
  const token = store.sealer.open(botToken)?.trim();
  if (token === undefined) return "sealed";
  const botId = botIdOf(token);
  return botId === null ? "malformed" : { token, botId };
}

/**
 * Follows the bot token of the settings, which it reads immediately and once a second: a new token replaces the
 * running bot within two seconds, an absent one stops it. While the settings cannot be read, the bot keeps running.
 * Never rejects.
 */
export function followBot(context: Omit<BotContext, "project">): FollowedBot {
  const { store, log } = context;
  let wanted: BotSettings | null = null;
  let bot: RunningBot | null = null;
  let project: ProjectId | null = null;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> = Promise.resolve();

  async function endBot(): Promise<void> {
    const former = bot;
    bot = null;
    await former?.stop();
  }

  async function check(): Promise<void> {
    const next = await readBotSettings(store);
    if (isStopped || isSame(wanted, next)) return;
    project ??= (await store.projects.ensure(DEFAULT_PROJECT)).project.id;
    await endBot();
    wanted = next;
    if (typeof next === "object" && !isStopped) bot = runBot({ ...context, project }, next);
  }

  const checkNow = () => {
    checking = check()
      .catch((error: unknown) => note(log, error))
      .finally(() => {
        if (!isStopped) timer = setTimeout(checkNow, WATCH_MS);
      });
  };
  checkNow();

  return {
    find: () => bot,
    findProblem() {
      if (typeof wanted === "string") return ERRORS[wanted];
      return bot?.findProblem() ?? null;
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await checking;
      await endBot();
    },
  };
}

function note(log: Log, error: unknown): void {
  log[isUnavailable(error) ? "debug" : "error"]({ error }, "failed to read the bot settings");
}

/**
 * Creates the messenger channel: between `start` and `stop` it follows the bot of the settings, which `follow`
 * begins. An invalid token or an unreachable Bot API does not prevent a start: it is an error of the started channel.
 */
export function createMessengerChannel(follow: (receive: IncomingHandler) => FollowedBot): Channel {
  let handler: IncomingHandler | null = null;
  let followed: FollowedBot | null = null;

  const receive: IncomingHandler = async (message, context) => {
    if (followed === null || handler === null) {
      throw new ServiceError(
        "unavailable",
        "The messenger channel is disabled. Its updates are processed when it is enabled.",
      );
    }
    return handler(message, context);
  };

  function activeSender(): Sender {
    const bot = followed?.find() ?? null;
    if (bot?.isActive() !== true) throw new DeliveryError("later", "No bot is active in this replica.");
    return bot.sender;
  }

  return {
    id: "messenger",
    start() {
      if (followed !== null) throw new Error("the messenger channel is already started");
      followed = follow(receive);
      return Promise.resolve();
    },
    async stop() {
      const former = followed;
      followed = null;
      await former?.stop();
    },
    onMessage(given) {
      if (handler !== null) throw new Error("the messenger channel already has a handler");
      handler = given;
    },
    async sendMessage(chatId, text, metadata) {
      await activeSender().sendMessage(chatId, text, metadata);
    },
    async sendAttachment(chatId, attachment, context) {
      await activeSender().sendAttachment(chatId, attachment, context);
    },
    async markTyping(chatId, context) {
      const bot = followed?.find() ?? null;
      if (bot?.isActive() === true) await bot.sender.markTyping(chatId, context);
    },
    isActive: () => followed?.find()?.isActive() === true,
    findProblem: () => followed?.findProblem() ?? null,
  };
}

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
