import { visitorMessageSchema } from "@svc/contracts";
import type { WidgetMessageAnswer } from "@svc/contracts";
import { clientAddress, invalidRequest, readJsonBody, traceOf } from "@svc/http";
import type { RequestHandler } from "express";
import { countText } from "./count-use.ts";
import { countCall, readKey, readVisitor } from "./read-visitor.ts";
import { receiveMessage } from "./receive-message.ts";
import type { WidgetContext } from "./widget-context.ts";

/** The longest text with every character escaped, and what stands beside it. */
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
    const { messageId, ticketId, seq } = await receiveMessage(context, site, visitor, parsed.data, traceOf(response));
    const answer: WidgetMessageAnswer = { ok: true, chatId: visitor.chatId, ticketId, messageId, seq };
    response.status(202).set("Cache-Control", "no-store").json(answer);
  };
}
