import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";

/** Signs a body with a secret like a platform; returns the headers that it sends. */
export type SignHookCall = (secret: string, body: string, at?: Date) => Record<string, string>;

const hmac = (secret: string, text: string, encoding: "hex" | "base64") =>
  createHmac("sha256", secret).update(text, "utf8").digest(encoding);

/** The signatures of the platforms, each as documented by the platform. */
export const HOOK_SIGNERS = {
  github: (secret, body) => ({ "X-Hub-Signature-256": `sha256=${hmac(secret, body, "hex")}` }),
  stripe(secret, body, at = new Date()) {
    const seconds = Math.floor(at.getTime() / 1_000);
    return { "Stripe-Signature": `t=${seconds},v1=${hmac(secret, `${seconds}.${body}`, "hex")}` };
  },
  "standard-webhooks"(secret, body, at = new Date()) {
    const id = "msg_2p8sGkQx0V7H";
    return {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": new Webhook(secret).sign(id, at, body),
    };
  },
  shopify: (secret, body) => ({ "X-Shopify-Hmac-Sha256": hmac(secret, body, "base64") }),
  typeform: (secret, body) => ({ "Typeform-Signature": `sha256=${hmac(secret, body, "base64")}` }),
} as const satisfies Record<string, SignHookCall>;
