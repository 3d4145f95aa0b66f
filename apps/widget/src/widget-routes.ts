import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Express, RequestHandler } from "express";
import { describeExpectedReply } from "@svc/channel-manager";
import { prechatFieldSchema, ServiceError, widgetLauncherSchema } from "@svc/contracts";
import type { WidgetConfigAnswer, WidgetConversationsAnswer, WidgetSettings } from "@svc/contracts";
import { clientAddress, hasEtag, methodNotAllowed, sendHealth } from "@svc/http";
import type { HealthSource } from "@svc/http";
import type { Config } from "@svc/runtime";
import { countFailure } from "./count-use.ts";
import { getFile, postFile } from "./file-routes.ts";
import { countCall, crossOrigin, isWidgetKey, readKey, readTickets } from "./find-visitor.ts";
import { postMessage } from "./receive-message.ts";
import { addClientRoutes, addDemoRoutes, isDemoShown } from "./serve-client.ts";
import { SOCKET_PATH } from "./sockets/open-sockets.ts";
import type { Sockets } from "./sockets/open-sockets.ts";
import { getUnsubscribePage, postUnsubscribe } from "./unsubscribe-page.ts";
import { widgetDisabled } from "./widget-context.ts";
import type { WidgetContext } from "./widget-context.ts";

/** `GET /api/widget/conversations`: the visitor's own conversations, newest first, without erased ones. */
function getConversations({ store, queues, readSite }: WidgetContext): RequestHandler {
  return async (request, response) => {
    const site = await readSite();
    const key = await readKey(queues, request, site);
    await countCall(queues, "configReads", { request, response, key, site });
    const chats = await store.visitors.listChats(site.project, readTickets(request, site));
    const items = chats.map(({ place, createdAt, isUnread, author, text, markdown }) => ({
      conversation: place,
      author,
      text,
      markdown,
      at: createdAt.toISOString(),
      unread: isUnread,
    }));
    response.set("Cache-Control", "no-store").json({ ok: true, items } satisfies WidgetConversationsAnswer);
  };
}

/** Disconnects requests that are not complete after `ms`. The time of the response is not limited. */
export function limitBodyTime(ms: number): RequestHandler {
  return (request, response, next) => {
    const timer = setTimeout(() => {
      if (!request.complete) request.destroy();
    }, ms);
    timer.unref();
    response.once("close", () => clearTimeout(timer));
    next();
  };
}

/** Right-to-left languages, of those that a site may choose. */
const RIGHT_TO_LEFT = new Set(["ar", "fa", "he", "ps", "ur", "yi"]);
const KEPT_SECONDS = 60;
/** The launcher of most sites, which needs no separate file. */
const DEFAULT_LAUNCHER = widgetLauncherSchema.parse({});

/** Returns the settings that a page may read, with an operator's expected reply time in its language. */
export function configResponse(settings: WidgetSettings, expectedReply: string): WidgetConfigAnswer {
  const { theme, color, position, locale, title, greeting, strings, features, requireIdentity } = settings;
  const { questions, languages, logo, launcher } = settings;
  const { upload, rating, person, sound, prechat } = features;
  const shown = { upload, rating, person, sound, identity: requireIdentity };
  const [language = ""] = locale.toLowerCase().split("-", 1);
  // A label in one language also needs the launcher's file.
  const texts = [strings, ...Object.values(languages).map((own) => own.strings ?? {})];
  const hasLabel = texts.some((own) => Object.hasOwn(own, "launcher"));
  const isDefault = !hasLabel && isDeepStrictEqual(launcher, DEFAULT_LAUNCHER);
  return {
    theme,
    color,
    position,
    locale,
    dir: RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr",
    title,
    greeting,
    expectedReply,
    strings,
    questions,
    languages,
    logo,
    ...(isDefault ? {} : { launcher }),
    // In one order, whatever the order in which they were chosen.
    features: { ...shown, prechat: prechatFieldSchema.options.filter((field) => prechat.includes(field)) },
  };
}

/** `GET /api/widget/config/:apiKey`. */
function getConfig({ queues, readSite }: WidgetContext): RequestHandler {
  return async (request, response) => {
    const site = await readSite();
    const key = String(request.params["apiKey"]);
    if (!isWidgetKey(site.settings, key)) {
      const error = new ServiceError(
        "not_found",
        "There is no widget with this key. Use the current key in the page's tag.",
      );
      throw await countFailure(queues.counters, clientAddress(request), error);
    }
    await countCall(queues, "configReads", { request, response, key, site });
    const { lang } = request.query;
    const locale = typeof lang === "string" && lang !== "" ? lang : site.settings.locale;
    const body = JSON.stringify(configResponse(site.settings, describeExpectedReply(site.replyTimes, { locale })));
    const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    response.set({
      "Content-Type": "application/json; charset=utf-8",
      "Cache-Control": `max-age=${KEPT_SECONDS}`,
      ETag: etag,
    });
    if (hasEtag(request, etag)) response.status(304).end();
    else response.send(body);
  };
}

const FILES_PATH = "/api/widget/files";
/** Time limit for receiving a body. */
const BODY_MS = 30_000;

/** Additional dependencies of the routes. */
export interface RoutesContext extends WidgetContext, HealthSource {
  config: Config;
  sockets: Sockets;
}

/** Adds only the routes of unsubscribe links, which are in emails that were already sent. */
export function addDisabledRoutes(routes: Express, context: HealthSource & Pick<WidgetContext, "store">): void {
  routes.use((request, response, next) => {
    if (!sendHealth(request.path, response, context)) next();
  });
  routes.use(limitBodyTime(BODY_MS));
  addUnsubscribeRoutes(routes, context);
  routes.use(() => {
    throw widgetDisabled();
  });
}

const addUnsubscribeRoutes = (routes: Express, context: Pick<WidgetContext, "store">) =>
  routes
    .route("/unsubscribe/:token")
    .get(getUnsubscribePage(context))
    .post(postUnsubscribe(context))
    .all(methodNotAllowed("GET", "HEAD", "POST"));

/** Adds every route of the widget's port. */
export function addWidgetRoutes(routes: Express, context: RoutesContext): void {
  const inTime = limitBodyTime(BODY_MS);
  const { config, readSite, sockets } = context;
  routes.use((request, response, next) => {
    if (!sendHealth(request.path, response, context)) next();
  });
  // The port allows a long time for files; nothing else needs it.
  routes.use((request, response, next) => {
    if (request.path === FILES_PATH) next();
    else inTime(request, response, next);
  });
  addClientRoutes(routes, methodNotAllowed("GET", "HEAD"));
  routes.use("/api/widget", crossOrigin(readSite));
  routes.route("/api/widget/config/:apiKey").get(getConfig(context)).all(methodNotAllowed("GET", "HEAD"));
  routes.route("/api/widget/conversations").get(getConversations(context)).all(methodNotAllowed("GET", "HEAD"));
  routes.route("/api/widget/message").post(postMessage(context)).all(methodNotAllowed("POST"));
  routes.route(FILES_PATH).post(postFile(context)).all(methodNotAllowed("POST"));
  routes.route("/api/widget/files/:fileId").get(getFile(context)).all(methodNotAllowed("GET", "HEAD"));
  routes.route(SOCKET_PATH).get(sockets.handler).post(sockets.handler).all(methodNotAllowed("GET", "POST"));
  addUnsubscribeRoutes(routes, context);
  addDemoRoutes(routes, {
    isLocal: isDemoShown(config),
    readKey: async () => (await readSite()).settings.apiKey,
  });
}
