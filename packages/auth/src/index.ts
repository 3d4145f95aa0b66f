export {
  IMPORTED_KEY_MIN_CHARS,
  generateApiKey,
  hashApiKey,
  isGuessableKey,
  prefixOfApiKey,
  ensureConfiguredAdminKey,
  issueKey,
} from "./api-key.ts";
export { createAuthenticator, readApiKey } from "./authenticate.ts";
export type { AdmitKey, Authenticate, Credentials, FindNetwork, KnownKey } from "./authenticate.ts";
export { createSessionCheck, notSignedIn, csrfTokenOf, generateToken, isCsrfTokenOf } from "./operator-session.ts";
export type { LiveSession, SessionCheck } from "./operator-session.ts";
export { hashPassword, verifyPassword } from "./password.ts";
export {
  isAdministrator,
  localAdministrator,
  requireScope,
  ROLE_SCOPES,
  administersAll,
  scopesOfRoles,
} from "./principal.ts";
export type { Principal } from "./principal.ts";
export {
  auditSession,
  beginSession,
  changePassword,
  endSession,
  getLink,
  makeLink,
  signIn,
  useLink,
} from "./sign-in.ts";
export type { SignInOrigin } from "./sign-in.ts";
