/** The calls of `window.svcWidget`, by name: those that a stub may have queued before the script loaded. */
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
