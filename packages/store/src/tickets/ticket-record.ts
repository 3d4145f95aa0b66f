import type { ChannelId, TicketPriority, TicketStage, TicketStatus } from "@svc/contracts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** All that is kept of a ticket itself. */
export interface TicketRecord {
  id: string;
  homeProject: ProjectId;
  homeProjectName: string | null;
  project: ProjectId;
  channelId: ChannelId;
  chatId: string;
  userId: string | null;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
  priority: TicketPriority;
  assignee: string | null;
  agentId: string | null;
  confidence: number | null;
  language: string | null;
  tags: string[];
  channelMeta: Record<string, unknown>;
  version: number;
  createdAt: Date;
  updatedAt: Date;
  firstReplyAt: Date | null;
  resolvedAt: Date | null;
}

/** A record as its statement answers it. */
export interface TicketRow {
  id: string;
  homeProjectId: string;
  homeProjectName: string | null;
  projectId: string;
  channelId: ChannelId;
  chatId: string;
  userId: string | null;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
  priority: TicketPriority;
  assignee: string | null;
  agentId: string | null;
  confidence: number | null;
  language: string | null;
  tags: string[];
  channelMeta: Record<string, unknown>;
  version: number;
  createdAt: Date;
  updatedAt: Date;
  firstReplyAt: Date | null;
  resolvedAt: Date | null;
}

/** The columns of a record, of a ticket `t` with `RECORD_JOINS` behind it. */
export const RECORD_COLUMNS = `t.id, t.home_project_id, h.name AS home_project_name, t.project_id, t.channel_id, t.chat_id,
  t.user_id, t.subject, t.status, t.stage, t.priority, t.assignee, t.agent_id, t.confidence, t.language, t.tags,
  t.channel_meta, t.version, t.created_at, t.updated_at, t.first_reply_at, t.resolved_at`;
export const RECORD_JOINS = "LEFT JOIN projects h ON h.id = t.home_project_id";

/** A confidence as it was given: it is kept as a float of four bytes, and what was 0.7 shall be 0.7 again. */
export const asConfidence = (stored: number | null): number | null =>
  stored === null ? null : Number(stored.toPrecision(6));

/** A record from its row. */
export function asTicketRecord(row: TicketRow): TicketRecord {
  return {
    id: row.id,
    homeProject: asProjectId(row.homeProjectId),
    homeProjectName: row.homeProjectName,
    project: asProjectId(row.projectId),
    channelId: row.channelId,
    chatId: row.chatId,
    userId: row.userId,
    subject: row.subject,
    status: row.status,
    stage: row.stage,
    priority: row.priority,
    assignee: row.assignee,
    agentId: row.agentId,
    confidence: asConfidence(row.confidence),
    language: row.language,
    tags: row.tags,
    channelMeta: row.channelMeta,
    version: row.version,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    firstReplyAt: row.firstReplyAt,
    resolvedAt: row.resolvedAt,
  };
}
