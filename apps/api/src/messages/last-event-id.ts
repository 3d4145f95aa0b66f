import { ServiceError } from "@svc/contracts";
import type { MessageMode } from "@svc/contracts";
import type { Principal } from "@svc/auth";
import type { Store } from "@svc/store";
import type { Request } from "express";

const HEADER = "Last-Event-ID";
/** ID of a call's event: the message and the number of the event. */
const CALL_EVENT = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.\d{1,9}$/;
const CURSOR = /^\d{1,15}$/;

/** Returns the error for an invalid `Last-Event-ID`. */
function headerError(code: string, detail: string): ServiceError {
  return new ServiceError("invalid_request", `The header ${HEADER} is not valid: ${detail}.`, {
    errors: [{ pointer: `/${HEADER}`, code, detail }],
  });
}

/** Returns the value of the header; null if it is absent or empty. Throws invalid_request if it was sent twice. */
function readHeader(request: Request): string | null {
  const values = request.headersDistinct["last-event-id"] ?? [];
  if (values.length > 1) throw headerError("invalid", "send the header once");
  return values[0] === undefined || values[0] === "" ? null : values[0];
}

/** Returns the cursor after which the stream of a chat resumes; null for a new stream. Throws invalid_request. */
export function readLastCursor(request: Request): number | null {
  const id = readHeader(request);
  if (id === null) return null;
  if (!CURSOR.test(id)) throw headerError("invalid", "must be the id of an event of this chat's stream, or be omitted");
  return Number(id);
}

/** The message of an earlier call. */
export interface ResumedCall {
  messageId: string;
  chatId: string;
  text: string;
}

/**
 * Finds the message whose call is resumed, by the id of an event that its caller received; null for a new message. Throws
 * invalid_request if there is no such message in this project.
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
    throw headerError("unknown", "must be the id of an event of the repeated request; omit it to send a new message");
  }
  return { messageId, ...call };
}

/** Checks that a message is the one of the resumed call. Throws invalid_request. */
export function checkResumedCall(
  call: ResumedCall,
  { mode, chatId = call.chatId, text }: { mode: MessageMode; chatId?: string | undefined; text: string },
): void {
  if (mode === "sync" && chatId === call.chatId && text === call.text) return;
  throw headerError("mismatch", "belongs to another message; omit it to send a new one");
}
