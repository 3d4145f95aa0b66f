import { DeliveryError, LIMITS } from "@svc/contracts";
import type { IncomingHandler } from "@svc/contracts";
import type { Log } from "@svc/log";
import { errorMessage } from "@svc/primitives";
import { isUnavailable } from "@svc/store";
import type { SettledState, Store, WaitingUpdate } from "@svc/store";
import { keepFiles } from "../read/keep-files.ts";
import type { Gate } from "../read/keep-files.ts";
import { ownTexts } from "../read/own-texts.ts";
import { cleanLine, cleanText } from "../read/clean-text.ts";
import { readUpdate } from "../read/read-update.ts";
import type { AnswerPlace, Reading } from "../read/read-update.ts";
import type { Bot } from "../read/update-schema.ts";
import { BotApiError } from "../telegram/bot-api-error.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import { backoffMs, waitMs } from "./wait-ms.ts";

/** What makes messages of updates. */
interface TakeContext {
  store: Pick<Store, "channelUpdates" | "widgetFiles" | "projects">;
  api: Pick<BotApi, "download">;
  /** That files are fetched through. */
  gate: Gate;
  bot: Bot;
  /** Commits a message. */
  receive: IncomingHandler;
  /** Sends what the bot itself says. */
  say: (place: AnswerPlace, text: string, signal: AbortSignal) => Promise<void>;
}

/** How long a file download is retried. After that, the message is processed without the file. */
const FILE_PATIENCE_MS = 10 * 60_000;

type MessageReading = Extract<Reading, { kind: "message" }>;
type CommandReading = Extract<Reading, { kind: "command" }>;

/** What an edit leaves to say, or null where it says nothing new: then Telegram has changed something of its own. */
async function correct(
  store: TakeContext["store"],
  { project, ticketId }: WaitingUpdate,
  reading: MessageReading,
): Promise<MessageReading | null> {
  const { correction } = reading;
  if (correction === null) return reading;
  const former = await store.channelUpdates.findMessage(project, ticketId, correction.messageId);
  // What was not spoken to the bot before is now: a message like any other.
  if (former === null) return reading;
  const known = new Set(fileIdsOf(former.channelMeta));
  const files = reading.files.filter(({ uniqueId }) => uniqueId === null || !known.has(uniqueId));
  const isSame = former.text === reading.text || former.text === correction.text;
  if (isSame && files.length === 0) return null;
  const telegram = { ...reading.telegram, edits: correction.messageId };
  return { ...reading, text: correction.text, files, telegram };
}

/** The files of an earlier message, as `keepFiles` has noted them. */
function fileIdsOf(channelMeta: Record<string, unknown>): string[] {
  const telegram: unknown = channelMeta["telegram"];
  const files: unknown = typeof telegram === "object" && telegram !== null && "files" in telegram ? telegram.files : [];
  if (!Array.isArray(files)) return [];
  return files.flatMap((file: unknown) =>
    typeof file === "object" && file !== null && "uniqueId" in file && typeof file.uniqueId === "string"
      ? [file.uniqueId]
      : [],
  );
}

async function answerCommand(
  { store, say }: TakeContext,
  { project }: WaitingUpdate,
  { command, place, languageCode }: CommandReading,
  signal: AbortSignal,
): Promise<SettledState> {
  const own = ownTexts(languageCode);
  const greeting = command === "start" ? ((await store.projects.find(project))?.greeting ?? "") : "";
  const texts = { start: greeting.trim() === "" ? own.greeting : greeting, help: own.help };
  await say(place, texts[command], signal);
  return "answered";
}

async function acceptReading(
  { store, api, gate, receive }: TakeContext,
  update: WaitingUpdate,
  given: MessageReading,
  signal: AbortSignal,
): Promise<SettledState> {
  const reading = await correct(store, update, given);
  if (reading === null) return "ignored";
  const { project, chatId, ticketId, messageId, receivedAt } = update;
  const givesUp = Date.now() - receivedAt.getTime() > FILE_PATIENCE_MS;
  const kept = await keepFiles({ store, api, gate }, { project, ticketId, messageId }, reading.files, {
    givesUp,
    signal,
  });
  const text = [reading.text, ...kept.missing].filter((part) => part !== "").join("\n");
  await receive(
    {
      channelId: "messenger",
      chatId,
      ...(reading.userId === null ? {} : { userId: reading.userId }),
      text: cleanText(text, LIMITS.textMaxChars),
      timestamp: reading.timestampMs,
      ...(kept.attachments.length === 0 ? {} : { attachments: kept.attachments }),
      channelMeta: {
        telegram: { ...reading.telegram, ...(kept.meta.length === 0 ? {} : { files: kept.meta }) },
      },
    },
    { project, messageId },
  );
  return "accepted";
}

/**
 * Does what an update asks for, with the other parts of its album: a message is committed under the id that the update has
 * named, a command of the bot's own is answered. Safe to repeat: the message is the same one, the bot's own answer may
 * come again. Rejects with what keeps it from that.
 */
export async function takeUpdate(
  context: TakeContext,
  parts: readonly [WaitingUpdate, ...WaitingUpdate[]],
  signal: AbortSignal,
): Promise<SettledState> {
  const [first] = parts;
  const updates = parts.map(({ body }) => JSON.parse(body) as unknown);
  const reading = readUpdate(updates, { bot: context.bot, receivedAt: first.receivedAt });
  if (reading.kind === "ignored") return "ignored";
  if (reading.kind === "command") return answerCommand(context, first, reading, signal);
  return acceptReading(context, first, reading, signal);
}

/** What goes through the stored updates. */
interface TakingContext {
  store: Pick<Store, "channelUpdates">;
  log: Log;
  botId: number;
  /** Does what an update asks for, with the other parts of its album. */
  take: (parts: readonly [WaitingUpdate, ...WaitingUpdate[]], signal: AbortSignal) => Promise<SettledState>;
}

/** Goes through what waits. */
interface Taking {
  /** There may be more. */
  wake: () => void;
  /** Resolves once the signal is aborted and nothing is being taken any more. */
  done: Promise<void>;
}

/** Number of chats processed concurrently, each in order. Many, since a chat may wait for a file. */
const AT_ONCE = 48;
/** So many heads are looked for at once, so that a long backlog is not gone through for each of them. */
const LOOK_AHEAD = 64;
/** What was put off, or was revived by an operator, is found so soon. */
const LOOK_MS = 500;
const PAUSES = { firstMs: 500, maxMs: 5_000 } as const;
/** While the Bot API, or a chat of it, is away. */
const AWAY_PAUSES = { firstMs: 1_000, maxMs: 30_000 } as const;
const FAILURE_CHARS = 500;

/** Failures of the Bot API that are none of the update's. */
const AWAY: readonly BotApiError["kind"][] = ["unreachable", "too_many", "unauthorized", "conflict"];

/** How long an update has to wait that is not to blame for its failure; null where it is. */
function awayMs(error: unknown): number | null {
  if (error instanceof DeliveryError && error.fault === "later") return error.retryAfterMs ?? AWAY_PAUSES.firstMs;
  if (error instanceof BotApiError && AWAY.includes(error.kind)) return error.retryAfterMs ?? AWAY_PAUSES.firstMs;
  return null;
}

const textOf = (error: unknown) => cleanLine(errorMessage(error), FAILURE_CHARS);

/**
 * Takes the stored updates of a bot until the signal is aborted: several conversations at once, each in its order. One
 * that fails five times is a dead letter, and its conversation goes on.
 */
export function takeUpdates({ store, log, botId, take }: TakingContext, signal: AbortSignal): Taking {
  const { channelUpdates } = store;
  const busy = new Map<string, Promise<void>>();
  /** Failures in a row that are none of an update's, by conversation. */
  const deferrals = new Map<string, number>();
  let wakeUp = new AbortController();
  const wake = () => wakeUp.abort();

  async function fail(first: WaitingUpdate, ids: number[], error: unknown): Promise<void> {
    if (isUnavailable(error)) {
      log.debug({ error }, "database unavailable; the update will be processed later");
      await waitMs(PAUSES.firstMs, signal);
      return;
    }
    const { updateId, ticketId } = first;
    if (error instanceof DeliveryError && error.fault === "closed") {
      await channelUpdates.settle(botId, ids, "ignored");
      return;
    }
    const waitForMs = awayMs(error);
    if (waitForMs !== null) {
      const times = (deferrals.get(ticketId) ?? 0) + 1;
      deferrals.set(ticketId, times);
      const delayMs = Math.max(waitForMs, backoffMs(times, AWAY_PAUSES));
      log.debug({ updateId, failure: textOf(error) }, "update deferred");
      await channelUpdates.retryLater(first, { delayMs, failure: textOf(error), counts: false });
      return;
    }
    const tries = first.tries + 1;
    log.warn({ error, updateId, tries }, "failed to process an update");
    if (tries >= LIMITS.maxAttempts) await channelUpdates.bury(botId, ids, textOf(error));
    else {
      const delayMs = backoffMs(tries, PAUSES);
      await channelUpdates.retryLater(first, { delayMs, failure: textOf(error), counts: true });
    }
  }

  async function work(head: WaitingUpdate): Promise<void> {
    let parts: [WaitingUpdate, ...WaitingUpdate[]] = [head];
    const idsOf = () => parts.map(({ updateId }) => updateId);
    try {
      if (head.isAlbum) {
        const [first, ...others] = await channelUpdates.joinAlbum(head);
        if (first === undefined) return;
        parts = [first, ...others];
      } else if (!(await channelUpdates.isWaiting(head))) return;
      const state = await take(parts, signal);
      await channelUpdates.settle(botId, idsOf(), state);
      deferrals.delete(head.ticketId);
    } catch (error) {
      // Interrupted updates are processed again by the next holder of the lease.
      if (signal.aborted) return;
      await fail(head, idsOf(), error).catch((failure: unknown) => {
        log[isUnavailable(failure) ? "debug" : "error"]({ error: failure }, "failed to record a failed update");
      });
    }
  }

  function begin(head: WaitingUpdate): void {
    const done = work(head).finally(() => {
      busy.delete(head.ticketId);
      wake();
    });
    busy.set(head.ticketId, done);
  }

  async function run(): Promise<void> {
    let ahead: WaitingUpdate[] = [];
    while (!signal.aborted) {
      wakeUp = new AbortController();
      try {
        if (ahead.length === 0) ahead = await channelUpdates.listHeads(botId, [...busy.keys()], LOOK_AHEAD);
        while (ahead.length > 0 && busy.size < AT_ONCE && !signal.aborted) {
          const [head] = ahead.splice(0, 1);
          if (head !== undefined && !busy.has(head.ticketId)) begin(head);
        }
      } catch (error) {
        log[isUnavailable(error) ? "debug" : "error"]({ error }, "failed to find stored updates");
      }
      await waitMs(LOOK_MS, signal, wakeUp.signal);
    }
    await Promise.all(busy.values());
  }

  return { wake: () => wake(), done: run() };
}
