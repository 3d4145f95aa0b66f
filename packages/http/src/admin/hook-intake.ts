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
import { isDeeperThan } from "@svc/primitives";
import { newId } from "@svc/store";
import type { Hook, HookBodyResult, NewHookBody, Store } from "@svc/store";
import { parseJson } from "../json-body.ts";
import { invalidForm, parseForm } from "./read-upload.ts";

/** Returns the fields of a form as an object: a field that occurs once is a text, a repeated one a list of texts. */
function asObject(fields: readonly (readonly [name: string, value: string])[]): Record<string, unknown> {
  if (fields.length > HOOK_LIMITS.formFieldsMaxCount)
    throw invalidForm(`it has more than ${HOOK_LIMITS.formFieldsMaxCount} fields`);
  const values = new Map<string, string[]>();
  for (const [name, value] of fields) {
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  }
  return Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
}

/** Returns the fields of a body of `application/x-www-form-urlencoded`, as in `asObject`. Throws invalid_request. */
function readUrlEncoded(content: Buffer): Record<string, unknown> {
  return asObject([...new URLSearchParams(content.toString("utf8"))]);
}

/**
 * Returns the fields of a body of `multipart/form-data` (RFC 7578), as in `asObject`, without files. Throws
 * invalid_request if it is not a form or is truncated.
 */
async function readMultipart(content: Buffer, contentType: string): Promise<Record<string, unknown>> {
  const fields: [string, string][] = [];
  const limits = { fields: HOOK_LIMITS.formFieldsMaxCount + 1, fieldSize: HOOK_LIMITS.bodyMaxBytes };
  await parseForm(content, contentType, limits, (parser, fail) => {
    parser.on("field", (name, value) => fields.push([name, value]));
    parser.on("file", (_name, stream) => {
      stream.on("error", (error: Error) => fail(invalidForm(error.message)));
      stream.resume();
    });
  });
  return asObject(fields);
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;
const UTF8_NAMES = new Set(["utf-8", "utf8", "us-ascii"]);

/** Parser of each media type. */
const FORMS: Record<string, (content: Buffer, contentType: string) => unknown> = {
  "application/x-www-form-urlencoded": readUrlEncoded,
  "multipart/form-data": readMultipart,
};

/**
 * Returns the JSON of a form whose only field is `payload`: the format of GitHub and others if they are set to forms.
 */
function unwrapPayload(form: unknown): unknown {
  const entries = Object.entries(form ?? {});
  const [name, value] = entries[0] ?? [];
  if (entries.length !== 1 || name !== "payload" || typeof value !== "string" || !value.trimStart().startsWith("{")) {
    return form;
  }
  return parseJson(Buffer.from(value, "utf8"));
}

/**
 * Parses a hook's body: JSON as it is, a form as an object of its fields. Throws unsupported_media_type, invalid_json,
 * and invalid_request if it is not a form or is nested too deeply.
 */
export async function readHookBody(contentType: string, content: Buffer): Promise<unknown> {
  const mediaType = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  const charset = CHARSET.exec(contentType)?.[1]?.toLowerCase() ?? "utf-8";
  const readForm = Object.hasOwn(FORMS, mediaType) ? FORMS[mediaType] : undefined;
  const isJson = JSON_TYPE.test(mediaType);
  if ((!isJson && readForm === undefined) || !UTF8_NAMES.has(charset)) {
    throw new ServiceError(
      "unsupported_media_type",
      "Send JSON (application/json) or a form (application/x-www-form-urlencoded, multipart/form-data) in UTF-8.",
    );
  }
  const body = isJson ? parseJson(content) : unwrapPayload(await readForm?.(content, contentType));
  if (!isDeeperThan(body, HOOK_LIMITS.bodyMaxDepth)) return body;
  const detail = `must be at most ${HOOK_LIMITS.bodyMaxDepth} levels deep`;
  throw new ServiceError("invalid_request", `The body is not valid: ${detail}.`, {
    errors: [{ pointer: "", code: "too_deep", detail }],
  });
}

/** Pause of a hook whose mapping took too long. */
const PAUSE_MS = 10_000;
const MAX_HOOKS = 1_000;

/**
 * Paused hooks. A mapping that is too slow for one body is usually too slow for the next, and delays all other
 * requests.
 */
interface SlowHooks {
  /** Pauses this version of a hook. */
  note(hook: Pick<Hook, "id" | "version">): void;
  /** Returns the seconds until a hook resumes, rounded up; 0 if it is not paused. Other versions of it are not. */
  secondsLeft(hook: Pick<Hook, "id" | "version">): number;
}

/** Creates the record of slow hooks in one process. `now` returns milliseconds, like `Date.now`. */
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
 * Returns the ids of an event, starting with the signed one if the scheme signs an id. Standard Webhooks signs
 * `webhook-id`. GitHub signs only the body, not the delivery id; its bodies contain their subject and time, so that
 * equal bodies are the same event. Other schemes that sign only the body may send equal bodies for different events.
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

/** Dependencies of creating messages from hook bodies. */
export interface HookIntakeContext {
  operations: Pick<typeof operations, "createMappingCache" | "mapBody">;
  store: Store;
  /** Decides which callback URLs are allowed. */
  guard: AddressGuard;
  /** Returns the current settings of the HTTP API. */
  readSettings: () => Promise<ApiSettings>;
  /** Accepts a message; rejects with channel_disabled while the channel is off. */
  receive: (message: IncomingMessage, context: IncomingContext) => Promise<AcceptedMessage>;
}

/** Outcome of a body, and further facts for the response. */
export interface ReceivedBody extends HookBodyResult {
  /** Error if no message was created; null if one was, or none is wanted. */
  error: ServiceError | null;
  /** Id of the final callback; null if the replies are collected from the buffer. */
  deliveryId: string | null;
  /** True if an earlier call with the event has created the message. */
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

/** Returns a text that can be stored as an id; null for a mapped value that is not one. */
const idOrNull = (text: string | null) =>
  text === null || isMalformedText(text) || countChars(text) > LIMITS.chatIdMaxChars ? null : text;

/** Returns errors whose texts can be stored and sent, whatever they quote of the body. */
const storable = (errors: readonly FieldError[]): FieldError[] =>
  errors.map(({ pointer, code, detail }) => ({
    pointer,
    code,
    detail: detail.replaceAll("\u0000", "\u{fffd}").toWellFormed(),
  }));

/** Returns the user in the meta of a message, for a message without a user field. */
const userIdIn = (meta: Record<string, unknown> = {}) => (typeof meta["userId"] === "string" ? meta["userId"] : null);

/**
 * Returns the outcome of a body that created no message. The mapped fields are stored, so that the body can be found.
 */
function failed(error: ServiceError, mapped?: MappedBody): ReceivedBody {
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

/** Returns the outcome of a body that is not mapped because its hook is paused; its sender or owner may retry it. */
function paused(seconds: number): ReceivedBody {
  const text = `The mapping of this hook took too long on a recent body. Use more specific paths, or retry in ${seconds} s.`;
  return failed(new ServiceError("rate_limited", text, { headers: { "Retry-After": String(seconds) } }));
}

function unmapped(mapped: MappedBody): ReceivedBody {
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

/** Commits the message of a body; safe to repeat, since its ids are given. */
async function accept(
  { store, receive, readSettings }: HookIntakeContext,
  hook: Hook,
  body: NewHookBody,
  { sealedSecret, ...mapped }: MappedBody & { text: string; sealedSecret: Sealed | null },
): Promise<ReceivedBody> {
  const { project } = hook;
  const { text, userId, meta, webhookUrl } = mapped;
  const eventIds = eventIdsOf(hook, body, mapped.eventId);
  // A hash of the body does not identify the event for people.
  const eventId = mapped.eventId ?? (hook.auth.type === "github" ? null : (eventIds[0] ?? null));
  // Each body is a message, and a chat of its own if none is mapped.
  let ids = { messageId: body.id, chatId: mapped.chatId ?? body.id };
  for (const id of eventIds)
    ids = (await store.hooks.claimEvent(project, { hookId: hook.id, eventId: id, ...ids })) ?? ids;
  const { messageId, chatId } = ids;
  const isRepeat = messageId !== body.id;
  const { timeoutMs } = await readSettings();
  // The secret is stored with the message, like its sender's key if none is set, so that replicas that do not know the
  // secret yet can sign the promised callback.
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
  // A repeated event, or another attempt at this body, may have been faster: then its callback is the one.
  const deliveryId = await store.callbacks.findDeliveryId(project, messageId);
  return { ...NOTHING, outcome: "queued", eventId, messageId, ticketId, chatId, userId, deliveryId, isRepeat };
}

/**
 * Returns the function that creates a message from a hook's body, or reports why it does not. The message's id is that
 * of the body, or of the event's first call, so that a retry never creates a second one. Rejects with channel_disabled
 * and unavailable, after which the call may be repeated.
 */
export function createHookIntake(context: HookIntakeContext): (hook: Hook, body: NewHookBody) => Promise<ReceivedBody> {
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
