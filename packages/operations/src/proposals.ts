import { questionOf, withoutCourtesies } from "@svc/agents";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  PROPOSAL_LIMITS,
  ServiceError,
  checkInput,
  countChars,
  errorsOf,
  grantsScope,
  invalidInput,
  proposalInputSchema,
  proposalRejectionSchema,
  proposalStatusSchema,
} from "@svc/contracts";
import type { Proposal, ProposalInput, Source } from "@svc/contracts";
import { identifyDocument, rewriteDocument } from "@svc/knowledge";
import type { DocumentInput } from "@svc/knowledge";
import type { Log } from "@svc/log";
import { isUuid } from "@svc/primitives";
import type { NewProposal, ProjectId, ProposalOutcome, ProposalRecord, ProposalTarget, Store } from "@svc/store";
import { FILE_HEADERS_ONLY, createPatch } from "diff";
import { requireKb } from "./kbs.ts";
import { operation, readPage, objectReader, notInProject } from "./operation.ts";

/** An operator's edit of a draft. */
interface OperatorEdit {
  /** The project that works on the ticket. */
  project: ProjectId;
  ticketId: string;
  draft: { text: string; sources: readonly Source[] };
  /** The text that was sent instead. */
  sentText: string;
  /** The operator, as in events. */
  actor: string;
}

/** Formats that can be edited; others are read again from their source. */
const REWRITTEN_MIMES: readonly string[] = ["text/markdown", "text/plain"];

/** Maximum number of passages of a document that is reassembled; more take seconds. */
const MAX_REWRITTEN_CHUNKS = 2_000;

/** Maximum length of a title, for lists. */
const MAX_TITLE_CHARS = 200;

/** Title of an article whose question must not be shown. */
const HIDDEN_TITLE = "Answer to a customer";

/** Returns the question as the heading of its answer. */
const headingOf = (question: string): string => `# ${titleOf(question)}\n\n`;

/** Returns whether a proposal may show the customer's question: an accepted one is an ordinary document. */
function mayShowQuestion({ status }: ProposalRecord, { scopes }: Principal): boolean {
  return status === "accepted" || grantsScope(scopes, "tickets:read");
}

/** Removes the customer's question. */
function withoutQuestion(record: ProposalRecord): ProposalRecord {
  const { question, title, after } = record;
  if (question === null) return record;
  const heading = headingOf(question);
  return {
    ...record,
    title: title === titleOf(question) ? HIDDEN_TITLE : title,
    after: after.startsWith(heading) ? after.slice(heading.length) : after,
  };
}

/** Returns a proposal as shown to the principal: conversations are only shown to one who may read tickets. */
function asItem(record: ProposalRecord, principal: Principal): Proposal {
  const item = asFullItem(mayShowQuestion(record, principal) ? record : withoutQuestion(record));
  return grantsScope(principal.scopes, "tickets:read") ? item : { ...item, question: null, ticketId: null };
}

const asFullItem = ({ baseHash: _baseHash, ...proposal }: ProposalRecord): Proposal => ({
  ...proposal,
  diff: diffOf(proposal),
  createdAt: proposal.createdAt.toISOString(),
  decidedAt: proposal.decidedAt?.toISOString() ?? null,
});

/** Maximum number of different lines: finding more is quadratic, and shows that the whole text differs. */
const DIFF_OPTIONS = { maxEditLength: 400, headerOptions: FILE_HEADERS_ONLY } as const;

/** Longer texts are shown as entirely different, to limit the time of a page of proposals. */
const MAX_COMPARED_LINES = 1_000;

/** Adds a final line break, so that the diff does not mention a missing one. */
const asLines = (text: string): string => (text === "" ? "" : `${text}\n`);

function diffOf({ title, before, after }: Pick<ProposalRecord, "title" | "before" | "after">): string {
  const name = title.replace(/\s+/g, " ");
  const [old, changed] = [before.split("\n"), after.split("\n")];
  const isShort = old.length + changed.length <= MAX_COMPARED_LINES;
  const diff = isShort
    ? createPatch(name, asLines(before), asLines(after), undefined, undefined, DIFF_OPTIONS)
    : undefined;
  if (diff !== undefined) return diff;
  const lines = [...old.map((line) => `-${line}`), ...changed.map((line) => `+${line}`), ""];
  return [`--- ${name}`, `+++ ${name}`, `@@ -1,${old.length} +1,${changed.length} @@`, ...lines].join("\n");
}

const readProposal = objectReader("proposal", ({ proposals }) => proposals.find);

/** Returns the beginning of a text on one line, as a title. */
function titleOf(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_TITLE_CHARS ? line : `${line.slice(0, MAX_TITLE_CHARS).toWellFormed()}…`;
}

/** Replaces `before` in a document; null if that is not possible: see `rewriteDocument`. */
async function rewrite(
  store: Store,
  project: ProjectId,
  target: ProposalTarget,
  change: { before: string; after: string },
): Promise<DocumentInput | null> {
  if (!REWRITTEN_MIMES.includes(target.sourceMime ?? target.mime)) return null;
  if (target.chunkCount > MAX_REWRITTEN_CHUNKS) return null;
  return rewriteDocument(target, await store.chunks.list(project, [target.id]), change);
}

/**
 * Returns a page of the proposed changes of the principal's project, newest first; `q` searches title and text.
 * Conversations are only shown to a principal who may read tickets.
 */
export const listProposals = operation("listProposals", async ({ store }, principal, { status, kbId, ...input }) => {
  const known = proposalStatusSchema.optional().safeParse(status);
  const found = errorsOf(proposalStatusSchema.optional(), status, "/status");
  if (kbId !== undefined && !isUuid(kbId)) {
    found.push({ pointer: "/kbId", code: "invalid_value", detail: "must be the ID of a knowledge base" });
  }
  const searchesQuestions = grantsScope(principal.scopes, "tickets:read");
  return readPage("proposals", input, {
    read: (query) =>
      store.proposals.listPage(principal.project, { ...query, status: known.data, kbId, searchesQuestions }),
    asItem: (record) => asItem(record, principal),
    found,
  });
});

/** Returns the proposal with this id in the principal's project, like `listProposals`. */
export const getProposal = operation("getProposal", async ({ store }, principal, id) => {
  return asItem(await readProposal(store, principal, id), principal);
});

/** Returns the full text of an article, so that nothing is accepted without being shown. */
const articleText = (question: string | null, text: string): string =>
  question === null ? text : `${headingOf(question)}${text}`;

/** Minimum share of a passage's words in an answer that may replace it; otherwise the answer says something else. */
const MIN_KEPT_SHARE = 0.4;

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const segmentsOf = (text: string): string[] =>
  [...segmenter.segment(text.toLowerCase())].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? [segment] : [],
  );

/** Returns whether a text has most of the words of the one that it would replace, so that little is lost. */
function keepsMost({ before, after }: { before: string; after: string }): boolean {
  const kept = new Set(segmentsOf(after));
  const words = segmentsOf(before);
  return words.filter((word) => kept.has(word)).length >= MIN_KEPT_SHARE * words.length;
}

/**
 * Returns the proposal of an answer: a change of the document that it quotes, or a new article. Null without a
 * knowledge base.
 */
async function proposalOf(
  store: Store,
  project: ProjectId,
  answer: { text: string; sources: readonly Source[]; question: string | null; agentId: string | null },
): Promise<Omit<NewProposal, "ticketId" | "createdBy"> | null> {
  const question = answer.question === null ? null : questionOf(answer.question);
  const [source] = answer.sources;
  const target =
    source !== undefined && isUuid(source.documentId)
      ? await store.proposals.findTarget(project, source.documentId)
      : null;
  if (source !== undefined && target !== null) {
    const change = { before: source.quote, after: answer.text };
    const canReplace = keepsMost(change) && (await rewrite(store, project, target, change)) !== null;
    return {
      kbId: target.kbId,
      documentId: target.id,
      action: canReplace ? "replace" : "add",
      title: target.title,
      question,
      before: canReplace ? source.quote : "",
      after: canReplace ? answer.text : articleText(question, answer.text),
      baseHash: target.contentHash,
    };
  }
  const agent = answer.agentId === null ? null : await store.agents.find(project, answer.agentId);
  const [kb] = await store.kbs.findAll(project, agent?.kbIds.slice(0, 1) ?? []);
  if (kb === undefined) return null;
  return {
    kbId: kb.id,
    documentId: null,
    action: "add",
    title: titleOf(question ?? answer.text),
    question,
    before: "",
    after: articleText(question, answer.text),
    baseHash: null,
  };
}

const wordsOf = (text: string): string => (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(" ");

/**
 * Proposes an operator's edit of a draft for the knowledge base: a replacement of the passage that the draft quotes
 * first if most of its words are kept, else an addition to its document; without a quote, an article with the question
 * and the operator's answer in the agent's first knowledge base. Greetings and signatures are left out, and if only
 * those were changed nothing is proposed. Returns the id of the proposal, or null. Never throws, because the reply is
 * already sent: an error is logged.
 */
export async function proposeFromEdit(
  { store, log }: { store: Store; log: Log },
  { project, ticketId, draft, sentText, actor }: OperatorEdit,
): Promise<string | null> {
  try {
    const text = withoutCourtesies(sentText);
    if (text === "" || wordsOf(text) === wordsOf(withoutCourtesies(draft.text))) return null;
    if (countChars(text) > PROPOSAL_LIMITS.textMaxChars) return null;
    const asked = await store.proposals.findQuestion(project, ticketId);
    if (asked === null) return null;
    const proposal = await proposalOf(store, project, { text, sources: draft.sources, ...asked });
    if (proposal === null) return null;
    return (await store.proposals.insert(project, { ...proposal, ticketId, createdBy: actor })).id;
  } catch (error) {
    log.warn({ error, ticketId }, "failed to propose an operator's edit for the knowledge base");
    return null;
  }
}

/** Returns a proposal of the last answer of an operator in a conversation. */
async function fromTicket(
  store: Store,
  { project }: Principal,
  ticketId: string,
): Promise<Omit<NewProposal, "ticketId" | "createdBy">> {
  const error = (code: string, detail: string) =>
    invalidInput([{ pointer: "/ticketId", code, detail }], "The proposal");
  const answer = await store.proposals.findOperatorAnswer(project, ticketId);
  if (answer === null)
    throw error("not_found", "no ticket with this ID in this project has an answer from an operator");
  const text = withoutCourtesies(answer.text);
  if (text === "") throw error("no_answer", "the operator's last answer contains only greetings and thanks");
  const proposal = await proposalOf(store, project, { ...answer, text });
  if (proposal !== null) return proposal;
  throw error("no_kb", "its agent has no knowledge base; send kbId and text");
}

/** Returns a proposal of a given text. */
async function fromText(
  store: Store,
  principal: Principal,
  input: ProposalInput & { kbId: string; text: string },
): Promise<Omit<NewProposal, "ticketId" | "createdBy">> {
  const { project } = principal;
  const { kbId, documentId, text, replaces = "", ticketId } = input;
  await requireKb(store, principal, kbId);
  const error = (pointer: string, code: string, detail: string) =>
    invalidInput([{ pointer, code, detail }], "The proposal");
  const asked = ticketId === undefined ? null : await store.proposals.findQuestion(project, ticketId);
  if (ticketId !== undefined && asked === null) throw error("/ticketId", "not_found", "is not the ID of a ticket");
  const question = asked?.question == null ? null : questionOf(asked.question);
  const made = { kbId, question, after: replaces === "" ? articleText(question, text) : text };
  if (documentId === undefined) {
    const title = input.title ?? titleOf(question ?? text);
    return { ...made, documentId: null, action: "add", title, before: "", baseHash: null };
  }
  const target = await store.proposals.findTarget(project, documentId);
  if (target === null || target.kbId !== kbId) {
    throw error(
      "/documentId",
      "not_found",
      "no document with this ID exists in this knowledge base, or it is not processed yet",
    );
  }
  if (replaces !== "" && (await rewrite(store, project, target, { before: replaces, after: text })) === null) {
    throw error("/replaces", "not_found", "must occur exactly once in the document, which must be text or Markdown");
  }
  return {
    ...made,
    documentId,
    action: replaces === "" ? "add" : "replace",
    title: input.title ?? target.title,
    before: replaces,
    baseHash: target.contentHash,
  };
}

/**
 * Proposes a change to a knowledge base: a text, or the last answer of an operator in a conversation. Scope kb:write,
 * and tickets:read for a conversation. Throws not_found for an unknown knowledge base, and invalid_request with every
 * error of the input.
 */
export const createProposal = operation(
  "createProposal",
  async ({ store }, principal, input) => {
    const wanted = checkInput(proposalInputSchema, input, "The proposal");
    const { kbId, text, ticketId = null } = wanted;
    if (ticketId !== null) requireScope(principal, "tickets:read");
    const proposal =
      kbId !== undefined && text !== undefined
        ? await fromText(store, principal, { ...wanted, kbId, text })
        : await fromTicket(store, principal, ticketId ?? "");
    return asItem(
      await store.proposals.insert(principal.project, { ...proposal, ticketId, createdBy: principal.actor }),
      principal,
    );
  },
  { audit: "proposals.create" },
);

/** Returns the decided proposal. Throws the error of an outcome. */
function decidedBy(outcome: ProposalOutcome | null, principal: Principal): Proposal {
  if (outcome === null) throw notInProject("proposal");
  const { result, proposal } = outcome;
  if (result === "done") return asItem(proposal, principal);
  const texts = {
    stale: `The proposal has changed; its current version is ${proposal.version}. Fetch it again.`,
    decided: `The proposal is already ${proposal.status}.`,
    changed:
      "The document has changed since the proposal, or is waiting to be processed. Review it and create a new proposal.",
  };
  throw new ServiceError("version_conflict", texts[result], { headers: { ETag: `"${proposal.version}"` } });
}

/** Returns the article of a proposal: the same key is the same article. */
function asArticle({ id, title, after, documentId }: ProposalRecord): DocumentInput {
  const isAddition = documentId !== null;
  return {
    key: `proposal:${id}`,
    title: isAddition ? `Addition to ${title}` : title,
    text: after,
    mime: "text/markdown",
  };
}

/**
 * Accepts a proposed change if the proposal has one of the expected versions: a search finds the new text as soon as
 * this resolves. A passage is replaced if its document can be reassembled from its passages; otherwise the text becomes
 * an article of its own, "Addition to …". Idempotent. Scope kb:write, and tickets:read if parts of it are hidden
 * without that. Throws not_found, version_conflict with the current `ETag` if it was rejected or the document has
 * changed since, and invalid_request for a text that cannot be read.
 */
export const acceptProposal = operation(
  "acceptProposal",
  async ({ store }, principal, { id, versions = null }) => {
    const proposal = await readProposal(store, principal, id);
    if (proposal.status === "accepted") return asItem(proposal, principal);
    // The heading of an article is the question: a principal cannot accept a text that is hidden from them.
    if (proposal.action === "add" && proposal.question !== null) requireScope(principal, "tickets:read");
    const { project, actor: by } = principal;
    const { documentId, baseHash, before, after, kbId } = proposal;
    const isChange = proposal.action === "replace" && documentId !== null && baseHash !== null;
    const target = isChange ? await store.proposals.findTarget(project, documentId) : null;
    if (isChange && target?.contentHash.equals(baseHash) !== true) {
      // Either a concurrent call has accepted it, or the document was changed otherwise.
      const now = await readProposal(store, principal, id);
      return decidedBy({ result: now.status === "accepted" ? "done" : "changed", proposal: now }, principal);
    }
    const rewritten = target === null ? null : await rewrite(store, project, target, { before, after });
    const { document, indexed } = await identifyDocument(rewritten ?? asArticle(proposal)).cut();
    const replaces = rewritten === null || target === null ? null : { id: target.id, contentHash: target.contentHash };
    const outcome = await store.proposals.accept(project, proposal.id, {
      versions,
      by,
      kbId,
      document,
      indexed,
      replaces,
    });
    if (outcome?.result === "done" && rewritten !== null && target !== null) {
      // The next publication of an article would undo a correction that only its document has.
      const correct = (text: string) =>
        text.split(before).length === 2 ? text.replace(before, () => after) : rewritten.text;
      await store.articles.recordCorrection(project, {
        kbId,
        key: target.key,
        documentId: target.id,
        actor: by,
        correct,
      });
    }
    return decidedBy(outcome, principal);
  },
  { audit: "proposals.accept" },
);

/** Rejects a proposed change if the proposal has one of the expected versions. */
export const rejectProposal = operation(
  "rejectProposal",
  async ({ store }, principal, { id, versions = null }, input) => {
    const { reason = null } = checkInput(proposalRejectionSchema, input, "The rejection");
    const proposal = await readProposal(store, principal, id);
    return decidedBy(
      await store.proposals.reject(principal.project, proposal.id, { versions, by: principal.actor, reason }),
      principal,
    );
  },
  { audit: "proposals.reject" },
);
