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
