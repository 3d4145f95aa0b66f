import type { Log } from "@svc/log";
import { isUnavailable, ticketIdOf } from "@svc/store";
import type { NewChannelUpdate, ProjectId, Store } from "@svc/store";
import { readOrigin } from "../read/read-update.ts";
import { BotApiError } from "../telegram/bot-api.ts";
import type { BotApi, BotApiErrorKind } from "../telegram/bot-api.ts";
import { backoffMs, waitMs } from "./hold-lease.ts";

/** Reason why a bot cannot work. */
interface BotProblem {
  kind: BotApiErrorKind;
  /** For operators, without secrets. */
  text: string;
}

const EXPLANATIONS: Readonly<Record<BotApiErrorKind, (since: string, description: string) => string>> = {
  unauthorized: (since) =>
    `Telegram rejects the bot token (unauthorized since ${since}). Get a token from @BotFather and set it: svc channels set messenger botToken=…`,
  conflict: (since) =>
    `Another program also receives this bot's messages (conflict since ${since}). Stop it, or get a new token from @BotFather. Until then, messages may be lost to that program.`,
  too_many: (since) => `Telegram rate limit: waiting before messages are fetched again (since ${since}).`,
  forbidden: (since, description) => `The Bot API has rejected requests for messages since ${since}: ${description}`,
  bad_request: (since, description) => `The Bot API has rejected requests for messages since ${since}: ${description}`,
  too_large: (since, description) => `The Bot API has rejected requests for messages since ${since}: ${description}`,
  unreachable: (since) =>
    `The Bot API has been unreachable since ${since}. Telegram keeps messages for one day. Check SVC_TELEGRAM_API_ROOT and the network.`,
};

/** Errors that often resolve themselves: reported from the second failure in a row. */
const PASSING: readonly BotApiErrorKind[] = ["conflict", "unreachable", "too_many"];

/** Tracks the error of a bot over consecutive calls. */
export function createErrorTracker() {
  let error: BotProblem | null = null;
  let failures = 0;
  let since = new Date();
  return {
    find: (): BotProblem | null => error,

    /** Number of consecutive failed calls. */
    failures: (): number => failures,

    /** Records a failed call. Reported immediately, or from the second failure if the error may resolve itself. */
    fail({ kind, description }: Pick<BotApiError, "kind" | "description">): void {
      failures++;
      if (failures === 1) since = new Date();
      if (failures === 1 && PASSING.includes(kind)) return;
      if (error?.kind === kind) return;
      const at = (error === null ? since : new Date()).toISOString().slice(0, 19);
      error = { kind, text: EXPLANATIONS[kind](`${at}Z`, description) };
    },

    succeed(): void {
      error = null;
      failures = 0;
    },
  };
}

type ErrorTracker = ReturnType<typeof createErrorTracker>;

/** What the poller works with. */
interface PollContext {
  api: Pick<BotApi, "call">;
  store: Pick<Store, "channelUpdates">;
  log: Log;
  project: ProjectId;
  botId: number;
  errors: ErrorTracker;
  /** Called when updates were stored. */
  onStored: () => void;
}

/** How long Telegram waits for an update, and timeout of the whole call. */
const POLL_SECONDS = 25;
const POLL_TIMEOUT_MS = 35_000;
const BATCH = 100;
/** Kinds of updates that Telegram sends. */
const ALLOWED_UPDATES = ["message", "edited_message"];

const PAUSES = { firstMs: 1_000, maxMs: 30_000 } as const;
/** Pause after a rejected token. A new token takes effect at once. */
const UNAUTHORIZED_PAUSE_MS = 60_000;
const STORE_PAUSE_MS = 500;
/** Minimum interval between polls, for servers that return empty lists without waiting. */
const EMPTY_PAUSE_MS = 500;

/** Returns the number of an update, or null if the value is no update. */
function updateIdOf(update: unknown): number | null {
  if (typeof update !== "object" || update === null || !("update_id" in update)) return null;
  return typeof update.update_id === "number" && Number.isSafeInteger(update.update_id) ? update.update_id : null;
}

function asNew(project: ProjectId, updateId: number, update: unknown): NewChannelUpdate {
  const origin = readOrigin(update);
  return {
    updateId,
    origin:
      origin === null
        ? null
        : {
            chatId: origin.chatId,
            userId: origin.userId,
            ticketId: ticketIdOf(project, "messenger", origin.chatId),
          },
    body: JSON.stringify(update),
    excerpt: origin?.excerpt ?? "",
    albumId: origin?.albumId ?? null,
  };
}

/** Returns the pause after a failed call, in milliseconds. */
function pauseAfter({ kind, retryAfterMs }: BotApiError, failures: number): number {
  if (kind === "unauthorized") return UNAUTHORIZED_PAUSE_MS;
  return Math.max(retryAfterMs ?? 0, backoffMs(failures, PAUSES));
}

/** Records a failed call and waits as long as its error requires. Rejects with errors that are not of the Bot API. */
export async function recordFailureAndWait(
  { errors, log }: Pick<PollContext, "errors" | "log">,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (!(error instanceof BotApiError)) throw error;
  if (signal.aborted) return;
  errors.fail(error);
  const { kind, code, description } = error;
  log[errors.failures() === 1 ? "warn" : "debug"]({ kind, code, description }, "Bot API request failed");
  await waitMs(pauseAfter(error, errors.failures()), signal);
}

/** An update as Telegram sent it, with its number. */
interface FetchedUpdate {
  updateId: number;
  update: unknown;
}

/** Stores updates one by one. An update that cannot be stored is logged and skipped, so that it does not block the others. */
async function insertSingly(
  { store, log, project, botId }: PollContext,
  updates: readonly NewChannelUpdate[],
): Promise<void> {
  for (const update of updates) {
    try {
      await store.channelUpdates.insertMany(project, botId, [update]);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      log.error({ error, updateId: update.updateId }, "update cannot be stored; skipped");
      await store.channelUpdates.insertMany(project, botId, [{ ...update, origin: null }]);
    }
  }
}

async function insert(context: PollContext, updates: readonly NewChannelUpdate[]): Promise<void> {
  const { store, project, botId } = context;
  try {
    await store.channelUpdates.insertMany(project, botId, updates);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    await insertSingly(context, updates);
  }
}

/** Commits a batch, retrying until it is stored. Returns false if the signal was aborted before. */
async function storeBatch(
  context: PollContext,
  batch: readonly FetchedUpdate[],
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await insert(
        context,
        batch.map(({ updateId, update }) => asNew(context.project, updateId, update)),
      );
      return true;
    } catch (error) {
      const text = "failed to store updates; they are not confirmed and will be retried";
      context.log[isUnavailable(error) ? "debug" : "error"]({ error }, text);
      await waitMs(STORE_PAUSE_MS, signal);
    }
  }
  return false;
}

/**
 * Fetches updates until the signal is aborted. Each is committed before the next call confirms it: after a crash it
 * arrives again and is stored once. An offset is sent only to confirm what was just stored: Telegram may restart its
 * numbers after a quiet week, and an old offset would then confirm updates that were never received.
 */
export async function pollUpdates(context: PollContext, signal: AbortSignal): Promise<void> {
  const { api, log, errors, onStored } = context;
  let offset: number | undefined;

  async function fetchBatch(): Promise<FetchedUpdate[]> {
    const payload = {
      ...(offset === undefined ? {} : { offset }),
      limit: BATCH,
      timeout: POLL_SECONDS,
      allowed_updates: ALLOWED_UPDATES,
    };
    const updates = await api.call<unknown>("getUpdates", payload, { signal, timeoutMs: POLL_TIMEOUT_MS });
    const batch = Array.isArray(updates)
      ? updates.flatMap((update: unknown) => {
          const updateId = updateIdOf(update);
          return updateId === null ? [] : [{ updateId, update }];
        })
      : null;
    if (batch === null || (batch.length === 0 && Array.isArray(updates) && updates.length > 0)) {
      throw new BotApiError({ kind: "unreachable", code: null, description: "The response contains no updates" });
    }
    return batch;
  }

  while (!signal.aborted) {
    try {
      const askedAt = performance.now();
      const batch = await fetchBatch();
      errors.succeed();
      if (batch.length === 0) {
        offset = undefined;
        await waitMs(Math.max(0, askedAt + EMPTY_PAUSE_MS - performance.now()), signal);
        continue;
      }
      if (!(await storeBatch(context, batch, signal))) return;
      offset = Math.max(...batch.map(({ updateId }) => updateId)) + 1;
      onStored();
    } catch (error) {
      if (isWebhookConflict(error)) await removeWebhook();
      else await recordFailureAndWait(context, error, signal);
    }
  }
  if (offset !== undefined) log.debug({}, "the last updates are stored but not confirmed; the next poller skips them");

  /** Deletes the bot's webhook: Telegram allows no long polling while one is set. */
  async function removeWebhook(): Promise<void> {
    log.warn({}, "removing the bot's webhook, which prevents polling");
    try {
      await api.call("deleteWebhook", { drop_pending_updates: false }, { signal });
    } catch (error) {
      await recordFailureAndWait(context, error, signal);
    }
  }
}

/** Returns true for the error that Telegram returns while a webhook is set. */
function isWebhookConflict(error: unknown): boolean {
  return error instanceof BotApiError && error.kind === "conflict" && /webhook/i.test(error.description);
}
