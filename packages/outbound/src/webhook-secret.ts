const PREFIX = "whsec_";

/** RFC 4648 section 4, with padding. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Whether a text can be a webhook secret: not empty, and base64 after `whsec_` where it begins so.
 * For the check of settings, so that a bad secret is refused when it is set and not when it should sign.
 */
export function isWebhookSecret(secret: string): boolean {
  return secret.startsWith(PREFIX) ? secret !== PREFIX && BASE64.test(secret.slice(PREFIX.length)) : secret !== "";
}

/**
 * The key bytes of a secret for Standard Webhooks: base64-decoded after `whsec_`, else the UTF-8 bytes.
 * @throws TypeError when the text is no webhook secret; the text itself is not in the message.
 */
export function webhookKeyOf(secret: string): Buffer {
  if (!isWebhookSecret(secret)) {
    throw new TypeError("The webhook secret is not valid: it is empty, or the part after whsec_ is not base64.");
  }
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), "base64") : Buffer.from(secret, "utf8");
}
