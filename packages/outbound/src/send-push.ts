import type { AddressGuard } from "./address-guard.ts";
import { guardedRequest } from "./guarded-request.ts";
import { BlockedAddressError } from "./outbound-errors.ts";

/** Subscription of a browser (Push API). */
export interface PushTarget {
  endpoint: string;
  p256dh: string;
  auth: string;
}

/** Keys by which push services recognize the sender (RFC 8292), base64url. */
export interface PushKeys {
  publicKey: string;
  privateKey: string;
}

/** A push notification. */
export interface PushMessage {
  /** At most about 3,000 bytes. Only the browser can decrypt it (RFC 8291). */
  payload: string;
  /** Seconds that the push service stores it for a browser that is offline. */
  ttlSeconds: number;
  /**
   * Replaces a notification with the same topic that is stored at the push service: at most 32 characters of base64url.
   */
  topic: string;
}

/** A push notification that was not accepted. */
export class PushError extends Error {
  /** True if the subscription has ended and the browser can no longer be reached. */
  readonly isGone: boolean;
  /** True if another attempt cannot succeed. */
  readonly isFinal: boolean;

  constructor(message: string, { isGone = false, isFinal = isGone }: { isGone?: boolean; isFinal?: boolean } = {}) {
    super(message);
    this.name = "PushError";
    this.isGone = isGone;
    this.isFinal = isFinal;
  }
}

const TIMEOUT_MS = 5_000;
/** Statuses after which the same request may succeed later. */
const isTemporary = (status: number) => status === 408 || status === 429 || status >= 500;

// Loaded on first use.
const loadLibrary = async () => (await import("web-push")).default;

/** Returns new keys. */
export const makePushKeys = async (): Promise<PushKeys> => (await loadLibrary()).generateVAPIDKeys();

/**
 * Returns the encrypted and signed request. Throws PushError, final: the subscription has ended if nothing can be encrypted
 * for it.
 */
async function describeRequest(target: PushTarget, message: PushMessage, { keys, subject }: PushSender) {
  const library = await loadLibrary();
  try {
    library.encrypt(target.p256dh, target.auth, message.payload, "aes128gcm");
  } catch {
    throw new PushError("the browser's keys are not valid", { isGone: true });
  }
  const subscription = { endpoint: target.endpoint, keys: { p256dh: target.p256dh, auth: target.auth } };
  try {
    return library.generateRequestDetails(subscription, message.payload, {
      vapidDetails: { subject, ...keys },
      TTL: message.ttlSeconds,
      topic: message.topic,
      urgency: "high",
      contentEncoding: "aes128gcm",
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PushError(`the request could not be signed: ${reason}`, { isFinal: true });
  }
}

/** Sender of push notifications. */
export interface PushSender {
  keys: PushKeys;
  /** Contact for push services: a URL with `mailto:` or `https:`. */
  subject: string;
}

/** Sends a push notification to the push service of a browser. Throws PushError. */
export async function sendPush(
  guard: AddressGuard,
  sender: PushSender,
  { target, message }: { target: PushTarget; message: PushMessage },
): Promise<void> {
  const { endpoint, headers, body } = await describeRequest(target, message, sender);
  let status: number;
  try {
    ({ status } = await guardedRequest(guard, {
      method: "POST",
      url: endpoint,
      headers,
      ...(body === null ? {} : { body }),
      timeoutMs: TIMEOUT_MS,
      // The status is enough; a large error page would otherwise hide it.
      maxResponseBytes: null,
    }));
  } catch (error) {
    const isFinal = error instanceof BlockedAddressError;
    throw new PushError(`the push service is unreachable: ${error instanceof Error ? error.name : "unknown error"}`, {
      isFinal,
    });
  }
  if (status >= 200 && status < 300) return;
  // RFC 8030, section 7.3: the subscription has expired; others respond with 410 to a cancelled one.
  const isGone = status === 404 || status === 410;
  throw new PushError(`the push service responded with ${status}`, { isGone, isFinal: isGone || !isTemporary(status) });
}
