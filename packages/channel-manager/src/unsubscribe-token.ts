import { timingSafeEqual } from "node:crypto";
import { asProjectId } from "@svc/store";
import type { ProjectId, Sealer } from "@svc/store";

/** The customer whose emails an unsubscription ends. */
export interface Unsubscriber {
  project: ProjectId;
  customerId: string;
  /** Hash of the address that received the email: the customer may have another one when the link is opened. */
  addressHash: string;
}

/** Returns the keyed hash by which an email address is recognized without being stored: 16 hexadecimal digits. */
export const hashAddress = (sealer: Sealer, address: string): string =>
  sealer.fingerprint(`email ${address.toLowerCase()}`);

const UUID_BYTES = 16;
const IDS_BYTES = 2 * UUID_BYTES;
const HASH_BYTES = 8;
const TOKEN_BYTES = IDS_BYTES + 2 * HASH_BYTES;

const uuidBytes = (id: string) => Buffer.from(id.replaceAll("-", ""), "hex");
const uuidOf = (bytes: Buffer) => bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** Signature that only this installation can create. */
const signatureOf = (sealer: Sealer, { project, customerId, addressHash }: Unsubscriber) =>
  Buffer.from(sealer.fingerprint(`unsubscribe ${project} ${customerId} ${addressHash}`), "hex");

/** Returns the part of a URL that unsubscribes a customer. It does not expire and cannot be guessed. */
export const makeUnsubscribeToken = (sealer: Sealer, who: Unsubscriber): string =>
  Buffer.concat([
    uuidBytes(who.project),
    uuidBytes(who.customerId),
    Buffer.from(who.addressHash, "hex"),
    signatureOf(sealer, who),
  ]).toString("base64url");

/** Returns the customer whom a token unsubscribes; null if this installation has not created it. */
export function readUnsubscribeToken(sealer: Sealer, token: string): Unsubscriber | null {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== TOKEN_BYTES || bytes.toString("base64url") !== token) return null;
  const who = {
    project: asProjectId(uuidOf(bytes.subarray(0, UUID_BYTES))),
    customerId: uuidOf(bytes.subarray(UUID_BYTES, IDS_BYTES)),
    addressHash: bytes.subarray(IDS_BYTES, IDS_BYTES + HASH_BYTES).toString("hex"),
  };
  return timingSafeEqual(bytes.subarray(IDS_BYTES + HASH_BYTES), signatureOf(sealer, who)) ? who : null;
}
