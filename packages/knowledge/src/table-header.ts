/** Row below the header of a table: bars, dashes and colons only. */
const DELIMITER = /^(?=[^\n]*\|)(?=[^\n]*-)[|:\- \t]+$/;

/** A header longer than this is cut: its words are counted with every passage of the table. */
const MAX_HEADER_CHARS = 500;

/**
 * Finds, for the passages of a document in their order, the header of the table that a passage goes on with: a long
 * table is cut between its rows, and only its first passage has the header. Empty for any other passage.
 */
export function createTableHeaderFinder(): (passage: { text: string; headingPath: readonly string[] }) => string {
  let open = { header: "", path: "" };
  return ({ text, headingPath }) => {
    const lines = text.split("\n");
    const path = JSON.stringify(headingPath);
    const goesOn = isRow(lines[0]) && !isDelimiter(lines[1]) && open.path === path;
    const carried = goesOn ? open.header : "";
    const delimiter = lines.findLastIndex(isDelimiter);
    const own = delimiter > 0 ? (lines[delimiter - 1] ?? "").slice(0, MAX_HEADER_CHARS) : "";
    open = { header: isRow(lines.at(-1)) ? own || carried : "", path };
    return carried;
  };
}

function isRow(line: string | undefined): boolean {
  return line?.trimStart().startsWith("|") === true;
}

function isDelimiter(line: string | undefined): boolean {
  return line !== undefined && DELIMITER.test(line);
}
