// `npm run size`: what the widget's files weigh after `gzip -9`, beside other widgets. Fails above the budget, as the
// build does.
//   npm run size -- [--others] [--budget 30000] [--code [--list]]
// Builds the widget in memory and writes nothing. `--others` fetches the packages of the other widgets from the npm
// registry and weighs them again; else their figures are those of OTHERS. `--code`: the figures of the source instead.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { prepare } from "./prepare.mjs";

await prepare((line) => console.error(line));
if (process.argv.includes("--code")) {
  const { printCodeSize } = await import("./size-code.mjs");
  await printCodeSize(process.argv.includes("--list"));
  process.exit();
}
// Its dependencies are installed by now.
const { BUDGET, buildClient, checkBudget, sumSizes } = await import("../apps/widget/build-client.mjs");

/** Other widgets: the files of their npm packages that a page loads at least, and their sizes after `gzip -9`. */
const OTHERS = [
  { name: "deep-chat", spec: "deep-chat@2.4.2", files: ["dist/deepChat.bundle.js"], bytes: 111_242 },
  { name: "Typebot", spec: "@typebot.io/js@0.10.7", files: ["dist/web.js"], bytes: 197_512 },
  { name: "Botpress", spec: "@botpress/webchat@4.5.2", files: ["dist/index.js", "dist/style.css"], bytes: 244_039 },
  { name: "Flowise", spec: "flowise-embed@3.1.6", files: ["dist/web.js"], bytes: 285_664 },
  { name: "n8n chat", spec: "@n8n/chat@1.37.0", files: ["dist/chat.bundle.es.js"], bytes: 456_894 },
];

const { values } = parseArgs({
  options: { others: { type: "boolean", default: false }, budget: { type: "string" } },
});
const budget = { ...BUDGET, ...(values.budget !== undefined && { everything: Number(values.budget) }) };

/** Downloads a package from the npm registry, and measures its files. */
function weigh({ spec, files }) {
  const folder = mkdtempSync(join(tmpdir(), "svc-size-"));
  try {
    const archive = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", spec], { cwd: folder }).toString();
    execFileSync("tar", ["-xzf", archive.trim()], { cwd: folder });
    const zipped = files.map((file) => gzipSync(readFileSync(join(folder, "package", file)), { level: 9 }).length);
    return zipped.reduce((sum, bytes) => sum + bytes, 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function print(head, rows) {
  const cells = [head, ...rows.map(([what, bytes, ...more]) => [what, bytes.toLocaleString("en"), ...more])];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const line = (row) =>
    `| ${row.map((cell, column) => (column === 1 ? cell.padStart(widths[1]) : cell.padEnd(widths[column]))).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 1 ? `${"-".repeat(width - 1)}:` : "-".repeat(width))).join(" | ")} |`;
  process.stdout.write(`${[line(cells[0]), rule, ...cells.slice(1).map(line)].join("\n")}\n\n`);
}

const { sizes } = await buildClient();
const sums = sumSizes(sizes);
const { launcher, panel, polling } = sizes;
const languages = Object.entries(sums.locales).map(([name, bytes]) => [`language ${name}`, bytes, "one of these"]);
print(
  ["File", "gzipped", "Loaded"],
  [
    ["launcher", launcher, "with the page"],
    ...languages,
    ["conversation", panel, "at the first opening"],
    ...Object.entries(sums.parts).map(([name, bytes]) => [name, bytes, "when it is first shown; in no sum"]),
    ["over HTTP", polling, "where no WebSocket gets through; in no sum"],
  ],
);
const { withLargest } = sums;
print(
  ["Sum", "gzipped", "Budget"],
  [
    ["launcher, English", sums.launcher, budget.launcher.toLocaleString("en")],
    ["all together, English", sums.everything, budget.everything.toLocaleString("en")],
    [`all together, ${withLargest.language} (the largest)`, withLargest.everything, ""],
  ],
);
print(
  ["Widget", "gzipped", "Package"],
  [
    ["this one", sums.everything, ""],
    ...OTHERS.map((other) => [
      other.name,
      values.others ? weigh(other) : other.bytes,
      `${other.spec}: ${other.files.join(", ")}`,
    ]),
  ],
);
for (const error of checkBudget(sizes, budget)) {
  process.stderr.write(`${error}\n`);
  process.exitCode = 1;
}
