import { v5, v7 } from "uuid";
import { ISSUE_CHAT_PREFIX } from "@svc/contracts";
import type { ChannelId } from "@svc/contracts";

declare const projectBrand: unique symbol;

/** Id of a project that the caller has the right to work on; every function on project data asks for it first. */
export type ProjectId = string & { readonly [projectBrand]: true };

/** Takes an id for a project's: where a job, a row or a checked principal carries it. */
export function asProjectId(id: string): ProjectId {
  return id as ProjectId;
}

/** A new row's id: UUID v7 (RFC 9562), so that ids sort by time. */
export function newId(): string {
  return v7();
}

/** Namespace of ticket ids, made once for this product. */
const TICKET_NAMESPACE = "5f6ac4f1-8a6e-5c0b-9d55-3f0c8a1d7e42";

/** Namespace of the ids of files that come with their message, likewise. */
const FILE_NAMESPACE = "0b1c7f58-6a0e-5d27-bb1d-6f9f7c3a54d1";

/** Namespace of the ids of submitted issues, likewise. */
const ISSUE_NAMESPACE = "7c0d5f2e-93b1-5e64-8a47-1f6b2d90c3e8";

/**
 * The ticket of a conversation: UUID v5 of `[home project, channel, chat]`. A channel can name the ticket before the
 * pipeline has opened it, and on every replica alike.
 */
export function ticketIdOf(homeProject: ProjectId, channelId: ChannelId, chatId: string): string {
  return v5(JSON.stringify([homeProject, channelId, chatId]), TICKET_NAMESPACE);
}

/** The file at this place of a message that brings its files along: fetched again, it is the same one. */
export function messageFileIdOf(messageId: string, index: number): string {
  return v5(`${messageId}/${index}`, FILE_NAMESPACE);
}

/** The chat of a submitted issue: one for each id that its callers have given it, in each project. */
export function issueChatIdOf(homeProject: ProjectId, clientIssueId: string): string {
  return `${ISSUE_CHAT_PREFIX}${v5(JSON.stringify([homeProject, clientIssueId]), ISSUE_NAMESPACE)}`;
}

/**
 * The message of an issue: the same text is the same message, so that an issue that is sent again is there already.
 * `round` tells apart those that say the same after the ticket was resolved: how often it was when they came, 0 at
 * first.
 */
export function issueMessageIdOf(ticketId: string, text: string, round: number): string {
  return v5(JSON.stringify(round === 0 ? [ticketId, text] : [ticketId, text, round]), ISSUE_NAMESPACE);
}
