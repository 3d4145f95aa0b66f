/** A number in a spreadsheet: its value, and the format that shows it as in the text. */
export interface ReadNumber {
  value: number;
  numFmt: string;
}

/** Decimal separator of a table's numbers. */
export type DecimalMark = "." | ",";

/** A sign, a currency sign before or after, a percent sign after; `FORMS` match the rest. */
const AFFIXES =
  /^(?<sign>[-\u2212]?)(?<prefix>\p{Sc}?[ \u00a0\u202f]?)(?<digits>\d(?:[\d.,\u00a0\u202f ]*\d)?)(?<suffix>[ \u00a0\u202f]?[%\p{Sc}]?)$/u;
/**
 * A number without a leading zero, its thousands grouped by threes or not at all. With a decimal comma, spaces only
 * group if decimals follow: `555 123` may be a phone number.
 */
const FORMS = {
  ".": /^(?<whole>0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.(?<decimals>\d+))?$/,
  ",": /^(?<whole>0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+|[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+(?=,))(?:,(?<decimals>\d+))?$/,
} satisfies Record<DecimalMark, RegExp>;

/** Digits that a double, and so a spreadsheet, stores exactly. */
const MAX_SIGNIFICANT_DIGITS = 15;

/** Cells that only have one reading: 0.125, 12.5, 1,234.5 and 1,234,567. */
const POINT_EVIDENCE =
  /^[-\u2212]?\p{Sc}? ?(?:0\.\d+|\d+\.(?:\d{1,2}|\d{4,})|\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}) ?[%\p{Sc}]?$/u;
/** Cells that almost certainly have decimal commas: 1.234,5, 1 234,50, 12,50, 7,5 % and 3,9 €. */
const COMMA_EVIDENCE =
  /^[-\u2212]?\p{Sc}?[ \u00a0\u202f]?(?:\d{1,3}(?:[.\u00a0\u202f ]\d{3})+,\d+|\d+,\d{2}|\d+,\d{1,2}[ \u00a0\u202f]?[%\p{Sc}])[ \u00a0\u202f]?[%\p{Sc}]?$/u;

/**
 * Returns the decimal separator of a table from all its cells: a comma if at least one cell almost certainly has one
 * (`12,50`, `1.234,5`) and none has a decimal point; otherwise a point. It is the same for a whole table, since
 * `1,234` may be a thousand or little more than one.
 */
export function findDecimalMark(cells: string[]): DecimalMark {
  const hasCommas = cells.some((cell) => COMMA_EVIDENCE.test(cell));
  return hasCommas && !cells.some((cell) => POINT_EVIDENCE.test(cell)) ? "," : ".";
}

/**
 * Returns the number in a cell, or null if it is not a number. Numbers are integers and decimals, with or without
 * thousands separators, negative numbers (`-5`, `−5`), percentages (12.5% is 0.125 shown as 12.5%) and amounts with a
 * currency sign ($1,234.50 or 12 €). The format shows separators, decimals and signs as in the text, so that `1.10`
 * or a 13-digit article number looks the same. Not numbers: a leading zero (00123), a plus (+49 …), several points
 * (1.2.3), dates, times, ranges, phone numbers with separators, exponents (1E5), and more than 15 significant digits
 * (card numbers), which would lose digits.
 */
export function readNumber(text: string, decimalMark: DecimalMark): ReadNumber | null {
  const affixes = AFFIXES.exec(text)?.groups;
  if (affixes === undefined) return null;
  const { sign = "", prefix = "", digits = "", suffix = "" } = affixes;
  if (prefix.trim() !== "" && suffix.trim() !== "") return null;
  if (prefix.trim() === "" && prefix !== "") return null;
  const form = FORMS[decimalMark].exec(digits)?.groups;
  if (form === undefined) return null;
  const { whole = "", decimals = "" } = form;
  const wholeDigits = whole.replaceAll(/\D/g, "");
  if (`${wholeDigits}${decimals}`.replace(/^0+/, "").length > MAX_SIGNIFICANT_DIGITS) return null;

  const isPercentage = suffix.endsWith("%");
  const isGrouped = whole.length > wholeDigits.length;
  const format = `${isGrouped ? "#,##0" : "0"}${decimals === "" ? "" : `.${"0".repeat(decimals.length)}`}`;
  const after = isPercentage ? "%" : quote(suffix);
  return {
    // The exponent makes 33.3% exactly 0.333; a division by 100 would leave 0.33299999999999996.
    value: Number(`${sign === "" ? "" : "-"}${wholeDigits}.${decimals}e${isPercentage ? -2 : 0}`),
    numFmt: `${quote(prefix)}${format}${after}`,
  };
}

/** Returns a literal of a number format. The text has only spaces and currency signs. */
function quote(literal: string): string {
  return literal === "" ? "" : `"${literal}"`;
}
