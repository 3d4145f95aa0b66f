import type { WIDGET_LIMITS } from "@svc/contracts";

/**
 * The server's limits (`WIDGET_LIMITS`), copied because the browser does not load the schemas; a test compares them.
 */
export const LIMITS: Pick<
  typeof WIDGET_LIMITS,
  "textMaxChars" | "attachmentsMaxCount" | "fileMaxBytes" | "commentMaxChars" | "conversationsMaxCount"
> = {
  textMaxChars: 10_000,
  attachmentsMaxCount: 10,
  fileMaxBytes: 10 * 1024 * 1024,
  commentMaxChars: 2_000,
  conversationsMaxCount: 50,
};
