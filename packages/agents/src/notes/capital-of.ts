/** A letter as a sentence in a language (ISO 639-1) begins with it; unchanged where its capital is that of another letter. */
export function capitalOf(letter: string, language: string): string {
  // Two letters i, each with a capital of its own.
  if (language === "tr" || language === "az") return letter.toLocaleUpperCase(language);
  const capital = letter.toUpperCase();
  return capital.toLowerCase() === letter ? capital : letter;
}
