import { ServiceError } from "@svc/contracts";
import type { AcceptedMessage, VisitorMessage, WidgetFile } from "@svc/contracts";
import type { Visitor } from "./find-visitor.ts";
import type { WidgetContext } from "./widget-context.ts";
import type { WidgetSite } from "./widget-site.ts";

function notAllowed(pointer: string, code: string, detail: string): ServiceError {
  return new ServiceError("invalid_request", `The message is not valid: ${pointer} ${detail}.`, {
    errors: [{ pointer, code, detail }],
  });
}

/** Gives the files that a message names to it. Throws not_found where one is not there or was sent before. */
async function takeFiles(
  { store }: WidgetContext,
  site: WidgetSite,
  { project, ticketId }: Visitor,
  messageId: string,
  attachments: NonNullable<VisitorMessage["attachments"]>,
): Promise<WidgetFile[]> {
  const fileIds = [...new Set(attachments.map(({ fileId }) => fileId.toLowerCase()))];
  if (fileIds.length === 0) return [];
  if (!site.settings.features.upload) throw notAllowed("/attachments", "not_allowed", "are disabled on this website");
  const files = await store.widgetFiles.take(project, ticketId, messageId, fileIds);
  if (files !== null) return files;
  throw new ServiceError("not_found", "A file of this message has expired or was already sent. Upload it again.");
}

/** What operators see of a message beside its text. Who writes is as the visitor says, unless a user id is proven. */
function metaOf({ page, locale, contact, wantsPerson }: VisitorMessage, site: WidgetSite): Record<string, unknown> {
  return {
    ...(page === undefined ? {} : { page }),
    ...(locale === undefined ? {} : { locale }),
    ...(contact === undefined ? {} : { contact }),
    ...(wantsPerson === true && site.settings.features.person ? { wantsPerson } : {}),
  };
}

/**
 * Takes a visitor's message, from HTTP and sockets alike. The same `clientMessageId` in a chat is one message, however
 * often and wherever it is sent: its id is reserved first, and a repeat gets what the first one became, also where it says
 * something else. Throws invalid_request, not_found, storage_full, and unavailable, after which the same may be sent again.
 */
export async function receiveMessage(
  context: WidgetContext,
  site: WidgetSite,
  visitor: Visitor,
  message: VisitorMessage,
  trace: string | null = null,
): Promise<AcceptedMessage> {
  const { project, chatId, ticketId, userId } = visitor;
  const { messageId, seq } = await context.store.visitors.reserve(project, ticketId, message.clientMessageId);
  if (seq !== null) return { messageId, ticketId, seq };
  await context.store.storedBytes.checkRoom(project, "texts", Buffer.byteLength(message.text));
  const files = await takeFiles(context, site, visitor, messageId, message.attachments ?? []);
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
      channelMeta: metaOf(message, site),
    },
    { project, messageId, trace },
  );
  context.tell([ticketId]);
  return accepted;
}
