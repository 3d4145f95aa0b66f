export * from "./audit.ts";
export { audited, isAudited } from "./audited.ts";
export { createAgent, deleteAgent, executeAgent, getAgent, listAgents, updateAgent } from "./agents.ts";
export type { ExecuteDeps } from "./agents.ts";
export {
  createCannedReply,
  deleteCannedReply,
  getCannedReply,
  listCannedReplies,
  renderCannedReply,
  updateCannedReply,
} from "./canned-replies.ts";
export {
  addCustomerNote,
  blockCustomer,
  deleteCustomerNote,
  getCustomer,
  listCustomers,
  mergeCustomer,
  unblockCustomer,
  updateCustomer,
} from "./customers.ts";
export { getChannel, listChannels, setChannelEnabled, updateChannel } from "./channels.ts";
export * from "./dead-letters.ts";
export * from "./documents.ts";
export * from "./hooks.ts";
export { createMappingCache, mapBody } from "./map-body.ts";
export type { MappedBody } from "./map-body.ts";
export {
  addArticleImage,
  createArticle,
  deleteArticle,
  getArticle,
  getArticleImage,
  getArticleVersion,
  listArticles,
  listArticleVersions,
  publishArticle,
  restoreArticleVersion,
  updateArticle,
} from "./articles.ts";
export { getGap, listGaps, updateGap, writeGapArticle } from "./gaps.ts";
export * from "./initialize.ts";
export { createKb, deleteKb, getKb, listKbs, searchKb, searchKbs, updateKb } from "./kbs.ts";
export { requireScopeOf } from "./operation.ts";
export type { ExpectedVersions, ItemResult, OperationArguments, OperationOf } from "./operation.ts";
export {
  SecretKeyMissingError,
  createKey,
  ensureLocalKey,
  ensureLocalSecretKey,
  getKey,
  listKeys,
  localKeyFile,
  localSecretKeyFile,
  readLocalKey,
  readLocalSecretKey,
  revokeKey,
  revokeLocalKeys,
  rotateKey,
  writePrivateFile,
} from "./keys.ts";
export * from "./models.ts";
export * from "./issues.ts";
export * from "./operators.ts";
export * from "./privacy.ts";
export * from "./projects.ts";
export * from "./proposals.ts";
export * from "./tags.ts";
export {
  createWebhook,
  deleteWebhook,
  getDelivery,
  getWebhook,
  listDeliveries,
  listWebhooks,
  replayDelivery,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from "./webhooks.ts";
export { generateWebhookSecret, readWebhookEvent, setWebhookSecret } from "./webhook-events.ts";
export { replayAgent, summarizeReplay } from "./replay.ts";
export {
  addNote,
  approveDraft,
  assignTicket,
  editDraft,
  regenerateDraft,
  rejectDraft,
  reopenTicket,
  snoozeTicket,
  unsnoozeTicket,
  replyToTicket,
  rerouteTicket,
  resolveTicket,
  retryTicket,
  reviewTicket,
  takeOverTicket,
  unassignTicket,
} from "./reviews.ts";
export type { ReviewDeps } from "./reviews.ts";
export * from "./test-channel.ts";
export { exportReport, getReport } from "./reports.ts";
export * from "./stats.ts";
export {
  addReplyFile,
  countTickets,
  getTicket,
  getTicketFile,
  getTicketHistory,
  listTickets,
  updateTicket,
} from "./tickets.ts";
export type { ReplyFileUpload } from "./tickets.ts";
export * from "./transcript.ts";
export * from "./tool-calls.ts";
