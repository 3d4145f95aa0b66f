export { IMPORTED_KEY_MIN_CHARS, generateApiKey, hashApiKey, prefixOfApiKey } from "./api-key.ts";
export { createAuthenticator, readApiKey } from "./authenticate.ts";
export type { AdmitKey, Authenticate, Credentials, FindNetwork, KnownKey } from "./authenticate.ts";
export { ensureConfiguredAdminKey, issueKey } from "./issue-key.ts";
export { hashPassword, verifyPassword } from "./password.ts";
export { isAdministrator, localAdministrator, requireScope } from "./principal.ts";
export type { Principal } from "./principal.ts";
