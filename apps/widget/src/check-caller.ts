import { createHash, timingSafeEqual } from "node:crypto";
import { ServiceError } from "@svc/contracts";
import type { WidgetSettings } from "@svc/contracts";
import { isOriginAllowed } from "./is-origin-allowed.ts";

const CHALLENGE = 'Bearer realm="svc"';

const hash = (text: string) => createHash("sha256").update(text).digest();

/** True when this is the widget's key. Without a key in the settings none is. */
export function isWidgetKey({ apiKey }: WidgetSettings, key: string): boolean {
  return apiKey !== null && timingSafeEqual(hash(apiKey), hash(key));
}

/** Throws missing_key or invalid_key. */
export function checkKey(settings: WidgetSettings, key: string | undefined): asserts key is string {
  if (key === undefined || key === "") {
    throw new ServiceError("missing_key", "Send the widget's key in the X-Api-Key header, or as apiKey of a socket.", {
      headers: { "WWW-Authenticate": CHALLENGE },
    });
  }
  if (isWidgetKey(settings, key)) return;
  throw new ServiceError(
    "invalid_key",
    "Invalid widget key. Use the key from the widget's settings in the page's tag.",
    {
      headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` },
    },
  );
}

/** Throws origin_not_allowed for a page of a site that is not on the list. */
export function checkOrigin({ allowedOrigins }: WidgetSettings, origin: string | undefined): void {
  if (isOriginAllowed(origin, allowedOrigins)) return;
  throw new ServiceError(
    "origin_not_allowed",
    "This website is not allowed to use the widget. An administrator can add its origin to allowedOrigins.",
  );
}
