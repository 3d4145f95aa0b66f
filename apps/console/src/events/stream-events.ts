import { requireScope, scopesOfRoles } from "@svc/auth";
import { ServiceError, grantsScope, presenceSchema } from "@svc/contracts";
import type { ConsoleEvents } from "@svc/contracts";
import { principalOf, openEventStream } from "@svc/http";
import type { EventStream } from "@svc/http";
import type { RequestHandler } from "express";
import { isUnavailable } from "@svc/store";
import type { OperatorRecord } from "@svc/store";
import { readInput, sessionOf } from "../session/signed-in.ts";
import type { ConsoleContext } from "../session/signed-in.ts";
import type { HubEvent } from "./create-event-hub.ts";

/**
 * `POST /presence`: records which ticket a tab shows, and whether its operator is typing. Must be repeated every 20
 * seconds; a viewer without an update for 45 seconds is removed. Throws not_found for a ticket that the project does
 * not have.
 */
export function postPresence({ store, hub }: Pick<ConsoleContext, "store" | "hub">): RequestHandler {
  return async (request, response) => {
    const principal = principalOf(response);
    requireScope(principal, "tickets:read");
    const { id: sessionId, operatorId } = sessionOf(response);
    const input = await readInput(request, presenceSchema, "The presence");
    const { ticketId, tab } = input;
    // Customers see the typing indicator, and an operator who can only read cannot reply to them.
    const isTyping = input.isTyping && grantsScope(principal.scopes, "tickets:write");
    const source = { sessionId, tab };
    if (ticketId === null) {
      const before = await store.operatorPresence.remove(source);
      if (before !== null) hub.notePresence([before]);
    } else {
      // A message that is accepted but whose ticket is not opened yet has no viewers.
      const ticket = await store.ticketDetails.find(principal.project, ticketId);
      if (ticket === null) throw new ServiceError("not_found", "No ticket with this ID exists in this project.");
      const before = await store.operatorPresence.put(principal.project, source, { operatorId, ticketId, isTyping });
      hub.notePresence(before === null ? [ticketId] : [before, ticketId]);
    }
    response.status(204).set("Cache-Control", "no-store").end();
  };
}

/** Time within which a stream notices that its session has ended or that a role was removed, in milliseconds. */
const CHECK_MS = 1_000;
/** A longer stream is closed, so that the page reconnects and new replicas are used. */
const MAX_STREAM_MS = 900_000;
/** Maximum streams of one operator in this process: each tab has one. */
const MAX_STREAMS = 30;
/** Maximum tickets per connection whose viewers have been announced. */
const MAX_ANNOUNCED = 500;

/** Returns true if an operator can view the tickets of the project with this name. */
const maySee = ({ roles }: OperatorRecord, projectName: string): boolean =>
  grantsScope(scopesOfRoles(roles, projectName), "tickets:read");

/** Returns the function that sends the part of an event that an operator may see. */
function createTeller({ hub }: Pick<ConsoleContext, "hub">, stream: EventStream, whose: () => OperatorRecord) {
  const announced = new Set<string>();
  const send = <Name extends keyof ConsoleEvents>(name: Name, data: ConsoleEvents[Name]) => stream.send(name, data);
  const sees = async (project: string): Promise<string | null> => {
    const name = await hub.findProjectName(project);
    return name !== null && maySee(whose(), name) ? name : null;
  };

  return {
    send,
    async tell(event: HubEvent): Promise<void> {
      if (event.kind === "lost") {
        send("hello", { operatorId: whose().id });
        return;
      }
      if (event.kind === "change") {
        const { ticketId, version, status, stage, assignee, actor, stages, mentions, project, formerProject } =
          event.change;
        const name = await sees(project);
        if (name !== null) {
          send("ticket", { ticketId, project: name, version, status, stage, assignee, actor, what: stages, mentions });
        }
        const isMoved = formerProject !== null && formerProject !== project;
        const former = isMoved ? await sees(formerProject) : null;
        if (former !== null) send("gone", { ticketId, project: former });
        return;
      }
      const { ticketId } = event;
      if (event.kind === "customerTyping") {
        const own = event.viewers.find(({ operatorId }) => operatorId === whose().id);
        if (own !== undefined && (await sees(own.project)) !== null) send("customerTyping", { ticketId });
        return;
      }
      const seen = await Promise.all(
        event.viewers.map(async (viewer) => ((await sees(viewer.project)) === null ? [] : [viewer])),
      );
      const viewers = seen.flat().map(({ operatorId, name, isTyping }) => ({ operatorId, name, isTyping }));
      // An empty list goes only to connections that had a viewer before.
      if (viewers.length === 0 && !announced.delete(ticketId)) return;
      if (viewers.length > 0) {
        if (announced.size >= MAX_ANNOUNCED) announced.clear();
        announced.add(ticketId);
      }
      send("presence", { ticketId, viewers });
    },
  };
}

const tabSchema = presenceSchema.shape.tab;

/**
 * `GET /events?tab=`: events of the tickets that the operator may see, with their viewers. Ends with the session.
 * `hello` comes first, and again if events may have been missed.
 */
export function streamEvents(context: ConsoleContext): RequestHandler {
  const { sessions, hub, store, log, closing } = context;
  const open = new Map<string, number>();

  return async (request, response) => {
    const session = sessionOf(response);
    const { id: operatorId } = session.operator;
    const count = open.get(operatorId) ?? 0;
    if (count >= MAX_STREAMS) {
      throw new ServiceError("rate_limited", "Too many console tabs are open. Close some of them.", {
        headers: { "Retry-After": "10" },
      });
    }
    const given = tabSchema.safeParse(request.query["tab"]);
    const source = { sessionId: session.id, tab: given.success ? given.data : "main" };
    open.set(operatorId, count + 1);

    let operator = session.operator;
    const stream = openEventStream(response, { signal: closing });
    const teller = createTeller(context, stream, () => operator);
    // One after the other, so that events keep their order.
    let telling: Promise<void> = Promise.resolve();
    const unsubscribe = hub.subscribe((event) => {
      telling = telling
        .then(() => teller.tell(event))
        .catch((error: unknown) => {
          // The page refetches what it did not receive when it reconnects.
          log.debug({ error }, "failed to send an event");
          stream.end();
        });
    });
    teller.send("hello", { operatorId });

    const check = setInterval(() => {
      sessions.getSession(session.token).then(
        (live) => {
          operator = live.operator;
        },
        (error: unknown) => {
          if (!isUnavailable(error)) stream.end();
        },
      );
    }, CHECK_MS);
    const deadline = setTimeout(() => stream.end(), MAX_STREAM_MS);
    await stream.closed;
    clearInterval(check);
    clearTimeout(deadline);
    unsubscribe();
    const left = (open.get(operatorId) ?? 1) - 1;
    if (left > 0) open.set(operatorId, left);
    else open.delete(operatorId);
    try {
      const ticketId = await store.operatorPresence.remove(source);
      if (ticketId !== null) hub.notePresence([ticketId]);
    } catch (error) {
      // A viewer without updates is removed soon anyway.
      log.debug({ error }, "failed to record that an operator has left a ticket");
    }
  };
}
