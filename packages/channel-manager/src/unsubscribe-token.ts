import { timingSafeEqual } from "node:crypto";
import { asProjectId } from "@svc/store";
import type { ProjectId, Sealer } from "@svc/store";

/** Whose emails an unsubscription ends. */
export interface Unsubscriber {
  project: ProjectId;
  customerId: string;
}

const UUID_BYTES = 16;
const TOKEN_BYTES = 40;

const uuidBytes = (id: string) => Buffer.from(id.replaceAll("-", ""), "hex");
const uuidOf = (bytes: Buffer) => bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** What only this installation can make. */
const signatureOf = (sealer: Sealer, { project, customerId }: Unsubscriber) =>
  Buffer.from(sealer.fingerprint(`unsubscribe ${project} ${customerId}`), "hex");

/** Returns the part of a URL that unsubscribes a customer. It does not expire and cannot be guessed. */
export const makeUnsubscribeToken = (sealer: Sealer, who: Unsubscriber): string =>
  Buffer.concat([uuidBytes(who.project), uuidBytes(who.customerId), signatureOf(sealer, who)]).toString("base64url");

/** Returns who a token unsubscribes; null if this installation has not made it. */
export function readUnsubscribeToken(sealer: Sealer, token: string): Unsubscriber | null {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== TOKEN_BYTES || bytes.toString("base64url") !== token) return null;
  const project = asProjectId(uuidOf(bytes.subarray(0, UUID_BYTES)));
  const who = { project, customerId: uuidOf(bytes.subarray(UUID_BYTES, 2 * UUID_BYTES)) };
  return timingSafeEqual(bytes.subarray(2 * UUID_BYTES), signatureOf(sealer, who)) ? who : null;
}
