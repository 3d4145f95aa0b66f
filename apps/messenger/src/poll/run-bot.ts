import type { IncomingHandler } from "@svc/contracts";
import type { Log } from "@svc/log";
import { createGate } from "@svc/primitives";
import type { ProjectId, Store } from "@svc/store";
import { botSchema } from "../read/update-schema.ts";
import type { Bot } from "../read/update-schema.ts";
import { createSender } from "../send/create-sender.ts";
import type { Sender } from "../send/create-sender.ts";
import { BotApiError, createBotApi } from "../telegram/bot-api.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import { holdLease } from "./hold-lease.ts";
import { createErrorTracker, pollUpdates, recordFailureAndWait } from "./poll-updates.ts";
import { processUpdate, processUpdates } from "./process-updates.ts";

/** Concurrent file downloads: each file of up to 20 MB is in memory until it is stored. */
const FILES_AT_ONCE = 3;

/** Dependencies of a bot. */
export interface BotContext {
  store: Store;
  log: Log;
  /** Root URL of the Bot API. */
  apiRoot: string;
  /** Project of its messages. */
  project: ProjectId;
  /** Commits a message. */
  receive: IncomingHandler;
}

/** A running bot, in this or another replica. */
export interface RunningBot {
  sender: Sender;
  /** Returns true while this replica fetches updates and sends replies. */
  isActive: () => boolean;
  /**
   * Returns what prevents this replica from working, in words for operators; null if nothing does or another replica
   * is active.
   */
  findProblem: () => string | null;
  /** Resolves within three seconds, when nothing is fetched, processed or sent any more. */
  stop: () => Promise<void>;
}

/** Returns the number of the bot, with which every token begins; null if the value is not a token. */
export function botIdOf(token: string): number | null {
  const digits = /^(\d{1,16}):[\w-]+$/.exec(token)?.[1];
  const botId = Number(digits ?? Number.NaN);
  return Number.isSafeInteger(botId) ? botId : null;
}

/** Requests the bot's own account until Telegram returns it; null if the signal is aborted before. */
async function fetchBot(
  context: { api: BotApi; log: Log; errors: ReturnType<typeof createErrorTracker> },
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
      await recordFailureAndWait(context, error, signal);
    }
  }
  return null;
}

/**
 * Runs the bot of a token. The replica with the lease fetches its updates, makes messages of them and sends replies;
 * the others are on standby. `findProblem` reports a rejected token or an unreachable Bot API, which is retried with
 * backoff.
 */
export function runBot(context: BotContext, { token, botId }: { token: string; botId: number }): RunningBot {
  const { store, log, apiRoot, project, receive } = context;
  const api = createBotApi({ token, apiRoot });
  const errors = createErrorTracker();
  const sender = createSender({ api, store, log });
  const gate = createGate(FILES_AT_ONCE);
  let isKnown = false;

  async function work(signal: AbortSignal): Promise<void> {
    try {
      const bot = await fetchBot({ api, log, errors }, signal);
      if (bot === null) return;
      isKnown = true;
      const taking = processUpdates(
        {
          store,
          log,
          botId,
          take: (parts, broken) =>
            processUpdate(
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
      // In parallel, so that the bot's own messages that wait for their turn do not delay the release of the lease.
      await Promise.all([sender.stop(), lease.stop()]);
    },
  };
}
