/** What programs call a document before anybody gave it a name. */
const NO_TITLE =
  /^(?:untitled|document|dokument|book|workbook|presentation|microsoft (?:word|excel)|powerpoint)[\s\d-]*$|^microsoft \w+ - |\.(?:docx?|xlsx?|dotx?|rtf|indd|tex|qxd|pmd)$/i;

/** A title as metadata gives it, or null for one that says nothing about the document. */
export function sensibleTitle(title: string): string | null {
  const line = title.replace(/\s+/g, " ").trim();
  return line === "" || NO_TITLE.test(line) || !/\p{L}{2}/u.test(line) ? null : line;
}
