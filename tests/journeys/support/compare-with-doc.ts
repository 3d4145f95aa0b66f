/** Compares what a page shows with what is there, and remembers which real id stands for which shown one. */
export interface DocComparison {
  /** How the actual value differs from the shown one, each difference with its place; nothing when it does not. */
  compare(shown: unknown, actual: unknown): string[];
  /** A text of the page with the real ids in the place of the shown ones. */
  translate(text: string): string;
}

/** What differs from run to run. */
const VARYING = {
  id: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
  time: /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g,
  seconds: /\b1[789]\d{8}\b/g,
  keyPrefix: /\bsvc_[0-9A-Za-z]{4}\b/g,
  left: /\br=\d+;t=\d+/g,
};
/** Numbers that are measured. */
const MEASURED = ["ms", "durationMs", "score", "confidence"];
/** Times that are noted some moments after what they are times of: null until then. */
const NOTED_LATER = ["lastUsedAt"];
/** Ends what a page does not show to its end. */
const CUT = "…";

/**
 * Makes a comparison for the examples of one page, in their order. Names and types of all fields have to be the same,
 * and every value but times, durations and ids: an id that is shown twice has to be the same one twice. A text that
 * ends with “…” has to begin so. `measured` names further fields whose numbers differ
 * from run to run.
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
        if (NOTED_LATER.includes(name) && [shown[name], actual[name]].every(isTimeOrNull)) return [];
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
