import { requireScope } from "@svc/auth";
import type { MentionsAnswer } from "@svc/contracts";
import { principalOf } from "@svc/http";
import type { RequestHandler } from "express";
import type { ConsoleContext } from "../console-context.ts";

const MAX_COUNT = 50;
const ACTOR = /^operator:/;

/** `GET /session/mentions`: the newest notes of the project's tickets that are for whoever asks. */
export function tellMentions({ store }: Pick<ConsoleContext, "store">): RequestHandler {
  return async (_request, response) => {
    const principal = principalOf(response);
    requireScope(principal, "tickets:read");
    const operatorId = principal.actor.replace(ACTOR, "");
    const found = await store.ticketChanges.listMentions(principal.project, operatorId, MAX_COUNT);
    const items = found.map(({ at, ...mention }) => ({ ...mention, at: at.toISOString() }));
    response.set("Cache-Control", "no-store").json({ ok: true, items } satisfies MentionsAnswer);
  };
}
