import { ServiceError, visitorMessageSchema } from "@svc/contracts";
import type { AcceptedMessage, VisitorMessage, WidgetFile, WidgetMessageAnswer } from "@svc/contracts";
import { clientAddress, invalidRequest, readJsonBody, traceOf } from "@svc/http";
import type { RequestHandler } from "express";
import { countText } from "./count-use.ts";
import { countCall, readKey, readVisitor } from "./find-visitor.ts";
import type { Visitor } from "./find-visitor.ts";
import type { WidgetContext, WidgetSite } from "./widget-context.ts";

function notAllowed(pointer: string, code: string, detail: string): ServiceError {
  return new ServiceError("invalid_request", `The message is not valid: ${pointer} ${detail}.`, {
    errors: [{ pointer, code, detail }],
  });
}

/** Origin of a message. */
interface MessageSource {
  site: WidgetSite;
  visitor: Visitor;
  trace: string | null;
}

/** Assigns the files of a message to it. Throws not_found if one is missing or was sent before. */
async function takeFiles(
  { store }: WidgetContext,
  { site, visitor: { project, ticketId } }: MessageSource,
  messageId: string,
  attachments: NonNullable<VisitorMessage["attachments"]>,
): Promise<WidgetFile[]> {
  const fileIds = [...new Set(attachments.map(({ fileId }) => fileId.toLowerCase()))];
  if (fileIds.length === 0) return [];
  if (!site.settings.features.upload) throw notAllowed("/attachments", "not_allowed", "are disabled on this website");
  const files = await store.widgetFiles.assign(project, ticketId, messageId, fileIds);
  if (files !== null) return files;
  throw new ServiceError("not_found", "A file of this message has expired or was already sent. Upload it again.");
}

/**
 * Returns the data that operators see of a message besides its text. The sender is as claimed by the visitor, unless a
 * user id is verified.
 */
function metaOf(
  { page, locale, contact, wantsPerson }: VisitorMessage,
  { site, visitor: { chatId, firstChatId } }: MessageSource,
): Record<string, unknown> {
  return {
    ...(chatId === firstChatId ? {} : { firstChatId }),
    ...(page === undefined ? {} : { page }),
    ...(locale === undefined ? {} : { locale }),
    ...(contact === undefined ? {} : { contact }),
    ...(wantsPerson === true && site.settings.features.person ? { wantsPerson } : {}),
  };
}

/**
 * Accepts a visitor's message, from HTTP and sockets alike. The same `clientMessageId` in a chat is one message,
 * however often and over whichever transport it is sent: its id is reserved first, and a retry gets the result of the
 * first one, even with other content. Throws invalid_request, not_found, storage_full, and unavailable, after which it
 * may be sent again.
 */
export async function receiveMessage(
  context: WidgetContext,
  source: MessageSource,
  message: VisitorMessage,
): Promise<AcceptedMessage> {
  const { visitor, trace } = source;
  const { project, chatId, ticketId, userId } = visitor;
  const { messageId, seq } = await context.store.visitors.reserve(project, ticketId, message.clientMessageId);
  if (seq !== null) return { messageId, ticketId, seq };
  await context.store.storedBytes.checkRoom(project, "texts", Buffer.byteLength(message.text));
  const files = await takeFiles(context, source, messageId, message.attachments ?? []);
  const accepted = await context.receive(
    {
      channelId: "widget",
      chatId,
      ...(userId === null ? {} : { userId }),
      text: message.text,
      timestamp: Date.now(),
      ...(files.length === 0
        ? {}
        : {
            attachments: files.map(({ fileId, filename, mime }) => ({
              type: mime,
              url: `/api/v1/admin/tickets/${ticketId}/files/${fileId}`,
              name: filename,
            })),
          }),
      channelMeta: metaOf(message, source),
    },
    { project, messageId, trace },
  );
  context.tell([ticketId]);
  return accepted;
}

/** The longest text with every character escaped, and the other fields. */
const BODY_MAX_BYTES = 160 * 1024;

/** `POST /api/widget/message`. */
export function postMessage(context: WidgetContext): RequestHandler {
  return async (request, response) => {
    const site = await context.readSite();
    const body = await readJsonBody(request, BODY_MAX_BYTES);
    const inBody = typeof body === "object" && body !== null && "apiKey" in body ? body.apiKey : undefined;
    const key = await readKey(context.queues, request, site, inBody);
    await countCall(context.queues, "messages", { request, response, key, site });
    const visitor = readVisitor(request, site);
    const parsed = visitorMessageSchema.safeParse(body);
    if (!parsed.success) throw invalidRequest(parsed.error.issues, "The message");
    await countText(context.queues.counters, { address: clientAddress(request), key }, parsed.data.text);
    const source = { site, visitor, trace: traceOf(response) };
    const { messageId, ticketId, seq } = await receiveMessage(context, source, parsed.data);
    const answer: WidgetMessageAnswer = { ok: true, chatId: visitor.chatId, ticketId, messageId, seq };
    response.status(202).set("Cache-Control", "no-store").json(answer);
  };
}
