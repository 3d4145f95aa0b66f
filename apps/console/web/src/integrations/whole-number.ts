/** A whole number out of what was typed; what is none goes to the server as zero, which says what it takes. */
export const wholeNumber = (text: string): number => Math.round(Number(text)) || 0;
