import { answerQuestion } from "@svc/agents";
import type { Principal } from "@svc/auth";
import {
  checkInput,
  encodeGapCursor,
  gapArticleSchema,
  gapChangeSchema,
  gapListSchema,
  grantsScope,
} from "@svc/contracts";
import type { Agent, AnsweredGap, Gap, GapDetail, ListPage } from "@svc/contracts";
import { searchKnowledge } from "@svc/knowledge";
import type { Embeddings } from "@svc/knowledge";
import type { GapRecord, Store } from "@svc/store";
import { addArticle, keyOfArticle, publishExclusively } from "./articles.ts";
import type { IngestDeps } from "./documents.ts";
import { requireKb } from "./kbs.ts";
import type { ItemResult } from "./operation.ts";
import { staleVersion, operation, objectReader, notInProject } from "./operation.ts";

/** Returns a gap as shown. */
export function asGap(gap: GapRecord): Gap {
  const { examples, createdAt, lastAt, ...rest } = gap;
  return {
    ...rest,
    examples: examples.map((example) => ({ ...example, at: example.at.toISOString() })),
    createdAt: createdAt.toISOString(),
    lastAt: lastAt.toISOString(),
  };
}

const readGap = objectReader("gap", ({ gaps }) => gaps.find);

/** Returns a page of the questions without a good answer, most asked or newest first; `q` searches the question. */
export const listGaps = operation("listGaps", async ({ store }, principal, input): Promise<ListPage<Gap>> => {
  const query = checkInput(gapListSchema(input.sort), input, "The query");
  const { gaps, next } = await store.gaps.listPage(principal.project, query);
  return { items: gaps.map(asGap), nextCursor: next === null ? null : encodeGapCursor(query.sort, next) };
});

/**
 * Returns the agent that would answer now: the gap's agent or, without one, an agent with the article's knowledge base.
 */
async function findAgent(store: Store, { project }: Principal, { agentId, article }: GapRecord): Promise<Agent | null> {
  if (agentId !== null) return store.agents.find(project, agentId);
  if (article === null) return null;
  const agents = await store.agents.list(project);
  return agents.find(({ enabled, kbIds }) => enabled && kbIds.includes(article.kbId)) ?? null;
}

/**
 * Returns the gap with this id, and its agent's current answer to the question if the principal may also read knowledge
 * bases.
 */
export const getGap = operation(
  "getGap",
  async ({ store, embeddings }: { store: Store; embeddings: Embeddings | null }, principal, id): Promise<GapDetail> => {
    const gap = await readGap(store, principal, id);
    // The answer contains text of knowledge bases.
    const agent = grantsScope(principal.scopes, "kb:read") ? await findAgent(store, principal, gap) : null;
    const item = asGap(gap);
    if (agent === null) return { ...item, answerNow: null };
    const { text, confidence, why } = await answerQuestion({
      agent,
      text: gap.question,
      language: gap.language,
      search: (query, kbIds, limit) =>
        searchKnowledge({ store, embeddings }, principal.project, { query, kbIds, limit }),
    });
    const sends = { auto: true, review: false, auto_if: confidence >= agent.autoThreshold };
    return { ...item, answerNow: { text, confidence, sends: text !== null && sends[agent.reviewPolicy], why } };
  },
);

/**
 * Changes a gap if it has one of the expected versions. An answered one reopens when its question finds no good answer
 * again.
 */
export const updateGap = operation(
  "updateGap",
  async ({ store }, principal, { id, versions = null }, input) => {
    const { status } = checkInput(gapChangeSchema, input, "The gap");
    const gap = await readGap(store, principal, id);
    if (gap.status === status && (versions === null || versions.includes(gap.version))) return asGap(gap);
    const outcome = await store.gaps.update(principal.project, { id, versions }, { status });
    if (outcome === null) throw notInProject("gap");
    if (!outcome.changed) throw staleVersion("The gap", outcome.gap.version);
    return asGap(outcome.gap);
  },
  { audit: "gaps.update" },
);

/** Returns the gap after its article was written; customers' texts only if the principal may read them. */
function asAnswered(gap: GapRecord, { scopes }: Principal): AnsweredGap {
  const item = asGap(gap);
  return grantsScope(scopes, "tickets:read") ? item : { ...item, question: null, examples: [] };
}

/**
 * Writes an article for a gap if the gap has one of the expected versions: a document of a knowledge base, read within
 * seconds, which marks the gap as answered. A repeated call replaces the previous article, and `isReplacement` is true.
 * Question and examples are only returned to a principal who may read tickets. Throws not_found for an unknown gap or
 * knowledge base, version_conflict with the current `ETag`, invalid_request with every error of the input,
 * payload_too_large, and rate_limited while too many documents of the project are pending.
 */
export const writeGapArticle = operation(
  "writeGapArticle",
  async (deps: IngestDeps, principal, { id, versions = null }, input): Promise<ItemResult<AnsweredGap>> => {
    const { kbId, title, text } = checkInput(gapArticleSchema, input, "The article");
    const { store } = deps;
    const gap = await readGap(store, principal, id);
    await requireKb(store, principal, kbId);
    if (versions !== null) {
      // Of two calls with the same version only one may write the document: this update claims the version.
      const claimed = await store.gaps.update(principal.project, { id: gap.id, versions }, { status: gap.status });
      if (claimed === null) throw notInProject("gap");
      if (!claimed.changed) throw staleVersion("The gap", claimed.gap.version);
    }
    const key = keyOfArticle("", gap.id);
    const { project, actor } = principal;
    const article = await publishExclusively(store, { kbId, key }, async () => {
      const made = { kbId, documentId: await addArticle(deps, principal, { kbId, key, title, text }) };
      await store.articles.recordPublished(project, { ...made, gapId: gap.id, key, title, text, actor });
      return made;
    });
    const outcome = await store.gaps.update(project, { id: gap.id }, { status: "answered", article });
    if (outcome === null) throw notInProject("gap");
    const isNew = gap.article?.documentId !== article.documentId;
    return { item: asAnswered(outcome.gap, principal), isNew };
  },
  { audit: "gaps.write_article" },
);
