/** A text item as positioned by pdfjs. */
interface PdfItem {
  str: string;
  /** Its matrix; the last two numbers are its origin, from the lower left corner. */
  transform: readonly number[];
  width: number;
  hasEOL: boolean;
}

/** A line of a page. Lengths are in points. */
export interface PdfLine {
  text: string;
  /** The same text, split at gaps as wide as those between table columns. */
  cells: string[];
  left: number;
  right: number;
  /** Position of the baseline, from the bottom of the page. */
  y: number;
  /** Font size. */
  size: number;
}

/** In font sizes: a narrower gap is not a space, and a wider one than the next separates columns. */
const SPACE = 0.15;
const COLUMN_GAP = 1.5;

/** In font sizes: maximum distance of superscripts and subscripts from their line. */
const LINE_SHIFT = 0.5;

/** Combines text items, in the order of the page's content stream, into lines. */
export function createLineBuilder(): { add(item: PdfItem): void; end(): PdfLine[] } {
  const lines: PdfLine[] = [];
  let line: PdfLine | null = null;
  let sizes = new Map<number, number>();

  function finish(): void {
    if (line === null) return;
    const cells = line.cells.map(tidyCell).filter((cell) => cell !== "");
    const [size] = [...sizes.entries()].toSorted((one, other) => other[1] - one[1])[0] ?? [line.size];
    if (cells.length > 0) lines.push({ ...line, cells, text: cells.join(" "), size });
    line = null;
    sizes = new Map();
  }

  return {
    add(item) {
      const [, , skew = 0, scale = 0, left = 0, y = 0] = item.transform;
      const size = Math.round(Math.hypot(skew, scale) * 10) / 10;
      if (item.str !== "") {
        const isBlank = item.str.trim() === "";
        const height = Math.max(size, line?.size ?? 0);
        const isNext =
          line !== null &&
          !isBlank &&
          (Math.abs(line.y - y) > height * LINE_SHIFT ||
            left < line.right - height * 2 - (line.right - line.left) * 0.5);
        if (isNext) finish();
        if (line === null) {
          if (!isBlank) line = { text: "", cells: [item.str], left, right: left + item.width, y, size };
        } else {
          const gap = left - line.right;
          if (isBlank && item.width > size * COLUMN_GAP) line.cells.push("");
          else if (!isBlank && gap > size * COLUMN_GAP) line.cells.push(item.str);
          else line.cells.push(`${line.cells.pop() ?? ""}${gap > size * SPACE ? " " : ""}${item.str}`);
          line.right = Math.max(line.right, left + item.width);
        }
        if (!isBlank) sizes.set(size, (sizes.get(size) ?? 0) + item.str.length);
      }
      if (item.hasEOL) finish();
    },
    end() {
      finish();
      return lines;
    },
  };
}

/** Spacing accents that older TeX writes before their letter, and the combining ones that follow it. */
const ACCENTS: Readonly<Record<string, string>> = {
  "¨": "\u0308",
  "´": "\u0301",
  ˆ: "\u0302",
  "˜": "\u0303",
  ˇ: "\u030c",
};

function tidyCell(cell: string): string {
  return cell
    .replace(/([¨´ˆ˜ˇ]) ?([a-z])/gi, (_, accent: string, letter: string) => `${letter}${ACCENTS[accent] ?? ""}`)
    .normalize("NFC")
    .replace(/\s+/g, " ")
    .trim();
}
