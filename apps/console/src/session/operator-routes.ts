import { requireScope, scopesOfRoles } from "@svc/auth";
import type { LiveSession } from "@svc/auth";
import {
  ServiceError,
  VIEW_LIMITS,
  checkInput,
  grantsScope,
  savedViewNameSchema,
  savedViewSchema,
} from "@svc/contracts";
import type {
  ColleaguesAnswer,
  MentionsAnswer,
  ServiceAddressesAnswer,
  ServiceAddress,
  SavedViewsAnswer,
} from "@svc/contracts";
import { principalOf } from "@svc/http";
import type { RequestHandler, Response } from "express";
import type { Config } from "@svc/runtime";
import { readInput, sessionOf } from "./signed-in.ts";
import type { ConsoleContext } from "./signed-in.ts";

/** More than the operators of any project. */
const COLLEAGUES_MAX_COUNT = 1_000;

/**
 * `GET /session/colleagues`: names and ids of the project's operators, for assigning tickets, for mentions, and for the
 * names of actors. Available to everyone who may read the tickets; email addresses are not included.
 */
export function getColleagues({ store }: Pick<ConsoleContext, "store">): RequestHandler {
  return async (_request, response) => {
    const principal = principalOf(response);
    requireScope(principal, "tickets:read");
    const found = await store.operators.listOfProject(principal.project, COLLEAGUES_MAX_COUNT);
    const items = found.map(({ id, name, roles }) => {
      // The roles are those that apply in this project.
      const scopes = scopesOfRoles(
        roles.map((role) => ({ project: principal.projectName, role })),
        principal.projectName,
      );
      return { id, name, mayWrite: grantsScope(scopes, "tickets:write") };
    });
    const answer: ColleaguesAnswer = { ok: true, items };
    response.set("Cache-Control", "no-store").json(answer);
  };
}

const MENTIONS_MAX_COUNT = 50;

/**
 * `GET /session/mentions`: the newest notes that mention the operator, in the tickets of all projects that the operator
 * may read.
 */
export function getMentions({ store }: Pick<ConsoleContext, "store">): RequestHandler {
  return async (_request, response) => {
    const { id, roles } = sessionOf(response).operator;
    const projects = (await store.projects.list()).filter(({ name }) =>
      grantsScope(scopesOfRoles(roles, name), "tickets:read"),
    );
    const names = new Map(projects.map((project) => [project.id, project.name]));
    const found = await store.ticketChanges.listMentions([...names.keys()], id, MENTIONS_MAX_COUNT);
    const items = found.flatMap(({ at, projectId, ...mention }) => {
      const project = names.get(projectId);
      return project === undefined ? [] : [{ ...mention, project, at: at.toISOString() }];
    });
    response.set("Cache-Control", "no-store").json({ ok: true, items } satisfies MentionsAnswer);
  };
}

const HEALTH_TIMEOUT_MS = 1_000;
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Returns whether a service responds to a liveness check at this port. */
async function isAlive(host: string, port: number): Promise<boolean> {
  const shown = host.includes(":") ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${shown}:${port}/healthz`, {
      redirect: "error",
      signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    // Connection refused or timed out: nothing responds.
    return false;
  }
}

/** `GET /session/places`: the ports of the service's public parts, and whether they respond here. */
export function getServicePorts({ bindHost, ports }: Pick<Config, "bindHost" | "ports">): RequestHandler {
  const host = bindHost === undefined || WILDCARDS.has(bindHost) ? "127.0.0.1" : bindHost;
  const addresses: readonly Pick<ServiceAddress, "id" | "port">[] = [
    { id: "api", port: ports.api },
    { id: "widget", port: ports.widget },
    { id: "tool-server", port: ports.tools },
  ];
  return async (_request, response) => {
    const items = await Promise.all(
      addresses.map(async ({ id, port }): Promise<ServiceAddress> => ({
        id,
        port,
        isReachable: await isAlive(host, port),
      })),
    );
    const answer: ServiceAddressesAnswer = { ok: true, items };
    response.set("Cache-Control", "no-store").json(answer);
  };
}

type ViewsContext = Pick<ConsoleContext, "store" | "sessions">;

/** Sends all views of an operator, except those of projects without a role (any more). */
async function answerViews({ store, sessions }: ViewsContext, { operator }: LiveSession, response: Response) {
  const [views, projects] = await Promise.all([store.operatorViews.list(operator.id), sessions.listProjects(operator)]);
  const names = new Set(projects.map(({ name }) => name));
  const items = views.filter(({ project }) => project === null || names.has(project));
  const answer: SavedViewsAnswer = { ok: true, items };
  response.set("Cache-Control", "no-store").json(answer);
}

/** `GET /session/views`: the inbox views that the operator has saved. */
export function listSavedViews(context: ViewsContext): RequestHandler {
  return async (_request, response) => answerViews(context, sessionOf(response), response);
}

/**
 * `PUT /session/views`: stores a view, replacing the one with the same name. Also throws invalid_request if there are
 * too many, and project_mismatch for a project without a role.
 */
export function putSavedView(context: ViewsContext): RequestHandler {
  const { store, sessions } = context;
  return async (request, response) => {
    const session = sessionOf(response);
    const input = await readInput(request, savedViewSchema, "The view");
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

/** `DELETE /session/views?name=`: deletes a view. Throws invalid_request, and not_found if there is none. */
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
