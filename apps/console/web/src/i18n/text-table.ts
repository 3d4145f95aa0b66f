import type { en } from "./en.ts";
import type { enPages } from "./en-pages.ts";

/** Names of all texts. */
export type TextKey = keyof typeof en | keyof typeof enPages;

/** A text, or one for each number of things. */
export type TextEntry = string | { one: string; other: string };

/** A table with the same keys as another one, and plurals where that has them. */
export type TableLike<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends string ? string : { one: string; other: string };
};

/** The texts of a language that are there: at first not those of en-pages.ts. */
export type TextTable = Partial<Readonly<Record<TextKey, TextEntry>>>;
