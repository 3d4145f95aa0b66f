import { DeliveryError, ServiceError } from "@svc/contracts";
import type { Channel, IncomingHandler } from "@svc/contracts";
import type { Log } from "@svc/log";
import { DEFAULT_PROJECT, isUnavailable } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
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
