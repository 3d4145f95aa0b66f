import { parse } from "csv-parse/sync";
import { fileError, fileTooLarge } from "../ingest-file.ts";
import type { FileText } from "../ingest-file.ts";
import { escapeInline, formatTable } from "./format-table.ts";
import type { ReadLimits } from "./read-limits.ts";

const DELIMITERS = [",", ";", "\t", "|"] as const;

/** Number of characters from which the delimiter is detected. */
const SAMPLE_CHARS = 20_000;

/**
 * Parses comma-, semicolon- or tab-separated values (RFC 4180, leniently) as one Markdown table; the first row is its
 * header. Throws `payload_too_large` for too many values and `damaged` for unterminated quotes.
 */
export function readCsv(source: string, file: { name: string }, limits: ReadLimits): FileText {
  const named = /^sep=(.)\n/.exec(source);
  const csv = named === null ? source : source.slice(named[0].length);
  const delimiter = named?.[1] ?? delimiterOf(csv);
  let values = 0;
  const tooMany = fileTooLarge(file.name, `has more than ${limits.cells} values, the maximum for a CSV file; split it`);
  let rows: string[][];
  try {
    rows = parse(csv, {
      delimiter,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      on_record: (record: string[]) => {
        values += record.length;
        if (values > limits.cells) throw tooMany;
        return record;
      },
    });
  } catch (error) {
    if (error === tooMany) throw tooMany;
    throw fileError(
      file.name,
      "damaged",
      "is not valid CSV: a quoted value is not closed; fix it and add it again",
      error,
    );
  }
  const table = formatTable(rows.map((row) => row.map(escapeInline)));
  return {
    text: table,
    mime: "text/markdown",
    title: null,
    sourceMime: delimiter === "\t" ? "text/tab-separated-values" : "text/csv",
  };
}

/** Returns the delimiter: the one that splits the first lines into most columns, consistently. */
function delimiterOf(csv: string): string {
  const lines = csv
    .slice(0, SAMPLE_CHARS)
    .replace(/"(?:[^"]|"")*"/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, 50);
  const scores = DELIMITERS.map((delimiter) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    const first = counts[0] ?? 0;
    const alike = counts.filter((count) => count === first).length;
    return first === 0 ? 0 : (alike / Math.max(1, counts.length)) * 1_000 + Math.min(first, 100);
  });
  const best = Math.max(...scores);
  return best === 0 ? "," : (DELIMITERS[scores.indexOf(best)] ?? ",");
}
