const SECRET_BYTES = 32;

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** Makes a webhook secret as Standard Webhooks writes them: `whsec_` and the base64 of 32 random bytes. */
export const makeWebhookSecret = (): string => `whsec_${base64(randomBytes(SECRET_BYTES))}`;

/** Makes a secret of 32 random bytes, in hex. */
export const makeIdentitySecret = (): string =>
  [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const WIDGET_KEY_BYTES = 24;

/** Makes a key of the widget. It stands in pages, so it is no secret; it only has to be another one each time. */
export const makeWidgetKey = (): string =>
  `wk_${base64(randomBytes(WIDGET_KEY_BYTES)).replaceAll("+", "-").replaceAll("/", "_")}`;
