import { customerOf } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { microsecondsOf } from "./ticket-keys.ts";

/** Words that a ticket must have, all of them. */
export interface WordQuery {
  words: readonly string[];
  /** What a further word must begin with; null for none. */
  beginning: string | null;
}

/** What is to be known of a ticket before its words can be indexed. */
export interface TicketText {
  ticketId: string;
  /** The words that its index has already; null to begin anew. */
  indexed: string[] | null;
  subject: string;
  /** The customer's name, e-mail address and user id, as far as they are known. */
  customer: string;
  /** What was said since, in the order in which it was. */
  texts: string[];
  /** Place in the chat of the last of these texts. */
  seq: number;
  /** True when there are more. */
  hasMore: boolean;
}

/** The words of a ticket, as they are to be indexed. */
interface IndexedText {
  ticketId: string;
  subject: string;
  seq: number;
  words: string[];
  /** When the ticket was made, in microseconds: one that was erased and begun anew has the same id. */
  createdUs: number;
}

/** Tickets of one step, and texts of one ticket in it: at most some 20 MB at once. */
const STEP = { tickets: 40, texts: 20 };

/** Lexemes that no text has, since words hold neither of their first characters. */
const projectLexeme = (project: string) => `:p:${project}`;
const beginningLexeme = (beginning: string) => `:${beginning}`;

/** Characters of a beginning that is looked up as a lexeme of its own: longer ones share theirs with few words. */
const SHORT_BEGINNING = 2;

/** A lexeme as tsquery reads it. */
const quote = (lexeme: string) => `'${lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;

/**
 * The tsquery of tickets of a project with these words. The project is one of the words, so that the index does not lead
 * to the tickets of others.
 */
export function textQueryOf(project: ProjectId, { words, beginning }: WordQuery): string {
  const lexemes = [projectLexeme(project), ...words].map(quote);
  if (beginning !== null) {
    const isShort = Array.from(beginning).length <= SHORT_BEGINNING;
    lexemes.push(isShort ? quote(beginningLexeme(beginning)) : `${quote(beginning)}:*`);
  }
  return lexemes.join(" & ");
}

/** Words of which any two are looked for: their pairs grow with the square. */
const MAX_PAIRED = 8;

/**
 * The tsquery of tickets of a project with two of these words at least, of the longest of them, which are mostly the
 * rarest; empty where there are not two.
 */
export function anyTwoOf(project: ProjectId, words: readonly string[]): string {
  const longest = [...new Set(words)].toSorted((a, b) => b.length - a.length).slice(0, MAX_PAIRED);
  const pairs = longest.flatMap((one, index) =>
    longest.slice(index + 1).map((other) => `(${quote(one)} & ${quote(other)})`),
  );
  return pairs.length === 0 ? "" : `${quote(projectLexeme(project))} & (${pairs.join(" | ")})`;
}

/** The words and the short beginnings of them. */
function lexemesOf(words: readonly string[]): string[] {
  const lexemes = new Set(words);
  for (const word of words) {
    const characters = Array.from(word.slice(0, SHORT_BEGINNING * 2));
    for (let length = 1; length <= Math.min(SHORT_BEGINNING, characters.length); length++) {
      lexemes.add(beginningLexeme(characters.slice(0, length).join("")));
    }
  }
  return [...lexemes];
}

/** What a search finds a ticket's customer by. */
function customerText(userId: string | null, channelMeta: Record<string, unknown>): string {
  const customer = customerOf(channelMeta);
  return [customer?.name, customer?.email, userId].filter((part) => typeof part === "string").join(" ");
}

/** The words of tickets. */
export function ticketTextsTable(db: Db) {
  // Deleted before anything is read: a change that comes after the read finds no row and queues the ticket again. SKIP
  // LOCKED: each replica takes other tickets. When the process dies, the transaction undoes it.
  const TAKE = `
    DELETE FROM ticket_text_queue WHERE ticket_id IN (
      SELECT ticket_id FROM ticket_text_queue ORDER BY queued_at DESC LIMIT ${STEP.tickets} FOR UPDATE SKIP LOCKED
    ) RETURNING ticket_id`;

  // What is indexed stays, unless the subject is another one.
  const READ = `
    SELECT t.id AS ticket_id, t.subject, t.user_id, t.channel_meta, ${microsecondsOf("t.created_at")} AS created_us, x.seq, tsvector_to_array(x.document) AS lexemes
    FROM tickets t LEFT JOIN ticket_texts x ON x.ticket_id = t.id AND x.subject = t.subject
    WHERE t.id = ANY ($1::uuid[])`;

  // Messages and replies share the places of their chat, and both have an index on them. One more than are taken.
  const READ_SAID = `
    SELECT i.ticket_id, said.seq, said.text
    FROM unnest($1::uuid[], $2::bigint[]) AS i (ticket_id, seq) CROSS JOIN LATERAL (
      (SELECT seq, text FROM messages m WHERE m.ticket_id = i.ticket_id AND m.seq > i.seq
       ORDER BY seq LIMIT ${STEP.texts + 1})
      UNION ALL
      (SELECT seq, text FROM replies r WHERE r.ticket_id = i.ticket_id AND r.seq > i.seq AND r.type = 'message'
       ORDER BY seq LIMIT ${STEP.texts + 1})
      ORDER BY seq LIMIT ${STEP.texts + 1}
    ) AS said ORDER BY i.ticket_id, said.seq`;

  // Tickets that were erased meanwhile are gone from the join, whether they have begun anew or not: those are another
  // row, which is in the queue again. One that is erased in this moment waits for this commit and takes the words with
  // it. Locks the tickets' rows, as the foreign key does, but those that were joined; in the order of ids, as every such
  // statement.
  const WRITE = `
    INSERT INTO ticket_texts (ticket_id, project_id, document, subject, seq, has_customer)
    SELECT t.id, t.project_id,
      array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(i.lexemes)) || (':p:' || t.project_id)), i.subject, i.seq, true
    FROM unnest($1::uuid[], $2::jsonb[], $3::text[], $4::bigint[], $5::bigint[])
      AS i (ticket_id, lexemes, subject, seq, created_us)
    JOIN tickets t ON t.id = i.ticket_id AND ${microsecondsOf("t.created_at")} = i.created_us
    ORDER BY t.id FOR KEY SHARE OF t
    ON CONFLICT (ticket_id) DO UPDATE SET project_id = excluded.project_id, document = excluded.document,
      subject = excluded.subject, seq = excluded.seq, has_customer = true`;

  const QUEUE_AGAIN = `
    INSERT INTO ticket_text_queue (ticket_id) SELECT unnest($1::uuid[]) ON CONFLICT (ticket_id) DO NOTHING`;

  // Tickets whose words were indexed before the customer's belonged to them, some at a time and after all others: the older
  // version indexes without them for as long as it runs beside this one.
  const QUEUE_WITHOUT_CUSTOMER = `
    INSERT INTO ticket_text_queue (ticket_id, queued_at)
    SELECT ticket_id, '-infinity' FROM ticket_texts WHERE NOT has_customer LIMIT ${STEP.tickets}
    ON CONFLICT (ticket_id) DO NOTHING`;

  async function read(tx: Db, ticketIds: readonly string[]): Promise<(TicketText & Pick<IndexedText, "createdUs">)[]> {
    const tickets = await tx.query<{
      ticket_id: string;
      subject: string;
      user_id: string | null;
      channel_meta: Record<string, unknown>;
      created_us: number;
      seq: number | null;
      lexemes: string[] | null;
    }>(READ, [ticketIds]);
    const said = await tx.query<{ ticket_id: string; seq: number; text: string }>(READ_SAID, [
      tickets.map((row) => row.ticket_id),
      tickets.map((row) => row.seq ?? 0),
    ]);
    return tickets.map((row) => {
      const own = said.filter((one) => one.ticket_id === row.ticket_id);
      const taken = own.slice(0, STEP.texts);
      return {
        ticketId: row.ticket_id,
        indexed: row.lexemes?.filter((lexeme) => !lexeme.startsWith(":")) ?? null,
        subject: row.subject,
        customer: customerText(row.user_id, row.channel_meta),
        createdUs: row.created_us,
        texts: taken.map(({ text }) => text),
        seq: taken.at(-1)?.seq ?? row.seq ?? 0,
        hasMore: own.length > taken.length,
      };
    });
  }

  return {
    /**
     * Indexes the words of some tickets that wait for it, those that changed last first; false when none waits.
     * `wordsOf` makes the words of a ticket. Safe with any number of replicas and at any crash: what was taken is taken
     * again.
     */
    async indexNext(wordsOf: (text: TicketText) => string[]): Promise<boolean> {
      // Mostly there is nothing to do: one look instead of a transaction.
      const [queue] = await db.query<{ is_empty: boolean; is_complete: boolean }>(
        `SELECT NOT EXISTS (SELECT FROM ticket_text_queue) AS is_empty,
           NOT EXISTS (SELECT FROM ticket_texts WHERE NOT has_customer) AS is_complete`,
      );
      if (queue?.is_empty === true && queue.is_complete) return false;
      if (queue?.is_empty === true) await db.query(QUEUE_WITHOUT_CUSTOMER);
      return db.transaction(async (tx) => {
        const taken = await tx.query<{ ticket_id: string }>(TAKE);
        if (taken.length === 0) return false;
        const texts = await read(
          tx,
          taken.map((row) => row.ticket_id),
        );
        const indexed: IndexedText[] = texts.map((text) => ({ ...text, words: wordsOf(text) }));
        await tx.query(WRITE, [
          indexed.map(({ ticketId }) => ticketId),
          indexed.map(({ words }) => JSON.stringify(lexemesOf(words))),
          indexed.map(({ subject }) => subject),
          indexed.map(({ seq }) => seq),
          indexed.map(({ createdUs }) => createdUs),
        ]);
        const unfinished = texts.filter(({ hasMore }) => hasMore).map(({ ticketId }) => ticketId);
        if (unfinished.length > 0) await tx.query(QUEUE_AGAIN, [unfinished]);
        return true;
      });
    },
  };
}
