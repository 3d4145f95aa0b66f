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
export * from "./operator-session.ts";
