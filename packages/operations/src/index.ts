export { createAgent, deleteAgent, executeAgent, getAgent, listAgents, updateAgent } from "./agents.ts";
export { listChannels, setChannelEnabled } from "./channels.ts";
export type { ChannelItem } from "./channels.ts";
export { listDeadLetters, retryDeadLetter } from "./dead-letters.ts";
export { getDelivery, listDeliveries, replayDelivery } from "./deliveries.ts";
export type { DeliveryListInput } from "./deliveries.ts";
export {
  addDocuments,
  addFiles,
  deleteDocument,
  getDocument,
  getImport,
  listDocuments,
  listImports,
} from "./documents.ts";
export type { DocumentListInput, IngestDeps, QueuedDocument, UploadedFile } from "./documents.ts";
export { FIRST_AGENT, initialize } from "./initialize.ts";
export type { Initialized } from "./initialize.ts";
export { createKb, deleteKb, getKb, listKbs, requireKb, searchKb, updateKb } from "./kbs.ts";
export type { ExpectedVersions } from "./kbs.ts";
export { createKey, getKey, listKeys, revokeKey, rotateKey } from "./keys.ts";
export { ensureLocalKey, localKeyFile, readLocalKey, revokeLocalKeys } from "./local-key.ts";
export { ensureLocalSecretKey, readLocalSecretKey } from "./local-secret-key.ts";
export { createProject, getProject, listProjects } from "./projects.ts";
export { generateWebhookSecret, setWebhookSecret } from "./webhook-secret.ts";
export type { WebhookSecretState } from "./webhook-secret.ts";
