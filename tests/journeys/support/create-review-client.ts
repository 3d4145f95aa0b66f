import { randomUUID } from "node:crypto";
import type { ReviewAction, TicketDetail, TicketItem } from "@svc/contracts";
import { waitFor } from "@svc/testing";
import type { ApiAnswer } from "./api-answer.ts";
import { callApi } from "./call-api.ts";
import { createApiClient } from "./create-api-client.ts";
import type { Product } from "./start-product.ts";

/** Options of a decision. */
export interface DecisionOptions {
  json?: object;
  /** The version for `If-Match`; a string is sent unchanged. */
  ifMatch?: number | string;
  project?: string;
  key?: string;
  /** Index of a replica: 0 is the first, 1 another one if there are several. Default: 0. */
  replica?: number;
}

/** A chat whose one message waits for review. */
export interface HeldChat {
  chatId: string;
  ticketId: string;
  /** Response to the call that sent the message. */
  sent: ApiAnswer;
  /** The waiting ticket, with the draft for that message. */
  ticket: TicketDetail;
  /** Makes exactly the same call again. */
  repeat(): Promise<ApiAnswer>;
}

/** Actions of operators on the tickets of a project. */
export interface ReviewClient {
  /** `POST /api/v1/admin/tickets/:id/<action>`. */
  decide(ticketId: string, action: ReviewAction, options?: DecisionOptions): Promise<ApiAnswer>;
  /** `GET /api/v1/admin/tickets/:id`. */
  read(ticketId: string, project?: string): Promise<TicketDetail>;
  /** Waits until a ticket meets the condition, and returns it. */
  until(ticketId: string, isReached: (ticket: TicketDetail) => boolean, what: string): Promise<TicketDetail>;
  /** Waits until a ticket is in a stage, with all its messages. */
  untilIn(ticketId: string, stage: TicketItem["stage"]): Promise<TicketDetail>;
  /** Waits until this many messages of a ticket wait for review, and returns it. */
  untilHeld(ticketId: string, count: number): Promise<TicketDetail>;
  /** Blocks the customer of a ticket once the customer is known, or ends the block. */
  setBlocked(ticketId: string, isBlocked: boolean): Promise<void>;
  /** Waits until this many messages of a blocked customer were rejected in a ticket. */
  untilRejected(ticketId: string, count: number): Promise<TicketDetail>;
  /** Waits until a ticket is in review with a draft newer than this version. */
  untilRedrafted(ticketId: string, version: number): Promise<TicketDetail>;
  /** Sends a message into a new chat, in mode `async` unless `more` sets another one, and waits for its review. */
  heldChat(more?: object, headers?: Record<string, string>): Promise<HeldChat>;
  /** Waits until the drain of a chat has replies of operators or agents, and returns them without removing them. */
  drained(chatId: string): Promise<ApiAnswer>;
}

/** Returns the ticket of a decision's response. */
export const ticketOf = ({ body }: ApiAnswer) => (body as unknown as { item: TicketItem }).item;

/** Returns the id of the message that a call has sent. */
export const messageIdOf = ({ body }: ApiAnswer) => (body as { messageId: string }).messageId;
/** Returns the id of the final callback from a 202. */
export const deliveryIdOf = ({ body }: ApiAnswer) => (body as { deliveryId: string }).deliveryId;

/** Returns a client of an administrator who specifies the project. */
export function createReviewClient(product: Product, ofProject: string): ReviewClient {
  const urlOf = (path: string, replica = 0) => {
    const { apiUrls } = product.composition;
    return `${apiUrls[replica % apiUrls.length] ?? ""}/api/v1/admin/tickets/${path}`;
  };
  const api = createApiClient(product);
  const client: ReviewClient = {
    decide: (ticketId, action, { json, ifMatch, project = ofProject, key = product.adminKey, replica } = {}) =>
      callApi(urlOf(`${ticketId}/${action}`, replica), {
        method: "POST",
        key,
        project,
        ...(json === undefined ? {} : { json }),
        ...(ifMatch === undefined
          ? {}
          : { headers: { "If-Match": typeof ifMatch === "number" ? `"${ifMatch}"` : ifMatch } }),
      }),

    async read(ticketId, project = ofProject) {
      const answer = await callApi(urlOf(ticketId), { key: product.adminKey, project });
      if (answer.status !== 200) throw new Error(`the ticket cannot be read: ${answer.text}`);
      return (answer.body as unknown as { item: TicketDetail }).item;
    },

    async until(ticketId, isReached, what) {
      let seen: TicketDetail | null = null;
      const check = async () => {
        seen = await client.read(ticketId);
        return isReached(seen) ? seen : null;
      };
      return waitFor(check, { what: () => `the ticket to ${what}; it is ${JSON.stringify(seen)}` });
    },

    untilIn: (ticketId, stage) =>
      client.until(
        ticketId,
        (ticket) => ticket.stage === stage && ticket.messages.every(({ state }) => state !== "received"),
        `be in ${stage}`,
      ),

    untilHeld(ticketId, count) {
      const isReached = ({ messages }: TicketDetail) =>
        messages.filter(({ state }) => state === "held").length === count;
      return client.until(ticketId, isReached, `hold ${count} messages`);
    },

    async setBlocked(ticketId, isBlocked) {
      const { customer } = await client.until(
        ticketId,
        (ticket) => (ticket.customer?.id ?? null) !== null,
        "have a customer",
      );
      const url = urlOf("").replace(/tickets\/$/, `customers/${customer?.id}/${isBlocked ? "block" : "unblock"}`);
      const answer = await callApi(url, { method: "POST", key: product.adminKey, project: ofProject });
      if (answer.status !== 200) throw new Error(`the block was not changed: ${answer.text}`);
    },

    untilRejected(ticketId, count) {
      const isReached = ({ messages }: TicketDetail) =>
        messages.filter(({ state }) => state === "rejected").length === count;
      return client.until(ticketId, isReached, `reject ${count} messages`);
    },

    untilRedrafted(ticketId, version) {
      // A decision increases the version, and the draft that it requested increases it again.
      const isReached = (ticket: TicketDetail) =>
        ticket.version > version && ticket.stage === "review" && ticket.draft?.isStale === false;
      return client.until(ticketId, isReached, `have another draft than that of version ${version}`);
    },

    async heldChat(more = { mode: "async" }, headers = {}) {
      const chatId = randomUUID();
      const send = () => api.send(ofProject, { text: "Where is my parcel?", chatId, ...more }, { headers });
      const sent = await send();
      const ticketId = String(sent.body.ticketId);
      const ticket = await client.untilIn(ticketId, "review");
      return { chatId, ticketId, sent, ticket, repeat: send };
    },

    drained: (chatId) =>
      waitFor(
        async () => {
          const answer = await api.drain(ofProject, chatId, "?peek=1");
          return answer.replies.some(({ author }) => author !== "system") ? answer : null;
        },
        { what: `a reply in the drain of ${chatId}` },
      ),
  };
  return client;
}
