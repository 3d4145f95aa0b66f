import { format, isDateFormat } from "numfmt";

/**
 * Formats that Excel has built in (ECMA-376 part 1, section 18.8.30). Those that it shows by the reader's country stand
 * here in a way that is the same in every country.
 */
const BUILT_IN: Readonly<Record<number, string>> = {
  0: "General",
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  9: "0%",
  10: "0.00%",
  11: "0.00E+00",
  12: "# ?/?",
  13: "# ??/??",
  14: "yyyy-mm-dd",
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm AM/PM",
  19: "h:mm:ss AM/PM",
  20: "h:mm",
  21: "h:mm:ss",
  22: "yyyy-mm-dd h:mm",
  37: "#,##0;(#,##0)",
  38: "#,##0;(#,##0)",
  39: "#,##0.00;(#,##0.00)",
  40: "#,##0.00;(#,##0.00)",
  45: "mm:ss",
  46: "[h]:mm:ss",
  47: "mm:ss.0",
  48: "##0.0E+0",
  49: "@",
};

/** Days between the two ways in which Excel counts dates. */
const DAYS_TO_1904 = 1462;

/** A number as Excel shows it in a cell with this format (a code, or the id of one that is built in). */
export function formatCell(value: number, numberFormat: string | number, options: { is1904: boolean }): string {
  const code = typeof numberFormat === "string" ? numberFormat : (BUILT_IN[numberFormat] ?? "General");
  try {
    const days = options.is1904 && isDateFormat(code) ? value + DAYS_TO_1904 : value;
    const shown = format(code, days, { throws: true }).trim();
    // A format may hide a value (as ;;; does) or have no room for it; the value itself is better than nothing.
    return shown === "" || /^#+$/.test(shown) ? String(value) : shown;
  } catch {
    // A code that is no format shows nothing useful in Excel either.
    return String(value);
  }
}
