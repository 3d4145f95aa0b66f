import { DeliveryError, LIMITS, ServiceError } from "@svc/contracts";
import type { IncomingHandler } from "@svc/contracts";
import type { Log } from "@svc/log";
import { errorMessage } from "@svc/primitives";
import type { Gate } from "@svc/primitives";
import { isUnavailable } from "@svc/store";
import type { FinishedState, Store, WaitingUpdate } from "@svc/store";
import { storeFiles } from "../read/store-files.ts";
import { cleanLine, cleanText, ownTexts } from "../read/update-schema.ts";
import type { Bot } from "../read/update-schema.ts";
import { readUpdate } from "../read/read-update.ts";
import type { AnswerTarget, Reading } from "../read/read-update.ts";
import { BotApiError } from "../telegram/bot-api.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import { backoffMs, waitMs } from "./hold-lease.ts";

/** What the processing of an update needs. */
interface UpdateContext {
  store: Pick<Store, "channelUpdates" | "widgetFiles" | "projects">;
  api: Pick<BotApi, "download">;
  /** Limits concurrent downloads of files. */
  gate: Gate;
  bot: Bot;
  /** Commits a message. */
  receive: IncomingHandler;
  /** Sends a message of the bot itself. */
  say: (target: AnswerTarget, text: string, signal: AbortSignal) => Promise<void>;
}

/** How long a file download is retried. After that, the message is processed without the file. */
const FILE_PATIENCE_MS = 10 * 60_000;

type MessageReading = Extract<Reading, { kind: "message" }>;
type CommandReading = Extract<Reading, { kind: "command" }>;

/** Returns what an edit adds; null if it adds nothing, which means that only metadata of Telegram has changed. */
async function correct(
  store: UpdateContext["store"],
  { project, ticketId }: WaitingUpdate,
  reading: MessageReading,
): Promise<MessageReading | null> {
  const { correction } = reading;
  if (correction === null) return reading;
  const former = await store.channelUpdates.findMessage(project, ticketId, correction.messageId);
  // The message was not for the bot before the edit: it is processed like any other.
  if (former === null) return reading;
  const known = new Set(fileIdsOf(former.channelMeta));
  const files = reading.files.filter(({ uniqueId }) => uniqueId === null || !known.has(uniqueId));
  const isSame = former.text === reading.text || former.text === correction.text;
  if (isSame && files.length === 0) return null;
  const telegram = { ...reading.telegram, edits: correction.messageId };
  return { ...reading, text: correction.text, files, telegram };
}

/** Returns the IDs of the files of an earlier message, as `storeFiles` stored them. */
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
  { store, say }: UpdateContext,
  { project }: WaitingUpdate,
  { command, target, languageCode }: CommandReading,
  signal: AbortSignal,
): Promise<FinishedState> {
  const own = ownTexts(languageCode);
  const greeting = command === "start" ? ((await store.projects.find(project))?.greeting ?? "") : "";
  const texts = { start: greeting.trim() === "" ? own.greeting : greeting, help: own.help };
  await say(target, texts[command], signal);
  return "answered";
}

async function acceptReading(
  { store, api, gate, receive }: UpdateContext,
  update: WaitingUpdate,
  given: MessageReading,
  signal: AbortSignal,
): Promise<FinishedState> {
  const reading = await correct(store, update, given);
  if (reading === null) return "ignored";
  const { project, chatId, ticketId, messageId, receivedAt } = update;
  const givesUp = Date.now() - receivedAt.getTime() > FILE_PATIENCE_MS;
  const kept = await storeFiles({ store, api, gate }, { project, ticketId, messageId }, reading.files, {
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
 * Processes an update with the other parts of its album: commits a message under the ID that was stored with the update,
 * or replies to a command of the bot. Safe to repeat: the message is the same one; the bot's reply may be sent twice.
 */
export async function processUpdate(
  context: UpdateContext,
  parts: readonly [WaitingUpdate, ...WaitingUpdate[]],
  signal: AbortSignal,
): Promise<FinishedState> {
  const [first] = parts;
  const updates = parts.map(({ body }) => JSON.parse(body) as unknown);
  const reading = readUpdate(updates, { bot: context.bot, receivedAt: first.receivedAt });
  if (reading.kind === "ignored") return "ignored";
  if (reading.kind === "command") return answerCommand(context, first, reading, signal);
  return acceptReading(context, first, reading, signal);
}

/** What the processing of the stored updates needs. */
interface ProcessingContext {
  store: Pick<Store, "channelUpdates">;
  log: Log;
  botId: number;
  /** Processes an update with the other parts of its album. */
  take: (parts: readonly [WaitingUpdate, ...WaitingUpdate[]], signal: AbortSignal) => Promise<FinishedState>;
}

/** The processing of the stored updates. */
interface UpdateProcessing {
  /** Reports that there may be more updates. */
  wake: () => void;
  /** Resolves after the signal was aborted and the last update was processed. */
  done: Promise<void>;
}

/** Number of chats processed concurrently, each in order. Many, since a chat may wait for a file. */
const AT_ONCE = 48;
/** Number of first updates of conversations that are read at once, so that a long backlog is not scanned for each. */
const READ_AHEAD = 64;
/** Polling interval for updates that were deferred, or retried by an operator. */
const POLL_MS = 500;
const PAUSES = { firstMs: 500, maxMs: 5_000 } as const;
/** While the Bot API, or a chat of it, is unavailable. */
const UNAVAILABLE_PAUSES = { firstMs: 1_000, maxMs: 30_000 } as const;
/** While the project has reached its quota, which an administrator may raise. */
const QUOTA_PAUSE_MS = 60_000;
const FAILURE_CHARS = 500;

/** Errors of the Bot API that the update did not cause. */
const UNAVAILABLE: readonly BotApiError["kind"][] = ["unreachable", "too_many", "unauthorized", "conflict"];

/** Returns the minimum delay of an update that did not cause its failure, in milliseconds; null if it did. */
function delayOf(error: unknown): number | null {
  if (error instanceof DeliveryError && error.fault === "later")
    return error.retryAfterMs ?? UNAVAILABLE_PAUSES.firstMs;
  // The customer's message waits until the project may accept messages again.
  if (error instanceof ServiceError && error.code === "quota_exceeded") return QUOTA_PAUSE_MS;
  if (error instanceof BotApiError && UNAVAILABLE.includes(error.kind))
    return error.retryAfterMs ?? UNAVAILABLE_PAUSES.firstMs;
  return null;
}

const textOf = (error: unknown) => cleanLine(errorMessage(error), FAILURE_CHARS);

/** An update that could not be processed. */
interface FailedUpdate {
  first: WaitingUpdate;
  /** Numbers of all parts of its album. */
  ids: number[];
  error: unknown;
  /** Consecutive failures that the update did not cause, by conversation. */
  deferrals: Map<string, number>;
}

/** Records a failure: the update is ignored, deferred, retried after a pause, or a dead letter after the last attempt. */
async function recordFailure(
  { store: { channelUpdates }, log, botId }: ProcessingContext,
  { first, ids, error, deferrals }: FailedUpdate,
): Promise<void> {
  const { updateId, ticketId } = first;
  if (error instanceof DeliveryError && error.fault === "closed") {
    await channelUpdates.finish(botId, ids, "ignored");
    return;
  }
  const waitForMs = delayOf(error);
  if (waitForMs !== null) {
    const times = (deferrals.get(ticketId) ?? 0) + 1;
    deferrals.set(ticketId, times);
    const delayMs = Math.max(waitForMs, backoffMs(times, UNAVAILABLE_PAUSES));
    log.debug({ updateId, failure: textOf(error) }, "update deferred");
    await channelUpdates.retryLater(first, { delayMs, failure: textOf(error), counts: false });
    return;
  }
  const attempts = first.tries + 1;
  log.warn({ error, updateId, tries: attempts }, "failed to process an update");
  if (attempts >= LIMITS.maxAttempts) await channelUpdates.markDead(botId, ids, textOf(error));
  else {
    const delayMs = backoffMs(attempts, PAUSES);
    await channelUpdates.retryLater(first, { delayMs, failure: textOf(error), counts: true });
  }
}

/**
 * Processes the stored updates of a bot until the signal is aborted: several conversations at once, each in its order. An
 * update that fails five times becomes a dead letter, and its conversation continues.
 */
export function processUpdates(context: ProcessingContext, signal: AbortSignal): UpdateProcessing {
  const { store, log, botId, take } = context;
  const { channelUpdates } = store;
  const busy = new Map<string, Promise<void>>();
  /** Consecutive failures that the update did not cause, by conversation. */
  const deferrals = new Map<string, number>();
  let wakeUp = new AbortController();
  const wake = () => wakeUp.abort();

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
      await channelUpdates.finish(botId, idsOf(), state);
      deferrals.delete(head.ticketId);
    } catch (error) {
      // Interrupted updates are processed again by the next holder of the lease.
      if (signal.aborted) return;
      if (isUnavailable(error)) {
        log.debug({ error }, "database unavailable; the update will be processed later");
        await waitMs(PAUSES.firstMs, signal);
        return;
      }
      await recordFailure(context, { first: head, ids: idsOf(), error, deferrals }).catch((failure: unknown) => {
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
        if (ahead.length === 0) ahead = await channelUpdates.listHeads(botId, [...busy.keys()], READ_AHEAD);
        while (ahead.length > 0 && busy.size < AT_ONCE && !signal.aborted) {
          const [head] = ahead.splice(0, 1);
          if (head !== undefined && !busy.has(head.ticketId)) begin(head);
        }
      } catch (error) {
        log[isUnavailable(error) ? "debug" : "error"]({ error }, "failed to find stored updates");
      }
      await waitMs(POLL_MS, signal, wakeUp.signal);
    }
    await Promise.all(busy.values());
  }

  return { wake: () => wake(), done: run() };
}
