// `npm run size -- --code [--list]`: metrics of the source: lines and files, import cycles, functions, and the number of
// short files with a single importer. `--list` names the long functions and those files. Tests, generated files and data
// are excluded.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parse } from "@swc/core";
import { ROOT } from "./prepare.mjs";

/** The first line of a generated file names its source. */
const GENERATED = /\bGenerated from\b/;
const LONG_FUNCTION_LINES = 60;
const SHORT_FILE_LINES = 40;
const FUNCTIONS = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "ClassMethod",
  "MethodProperty",
]);

const isSource = (path) => /\.(?:ts|tsx|mjs)$/.test(path) && !/\.test\.tsx?$|\.d\.ts$|^tests\//.test(path);

/** Yields the nodes of a syntax tree, each before its descendants. */
function* nodesOf(value) {
  if (Array.isArray(value)) for (const item of value) yield* nodesOf(item);
  else if (value !== null && typeof value === "object") {
    if (typeof value.type === "string") yield value;
    for (const part of Object.values(value)) yield* nodesOf(part);
  }
}

/** Returns the relative imports of a file, types included, as paths of the repository. */
function importsOf(path, tree) {
  const names = [...nodesOf(tree)].flatMap((node) => {
    if (/^(?:ImportDeclaration|ExportNamedDeclaration|ExportAllDeclaration)$/.test(node.type))
      return [node.source?.value];
    const isDynamic = node.type === "CallExpression" && node.callee.type === "Import";
    return isDynamic ? [node.arguments[0]?.expression.value] : [];
  });
  const own = names.filter((name) => typeof name === "string" && name.startsWith("."));
  return [...new Set(own.map((name) => join(dirname(path), name)))];
}

/** Returns the number of lines of each function, including nested ones, and the line that it starts at. */
function functionLines(tree, bytes, start) {
  const countLines = (from, to) => bytes.subarray(from - start, to - start).filter((byte) => byte === 10).length + 1;
  const spans = [...nodesOf(tree)]
    .filter(({ type }) => FUNCTIONS.has(type))
    // A method has the span of its body in `function`.
    .map((node) => node.span ?? node.function?.span)
    .filter((span) => span !== undefined);
  return spans.map((span) => ({ count: countLines(span.start, span.end), line: countLines(start, span.start) }));
}

/** Returns import cycles (Tarjan's strongly connected components of more than one file). */
function findCircles(graph) {
  const circles = [];
  const numbers = new Map();
  const lows = new Map();
  const stack = [];
  const visit = (path) => {
    numbers.set(path, numbers.size);
    lows.set(path, numbers.get(path));
    stack.push(path);
    for (const target of graph.get(path) ?? []) {
      if (!numbers.has(target)) visit(target);
      if (stack.includes(target)) lows.set(path, Math.min(lows.get(path), lows.get(target)));
    }
    if (lows.get(path) !== numbers.get(path)) return;
    const circle = stack.splice(stack.indexOf(path));
    if (circle.length > 1) circles.push(circle);
  };
  for (const path of graph.keys()) if (!numbers.has(path)) visit(path);
  return circles;
}

/** Returns the metrics of the source files in git. */
export async function measureCode() {
  const tracked = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  const paths = tracked.filter((path) => isSource(path) && existsSync(join(ROOT, path)));
  const graph = new Map();
  const lines = new Map();
  const functions = [];
  const generated = [];
  for (const path of paths) {
    const bytes = readFileSync(join(ROOT, path));
    if (GENERATED.test(bytes.toString("utf8").split("\n", 1)[0])) {
      generated.push(path);
      continue;
    }
    lines.set(path, bytes.filter((byte) => byte === 10).length);
    const options = path.endsWith(".mjs")
      ? { syntax: "ecmascript" }
      : { syntax: "typescript", tsx: path.endsWith("x") };
    // Positions are cumulative within a process; parsing one line returns the current offset.
    const { span } = await parse(";", { syntax: "ecmascript" });
    const tree = await parse(bytes.toString("utf8"), { ...options, target: "es2023" });
    graph.set(path, importsOf(path, tree));
    functions.push(...functionLines(tree, bytes, span.end + 1).map((one) => ({ path, ...one })));
  }
  const importers = new Map();
  for (const targets of graph.values())
    for (const target of targets) importers.set(target, (importers.get(target) ?? 0) + 1);
  const lone = paths.filter(
    (path) => importers.get(path) === 1 && lines.get(path) <= SHORT_FILE_LINES && basename(path) !== "index.ts",
  );
  const known = new Map([...graph].map(([path, targets]) => [path, targets.filter((target) => graph.has(target))]));
  return {
    files: lines.size,
    generated,
    lines: [...lines.values()].reduce((sum, count) => sum + count, 0),
    circles: findCircles(known),
    functions: functions.length,
    meanFunctionLines: functions.reduce((sum, { count }) => sum + count, 0) / functions.length,
    longFunctions: functions.filter(({ count }) => count > LONG_FUNCTION_LINES),
    loneShortFiles: lone,
  };
}

/** Prints the metrics, and the files of each cycle; `list` also prints the long functions and the short files. */
export async function printCodeSize(list) {
  const found = await measureCode();
  console.log(`${found.lines.toLocaleString("en")} lines of source in ${found.files.toLocaleString("en")} files`);
  console.log(
    `  not counted: tests, data, and ${found.generated.length} generated files (${found.generated.join(", ")})`,
  );
  console.log(`${found.circles.length} circles of imports (with types)`);
  for (const circle of found.circles) console.log(`  ${circle.join(" → ")}`);
  console.log(`${found.functions} functions of ${found.meanFunctionLines.toFixed(1)} lines on average`);
  console.log(`${found.longFunctions.length} functions of more than ${LONG_FUNCTION_LINES} lines`);
  for (const { path, line, count } of list ? found.longFunctions : [])
    console.log(`  ${path}:${line} (${count} lines)`);
  console.log(`${found.loneShortFiles.length} files of up to ${SHORT_FILE_LINES} lines with a single importer`);
  for (const path of list ? found.loneShortFiles : []) console.log(`  ${path}`);
}
