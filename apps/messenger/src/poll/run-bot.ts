import type { IncomingHandler } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { ProjectId, Store } from "@svc/store";
import { createGate } from "../read/keep-files.ts";
import { botSchema } from "../read/update-schema.ts";
import type { Bot } from "../read/update-schema.ts";
import { createSender } from "../send/create-sender.ts";
import type { Sender } from "../send/create-sender.ts";
import { BotApiError } from "../telegram/bot-api-error.ts";
import { createBotApi } from "../telegram/bot-api.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import { holdLease } from "./hold-lease.ts";
import { createErrorKeeper, pollUpdates, sitOut } from "./poll-updates.ts";
import { takeUpdate, takeUpdates } from "./take-updates.ts";

/** Files that are fetched at once: each of up to 20 MB is held in memory until it is kept. */
const FILES_AT_ONCE = 3;

/** What runs a bot. */
export interface BotContext {
  store: Store;
  log: Log;
  /** Where the Bot API is. */
  apiRoot: string;
  /** That its messages belong to. */
  project: ProjectId;
  /** Commits a message. */
  receive: IncomingHandler;
}

/** A bot that runs, here or in another replica. */
export interface RunningBot {
  sender: Sender;
  /** True while this replica is the one that fetches and sends. */
  isActive: () => boolean;
  /** What keeps it from its work, in words for operators; null when nothing does, or another replica works. */
  findProblem: () => string | null;
  /** Resolves within three seconds, when nothing is fetched, taken or sent any more. */
  stop: () => Promise<void>;
}

/** The number of the bot, which every token begins with; null for what is no token. */
export function botIdOf(token: string): number | null {
  const digits = /^(\d{1,16}):[\w-]+$/.exec(token)?.[1];
  const botId = Number(digits ?? Number.NaN);
  return Number.isSafeInteger(botId) ? botId : null;
}

/** Asks who the bot is, until that is answered; null when the signal is aborted before. */
async function introduce(
  context: { api: BotApi; log: Log; errors: ReturnType<typeof createErrorKeeper> },
  signal: AbortSignal,
): Promise<Bot | null> {
  while (!signal.aborted) {
    try {
      const bot = botSchema.safeParse(await context.api.call<unknown>("getMe", {}, { signal }));
      if (bot.success) {
        context.errors.succeed();
        return bot.data;
      }
      throw new BotApiError({ kind: "unreachable", code: null, description: "The response contains no bot" });
    } catch (error) {
      await sitOut(context, error, signal);
    }
  }
  return null;
}

/**
 * Runs the bot of a token: of all replicas the one with the lease fetches its updates, makes messages of them and sends
 * replies; the others stand by. A token that is refused, or a Bot API that is away, is a fault that `findProblem` tells, and
 * asked again in growing pauses.
 */
export function runBot(context: BotContext, { token, botId }: { token: string; botId: number }): RunningBot {
  const { store, log, apiRoot, project, receive } = context;
  const api = createBotApi({ token, apiRoot });
  const errors = createErrorKeeper();
  const sender = createSender({ api, store, log });
  const gate = createGate(FILES_AT_ONCE);
  let isKnown = false;

  async function work(signal: AbortSignal): Promise<void> {
    try {
      const bot = await introduce({ api, log, errors }, signal);
      if (bot === null) return;
      isKnown = true;
      const taking = takeUpdates(
        {
          store,
          log,
          botId,
          take: (parts, broken) =>
            takeUpdate(
              {
                store,
                api,
                gate,
                bot,
                receive,
                say: ({ chatId, ...to }, text, cut) => sender.say(chatId, text, { ...to, signal: cut }),
              },
              parts,
              broken,
            ),
        },
        signal,
      );
      await pollUpdates({ api, store, log, project, botId, errors, onStored: taking.wake }, signal);
      await taking.done;
    } finally {
      isKnown = false;
      errors.succeed();
    }
  }

  const lease = holdLease({ store, log }, `messenger/${botId}`, work);
  return {
    sender,
    isActive: () => lease.isHeld() && isKnown && errors.find()?.kind !== "unauthorized",
    findProblem: () => errors.find()?.text ?? null,
    async stop() {
      // What the bot itself is saying would wait for its turn otherwise.
      await Promise.all([sender.stop(), lease.stop()]);
    },
  };
}
