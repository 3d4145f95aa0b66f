import type { en } from "./en.ts";

/** Names of all texts. */
export type TextKey = keyof typeof en;

/** A text, or one for each number of things. */
export type TextEntry = string | { one: string; other: string };

/** A table with the same keys as another one, and plurals where that has them. */
export type TableLike<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends string ? string : { one: string; other: string };
};

/** The texts of a language: the same keys as in English, and plurals where English has them. */
export type TextTable = TableLike<typeof en>;
