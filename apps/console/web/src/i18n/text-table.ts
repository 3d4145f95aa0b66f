import type en from "./en.json";

/** Texts of the frame of all pages, the inbox and its tickets; and those of all other pages. */
export type TextPart = keyof typeof en;

/** A text, or one for each plural category that the language has (`Intl.PluralRules`), chosen by `n`. */
export type TextEntry = string | (Partial<Record<Intl.LDMLPluralRule, string>> & { other: string });

/** The part of a language's file with this name: the keys of the English one, and plurals where English has them. */
export type TextsOf<Part extends TextPart> = {
  readonly [Key in keyof (typeof en)[Part]]: (typeof en)[Part][Key] extends string
    ? string
    : Exclude<TextEntry, string>;
};

/** Names of all texts. */
export type TextKey = keyof (typeof en)["first"] | keyof (typeof en)["pages"];

/** The texts of a language that have been loaded: initially only those of its part `first`. */
export type TextTable = Partial<Readonly<Record<TextKey, TextEntry>>>;
