import { v5, v7 } from "uuid";
import { ISSUE_CHAT_PREFIX } from "@svc/contracts";
import type { ChannelId } from "@svc/contracts";

declare const projectBrand: unique symbol;

/** Id of a project that the caller has the right to work on; the first parameter of every function on project data. */
export type ProjectId = string & { readonly [projectBrand]: true };

/** Casts an id from a job, a row or an authorized principal to a project id. */
export function asProjectId(id: string): ProjectId {
  return id as ProjectId;
}

/** Returns the id of a new row: UUID v7 (RFC 9562), so that ids sort by time. */
export const newId = (): string => v7();

/** Namespace of ticket ids, generated once for this product. */
const TICKET_NAMESPACE = "5f6ac4f1-8a6e-5c0b-9d55-3f0c8a1d7e42";

/** Namespace of the ids of files that arrive with their message. */
const FILE_NAMESPACE = "0b1c7f58-6a0e-5d27-bb1d-6f9f7c3a54d1";

/** Namespace of the ids of submitted issues. */
const ISSUE_NAMESPACE = "7c0d5f2e-93b1-5e64-8a47-1f6b2d90c3e8";

/**
 * Returns the ticket id of a conversation: UUID v5 of `[home project, channel, chat]`. A channel can name the ticket
 * before the pipeline has opened it, and every replica gets the same id.
 */
export const ticketIdOf = (homeProject: ProjectId, channelId: ChannelId, chatId: string): string =>
  v5(JSON.stringify([homeProject, channelId, chatId]), TICKET_NAMESPACE);

/** Returns the id of a file at this index of a message: fetched again, the file has the same id. */
export const messageFileIdOf = (messageId: string, index: number): string =>
  v5(`${messageId}/${index}`, FILE_NAMESPACE);

/** Returns the chat id of a submitted issue: one for each client-supplied id in each project. */
export function issueChatIdOf(homeProject: ProjectId, clientIssueId: string): string {
  return `${ISSUE_CHAT_PREFIX}${v5(JSON.stringify([homeProject, clientIssueId]), ISSUE_NAMESPACE)}`;
}

/**
 * Returns the message id of an issue: the same text has the same id, so that a repeated submission is recognized.
 * `round` distinguishes the same text after the ticket was resolved: the number of times that it was resolved before, 0
 * at first.
 */
export const issueMessageIdOf = (ticketId: string, text: string, round: number): string =>
  v5(JSON.stringify(round === 0 ? [ticketId, text] : [ticketId, text, round]), ISSUE_NAMESPACE);
