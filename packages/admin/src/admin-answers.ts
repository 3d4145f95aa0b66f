import type { ListPage } from "@svc/contracts";
import type { Response } from "express";

/** What an answer with one object says besides. */
interface ItemOptions {
  /** Address of the object that was made: 201 and `Location`. */
  location?: string;
  /** Its version, for the `ETag`. */
  version?: number;
}

/** Answers `{"ok":true,"item":{…}}`. */
export function sendItem(response: Response, item: object, { location, version }: ItemOptions = {}): void {
  response.status(location === undefined ? 200 : 201).setHeader("Cache-Control", "no-store");
  if (location !== undefined) response.setHeader("Location", location);
  if (version !== undefined) response.setHeader("ETag", `"${version}"`);
  response.json({ ok: true, item });
}

/** Answers `{"ok":true,"items":[…],"nextCursor":…}`. */
export function sendList(response: Response, { items, nextCursor }: ListPage<object>): void {
  response.setHeader("Cache-Control", "no-store");
  response.json({ ok: true, items, nextCursor });
}
