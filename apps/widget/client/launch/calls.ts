/** The calls of `window.svcWidget`, by name: what a stub may have kept from before the script came. */
export const CALLS = [
  "open",
  "close",
  "toggle",
  "destroy",
  "identify",
  "logout",
  "setLocale",
  "setTheme",
  "send",
  "on",
  "off",
] as const;
