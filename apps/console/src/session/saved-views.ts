import { LIMITS, ServiceError, VIEW_LIMITS, checkInput, savedViewNameSchema, savedViewSchema } from "@svc/contracts";
import type { SavedViewsAnswer } from "@svc/contracts";
import type { LiveSession } from "@svc/auth";
import { readJsonBody } from "@svc/http";
import type { RequestHandler, Response } from "express";
import type { ConsoleContext } from "../console-context.ts";
import { sessionOf } from "./signed-in.ts";

type ViewsContext = Pick<ConsoleContext, "store" | "sessions">;

/** All views of an operator, without those of projects that they have no role in (any more). */
async function answerViews({ store, sessions }: ViewsContext, { operator }: LiveSession, response: Response) {
  const [views, projects] = await Promise.all([store.operatorViews.list(operator.id), sessions.listProjects(operator)]);
  const names = new Set(projects.map(({ name }) => name));
  const items = views.filter(({ project }) => project === null || names.has(project));
  const answer: SavedViewsAnswer = { ok: true, items };
  response.set("Cache-Control", "no-store").json(answer);
}

/** `GET /session/views`: the views of the inbox that the operator has saved. */
export function listSavedViews(context: ViewsContext): RequestHandler {
  return async (_request, response) => answerViews(context, sessionOf(response), response);
}

/**
 * `PUT /session/views`: keeps a view, in the place of the one of the same name. Throws invalid_request also where there
 * are too many, and project_mismatch for a project without a role.
 */
export function putSavedView(context: ViewsContext): RequestHandler {
  const { store, sessions } = context;
  return async (request, response) => {
    const session = sessionOf(response);
    const input = checkInput(savedViewSchema, await readJsonBody(request, LIMITS.bodyMaxBytes), "The view");
    const owner = input.project === null ? null : await sessions.choosePrincipal(session, input.project);
    const { maxCount } = VIEW_LIMITS;
    const isKept = await store.operatorViews.put(session.operator.id, input, {
      project: owner?.project ?? null,
      maxCount,
    });
    if (!isKept) {
      throw new ServiceError(
        "invalid_request",
        `You have ${maxCount} saved views, which is the limit. Delete one first.`,
      );
    }
    await answerViews(context, session, response);
  };
}

/** `DELETE /session/views?name=`: deletes a view. Throws invalid_request, and not_found where there is none. */
export function deleteSavedView(context: ViewsContext): RequestHandler {
  return async (request, response) => {
    const session = sessionOf(response);
    const { name } = checkInput(savedViewNameSchema, { name: request.query["name"] }, "The query");
    if (!(await context.store.operatorViews.remove(session.operator.id, name))) {
      throw new ServiceError("not_found", "There is no saved view with this name.");
    }
    await answerViews(context, session, response);
  };
}
