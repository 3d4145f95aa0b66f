import { scopesOfRoles } from "@svc/auth";
import { grantsScope } from "@svc/contracts";
import type { MentionsAnswer } from "@svc/contracts";
import type { RequestHandler } from "express";
import type { ConsoleContext } from "../console-context.ts";
import { sessionOf } from "./signed-in.ts";

const MAX_COUNT = 50;

/** `GET /session/mentions`: the newest notes for whoever asks, in the tickets of all projects that they may read. */
export function tellMentions({ store }: Pick<ConsoleContext, "store">): RequestHandler {
  return async (_request, response) => {
    const { id, roles } = sessionOf(response).operator;
    const projects = (await store.projects.list()).filter(({ name }) =>
      grantsScope(scopesOfRoles(roles, name), "tickets:read"),
    );
    const names = new Map(projects.map((project) => [project.id, project.name]));
    const found = await store.ticketChanges.listMentions([...names.keys()], id, MAX_COUNT);
    const items = found.flatMap(({ at, projectId, ...mention }) => {
      const project = names.get(projectId);
      return project === undefined ? [] : [{ ...mention, project, at: at.toISOString() }];
    });
    response.set("Cache-Control", "no-store").json({ ok: true, items } satisfies MentionsAnswer);
  };
}
