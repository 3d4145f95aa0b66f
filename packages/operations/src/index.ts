export { sendTestEmail } from "./email.ts";
export { listAuditEvents, verifyAudit } from "./audit.ts";
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
export type { CannedReplyListInput } from "./canned-replies.ts";
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
export { listDeadLetters, retryDeadLetter } from "./dead-letters.ts";
export type { DeadLetterItem } from "./dead-letters.ts";
export { getDelivery, listDeliveries, replayDelivery } from "./deliveries.ts";
export type { DeliveryListInput } from "./deliveries.ts";
export {
  addDocuments,
  addFiles,
  deleteDocument,
  deleteImport,
  getDocument,
  getImport,
  getPassage,
  listDocuments,
  listImports,
  requireUploadTarget,
} from "./documents.ts";
export type { DocumentListInput, IngestDeps, QueuedDocument, UploadedFile } from "./documents.ts";
export {
  createHook,
  deleteHook,
  getHook,
  listHookBodies,
  listHooks,
  retryHookBody,
  rotateHookSecret,
  testHook,
  updateHook,
} from "./hooks.ts";
export type { ReceiveHookBody } from "./hooks.ts";
export { createMappingCache } from "./map-body.ts";
export type { MappingCache } from "./map-body.ts";
export { mapBody } from "./map-body.ts";
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
export type { GapListInput } from "./gaps.ts";
export { DEMO_KB, FIRST_AGENT, initialize } from "./initialize.ts";
export type { InitializeResult } from "./initialize.ts";
export { createKb, deleteKb, getKb, listKbs, searchKb, searchKbs, updateKb } from "./kbs.ts";
export { requireScopeOf } from "./operation.ts";
export type { ExpectedVersions, ItemResult, OperationArguments, OperationOf, OperationResult } from "./operation.ts";
export { createKey, getKey, listKeys, revokeKey, rotateKey } from "./keys.ts";
export { asModelPull, cancelPull, findPull, listModels, pullModel } from "./models.ts";
export type { RequestedModel, ModelDeps } from "./models.ts";
export {
  findModelServers,
  getModelSettings,
  removeModelSettings,
  setModelSettings,
  testModelSettings,
} from "./model-settings.ts";
export type { ModelSettingsDeps } from "./model-settings.ts";
export { submitIssue } from "./issues.ts";
export type { IssueDeps, IssueWait } from "./issues.ts";
export {
  ensureLocalKey,
  localKeyFile,
  readLocalKey,
  revokeLocalKeys,
  SecretKeyMissingError,
  ensureLocalSecretKey,
  localSecretKeyFile,
  readLocalSecretKey,
  writePrivateFile,
} from "./local-key.ts";
export { summarizeNotes } from "./notes.ts";
export type { NotesDeps } from "./notes.ts";
export {
  createOperator,
  createOperatorLink,
  deleteOperator,
  findOperator,
  getOperator,
  listOperators,
  makeFirstLink,
  updateOperator,
} from "./operators.ts";
export { erasePersonalData, exportPersonalData } from "./privacy.ts";
export type { PersonalData } from "./privacy.ts";
export { createProject, deleteProject, getProject, listProjects, updateProject } from "./projects.ts";
export {
  acceptProposal,
  createProposal,
  getProposal,
  listProposals,
  proposeFromEdit,
  rejectProposal,
} from "./proposals.ts";
export type { OperatorEdit, ProposalListInput } from "./proposals.ts";
export { createTag, deleteTag, getTag, listTags, mergeTag, updateTag } from "./tags.ts";
export { readWebhookEvent } from "./webhook-event.ts";
export {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from "./webhooks.ts";
export { generateWebhookSecret, setWebhookSecret } from "./webhook-secret.ts";
export type { WebhookSecretState } from "./webhook-secret.ts";
export { replayAgent } from "./replay.ts";
export { summarizeReplay } from "./compare-answers.ts";
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
export { addReplyFile } from "./tickets.ts";
export type { ReplyFileUpload } from "./tickets.ts";
export { testChannel } from "./test-channel.ts";
export { sendTestMessage } from "./test-channel.ts";
export { exportReport, getReport } from "./reports.ts";
export { getAnswerStats, getQueues, getStats } from "./stats.ts";
export { getTicketHistory } from "./tickets.ts";
export { countTickets, getTicket, getTicketFile, listTickets, updateTicket } from "./tickets.ts";
export { getTicketTranscript } from "./transcript.ts";
export { approveToolCall, decideToolCall, getToolCall, listToolCalls, rejectToolCall } from "./tool-calls.ts";
export type { ToolCallListInput } from "./tool-calls.ts";
export { exportUsage, getUsage } from "./usage.ts";
