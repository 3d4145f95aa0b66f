import { BLOCK_CHUNKS, POSTING_UNITS, decodePostings } from "@svc/store";
import type { Client } from "pg";

/**
 * Returns the errors in the index of a knowledge base: passages without postings or with wrong lengths, unordered
 * postings, existing passages that are marked as deleted, and numbers without a passage that are not.
 */
export async function readIndexErrors(client: Client, kbId: string): Promise<string[]> {
  const { rows: kbs } = await client.query<{ number: number; blocks: number[]; dead_numbers: number[] }>(
    "SELECT number, blocks, dead_numbers FROM kbs WHERE id = $1",
    [kbId],
  );
  const [kb] = kbs;
  if (kb === undefined) return ["there is no such knowledge base"];
  const passages = await client.query<{ number: number; length: number }>(
    `SELECT d.first_chunk_number + c.ordinal AS number, c.term_count AS length
     FROM documents d JOIN chunks c ON c.document_id = d.id WHERE d.kb_id = $1`,
    [kbId],
  );
  const rows = await client.query<{ block: number; term: string; postings: Buffer }>(
    "SELECT block, term, postings FROM kb_postings WHERE kb_number = $1",
    [kb.number],
  );
  const lengths = new Map(passages.rows.map(({ number, length }) => [number, length]));
  const runs = kb.dead_numbers;
  const isDead = (number: number): boolean =>
    runs.some((from, at) => at % 2 === 0 && from <= number && number < (runs[at + 1] ?? 0));
  const errors: string[] = [];
  const posted = new Set<number>();
  for (const { block, term, postings } of rows.rows) {
    if (!kb.blocks.includes(block)) errors.push(`block ${block} is not listed`);
    const units = decodePostings(postings);
    let last = -1;
    for (let at = 0; at < units.length; at += POSTING_UNITS) {
      const number = block * BLOCK_CHUNKS + (units[at] ?? 0);
      if (number <= last) errors.push(`${term}: ${number} after ${last}`);
      last = number;
      const length = lengths.get(number);
      if (length === undefined && !isDead(number)) errors.push(`${term}: ${number} is no passage`);
      if (length !== undefined && length !== units[at + 2]) errors.push(`${term}: ${number} has another length`);
      if (length !== undefined) posted.add(number);
    }
  }
  for (const [number, length] of lengths) {
    if (isDead(number)) errors.push(`${number} counts as gone`);
    if (length > 0 && !posted.has(number)) errors.push(`${number} has no postings`);
  }
  return errors;
}
