import { chooseAmongProjects } from "@svc/agents";
import { ticketPrioritySchema } from "@svc/contracts";
import { searchEach } from "@svc/knowledge";
import { ProjectNotFoundError, asProjectId, similarityOf } from "@svc/store";
import type { RunOutcome, OpenTicket, ProjectId, Store } from "@svc/store";
import { searchWords, stopWords } from "@svc/text";
import { languageOf } from "../language-of.ts";
import { isSpam, move } from "../run.ts";
import type { Run, StageContext, TriageResult } from "../run.ts";
import { commitOutcome } from "./send-reply.ts";

/**
 * Chooses the agent of a submitted issue among those of all projects. An issue that an earlier run or a person has
 * assigned keeps its project. The result is stored between attempts.
 */
export async function triageAllProjects(context: StageContext, run: Run): Promise<void> {
  if (isSpam(run)) return;
  move(run, "triage", "opened");
  run.triage ??= await chooseOfAllProjects(context, run);
}

async function chooseOfAllProjects(
  { store, triageModels, models, readPool }: StageContext,
  run: Run,
): Promise<TriageResult> {
  const { message, signal, ticket } = run;
  if (ticket !== null && (await store.issues.isRouted(message.project, ticket.id))) {
    return { agentId: ticket.agentId, confidence: 1, why: "The agent was already chosen." };
  }
  const model = (await models?.forAgent({ model: null })) ?? null;
  const { project, ...decision } = await chooseAmongProjects({
    models: triageModels,
    pool: await readPool(),
    home: message.project,
    text: message.text,
    search: (id) => (query, kbGroups, limit) => searchEach({ store }, asProjectId(id), { query, kbGroups, limit }),
    adviser: model === null ? null : { model, project: message.project, ticketId: message.ticketId, signal },
  });
  // Without an agent the issue stays in its project, and is still decided.
  return { ...decision, project: project ?? message.project };
}

/** A ticket that is probably about the same as an issue, with the similarity from 0 to 1. */
interface PossibleDuplicate {
  ticketId: string;
  similarity: number;
}

/** A text to compare: the words of its first line, and all its words. */
interface ComparedText {
  title: string[];
  all: string[];
}

/** Similarity from which two tickets count as duplicates: of their first lines, or of their whole texts. */
const SAME_TITLE = 0.75;
const SAME_TEXT = 0.6;

/** First lines with fewer words are often the same by chance. */
const LEAST_TITLE_WORDS = 3;
/** The first words of a text say what it is about. */
const MAX_WORDS = 80;
const MAX_DUPLICATES = 5;

/** Returns the open tickets of a project that are most likely duplicates of an issue, the most similar first. */
async function findDuplicates(
  store: Store,
  project: ProjectId,
  issue: { ticketId: string; text: string; language: string | null },
): Promise<PossibleDuplicate[]> {
  const common = stopWords(issue.language ?? "en");
  const own = comparedOf(issue.text, common);
  const tickets = await store.issues.listComparable(project, issue.ticketId, own.title);
  return tickets
    .map((ticket) => ({ ticketId: ticket.ticketId, similarity: ticketSimilarity(own, ticket, common) }))
    .filter(({ similarity }) => similarity > 0)
    .toSorted((a, b) => b.similarity - a.similarity)
    .slice(0, MAX_DUPLICATES);
}

function comparedOf(text: string, common: ReadonlySet<string>): ComparedText {
  const wordsOf = (part: string) => searchWords(part).filter((word) => !common.has(word));
  const [title = ""] = text.trim().split("\n", 1);
  return { title: wordsOf(title), all: wordsOf(text).slice(0, MAX_WORDS) };
}

/** Returns the similarity of two texts, to two decimal places; 0 if it is below the threshold. */
function ticketSimilarity(own: ComparedText, { text }: OpenTicket, common: ReadonlySet<string>): number {
  const other = comparedOf(text, common);
  const isLongEnough = Math.min(own.title.length, other.title.length) >= LEAST_TITLE_WORDS;
  const byTitle = isLongEnough ? similarityOf(own.title, other.title) : 0;
  const byText = similarityOf(own.all, other.all);
  if (byTitle < SAME_TITLE && byText < SAME_TEXT) return 0;
  return Math.round(Math.max(byTitle, byText) * 100) / 100;
}

const WHY = "submitted issues are always reviewed";

/**
 * Commits the result of triage in one transaction, fenced by the lease: the ticket moves to the project of the chosen
 * agent and waits there for a person, with its possible duplicates. Nothing is sent, and no draft is made. A message
 * to an issue marked as spam needs no review.
 */
export async function holdForReview(context: StageContext, run: Run): Promise<void> {
  move(run, "review", isSpam(run) ? "this issue is marked as spam" : WHY);
  if (isSpam(run)) move(run, "done", "this issue is marked as spam");
  try {
    run.hasMore = await commitOutcome(context, await outcomeOf(context, run), run.message);
  } catch (error) {
    // The next attempt chooses again.
    if (error instanceof ProjectNotFoundError) run.triage = null;
    throw error;
  }
}

async function outcomeOf({ store, readSettings }: StageContext, run: Run): Promise<RunOutcome> {
  const { message, triage, ticket } = run;
  const { ticketId, text } = message;
  const isRejected = isSpam(run);
  const language = languageOf(text);
  const target = asProjectId(triage?.project ?? ticket?.project ?? message.project);
  const duplicates = isRejected ? [] : await findDuplicates(store, target, { ticketId, text, language });
  const isMoved = target !== ticket?.project;
  const name = isMoved ? (await readSettings(target))?.project.name : undefined;
  return {
    message,
    state: isRejected ? "rejected" : "held",
    failure: null,
    stage: run.stage,
    status: isRejected ? "spam" : "open",
    agentId: triage?.agentId ?? null,
    confidence: triage?.project === undefined ? null : triage.confidence,
    language,
    moves: run.moves,
    trace: traceOf(run, duplicates, isMoved ? { project: name, projectId: target } : {}),
    replies: [],
    draft: null,
    ...(triage?.project === undefined ? {} : { route: { project: target, priority: priorityOf(run) } }),
  };
}

/** Returns the priority that the sender's severity suggests. */
function priorityOf({ message }: Run) {
  const { data } = ticketPrioritySchema.safeParse(message.channelMeta["severity"]);
  return data ?? null;
}

/** Returns the trace for the ticket's event. `projectId` is the project of this and later events. */
function traceOf({ triage, stageMs, message }: Run, possibleDuplicates: PossibleDuplicate[], route: object): object {
  return { triage, stageMs, attempts: message.attempts, possibleDuplicates, ...route };
}
