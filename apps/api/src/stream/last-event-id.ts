import { ServiceError } from "@svc/contracts";
import type { MessageMode } from "@svc/contracts";
import type { Principal } from "@svc/auth";
import type { Store } from "@svc/store";
import type { Request } from "express";

const HEADER = "Last-Event-ID";
/** Of a call's event: the message, and which event it was. */
const CALL_EVENT = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.\d{1,9}$/;
const CURSOR = /^\d{1,15}$/;

/** An error that says what a caller should do with its `Last-Event-ID`. */
function faultOf(code: string, detail: string): ServiceError {
  return new ServiceError("invalid_request", `The header ${HEADER} is not valid: ${detail}.`, {
    errors: [{ pointer: `/${HEADER}`, code, detail }],
  });
}

/** What the header says; null where it says nothing. Throws invalid_request where it was sent twice. */
function readHeader(request: Request): string | null {
  const values = request.headersDistinct["last-event-id"] ?? [];
  if (values.length > 1) throw faultOf("invalid", "send the header once");
  return values[0] === undefined || values[0] === "" ? null : values[0];
}

/** The cursor after which the stream of a chat goes on; null for one that begins. Throws invalid_request. */
export function readLastCursor(request: Request): number | null {
  const id = readHeader(request);
  if (id === null) return null;
  if (!CURSOR.test(id)) throw faultOf("invalid", "must be the id of an event of this chat's stream, or be omitted");
  return Number(id);
}

/** A message that a call has sent before. */
export interface ResumedCall {
  messageId: string;
  chatId: string;
  text: string;
}

/**
 * The message whose call goes on, by the id of an event that its caller got; null for one that begins. Throws
 * invalid_request where there is no such message in this project.
 */
export async function findResumedCall(
  store: Store,
  { project }: Principal,
  request: Request,
): Promise<ResumedCall | null> {
  const id = readHeader(request);
  if (id === null) return null;
  const messageId = CALL_EVENT.exec(id)?.[1];
  const call = messageId === undefined ? null : await store.messages.findSyncCall(project, messageId);
  if (messageId === undefined || call === null) {
    throw faultOf("unknown", "must be the id of an event of the repeated request; omit it to send a new message");
  }
  return { messageId, ...call };
}

/** Refuses to take a new message, or one of another mode, for the repeat of an earlier call. Throws invalid_request. */
export function checkResumedCall(
  call: ResumedCall,
  { mode, chatId = call.chatId, text }: { mode: MessageMode; chatId?: string | undefined; text: string },
): void {
  if (mode === "sync" && chatId === call.chatId && text === call.text) return;
  throw faultOf("mismatch", "belongs to another message; omit it to send a new one");
}
