import { v5, v7 } from "uuid";
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

/**
 * The ticket of a conversation: UUID v5 of `[home project, channel, chat]`. A channel can name the ticket before the
 * pipeline has opened it, and on every replica alike.
 */
export function ticketIdOf(homeProject: ProjectId, channelId: ChannelId, chatId: string): string {
  return v5(JSON.stringify([homeProject, channelId, chatId]), TICKET_NAMESPACE);
}
