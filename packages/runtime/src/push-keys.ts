import { makePushKeys } from "@svc/outbound";
import type { PushKeys, PushSender } from "@svc/outbound";
import type { Store } from "@svc/store";
import { StartError } from "./open-resources.ts";
import type { Config } from "./load-config.ts";

/**
 * Returns the keys by which push services recognize this installation; creates them on first use. They never change:
 * browsers subscribe to their public key. Throws StartError if they were sealed with another secret key.
 */
export async function readPushKeys({ sealer, pushSubscriptions }: Store): Promise<PushKeys> {
  const made = await makePushKeys();
  const stored = await pushSubscriptions.ensureKeys(() => ({ ...made, privateKey: sealer.seal(made.privateKey) }));
  const privateKey = sealer.open(stored.privateKey);
  if (privateKey === null)
    throw new StartError("The keys for push notifications cannot be decrypted with SVC_SECRET_KEY.");
  return { publicKey: stored.publicKey, privateKey };
}

/** Contact for push services: the sender of emails, else the public URL of the console. */
const contactOf = ({ email, consoleUrl }: Pick<Config, "email" | "consoleUrl">) =>
  email === undefined ? consoleUrl.replace(/^http:/, "https:") : `mailto:${email.from.address}`;

/** Returns the keys and the contact of this installation for push services. Throws as `readPushKeys`. */
export const readPushSender = async (
  store: Store,
  config: Pick<Config, "email" | "consoleUrl">,
): Promise<PushSender> => ({ keys: await readPushKeys(store), subject: contactOf(config) });
