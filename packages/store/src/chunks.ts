import type { Db } from "./db.ts";
import { newId } from "./ids.ts";
import type { ProjectId } from "./ids.ts";

/** How often a word stands in the fields of a chunk. */
export interface ChunkWord {
  word: string;
  titleCount: number;
  headingCount: number;
  bodyCount: number;
}

/** A passage of a document, cut and counted; its words are not stemmed yet. */
export interface NewChunk {
  headingPath: string[];
  text: string;
  /** Place in the document's text, in UTF-16 units. */
  startOffset: number;
  endOffset: number;
  /** Length of the body in words. */
  termCount: number;
  /** Its distinct words. */
  words: ChunkWord[];
}

/** A word of a query in one of the languages that are searched. Entries of one `place` are one word of the query. */
export interface QueryWord {
  place: number;
  word: string;
  /** Postgres's text search configuration of the language, as in `english`. */
  textSearchConfig: string;
}

/** A passage that a search found. */
export interface FoundChunk {
  chunkId: string;
  documentId: string;
  kbId: string;
  title: string;
  url: string | null;
  mime: string;
  headingPath: string[];
  text: string;
  score: number;
}

/** Passages found, best first, and how much each word of the query weighs in these knowledge bases. */
export interface FoundChunks {
  hits: FoundChunk[];
  /**
   * By place in the query: the word's inverse document frequency, the higher the rarer. A word whose stem has come
   * before has none.
   */
  weights: Map<number, number>;
}

/**
 * What a match in a title or heading counts against one in the body, and BM25's two constants: how soon further
 * matches stop counting (k1), how much a long passage is marked down (b).
 */
const RANKING = { titleWeight: 3, headingWeight: 2, k1: 1.2, b: 0.6 } as const;

/** The score of a word is at most this many times its weight: BM25's limit for ever more matches. */
export const MAX_SATURATION = RANKING.k1 + 1;

/** Words of a query that are searched for, rarest first: what a query costs at most is this many lists of postings. */
const MAX_SEARCHED_TERMS = 32;

/** Chunks that one statement inserts: bounds the size of its parameters. */
const INSERT_BATCH = 200;

const MAX_SMALLINT = 32_767;

/** SQL for the stemmer of a text search configuration; `simple` where this version of Postgres has none. */
function dictionaryOf(config: string): string {
  return `coalesce((SELECT oid FROM pg_catalog.pg_ts_dict WHERE dictname = ${config} || '_stem'
    AND dictnamespace = 'pg_catalog'::regnamespace), 'pg_catalog.simple'::regdictionary)::regdictionary`;
}

/** SQL for the stem of a word; one that the dictionary takes for a stop word or does not know stands for itself. */
function stemOf(dictionary: string, word: string): string {
  return `coalesce((ts_lexize(${dictionary}, ${word}))[1], ${word})`;
}

/** Chunks of documents and the postings of their words. */
export function chunksTable(db: Db) {
  // Stems each distinct word once with Postgres's own stemmer. Forms of one word fall together, so counts are summed.
  // Only a transaction that holds the lock on the knowledge base comes here.
  const INSERT_TERMS = `
    WITH input AS (
      SELECT * FROM unnest($2::uuid[], $3::integer[], $4::text[], $5::smallint[], $6::smallint[], $7::smallint[])
        AS i (chunk_id, chunk_term_count, word, title_count, heading_count, body_count)
    ), stems AS MATERIALIZED (
      SELECT word, ${stemOf("s.dictionary", "word")} AS term
      FROM (SELECT DISTINCT word FROM input) AS words CROSS JOIN (SELECT ${dictionaryOf("$8")} AS dictionary) s
    ), posted AS (
      INSERT INTO chunk_terms (kb_id, term, chunk_id, title_count, heading_count, body_count, chunk_term_count)
      SELECT $1, s.term, i.chunk_id, least(sum(i.title_count), ${MAX_SMALLINT}),
        least(sum(i.heading_count), ${MAX_SMALLINT}), least(sum(i.body_count), ${MAX_SMALLINT}), i.chunk_term_count
      FROM input i JOIN stems s USING (word)
      GROUP BY s.term, i.chunk_id, i.chunk_term_count
      RETURNING term
    )
    INSERT INTO kb_terms AS t (kb_id, term, chunk_count)
    SELECT $1, term, count(*) FROM posted GROUP BY term ORDER BY term
    ON CONFLICT (kb_id, term) DO UPDATE SET chunk_count = t.chunk_count + excluded.chunk_count`;

  // Takes a document's postings out of the counts of its words, and words that stand nowhere else out of the list.
  // The two conditions exclude each other, since one statement may not change a row twice. Only a transaction that
  // holds the lock on the knowledge base comes here.
  const REMOVE_TERMS = `
    WITH gone AS (
      DELETE FROM chunk_terms WHERE chunk_id IN (SELECT id FROM chunks WHERE document_id = $2) RETURNING term
    ), less AS MATERIALIZED (
      SELECT term, count(*)::integer AS chunk_count FROM gone GROUP BY term
    ), dropped AS (
      DELETE FROM kb_terms t USING less l
      WHERE t.kb_id = $1 AND t.term = l.term AND t.chunk_count <= l.chunk_count
    )
    UPDATE kb_terms t SET chunk_count = t.chunk_count - l.chunk_count FROM less l
    WHERE t.kb_id = $1 AND t.term = l.term AND t.chunk_count > l.chunk_count`;

  // BM25 with weighted fields in one statement and so on one snapshot; it locks nothing. Words of the query that have a
  // stem in common, in any of the languages, count as one: the first of them. Its weight counts its forms together.
  // Words that stand nowhere have a weight too, so that a query about something else scores low against what it could
  // score. `known` keeps the rarest words, which bounds the cost. OFFSET 0 makes the planner read the postings of one
  // word after the other by the index, whatever it believes about them.
  const SEARCH = `
    WITH scope AS (
      SELECT id, chunk_count, term_total FROM kbs WHERE project_id = $1 AND id = ANY ($2::uuid[])
    ), totals AS (
      SELECT coalesce(sum(chunk_count), 0)::float8 AS chunk_count,
        greatest(sum(term_total) / greatest(sum(chunk_count), 1), 1)::float8 AS mean_term_count
      FROM scope
    ), stems AS (
      SELECT DISTINCT i.place, ${stemOf("s.dictionary", "i.word")} AS term
      FROM unnest($3::integer[], $4::text[], $5::text[]) AS i (place, word, config)
      JOIN (SELECT config, ${dictionaryOf("config")} AS dictionary FROM unnest($5::text[]) AS c (config) GROUP BY config)
        AS s USING (config)
    ), firsts AS (
      SELECT place, term, min(place) OVER (PARTITION BY term) AS first_place FROM stems
    ), joined AS (
      SELECT term, min(first_place) OVER (PARTITION BY place) AS place FROM firsts
    ), forms AS MATERIALIZED (
      SELECT min(place) AS place, term FROM joined GROUP BY term
    ), counted AS MATERIALIZED (
      SELECT f.place, f.term, coalesce(sum(t.chunk_count), 0)::float8 AS chunk_count
      FROM forms f LEFT JOIN kb_terms t ON t.term = f.term AND t.kb_id IN (SELECT id FROM scope)
      GROUP BY f.place, f.term
    ), weights AS MATERIALIZED (
      SELECT place, ln(1 + (greatest(n.chunk_count - sum(c.chunk_count), 0) + 0.5) / (sum(c.chunk_count) + 0.5)) AS weight
      FROM counted c CROSS JOIN totals n GROUP BY place, n.chunk_count
    ), known AS MATERIALIZED (
      SELECT c.term, w.weight FROM counted c JOIN weights w USING (place) WHERE c.chunk_count > 0
      ORDER BY w.weight DESC, c.term LIMIT ${MAX_SEARCHED_TERMS}
    ), ranked AS (
      SELECT p.chunk_id, sum(k.weight * p.frequency * ${RANKING.k1 + 1} / (p.frequency + ${RANKING.k1})) AS score
      FROM known k CROSS JOIN scope s CROSS JOIN totals n CROSS JOIN LATERAL (
        SELECT chunk_id, title_count * ${RANKING.titleWeight} + heading_count * ${RANKING.headingWeight} + body_count
          / (${1 - RANKING.b} + ${RANKING.b} * chunk_term_count / n.mean_term_count) AS frequency
        FROM chunk_terms WHERE kb_id = s.id AND term = k.term OFFSET 0
      ) p
      GROUP BY p.chunk_id ORDER BY score DESC, p.chunk_id LIMIT $6
    )
    SELECT r.chunk_id, r.score, c.document_id, c.kb_id, d.title, d.url, d.mime, c.heading_path, c.text, w.weights
    FROM (SELECT json_object_agg(place, weight) AS weights FROM weights) w
    LEFT JOIN (ranked r JOIN chunks c ON c.id = r.chunk_id JOIN documents d ON d.id = c.document_id) ON true
    ORDER BY r.score DESC, r.chunk_id`;

  return {
    /**
     * Inserts the chunks of a document in their order, and the postings of their words. Part of
     * `documents.put`, in a transaction that has locked the knowledge base.
     */
    async insert(
      project: ProjectId,
      owner: { kbId: string; documentId: string; textSearchConfig: string },
      chunks: readonly NewChunk[],
    ): Promise<void> {
      for (let first = 0; first < chunks.length; first += INSERT_BATCH) {
        const batch = chunks.slice(first, first + INSERT_BATCH).map((chunk) => ({ ...chunk, id: newId() }));
        // Headings go as JSON: unnest would flatten an array of arrays.
        await db.query(
          `INSERT INTO chunks (id, project_id, kb_id, document_id, ordinal, heading_path, text, start_offset,
             end_offset, term_count)
           SELECT i.id, $1, $2, $3, $4 + i.place, ARRAY(SELECT jsonb_array_elements_text(i.heading_path)), i.text,
             i.start_offset, i.end_offset, i.term_count
           FROM unnest($5::uuid[], $6::jsonb[], $7::text[], $8::integer[], $9::integer[], $10::integer[])
             WITH ORDINALITY AS i (id, heading_path, text, start_offset, end_offset, term_count, place)`,
          [
            project,
            owner.kbId,
            owner.documentId,
            first,
            batch.map((chunk) => chunk.id),
            batch.map((chunk) => JSON.stringify(chunk.headingPath)),
            batch.map((chunk) => chunk.text),
            batch.map((chunk) => chunk.startOffset),
            batch.map((chunk) => chunk.endOffset),
            batch.map((chunk) => chunk.termCount),
          ],
        );
        const words = batch.flatMap((chunk) => chunk.words.map((word) => ({ chunk, ...word })));
        await db.query(INSERT_TERMS, [
          owner.kbId,
          words.map(({ chunk }) => chunk.id),
          words.map(({ chunk }) => chunk.termCount),
          words.map(({ word }) => word),
          words.map(({ titleCount }) => Math.min(titleCount, MAX_SMALLINT)),
          words.map(({ headingCount }) => Math.min(headingCount, MAX_SMALLINT)),
          words.map(({ bodyCount }) => Math.min(bodyCount, MAX_SMALLINT)),
          owner.textSearchConfig,
        ]);
      }
    },

    /**
     * Removes the chunks of a document with their postings and answers how much that was. Part of `documents.put`, in
     * a transaction that has locked the knowledge base.
     */
    async removeOfDocument(kbId: string, documentId: string): Promise<{ chunkCount: number; termCount: number }> {
      await db.query(REMOVE_TERMS, [kbId, documentId]);
      const rows = await db.query<{ term_count: number }>(
        "DELETE FROM chunks WHERE kb_id = $1 AND document_id = $2 RETURNING term_count",
        [kbId, documentId],
      );
      return { chunkCount: rows.length, termCount: rows.reduce((sum, row) => sum + row.term_count, 0) };
    },

    /**
     * The passages of these knowledge bases that match the words best, by BM25 over body, headings and title. A
     * knowledge base of another project holds nothing.
     */
    async search(
      project: ProjectId,
      query: { kbIds: readonly string[]; words: readonly QueryWord[]; limit: number },
    ): Promise<FoundChunks> {
      const rows = await db.prepared<SearchRow>("chunks_search", SEARCH, [
        project,
        query.kbIds,
        query.words.map(({ place }) => place),
        query.words.map(({ word }) => word),
        query.words.map(({ textSearchConfig }) => textSearchConfig),
        query.limit,
      ]);
      const weights = Object.entries(rows[0]?.weights ?? {}).map(([place, weight]) => [Number(place), weight] as const);
      return { hits: rows.filter(isHit).map(asFound), weights: new Map(weights) };
    },
  };
}

interface HitRow {
  chunk_id: string;
  score: number;
  document_id: string;
  kb_id: string;
  title: string;
  url: string | null;
  mime: string;
  heading_path: string[];
  text: string;
}

type SearchRow = { weights: Record<string, number> | null } & (HitRow | { chunk_id: null });

function isHit(row: SearchRow): row is SearchRow & HitRow {
  return row.chunk_id !== null;
}

function asFound(row: HitRow): FoundChunk {
  return {
    chunkId: row.chunk_id,
    documentId: row.document_id,
    kbId: row.kb_id,
    title: row.title,
    url: row.url,
    mime: row.mime,
    headingPath: row.heading_path,
    text: row.text,
    score: row.score,
  };
}
