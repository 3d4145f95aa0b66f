import { setTimeout } from "node:timers/promises";
import { summarizeNotes as readNotes } from "@svc/agents";
import type { LanguageModels } from "@svc/agents";
import { isAdministrator, requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { ISSUE_LIMITS, ISSUE_ORIGIN, checkInput, issueInputSchema, notesInputSchema } from "@svc/contracts";
import type { IssueInput, NotesInput, NotesSummaryItem, SubmittedIssue } from "@svc/contracts";
import type { Log } from "@svc/log";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { issueChatIdOf, issueMessageIdOf, ticketIdOf } from "@svc/store";
import type { Store } from "@svc/store";
import { audited } from "./audited.ts";
import { leaveToSweeper } from "./operation.ts";

/** Dependencies of submitting an issue. */
interface IssueDeps {
  store: Store;
  queues: Queues;
  log: Log;
}

/** Options of waiting for triage. */
export interface IssueWait {
  /** Aborts waiting: the call rejects with its reason, and the issue is processed all the same. */
  signal?: AbortSignal;
  /** Maximum time, in milliseconds; 20 s by default. */
  waitMs?: number;
}

/** Polling intervals of the outcome, in milliseconds. It usually takes some hundredths of a second. */
const POLL_MS = [10, 20, 30, 50, 100, 150, 200] as const;
const LAST_POLL_MS = 500;

/** Returns the text for operators: the title is the ticket's subject, and the first line of its message. */
const textOf = ({ title, description }: IssueInput) => `${title.trim()}\n\n${description}`;

/** Fields of an issue in the ticket's channel_meta. */
function metaOf({ clientIssueId, severity, source, person, dueDate }: IssueInput): Record<string, unknown> {
  return {
    origin: ISSUE_ORIGIN,
    clientIssueId,
    ...(severity === undefined ? {} : { severity }),
    ...(source === undefined ? {} : { source }),
    ...(person === undefined ? {} : { person }),
    ...(dueDate === undefined ? {} : { dueDate }),
  };
}

/** Waits until triage has processed the message; returns false on timeout. */
async function waitForTriage(
  { store }: IssueDeps,
  { project }: Principal,
  messageId: string,
  { signal, waitMs = ISSUE_LIMITS.waitMs }: IssueWait,
): Promise<boolean> {
  const startedAt = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    if ((await store.messages.findState(project, messageId)) !== "received") return true;
    const leftMs = waitMs - (performance.now() - startedAt);
    if (leftMs <= 0) return false;
    await setTimeout(
      Math.min(leftMs, POLL_MS[attempt] ?? LAST_POLL_MS),
      undefined,
      signal === undefined ? {} : { signal },
    );
  }
}

/**
 * Returns the id of the message for this text of an issue: the existing one while its ticket is not resolved, a new one
 * afterwards. So a repeated call changes nothing, and a new report after the ticket was resolved is not lost.
 */
async function messageIdOf({ store }: IssueDeps, { project }: Principal, ticketId: string, text: string) {
  const { count, isResolved } = await store.issues.findResolutions(project, ticketId);
  const newest = issueMessageIdOf(ticketId, text, count);
  if (isResolved) return newest;
  for (let round = count; round >= 0; round -= 1) {
    const messageId = issueMessageIdOf(ticketId, text, round);
    if ((await store.messages.findState(project, messageId)) !== null) return messageId;
  }
  return newest;
}

/**
 * Commits an issue as a message of the API channel and announces it; if the queue is unavailable, the sweeper does.
 * Repeated calls create one ticket: its chat follows from `clientIssueId`, its message from its text.
 */
async function acceptIssue(deps: IssueDeps, principal: Principal, issue: IssueInput) {
  const { store, queues, log } = deps;
  const { project } = principal;
  const chatId = issueChatIdOf(project, issue.clientIssueId);
  const text = textOf(issue);
  const messageId = await messageIdOf(deps, principal, ticketIdOf(project, "api", chatId), text);
  const accepted = await store.messages.acceptOnce(
    project,
    {
      channelId: "api",
      chatId,
      userId: null,
      text,
      timestampMs: Date.now(),
      attachments: null,
      channelMeta: metaOf(issue),
      // Replies are not collected: they are read in the ticket.
      mode: null,
      callInstance: null,
      callback: null,
    },
    messageId,
  );
  const { ticketId, seq, priority, isNew } = accepted;
  if (!isNew) return { messageId, ticketId, created: false };
  await leaveToSweeper(log, { ticketId }, () =>
    announceWork(queues, "submitted-issues", [{ project, messageId, ticketId, attempts: 0, priority }]),
  );
  return { messageId, ticketId, created: await store.issues.isFirst(project, ticketId, seq) };
}

/** Returns the issue as shown to the caller: an agent of another project is visible only to administrators. */
async function toSubmittedIssue(
  { store }: IssueDeps,
  principal: Principal,
  { ticketId, created }: { ticketId: string; created: boolean },
  isTriaged: boolean,
): Promise<SubmittedIssue> {
  const issue = await store.issues.find(principal.project, ticketId);
  const nothing = { ticketId, project: null, agentId: null, confidence: null, reason: null };
  if (issue === null) return { ...nothing, stage: isTriaged ? "failed" : "triage", created };
  const stage = isTriaged ? issue.stage : "triage";
  const isOwn = issue.project === principal.project && issue.agentId !== null;
  if (!isTriaged || (!isOwn && !isAdministrator(principal))) {
    // The progress in another project is not shown either: only that a person there has it.
    return { ...nothing, stage: isTriaged && issue.project !== principal.project ? "review" : stage, created };
  }
  const { projectName, agentId, confidence, why } = issue;
  return { ticketId, project: projectName, agentId, confidence, reason: why, stage, created };
}

/**
 * Creates a ticket of an issue in the shared Inbox: triage among the agents of all projects sends it to the project of
 * the best one, where it waits for a person; without one it stays in the principal's project. Nothing is ever sent
 * automatically. Waits for triage, and responds with stage `triage` if that takes longer.
 *
 * Idempotent by `clientIssueId` in the principal's project: repeating the same issue, immediately or after a crash,
 * returns the same ticket, with `created` false. With another title or description, or once the ticket is resolved, it
 * is another message of that ticket, which operators see, and which reopens a resolved ticket.
 *
 * Scope messages:write. Throws invalid_request with every error of the input, and unavailable, after which the call may
 * be repeated.
 */
export const submitIssue = audited(
  "issues.submit",
  async function submitIssue(
    deps: IssueDeps,
    principal: Principal,
    input: IssueInput,
    wait: IssueWait = {},
  ): Promise<SubmittedIssue> {
    requireScope(principal, "messages:write");
    const issue = checkInput(issueInputSchema, input, "The issue");
    const accepted = await acceptIssue(deps, principal, issue);
    const isTriaged = await waitForTriage(deps, principal, accepted.messageId, wait);
    return toSubmittedIssue(deps, principal, accepted, isTriaged);
  },
  {
    // Recorded for an interrupted or rejected call, too: its ticket may exist.
    objectOf: ([input], _result, { project }) => {
      const { data } = issueInputSchema.safeParse(input);
      return data === undefined ? null : ticketIdOf(project, "api", issueChatIdOf(project, data.clientIssueId));
    },
  },
);

/** Dependencies of reading notes. */
interface NotesDeps {
  store: Store;
  /** Null if no server with language models is configured: rules and statistics are used instead. */
  models: LanguageModels | null;
  log?: Log;
}

/**
 * Cleans and summarizes dictated notes, and finds their issues. Stores nothing. The same notes give the same ids of
 * issues. Scope agents:execute. Throws invalid_request with every error of the input, and rejects with the signal's
 * reason when it is aborted.
 */
export const summarizeNotes = audited(
  "notes.summarize",
  async function summarizeNotes(
    { models }: NotesDeps,
    principal: Principal,
    input: NotesInput,
    options: { signal?: AbortSignal } = {},
  ): Promise<NotesSummaryItem> {
    requireScope(principal, "agents:execute");
    const { notes, locale, date, question } = checkInput(notesInputSchema, input, "The notes");
    options.signal?.throwIfAborted();
    const model = (await models?.forAgent({ model: null })) ?? null;
    const signal = options.signal ?? new AbortController().signal;
    const read = await readNotes({
      notes,
      locale,
      date,
      question,
      signal,
      model: model === null ? null : { model, project: principal.project, signal },
    });
    const { cleanedText, summary, issues, passages } = read;
    return { cleanedText, summary, issues, ...(passages === undefined ? {} : { passages }) };
  },
  { objectOf: () => null },
);
