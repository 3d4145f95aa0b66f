import type { IRouter, Request, RequestHandler, Response } from "express";
import { auditSession, changePassword, csrfTokenOf, endSession, getLink, signIn, useLink } from "@svc/auth";
import type { SignInOrigin } from "@svc/auth";
import {
  SESSION_LIMITS,
  dutySchema,
  linkUseSchema,
  notificationSettingsSchema,
  passwordChangeSchema,
  publicProfileSchema,
  signInSchema,
  ServiceError,
  pushEndpointSchema,
  pushSubscriptionSchema,
} from "@svc/contracts";
import type { LinkAnswer, NotificationsAnswer, SessionAnswer, PushAnswer } from "@svc/contracts";
import { clientNetwork, methodNotAllowed } from "@svc/http";
import { readPushKeys } from "@svc/runtime";
import { readInput, sessionOf, signedIn } from "./signed-in.ts";
import type { ConsoleContext } from "./signed-in.ts";
import { accountOf } from "./create-sign-in-limit.ts";

/** Adds the routes with which a browser subscribes its operator to push notifications. */
export function addPushRoutes(routes: IRouter, context: ConsoleContext): void {
  const { store } = context;

  const getKey =
    (): RequestHandler =>
    async ({ query: { endpoint } }, response) => {
      const { publicKey } = await readPushKeys(store);
      const isSubscribed =
        typeof endpoint === "string" && (await store.pushSubscriptions.isOf(sessionOf(response).operatorId, endpoint));
      response.set("Cache-Control", "no-store").json({ ok: true, publicKey, isSubscribed } satisfies PushAnswer);
    };
  const subscribe = (): RequestHandler => async (request, response) => {
    const { endpoint, keys } = await readInput(request, pushSubscriptionSchema, "The subscription");
    const { operatorId } = sessionOf(response);
    if (!(await store.pushSubscriptions.put(operatorId, { endpoint, ...keys }))) {
      throw new ServiceError(
        "invalid_request",
        "You get push notifications in 20 browsers already. Turn off one of them.",
      );
    }
    response.status(204).end();
  };
  const unsubscribe = (): RequestHandler => async (request, response) => {
    const { endpoint } = await readInput(request, pushEndpointSchema, "The subscription");
    await store.pushSubscriptions.removeOf(sessionOf(response).operatorId, endpoint);
    response.status(204).end();
  };

  routes
    .route("/session/push")
    .all(signedIn(context))
    .get(getKey())
    .post(subscribe())
    .delete(unsubscribe())
    .all(methodNotAllowed("GET", "HEAD", "POST", "DELETE"));
}

const linkTokenSchema = linkUseSchema.pick({ token: true });

/** Returns the origin of a request, as stored in the audit log. */
export function signInOriginOf(request: Request, response: Response): SignInOrigin {
  return { network: clientNetwork(request), requestId: String(response.getHeader("X-Request-Id")) };
}

/** Returns the operator and permissions of a session, for its own page. Throws not_signed_in. */
async function describe({ sessions, store }: ConsoleContext, token: string): Promise<SessionAnswer> {
  const { operator, createdAt } = await sessions.getSession(token);
  const { id, name, email, hasPassword, onDuty, roles } = operator;
  return {
    ok: true,
    operator: { id, name, email, hasPassword, onDuty, ...(await store.operators.findProfile(id)), roles },
    projects: await sessions.listProjects(operator),
    isAdministrator: sessions.administersAll(roles),
    csrf: csrfTokenOf(token),
    expiresAt: new Date(createdAt.getTime() + SESSION_LIMITS.totalSeconds * 1_000).toISOString(),
  };
}

/** Sets the cookie of a new session, replacing an older one, and returns the session. */
async function answerSession(
  context: ConsoleContext,
  request: Request,
  response: Response,
  token: string,
): Promise<void> {
  const answer = await describe(context, token);
  context.cookie.set(request, response, token);
  context.devices.add(request, response, accountOf(answer.operator.email));
  response.status(200).set("Cache-Control", "no-store").json(answer);
}

/** Ends the browser's previous session before it starts another one: no token outlives a sign-in. */
export async function endPreviousSession({ cookie, store }: ConsoleContext, request: Request): Promise<void> {
  const token = cookie.read(request);
  if (token !== undefined) await endSession(store, token);
}

/** Adds the routes for signing in and out. Routes without a session come first. */
// oxlint-disable-next-line max-lines-per-function -- a handler of a few lines for each route
export function addSessionRoutes(routes: IRouter, context: ConsoleContext): void {
  const { store, signInLimit, cookie, devices, oidc } = context;
  const check = signedIn(context);

  const postSession = (): RequestHandler => async (request, response) => {
    const input = await readInput(request, signInSchema, "The sign-in");
    const deviceId = devices.find(request, accountOf(input.email));
    const end = await signInLimit.beginPassword(request, input.email, deviceId);
    try {
      const token = await signIn(store, input, signInOriginOf(request, response));
      await endPreviousSession(context, request);
      await answerSession(context, request, response, token);
    } finally {
      end();
    }
  };
  const getSession = (): RequestHandler => async (_request, response) => {
    response.set("Cache-Control", "no-store").json(await describe(context, sessionOf(response).token));
  };
  /** Ends sessions of the operator, among them this one. */
  const signOut =
    (
      action: Parameters<typeof auditSession>[1]["action"],
      remove: (session: ReturnType<typeof sessionOf>) => Promise<unknown>,
    ): RequestHandler =>
    async (request, response) => {
      const session = sessionOf(response);
      await remove(session);
      cookie.clear(request, response);
      response.status(204).set("Cache-Control", "no-store").end();
      const { operatorId } = session;
      await auditSession(store, { action, operatorId, result: "ok" }, signInOriginOf(request, response));
    };
  const deleteSession = signOut("session.sign_out", ({ id }) => store.operatorSessions.remove(id));
  const deleteSessions = signOut("session.sign_out_everywhere", ({ operatorId }) =>
    store.operatorSessions.removeOf(operatorId),
  );
  const postPassword = (): RequestHandler => async (request, response) => {
    const { operator, id: sessionId } = sessionOf(response);
    const input = await readInput(request, passwordChangeSchema, "The change");
    const end = await signInLimit.beginPassword(request, operator.email, sessionId);
    try {
      const token = await changePassword(store, operator, input, signInOriginOf(request, response));
      await answerSession(context, request, response, token);
    } finally {
      end();
    }
  };
  const putProfile = (): RequestHandler => async (request, response) => {
    const input = await readInput(request, publicProfileSchema, "The profile");
    const profile = Object.entries(input).map(([name, value]) => [name, value?.trim()]);
    await store.operators.setProfile(sessionOf(response).operatorId, Object.fromEntries(profile));
    response.set("Cache-Control", "no-store").json(await describe(context, sessionOf(response).token));
  };
  const answerNotifications = (response: Response, stored: object) => {
    const item = notificationSettingsSchema.parse(stored);
    const isStored = Object.keys(stored).length > 0;
    const canSend = context.sendsEmails;
    response.set("Cache-Control", "no-store").json({ ok: true, item, isStored, canSend } satisfies NotificationsAnswer);
  };
  const getNotifications = (): RequestHandler => async (_request, response) => {
    const record = await store.operators.find(sessionOf(response).operatorId);
    answerNotifications(response, record?.notifications ?? {});
  };
  const putNotifications = (): RequestHandler => async (request, response) => {
    const notifications = await readInput(request, notificationSettingsSchema, "The settings");
    await store.operators.update(sessionOf(response).operatorId, { notifications }, null);
    answerNotifications(response, notifications);
  };
  const putDuty = (): RequestHandler => async (request, response) => {
    const { operatorId, token } = sessionOf(response);
    const { onDuty } = await readInput(request, dutySchema, "The change");
    await store.operators.setDuty(operatorId, onDuty);
    const action = onDuty ? "session.on_duty" : "session.off_duty";
    await auditSession(store, { action, operatorId, result: "ok" }, signInOriginOf(request, response));
    response.set("Cache-Control", "no-store").json(await describe(context, token));
  };
  const readLink = (): RequestHandler => async (request, response) => {
    const { token } = await readInput(request, linkTokenSchema, "The link");
    await signInLimit.count(request, "link");
    const { operatorId, email, expiresAt } = await getLink(store, token);
    const kind = operatorId === null ? "first-administrator" : "password";
    const answer: LinkAnswer = { ok: true, kind, email, expiresAt: expiresAt.toISOString() };
    response.status(200).set("Cache-Control", "no-store").json(answer);
  };
  const postLink = (): RequestHandler => async (request, response) => {
    const input = await readInput(request, linkUseSchema, "The link");
    await signInLimit.count(request, "link");
    const token = await useLink(store, input, signInOriginOf(request, response));
    await endPreviousSession(context, request);
    await answerSession(context, request, response, token);
  };

  routes
    .route("/session")
    .post(postSession())
    .get(check, getSession())
    .delete(check, deleteSession)
    .all(methodNotAllowed("GET", "HEAD", "POST", "DELETE"));
  routes.route("/sessions").delete(check, deleteSessions).all(methodNotAllowed("DELETE"));
  routes.route("/session/password").post(check, postPassword()).all(methodNotAllowed("POST"));
  routes.route("/session/profile").put(check, putProfile()).all(methodNotAllowed("PUT"));
  routes
    .route("/session/notifications")
    .get(check, getNotifications())
    .put(check, putNotifications())
    .all(methodNotAllowed("GET", "HEAD", "PUT"));
  routes.route("/session/duty").put(check, putDuty()).all(methodNotAllowed("PUT"));
  routes.route("/link/look").post(readLink()).all(methodNotAllowed("POST"));
  // The page itself has the same path.
  routes.route("/link").post(postLink());
  routes
    .route("/sign-in-ways")
    .get((_request, response) => {
      const way = oidc === null ? null : { name: oidc.name, startUrl: "/oidc/start" };
      response.set("Cache-Control", "no-store").json({ ok: true, password: true, oidc: way });
    })
    .all(methodNotAllowed("GET", "HEAD"));
}
