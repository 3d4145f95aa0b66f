import type { Operation } from "@svc/contracts";
import type { BodyIds } from "./body-ids.ts";
import type { TargetName } from "./endpoint-targets.ts";

/** What the tests of all endpoints need to know about one. */
export interface EndpointRow {
  /** Kind of the objects that the ids in its path and body refer to; absent if there are none. */
  target?: TargetName;
  /** Kind of the objects that its body refers to, if its path refers to none. */
  needs?: TargetName;
  /** A body that works for that target, if the published example does not. */
  body?: (ids: Record<string, string>) => object;
  /**
   * Bodies that would work if the ids of `there` belonged to the key's own project: together they contain every
   * reference that this body can contain, one per body.
   */
  foreignBodies?: (there: BodyIds, own: BodyIds) => readonly object[];
  /** Field names in its body that end like references but refer to no object: ids of callers and of channels. */
  freeIds?: readonly string[];
  /**
   * Status of its error for a valid request here, because tests of all endpoints do not run a service that it needs.
   */
  refusal?: 400;
  /** It needs no key. */
  isPublic?: true;
}

let made = 0;
const name = (what: string) => `${what}-${process.pid}-${++made}`;

/** Fields that identify the sender of a message. */
const PERSON = ["userId", "visitorId", "customerId", "chatId", "channelId"];
const ARTICLE = { title: "Iceland", text: "We ship there." };

/** Rows of the endpoints that need one: public ones, and those whose path or body contains IDs. A test fails without them. */
export const ENDPOINT_ROWS: Partial<Record<Operation, EndpointRow>> = {
  sendMessage: { body: () => ({ text: "hi", mode: "async" }), freeIds: PERSON },
  callHook: { isPublic: true },
  callHookWithSecret: { isPublic: true },
  getHealth: { isPublic: true },
  getOpenApi: { isPublic: true },
  getDocs: { isPublic: true },
  createAgent: {
    body: () => ({ name: name("agent"), enabled: false }),
    foreignBodies: ({ kbId }) => [{ name: name("agent"), enabled: false, kbIds: [kbId] }],
  },
  getAgent: { target: "agent" },
  updateAgent: { target: "agent", foreignBodies: ({ kbId }) => [{ kbIds: [kbId] }] },
  deleteAgent: { target: "agent" },
  executeAgent: { target: "agent" },
  replayAgent: {
    target: "agent",
    foreignBodies: ({ agentId, kbId, ticketId }) => [
      { against: { agentId } },
      { against: { kbIds: [kbId] } },
      { against: { autoThreshold: 0.5 }, ticketIds: [ticketId] },
    ],
  },
  getChannel: { target: "channel" },
  updateChannel: { target: "channel" },
  testChannel: {
    target: "pushingChannel",
    body: () => ({ chatId: name("chat") }),
    freeIds: PERSON,
    refusal: 400,
  },
  sendTestEmail: { body: () => ({ to: "ann@example.com" }), refusal: 400 },
  getDelivery: { target: "delivery" },
  replayDelivery: { target: "delivery" },
  createKb: { body: () => ({ name: name("kb") }) },
  getKb: { target: "kb" },
  updateKb: { target: "kb", body: () => ({ name: name("kb") }) },
  deleteKb: { target: "kb" },
  searchKb: { target: "kb" },
  listDocuments: { target: "kb" },
  addDocuments: { target: "kb" },
  getDocument: { target: "document" },
  deleteDocument: { target: "document" },
  getPassage: { target: "passage" },
  listImports: { target: "kb" },
  getImport: { target: "import" },
  deleteImport: { target: "import" },
  getKey: { target: "key" },
  revokeKey: { target: "key" },
  rotateKey: { target: "key" },
  followPull: { target: "model" },
  pullModel: { target: "model" },
  cancelPull: { target: "modelPull" },
  createProject: { body: () => ({ name: name("project") }) },
  getProject: { target: "project" },
  updateProject: { target: "project", body: () => ({ handoffText: "A person will answer." }) },
  deleteProject: { target: "project", body: ({ name: confirm }) => ({ confirm }) },
  getTicket: { target: "ticketInReview" },
  getTicketFile: { target: "ticketFile" },
  getTicketTranscript: { target: "ticketInReview" },
  updateTicket: { target: "ticketInReview" },
  approveDraft: { target: "ticketInReview" },
  editDraft: { target: "ticketInReview" },
  rejectDraft: { target: "ticketInReview" },
  regenerateDraft: { target: "ticketInReview" },
  takeOverTicket: { target: "ticketInReview" },
  assignTicket: { target: "ticketInReview" },
  unassignTicket: { target: "assignedTicket" },
  addNote: { target: "ticketInReview" },
  replyToTicket: { target: "ticketInReview" },
  getTicketHistory: { target: "ticketInReview" },
  addReplyFile: { target: "ticketInReview" },
  rerouteTicket: { target: "ticketInReview", foreignBodies: ({ agentId }) => [{ agentId }] },
  resolveTicket: { target: "ticketInReview" },
  reopenTicket: { target: "resolvedTicket" },
  snoozeTicket: { target: "ticketInReview" },
  unsnoozeTicket: { target: "ticketInReview" },
  retryTicket: { target: "failedTicket" },
  exportPersonalData: { freeIds: PERSON },
  erasePersonalData: { freeIds: PERSON },
  createHook: { body: () => ({ name: name("hook"), preset: "github" }) },
  getHook: { target: "hook" },
  updateHook: { target: "hook" },
  deleteHook: { target: "hook" },
  rotateHookSecret: { target: "hook" },
  listHookBodies: { target: "hook" },
  retryHookBody: { target: "hookBody" },
  testHook: { target: "hook" },
  getGap: { target: "gap" },
  updateGap: { target: "gap" },
  writeGapArticle: {
    target: "gap",
    body: ({ kbId }) => ({ kbId, ...ARTICLE }),
    foreignBodies: ({ kbId }) => [{ kbId, ...ARTICLE }],
  },
  createArticle: {
    body: ({ kbId }) => ({ kbId, ...ARTICLE }),
    needs: "kb",
    foreignBodies: ({ kbId, gapId }, own) => [
      { kbId, ...ARTICLE },
      { kbId: own.kbId, gapId, ...ARTICLE },
    ],
  },
  getArticle: { target: "article" },
  updateArticle: { target: "article" },
  publishArticle: { target: "article" },
  deleteArticle: { target: "article" },
  listArticleVersions: { target: "article" },
  getArticleVersion: { target: "article" },
  restoreArticleVersion: { target: "article" },
  addArticleImage: { target: "article" },
  getArticleImage: { target: "article" },
  createProposal: {
    body: ({ kbId }) => ({ kbId, ...ARTICLE }),
    needs: "kb",
    foreignBodies: ({ kbId, documentId, ticketId }, own) => [
      { kbId, ...ARTICLE },
      { kbId: own.kbId, documentId, ...ARTICLE },
      { kbId: own.kbId, ticketId, ...ARTICLE },
      { ticketId },
    ],
  },
  getProposal: { target: "proposal" },
  acceptProposal: { target: "proposal" },
  rejectProposal: { target: "proposal" },
  createCannedReply: { body: () => ({ name: name("reply"), text: "Hello" }) },
  getCannedReply: { target: "cannedReply" },
  updateCannedReply: { target: "cannedReply" },
  deleteCannedReply: { target: "cannedReply" },
  renderCannedReply: {
    target: "cannedReply",
    body: ({ ticketId }) => ({ ticketId }),
    foreignBodies: ({ ticketId }) => [{ ticketId }],
  },
  createTag: { body: () => ({ name: name("tag") }) },
  getTag: { target: "tag" },
  updateTag: { target: "tag" },
  deleteTag: { target: "tag" },
  mergeTag: {
    target: "tag",
    body: ({ otherId }) => ({ tagId: otherId }),
    foreignBodies: ({ tagId }) => [{ tagId }],
  },
  getCustomer: { target: "customer" },
  updateCustomer: { target: "customer", freeIds: ["externalId"] },
  mergeCustomer: {
    target: "customer",
    body: ({ otherId }) => ({ customerId: otherId }),
    foreignBodies: ({ customerId }) => [{ customerId }],
  },
  blockCustomer: { target: "customer" },
  unblockCustomer: { target: "customer" },
  addCustomerNote: { target: "customer" },
  deleteCustomerNote: { target: "customerNote" },
  createOperator: { body: () => ({ email: `${name("ann")}@example.com`, name: "Ann", roles: [] }) },
  getOperator: { target: "operator" },
  updateOperator: { target: "operator" },
  deleteOperator: { target: "operator" },
  createOperatorLink: { target: "operator" },
  createWebhook: {
    foreignBodies: ({ agentId }) => [{ url: "https://example.com/", events: ["ticket.created"], agentIds: [agentId] }],
  },
  getWebhook: { target: "webhook" },
  updateWebhook: { target: "webhook", foreignBodies: ({ agentId }) => [{ agentIds: [agentId] }] },
  deleteWebhook: { target: "webhook" },
  rotateWebhookSecret: { target: "webhook" },
  testWebhook: { target: "webhook" },
  getToolCall: { target: "toolCall" },
  approveToolCall: { target: "toolCall" },
  rejectToolCall: { target: "toolCall" },
};

/** Returns the row of an endpoint; an empty one if it needs none. */
export const rowOf = (operation: Operation): EndpointRow => ENDPOINT_ROWS[operation] ?? {};
