export {
  IMPORTED_KEY_MIN_CHARS,
  generateApiKey,
  hashApiKey,
  isGuessableKey,
  prefixOfApiKey,
  ensureConfiguredAdminKey,
  hashPassword,
  issueKey,
  verifyPassword,
} from "./credentials.ts";
export * from "./authenticate.ts";
export { createSessionCheck, notSignedIn, csrfTokenOf, generateToken, isCsrfTokenOf } from "./operator-session.ts";
export type { LiveSession, SessionCheck } from "./operator-session.ts";
export * from "./operator-session.ts";
