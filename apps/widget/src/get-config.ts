import { createHash } from "node:crypto";
import { ServiceError } from "@svc/contracts";
import type { WidgetConfigAnswer, WidgetSettings } from "@svc/contracts";
import type { RequestHandler } from "express";
import { isWidgetKey } from "./check-caller.ts";
import { countFailure } from "./count-use.ts";
import { clientAddress, hasEtag } from "@svc/http";
import { countCall } from "./read-visitor.ts";
import type { WidgetContext } from "./widget-context.ts";

/** Languages that are written from right to left, of those that a site may name. */
const RIGHT_TO_LEFT = new Set(["ar", "fa", "he", "ps", "ur", "yi"]);
const KEPT_SECONDS = 60;

/** What a page may know of the settings. */
export function configAnswer(settings: WidgetSettings): WidgetConfigAnswer {
  const { theme, color, position, locale, title, greeting, strings, features, requireIdentity } = settings;
  const [language = ""] = locale.toLowerCase().split("-", 1);
  return {
    theme,
    color,
    position,
    locale,
    dir: RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr",
    title,
    greeting,
    strings,
    features: { ...features, identity: requireIdentity },
  };
}

/** `GET /api/widget/config/:apiKey`. */
export function getConfig({ queues, readSite }: WidgetContext): RequestHandler {
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
    const body = JSON.stringify(configAnswer(site.settings));
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
