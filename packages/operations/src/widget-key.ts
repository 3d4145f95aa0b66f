import { randomBytes } from "node:crypto";

const KEY_BYTES = 24;

/** Makes a key for the widget. It stands in every page that has the widget, so that it is no secret. */
export function generateWidgetKey(): string {
  return `wk_${randomBytes(KEY_BYTES).toString("base64url")}`;
}
