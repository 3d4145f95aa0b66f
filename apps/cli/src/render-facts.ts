/** Facts with their names, the values below each other. Values of several lines keep their column. */
export function renderFacts(facts: readonly (readonly [name: string, value: string])[], indent = ""): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts
    .map(([name, value]) => {
      const [first = "", ...others] = value.split("\n");
      const margin = indent + " ".repeat(width + 2);
      return [`${indent}${name.padEnd(width)}  ${first}`, ...others.map((line) => margin + line)].join("\n");
    })
    .join("\n");
}
