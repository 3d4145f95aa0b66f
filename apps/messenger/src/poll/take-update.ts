import { LIMITS } from "@svc/contracts";
import type { IncomingHandler } from "@svc/contracts";
import type { SettledState, Store, WaitingUpdate } from "@svc/store";
import { cleanText } from "../read/clean-text.ts";
import type { Gate } from "../read/create-gate.ts";
import { keepFiles } from "../read/keep-files.ts";
import { ownTexts } from "../read/own-texts.ts";
import { readUpdate } from "../read/read-update.ts";
import type { AnswerPlace, Reading } from "../read/read-update.ts";
import type { Bot } from "../read/update-schema.ts";
import type { BotApi } from "../telegram/bot-api.ts";

/** What makes messages of updates. */
export interface TakeContext {
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

/** So long a file is tried to be fetched; then its message goes on without it, since somebody waits for an answer. */
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
