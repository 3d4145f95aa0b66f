/** Names this tab of the browser, so that the server tells several of one person apart. Also without a secure context. */
export const TAB_NAME = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");
