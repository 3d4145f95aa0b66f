/** Default titles of programs. */
const NO_TITLE =
  /^(?:untitled|document|dokument|book|workbook|presentation|microsoft (?:word|excel)|powerpoint)[\s\d-]*$|^microsoft \w+ - |\.(?:docx?|xlsx?|dotx?|rtf|indd|tex|qxd|pmd)$/i;

/** A file to read. */
export interface FileToRead {
  /** File name or path of a URL; its extension is only a hint, the content decides. */
  name: string;
  bytes: Uint8Array;
  /** As declared by a server or client; a hint. */
  mime?: string;
  /** URL that it was fetched from, to make links absolute. */
  url?: string;
  /** Its format if known, for example of a text in JSON, in UTF-8: then it is not detected. */
  format?: "plain" | "markdown" | "html" | "csv";
}

/** Text of a file, ready to be split into passages. */
export interface FileText {
  text: string;
  /** Media type of `text`. */
  mime: "text/markdown" | "text/plain";
  /** Title in the file's metadata, or null. */
  title: string | null;
  /** Media type of the file, for example application/pdf. */
  sourceMime: string;
  /** Start of each page of a paged document in `text`, in UTF-16 units. */
  pageStarts?: number[];
  /** Absolute URLs that an HTML page links to, each once, without those that robots should not follow. */
  links?: string[];
}

/** Returns a title from metadata, or null if it says nothing about the document. */
export function sensibleTitle(title: string): string | null {
  const line = title.replace(/\s+/g, " ").trim();
  return line === "" || NO_TITLE.test(line) || !/\p{L}{2}/u.test(line) ? null : line;
}
