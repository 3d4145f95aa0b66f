import { hash, randomFillSync } from "node:crypto";
import { v7 } from "uuid";
import { ISSUE_CHAT_PREFIX } from "@svc/contracts";
import type { ChannelId } from "@svc/contracts";

declare const projectBrand: unique symbol;

/** Id of a project that the caller has the right to work on; the first parameter of every function on project data. */
export type ProjectId = string & { readonly [projectBrand]: true };

/** Casts an id from a job, a row or an authorized principal to a project id. */
export function asProjectId(id: string): ProjectId {
  return id as ProjectId;
}

/** Random bytes that are not used yet: to get them for each id took ten times as long as the rest of it. */
const randomBytes = new Uint8Array(4_096);
const RANDOM_BYTES = 16;
let usedBytes = randomBytes.length;
/** The millisecond and the sequence of the last id. */
let last = { msecs: 0, seq: 0 };

/** Returns the id of a new row: UUID v7 (RFC 9562), so that ids sort by time; those of a process in their order. */
export function newId(): string {
  if (usedBytes === randomBytes.length) {
    randomFillSync(randomBytes);
    usedBytes = 0;
  }
  const random = randomBytes.subarray(usedBytes, (usedBytes += RANDOM_BYTES));
  const msecs = Math.max(Date.now(), last.msecs);
  // As the library without options: a random number below 2^31, then the next ones in the same millisecond.
  last = {
    msecs,
    seq: msecs === last.msecs ? last.seq + 1 : new DataView(random.buffer).getUint32(random.byteOffset) >>> 1,
  };
  return v7({ random, ...last });
}

/** Returns the UUID v5 (RFC 9562) of a name in a namespace; the library takes five times as long. */
function nameId(name: string, namespace: string): string {
  const hex = hash(
    "sha1",
    Buffer.concat([Buffer.from(namespace.replaceAll("-", ""), "hex"), Buffer.from(name)]),
    "hex",
  );
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) & 3);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

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
  nameId(JSON.stringify([homeProject, channelId, chatId]), TICKET_NAMESPACE);

/** Returns the id of a file at this index of a message: fetched again, the file has the same id. */
export const messageFileIdOf = (messageId: string, index: number): string =>
  nameId(`${messageId}/${index}`, FILE_NAMESPACE);

/** Returns the chat id of a submitted issue: one for each client-supplied id in each project. */
export function issueChatIdOf(homeProject: ProjectId, clientIssueId: string): string {
  return `${ISSUE_CHAT_PREFIX}${nameId(JSON.stringify([homeProject, clientIssueId]), ISSUE_NAMESPACE)}`;
}

/**
 * Returns the message id of an issue: the same text has the same id, so that a repeated submission is recognized.
 * `round` distinguishes the same text after the ticket was resolved: the number of times that it was resolved before, 0
 * at first.
 */
export const issueMessageIdOf = (ticketId: string, text: string, round: number): string =>
  nameId(JSON.stringify(round === 0 ? [ticketId, text] : [ticketId, text, round]), ISSUE_NAMESPACE);
