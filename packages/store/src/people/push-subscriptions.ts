import type { Sealed } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import { statements } from "../sql.ts";

/** Data of a browser's subscription, with which it can be notified (Push API). */
export interface PushSubscriptionKeys {
  endpoint: string;
  /** Public key, base64url. */
  p256dh: string;
  /** Authentication secret, base64url. */
  auth: string;
}

/** A browser that gets notifications, and its operator. */
export interface PushDevice extends PushSubscriptionKeys {
  /** As stored: `notificationSettingsSchema` adds the defaults. */
  notifications: unknown;
  isDisabled: boolean;
  /** True if the operator has a ticket open in the console. */
  isOnline: boolean;
}

/** Keys of the installation for push services (RFC 8292). */
export interface StoredPushKeys {
  /** Base64url. */
  publicKey: string;
  privateKey: Sealed;
}

/** Browsers of an operator. */
const MAX_COUNT = 20;

const sql = statements("people/push-subscriptions", { maxCount: MAX_COUNT, goneSeconds: 45 });

/** Adds a browser of an operator, or takes it over from another one. False if the operator has 20 others. */
export const put = (db: Db, operatorId: string, keys: PushSubscriptionKeys): Promise<boolean> =>
  sql.put.any(db, { id: newId(), operatorId, ...keys });

/** Removes a browser of an operator. */
export const removeOf = (db: Db, operatorId: string, endpoint: string): Promise<void> =>
  sql.removeOf.exec(db, { operatorId, endpoint });

/** True if a browser gets the notifications of this operator. */
export const isOf = (db: Db, operatorId: string, endpoint: string): Promise<boolean> =>
  sql.isOf.any(db, { operatorId, endpoint });

/** Removes a browser whose subscription has ended. */
export const remove = (db: Db, id: string): Promise<void> => sql.remove.exec(db, { id });

/** Returns a browser with its operator; null if there is none. */
export const findDevice = (db: Db, id: string) => sql.findDevice.one<PushDevice>(db, { id });

/** Returns the keys of the installation for push services: the stored ones, or those of `make`, which it stores. */
export async function ensureKeys(db: Db, make: () => StoredPushKeys): Promise<StoredPushKeys> {
  const read = async () => (await sql.readKeys.one<{ keys: StoredPushKeys }>(db))?.keys;
  const stored = await read();
  if (stored !== undefined) return stored;
  await sql.setKeys.run(db, { keys: JSON.stringify(make()) });
  const keys = await read();
  if (keys === undefined) throw new Error("the keys for push services were not found after they were stored");
  return keys;
}
