export { addKnowledge } from "./add-knowledge.ts";
export type { AddedKnowledge } from "./add-knowledge.ts";
export { listDeadLetters, retryDeadLetter } from "./dead-letters.ts";
export { initialize } from "./initialize.ts";
export type { Initialized } from "./initialize.ts";
export { ensureLocalKey, localKeyFile, readLocalKey, revokeLocalKeys } from "./local-key.ts";
export { ensureLocalSecretKey, readLocalSecretKey } from "./local-secret-key.ts";
