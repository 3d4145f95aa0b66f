/** Rows of one table that belong to a conversation: an erasure deletes them and an export shows them. */
export interface HeldRows {
  /** Their name in a receipt and in an export. */
  kind: string;
  table: string;
  /**
   * SQL that is true for a row `x` of the ticket $1, whose messages are $2. A row without a ticket is selected by its
   * message.
   */
  where: string;
  /**
   * Whether `where` selects by ticket or by message: in the latter case it reads only $2, which may be a batch of
   * messages.
   */
  of: "ticket" | "messages";
  /** SQL of a unique sort key within a conversation, and its type. */
  place: string;
  placeType: "bigint" | "uuid" | "text";
  /** SQL expressions with names of the values that an export shows: without secrets, leases and internals. */
  shown: string;
  /** Rows per read of an export: fewer if rows may be large. */
  pageRows: number;
  /** True for rows that an export shows outside of conversations. */
  isShownBeside?: true;
}

const OF_TICKET = "x.ticket_id = $1";
const OF_MESSAGES = { where: "x.message_id = ANY ($2::uuid[])", of: "messages" } as const;

type RowsOfTicket = Partial<HeldRows> & Omit<HeldRows, "where" | "of" | "placeType">;

/** Returns rows that belong to the ticket and are sorted by a UUID, unless the fields say otherwise. */
const heldRows = (rows: RowsOfTicket): HeldRows => ({ where: OF_TICKET, of: "ticket", placeType: "uuid", ...rows });

/** Bodies that platforms sent; those without a message have no ticket. */
export const HOOK_BODIES = heldRows({
  kind: "hookBodies",
  table: "hook_bodies",
  place: "x.id",
  shown: `x.id, x.received_at AS "receivedAt", x.content_type AS "contentType", x.headers, x.content, x.outcome,
    x.event_id AS "eventId", x.user_id AS "userId"`,
  pageRows: 5,
});

/** Updates that Telegram sent without a message yet; processed ones have no content. */
export const CHANNEL_UPDATES = heldRows({
  kind: "messengerUpdates",
  table: "messenger_updates",
  place: "x.message_id",
  shown: `x.message_id AS "messageId", x.state, x.user_id AS "userId", x.chat_id AS "chatId", x.body, x.failure,
    x.received_at AS "receivedAt"`,
  pageRows: 100,
});

/** A customer is deleted with the last of its conversations. */
export const CUSTOMERS = heldRows({
  kind: "customers",
  table: "customers",
  where: `x.id = (SELECT k.customer_id FROM ticket_customers k WHERE k.ticket_id = $1) AND NOT EXISTS (
    SELECT FROM ticket_customers k WHERE k.customer_id = x.id AND k.ticket_id <> $1)`,
  place: "x.id",
  shown: `x.id, x.alias, x.name, x.email, x.phone, x.language, x.time_zone AS "timeZone",
    x.external_id AS "externalId", x.attributes, x.first_seen_at AS "firstSeenAt", x.last_seen_at AS "lastSeenAt",
    x.is_blocked AS "isBlocked", x.unsubscribed_at AS "unsubscribedAt", x.notes,
    coalesce((SELECT jsonb_agg(jsonb_build_object('kind', i.kind, 'value', i.value)
      ORDER BY i.kind, i.value) FROM customer_identities i WHERE i.customer_id = x.id), '[]') AS identities`,
  pageRows: 50,
  isShownBeside: true,
});

const ROWS: readonly RowsOfTicket[] = [
  {
    kind: "attachments",
    table: "replies",
    where: `${OF_TICKET} AND x.type = 'attachment'`,
    of: "ticket",
    place: "x.seq",
    placeType: "bigint",
    shown: `x.id, x.seq, x.in_reply_to AS "inReplyTo", x.author, x.filename, x.mime, x.content,
      x.delivered_at AS "deliveredAt", x.created_at AS "createdAt"`,
    pageRows: 4,
  },
  {
    kind: "replies",
    table: "replies",
    place: "x.seq",
    placeType: "bigint",
    shown: `x.id, x.seq, x.in_reply_to AS "inReplyTo", x.author, x.type, x.text, x.markdown, x.sources,
      x.delivered_at AS "deliveredAt", x.created_at AS "createdAt"`,
    pageRows: 50,
  },
  {
    kind: "idempotencyKeys",
    table: "idempotency_keys",
    ...OF_MESSAGES,
    place: `concat_ws(' ', x.api_key_id, x.method, x.path, x.key) COLLATE "C"`,
    placeType: "text",
    shown: `x.key, x.message_id AS "messageId", x.status, x.body, x.created_at AS "createdAt"`,
    pageRows: 20,
  },
  {
    kind: "messages",
    table: "messages",
    place: "x.seq",
    placeType: "bigint",
    shown: `x.id, x.seq, x.user_id AS "userId", x.text, to_timestamp(x.timestamp_ms / 1000.0) AS timestamp, x.attachments,
      x.channel_meta AS meta, x.mode, x.state, x.failure, x.created_at AS "createdAt", x.finished_at AS "finishedAt"`,
    pageRows: 50,
  },
  {
    kind: "callbacks",
    table: "callbacks",
    ...OF_MESSAGES,
    place: "x.message_id",
    shown: `x.message_id AS "messageId", x.url, x.told, x.created_at AS "createdAt"`,
    pageRows: 200,
  },
  CUSTOMERS,
  {
    kind: "tickets",
    table: "tickets",
    where: "x.id = $1",
    of: "ticket",
    place: "x.id",
    shown: `x.id, x.channel_id AS "channelId", x.chat_id AS "chatId", x.user_id AS "userId", x.subject, x.status, x.stage,
      x.priority, x.assignee, x.agent_id AS "agentId", x.confidence, x.language, x.tags, x.channel_meta AS "channelMeta",
      x.created_at AS "createdAt", x.updated_at AS "updatedAt", x.first_reply_at AS "firstReplyAt",
      x.resolved_at AS "resolvedAt", x.before_close AS "beforeClose"`,
    pageRows: 1,
  },
  {
    kind: "drafts",
    table: "drafts",
    place: "x.ticket_id",
    shown: `x.text, x.markdown, x.sources, x.confidence, x.why, x.created_at AS "createdAt"`,
    pageRows: 1,
  },
  {
    kind: "events",
    table: "ticket_events",
    place: "x.id",
    placeType: "bigint",
    shown: `x.message_id AS "messageId", x.at, x.actor, x.moves, x.data`,
    pageRows: 100,
  },
  {
    kind: "reviews",
    table: "reviews",
    place: "x.id",
    shown: `x.id, x.kind, x.actor, x.author, x.text, x.markdown, x.sources, x.failure, x.created_at AS "createdAt",
      x.finished_at AS "finishedAt"`,
    pageRows: 50,
  },
  {
    kind: "decidedMessages",
    table: "triage_messages",
    place: "x.seq",
    placeType: "bigint",
    shown: `x.message_id AS "messageId", x.agent_id AS "agentId", x.text, x.created_at AS "createdAt"`,
    pageRows: 50,
  },
  {
    kind: "questions",
    table: "gap_examples",
    place: "x.message_id",
    shown: `x.message_id AS "messageId", x.text, x.at`,
    pageRows: 50,
  },
  {
    kind: "proposals",
    table: "proposals",
    place: "x.id",
    shown: `x.id, x.action, x.title, x.question, x.before, x.after, x.status, x.reason, x.created_at AS "createdAt"`,
    pageRows: 20,
  },
  {
    kind: "hookEvents",
    table: "hook_events",
    ...OF_MESSAGES,
    place: `concat_ws(' ', x.hook_id, x.event_id) COLLATE "C"`,
    placeType: "text",
    shown: `x.event_id AS "eventId", x.message_id AS "messageId", x.created_at AS "createdAt"`,
    pageRows: 200,
  },
  HOOK_BODIES,
  {
    kind: "modelCalls",
    table: "model_calls",
    place: "x.id",
    shown: `x.at, x.purpose, x.model, x.input_tokens AS "inputTokens", x.output_tokens AS "outputTokens",
      x.cost_usd AS "costUsd", x.ms, x.fault`,
    pageRows: 200,
  },
  {
    kind: "toolCalls",
    table: "tool_calls",
    place: "x.id",
    shown: `x.id, x.message_id AS "messageId", x.tool, x.access, x.arguments, x.state, x.result,
      x.created_at AS "createdAt", x.finished_at AS "finishedAt", x.decided_by AS "decidedBy",
      x.decided_at AS "decidedAt"`,
    pageRows: 20,
  },
  {
    kind: "operatorFiles",
    table: "operator_files",
    place: "x.id",
    shown: `x.id, x.filename, x.mime, x.content, x.created_at AS "createdAt"`,
    pageRows: 2,
  },
  {
    kind: "visitorFiles",
    table: "widget_files",
    place: "x.id",
    shown: `x.id, x.message_id AS "messageId", x.filename, x.mime, x.content, x.object_id AS "objectId",
      x.created_at AS "createdAt"`,
    pageRows: 2,
  },
  {
    kind: "visitorMessageIds",
    table: "widget_messages",
    place: "x.message_id",
    shown: `x.message_id AS "messageId", x.client_message_id AS "clientMessageId", x.created_at AS "createdAt"`,
    pageRows: 200,
  },
  {
    kind: "visitors",
    table: "visitors",
    place: "x.ticket_id",
    shown: `x.read_seq AS "readSeq", x.score, x.comment, x.rated_at AS "ratedAt", x.updated_at AS "updatedAt"`,
    pageRows: 1,
  },
  CHANNEL_UPDATES,
  {
    kind: "eventAttempts",
    table: "delivery_attempts",
    where: "x.delivery_id IN (SELECT d.id FROM deliveries d WHERE d.subject_id = $1)",
    place: `concat_ws(' ', x.delivery_id, to_char(x.number, 'FM0000000000')) COLLATE "C"`,
    placeType: "text",
    shown: `x.delivery_id AS "deliveryId", x.number, x.at, x.duration_ms AS "ms", x.status, x.error`,
    pageRows: 200,
  },
  {
    kind: "eventDeliveries",
    table: "deliveries",
    where: "x.subject_id = $1",
    place: "x.place",
    placeType: "bigint",
    // Not the URL: it belongs to the project, and may contain a secret.
    shown: `x.id, x.message_id AS "eventId", x.type, x.webhook_id AS "webhookId", x.state, x.created_at AS "createdAt",
      x.finished_at AS "finishedAt"`,
    pageRows: 200,
  },
  {
    kind: "deliveryAttempts",
    table: "delivery_attempts",
    where: "x.delivery_id IN (SELECT d.id FROM deliveries d WHERE d.message_id = ANY ($2::uuid[]))",
    of: "messages",
    place: `concat_ws(' ', x.delivery_id, to_char(x.number, 'FM0000000000')) COLLATE "C"`,
    placeType: "text",
    shown: `x.delivery_id AS "deliveryId", x.number, x.at, x.duration_ms AS "ms", x.status, x.error`,
    pageRows: 200,
  },
  {
    kind: "deliveries",
    table: "deliveries",
    ...OF_MESSAGES,
    place: "x.place",
    placeType: "bigint",
    shown: `x.id, x.message_id AS "messageId", x.type, x.url, x.state, x.created_at AS "createdAt",
      x.finished_at AS "finishedAt"`,
    pageRows: 200,
  },
];

/**
 * All rows that belong to a conversation, in the order of their erasure: the order in which every statement locks these
 * tables, so that deadlocks are rare.
 */
export const TICKET_ROWS: readonly HeldRows[] = ROWS.map(heldRows);

/** Owner of hook bodies, stored channel updates and customers: users, a chat, and the chats of conversations. */
export interface BodyOwner {
  userIds: readonly string[];
  /** A chat of the API channel. */
  chatId: string | null;
  /** A chat of a channel that stores the updates of its platform. */
  updatesChatId: string | null;
  ticketIds: readonly string[];
}

/**
 * How a table's rows are deleted with their project: with its conversations, with its knowledge bases, or by
 * themselves; `parent`: by the foreign key to their parent, also when a conversation is erased; `kept`: they contain no
 * personal data, and are retained or consumed.
 */
export type GoesWith = "tickets" | "knowledge bases" | "itself" | "parent" | "kept";

/** Every table with rows that belong to a project or a conversation. A test compares it with the schema. */
export const TABLES_OF_PROJECTS: Readonly<Record<string, GoesWith>> = {
  agents: "itself",
  api_keys: "itself",
  article_images: "knowledge bases",
  article_versions: "knowledge bases",
  articles: "knowledge bases",
  audit_events: "kept",
  callbacks: "tickets",
  canned_replies: "itself",
  chats: "tickets",
  chunk_embeddings: "knowledge bases",
  chunks: "knowledge bases",
  customer_identities: "parent",
  customers: "itself",
  deliveries: "tickets",
  documents: "knowledge bases",
  drafts: "tickets",
  email_notifications: "parent",
  email_unsubscribes: "itself",
  gap_examples: "parent",
  gap_terms: "parent",
  gaps: "itself",
  hook_bodies: "parent",
  hook_events: "parent",
  hooks: "itself",
  idempotency_keys: "itself",
  imports: "knowledge bases",
  ingests: "knowledge bases",
  kbs: "knowledge bases",
  messages: "tickets",
  messenger_updates: "itself",
  model_calls: "itself",
  model_days: "itself",
  operator_files: "tickets",
  operator_presence: "parent",
  operator_roles: "itself",
  operator_views: "itself",
  outboxes: "tickets",
  proposals: "itself",
  replies: "tickets",
  reviews: "tickets",
  stored_bytes: "kept",
  tag_changes: "itself",
  tags: "itself",
  ticket_customers: "parent",
  ticket_deadlines: "parent",
  ticket_events: "tickets",
  ticket_list: "parent",
  ticket_text_queue: "kept",
  ticket_texts: "parent",
  tickets: "tickets",
  tool_calls: "itself",
  triage_messages: "itself",
  unfinished_replies: "parent",
  usage_days: "parent",
  visitors: "tickets",
  webhooks: "itself",
  widget_files: "itself",
  widget_messages: "itself",
};
