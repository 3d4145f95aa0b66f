import { createHash } from "node:crypto";
import { HOOK_LIMITS, LIMITS, ServiceError, countChars, isMalformedText } from "@svc/contracts";
import type {
  AcceptedMessage,
  ApiSettings,
  CallbackTarget,
  FieldError,
  IncomingContext,
  IncomingMessage,
  Sealed,
} from "@svc/contracts";
import type * as operations from "@svc/operations";
import type { MappedBody } from "@svc/operations";
import type { AddressGuard } from "@svc/outbound";
import { newId } from "@svc/store";
import type { Hook, HookBodyResult, NewHookBody, Store } from "@svc/store";
import { readHookBody } from "./hook-body.ts";

/** How long a hook pauses after a body that its mapping took too long for. */
const PAUSE_MS = 10_000;
const MAX_HOOKS = 1_000;

/**
 * Paused hooks. A mapping that is too slow for one body is usually too slow for the next, and delays all other
 * requests.
 */
interface SlowHooks {
  /** Makes this version of a hook pause. */
  note(hook: Pick<Hook, "id" | "version">): void;
  /** Seconds until a hook goes on, rounded up; 0 for one that does not pause. Another version of it does not. */
  secondsLeft(hook: Pick<Hook, "id" | "version">): number;
}

/** Makes the memory of slow hooks, of one process. `now` is in milliseconds, as `Date.now` has it. */
function createSlowHooks(now: () => number = Date.now): SlowHooks {
  const pauses = new Map<string, { version: number; untilMs: number }>();
  return {
    note({ id, version }) {
      pauses.delete(id);
      pauses.set(id, { version, untilMs: now() + PAUSE_MS });
      const [oldest] = pauses.keys();
      if (pauses.size > MAX_HOOKS && oldest !== undefined) pauses.delete(oldest);
    },
    secondsLeft({ id, version }) {
      const pause = pauses.get(id);
      if (pause?.version !== version) return 0;
      return Math.max(0, Math.ceil((pause.untilMs - now()) / 1_000));
    },
  };
}

const hashOf = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");

/**
 * The ids under which an event is known, the first of them signed where the scheme signs one. Standard Webhooks signs
 * `webhook-id`. GitHub signs the body alone, not the id of the delivery; its bodies name what they are about and when,
 * so that the same body is the same event. Other schemes that sign the body alone may send equal bodies for different
 * events.
 */
export function eventIdsOf(
  { auth }: Pick<Hook, "auth">,
  { headers, content }: Pick<NewHookBody, "headers" | "content">,
  mappedId: string | null,
): string[] {
  const mapped = mappedId === null ? [] : [mappedId];
  if (auth.type === "github") return [`body ${hashOf(content)}`, ...mapped];
  const signedId = headers["webhook-id"];
  if (auth.type !== "standard-webhooks" || mappedId !== null || signedId === undefined) return mapped;
  return [signedId.length > HOOK_LIMITS.eventIdMaxChars ? `webhook-id ${hashOf(signedId)}` : signedId];
}

/** What makes messages of hooks' bodies. */
export interface HookIntakeContext {
  operations: Pick<typeof operations, "createMappingCache" | "mapBody">;
  store: Store;
  /** Decides which callback URLs may be named. */
  guard: AddressGuard;
  /** The settings of the HTTP API, as they are now. */
  readSettings: () => Promise<ApiSettings>;
  /** Hands a message over; rejects with channel_disabled while the channel is switched off. */
  receive: (message: IncomingMessage, context: IncomingContext) => Promise<AcceptedMessage>;
}

/** Outcome of a body, and further facts for the response. */
export interface TakenBody extends HookBodyResult {
  /** Why it became no message; null where it did, or is not wanted. */
  error: ServiceError | null;
  /** Id of the final callback; null where the replies wait in the drain. */
  deliveryId: string | null;
  /** True when an earlier call with the event has made the message. */
  isRepeat: boolean;
}

const NOTHING = {
  faults: [],
  eventId: null,
  messageId: null,
  ticketId: null,
  chatId: null,
  userId: null,
  error: null,
  deliveryId: null,
  isRepeat: false,
} as const;

/** A text that can be stored as what it is; null for what was mapped and is no id. */
const idOrNull = (text: string | null) =>
  text === null || isMalformedText(text) || countChars(text) > LIMITS.chatIdMaxChars ? null : text;

/** Texts that can be stored and sent, whatever of the body is in them. */
const storable = (errors: readonly FieldError[]): FieldError[] =>
  errors.map(({ pointer, code, detail }) => ({
    pointer,
    code,
    detail: detail.replaceAll("\u0000", "\u{fffd}").toWellFormed(),
  }));

/** The user as the meta of a message names it, where its own field does not. */
const userIdIn = (meta: Record<string, unknown> = {}) => (typeof meta["userId"] === "string" ? meta["userId"] : null);

/**
 * Returns the outcome of a body that created no message. The mapped fields are stored, so that the body can be found.
 */
function failed(error: ServiceError, mapped?: MappedBody): TakenBody {
  const errors = error.errors ?? [{ pointer: "", code: error.code, detail: error.message }];
  return {
    ...NOTHING,
    outcome: "failed",
    error,
    faults: storable(errors),
    eventId: idOrNull(mapped?.eventId ?? null),
    chatId: idOrNull(mapped?.chatId ?? null),
    userId: idOrNull(mapped?.userId ?? userIdIn(mapped?.meta)),
  };
}

/** A body that is not mapped yet, since the one before took too long; its sender, or its owner, may try it again. */
function paused(seconds: number): TakenBody {
  const text = `The mapping of this hook took too long on a recent body. Use more specific paths, or retry in ${seconds} s.`;
  return failed(new ServiceError("rate_limited", text, { headers: { "Retry-After": String(seconds) } }));
}

function unmapped(mapped: MappedBody): TakenBody {
  const errors = storable(mapped.faults);
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  const explanation = first === undefined ? "" : `: ${first.pointer} ${first.detail}${more}`;
  return failed(
    new ServiceError("invalid_request", `The hook's mapping cannot create a message from this body${explanation}.`, {
      errors,
    }),
    mapped,
  );
}

/** Returns the secret that signs callbacks of a hook: that of its project. */
async function findWebhookSecret({ store }: HookIntakeContext, hook: Hook): Promise<Sealed | null> {
  if (hook.mapping.webhookUrl == null) return null;
  return (await store.projects.findWebhookSecrets(hook.project))?.webhookSecret ?? null;
}

/** Commits the message that a body was mapped to; safe to repeat, as its ids are given. */
async function accept(
  { store, receive, readSettings }: HookIntakeContext,
  hook: Hook,
  body: NewHookBody,
  { sealedSecret, ...mapped }: MappedBody & { text: string; sealedSecret: Sealed | null },
): Promise<TakenBody> {
  const { project } = hook;
  const { text, userId, meta, webhookUrl } = mapped;
  const eventIds = eventIdsOf(hook, body, mapped.eventId);
  // A hash of the body does not identify the event for people.
  const eventId = mapped.eventId ?? (hook.auth.type === "github" ? null : (eventIds[0] ?? null));
  // Each body is a message of its own, and a chat too where none is mapped.
  let ids = { messageId: body.id, chatId: mapped.chatId ?? body.id };
  for (const id of eventIds)
    ids = (await store.hooks.claimEvent(project, { hookId: hook.id, eventId: id, ...ids })) ?? ids;
  const { messageId, chatId } = ids;
  const isRepeat = messageId !== body.id;
  const { timeoutMs } = await readSettings();
  // The secret goes with the message, as its sender's key does where none is set: what was promised is signed, also by
  // a replica that does not know of the secret yet.
  const callback: CallbackTarget | null =
    webhookUrl === null
      ? null
      : { url: new URL(webhookUrl).href, deliveryId: newId(), apiKeyId: null, sealedSecret, timeoutMs };
  const user = userId === null ? {} : { userId };
  const { ticketId } = await receive(
    {
      channelId: "api",
      chatId,
      ...user,
      text,
      timestamp: Date.now(),
      channelMeta: { ...meta, ...user, origin: "hook", hookId: hook.id },
    },
    { project, messageId, ...(callback === null ? { mode: "async" } : { mode: "webhook", callback }) },
  );
  // A repeat of the event, or another try of this body, may have been faster: then the callback is the one of that.
  const deliveryId = await store.callbacks.findDeliveryId(project, messageId);
  return { ...NOTHING, outcome: "queued", eventId, messageId, ticketId, chatId, userId, deliveryId, isRepeat };
}

/**
 * Makes the function that makes a message of a hook's body, or says why it becomes none. The body's id is the message's,
 * or the event's first call has named it, so that trying again never makes a second one. Rejects with channel_disabled
 * and unavailable, after which the same may be tried again.
 */
export function createHookIntake(context: HookIntakeContext): (hook: Hook, body: NewHookBody) => Promise<TakenBody> {
  const { createMappingCache, mapBody } = context.operations;
  const mappings = createMappingCache();
  const slowHooks = createSlowHooks();
  return async (hook, received) => {
    const { contentType, headers, content } = received;
    const pauseSeconds = slowHooks.secondsLeft(hook);
    if (pauseSeconds > 0) return paused(pauseSeconds);
    let body: unknown;
    try {
      body = await readHookBody(contentType, content);
    } catch (error) {
      if (error instanceof ServiceError) return failed(error);
      throw error;
    }
    const secret = await findWebhookSecret(context, hook);
    const rules = { guard: context.guard, hasWebhookSecret: secret !== null };
    const mapped = mapBody(hook, { body, headers }, rules, mappings.readerOf(hook));
    if (mapped.faults.some(({ code }) => code === "too_slow")) slowHooks.note(hook);
    if (mapped.outcome === "ignored") return { ...NOTHING, outcome: "ignored" };
    const { text } = mapped;
    if (mapped.outcome === "failed" || text === null) return unmapped(mapped);
    return accept(context, hook, received, { ...mapped, text, sealedSecret: secret });
  };
}
