/** Compares the values on a page with actual ones, and maps ids on the page to actual ids. */
export interface DocComparison {
  /**
   * Returns the differences between the actual value and the one on the page, each with its location; empty if there
   * are none.
   */
  compare(shown: unknown, actual: unknown): string[];
  /** Returns a text of the page with its ids replaced by actual ones. */
  translate(text: string): string;
}

/** Patterns of values that differ between runs. */
const VARYING = {
  id: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
  time: /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g,
  seconds: /\b1[789]\d{8}\b/g,
  keyPrefix: /\bsvc_[0-9A-Za-z]{4}\b/g,
  left: /\br=\d+;t=\d+/g,
};
/** Fields with measured numbers. */
const MEASURED = ["ms", "durationMs", "score", "confidence"];
/** Fields with times that are recorded asynchronously: null until then. */
const RECORDED_LATER = ["lastUsedAt"];
/** Marks the end of a truncated example. */
const CUT = "…";

/**
 * Creates a comparison for the examples of one page, in their order. Names and types of all fields must match, and
 * every value except times, durations and ids: an id that occurs twice must be the same one twice. A text that ends
 * with “…” is compared as a prefix. `measured` names further fields whose numbers differ between runs.
 */
export function createDocComparison(measured: readonly string[] = []): DocComparison {
  const known = new Map<string, string>();
  const varies = new Set([...MEASURED, ...measured]);

  function compareText(shown: string, actual: string, position: string, found: Map<string, string>): string[] {
    const differs = [`${position}: ${JSON.stringify(actual)} where the page shows ${JSON.stringify(shown)}`];
    if (shown.endsWith(CUT)) return actual.startsWith(shown.slice(0, -1).trimEnd()) ? [] : differs;
    if (skeletonOf(shown) !== skeletonOf(actual)) return differs;
    const actualIds = actual.match(VARYING.id) ?? [];
    return (shown.match(VARYING.id) ?? []).flatMap((id, index) => {
      const actualId = actualIds[index] ?? "";
      const before = known.get(id) ?? found.get(id);
      found.set(id, actualId);
      return before === undefined || before === actualId
        ? []
        : [`${position}: ${id} stood for ${before}, not ${actualId}`];
    });
  }

  function compareValue(shown: unknown, actual: unknown, position: string, found: Map<string, string>): string[] {
    if (typeof shown === "string" && typeof actual === "string") return compareText(shown, actual, position, found);
    if (Array.isArray(shown) && Array.isArray(actual)) {
      if (shown.length !== actual.length)
        return [`${position}: ${actual.length} elements where it has ${shown.length}`];
      return shown.flatMap((element, index) => compareValue(element, actual[index], `${position}/${index}`, found));
    }
    if (isRecord(shown) && isRecord(actual)) {
      const names = [...new Set([...Object.keys(shown), ...Object.keys(actual)])];
      return names.flatMap((name) => {
        if (!(name in actual)) return [`${position}/${name}: is not there`];
        if (!(name in shown)) return [`${position}/${name}: is there and not on the page`];
        if (RECORDED_LATER.includes(name) && [shown[name], actual[name]].every(isTimeOrNull)) return [];
        if (name === "id" && [shown[name], actual[name]].every(Number.isInteger)) return [];
        if (varies.has(name) && typeof shown[name] === typeof actual[name]) return [];
        return compareValue(shown[name], actual[name], `${position}/${name}`, found);
      });
    }
    return Object.is(shown, actual)
      ? []
      : [`${position}: ${JSON.stringify(actual)} where it has ${JSON.stringify(shown)}`];
  }

  return {
    compare(shown, actual) {
      const found = new Map<string, string>();
      const differences = compareValue(shown, actual, "", found);
      if (differences.length === 0) for (const [id, actualId] of found) known.set(id, actualId);
      return differences;
    },
    translate: (text) => text.replaceAll(VARYING.id, (id) => known.get(id) ?? id),
  };
}

function skeletonOf(text: string): string {
  return Object.entries(VARYING).reduce((rest, [what, pattern]) => rest.replaceAll(pattern, `<${what}>`), text);
}

const isTimeOrNull = (value: unknown) =>
  value === null || (typeof value === "string" && skeletonOf(value) === "<time>");

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
