/** What programs call a document before anybody gave it a name. */
const NO_TITLE =
  /^(?:untitled|document|dokument|book|workbook|presentation|microsoft (?:word|excel)|powerpoint)[\s\d-]*$|^microsoft \w+ - |\.(?:docx?|xlsx?|dotx?|rtf|indd|tex|qxd|pmd)$/i;

/** A file as it is handed in. */
export interface FileToRead {
  /** File name or path of a URL; its ending is a hint only, the content decides. */
  name: string;
  bytes: Uint8Array;
  /** As a server or client declared it, a hint. */
  mime?: string;
  /** Where it was fetched from: links become absolute. */
  url?: string;
  /** Its format where that is known, as of a text that came within JSON, in UTF-8: then nothing is guessed. */
  format?: "plain" | "markdown" | "html" | "csv";
}

/** What a file says, ready to be cut into passages. */
export interface FileText {
  text: string;
  /** Media type of `text`. */
  mime: "text/markdown" | "text/plain";
  /** What the file itself names as its title, or null. */
  title: string | null;
  /** What the file was, as in application/pdf. */
  sourceMime: string;
  /** Where each page of a paged document begins in `text`, in UTF-16 units. */
  pageStarts?: number[];
}

/** A title as metadata gives it, or null for one that says nothing about the document. */
export function sensibleTitle(title: string): string | null {
  const line = title.replace(/\s+/g, " ").trim();
  return line === "" || NO_TITLE.test(line) || !/\p{L}{2}/u.test(line) ? null : line;
}
