import { readFileSync } from "node:fs";
import { repositoryPath } from "@svc/testing";

/** A fenced block of a page. */
export interface DocBlock {
  /** Language of the fence; empty if there is none. */
  language: string;
  text: string;
  /** Line of its opening fence, from 1. */
  line: number;
  /** Text between the previous block, or the beginning of the page, and this one. */
  before: string;
}

/** A page of the documentation. */
export interface DocPage {
  /** Path from the root of the repository: `docs/api.md`. */
  path: string;
  text: string;
  blocks: DocBlock[];
}

const FENCE = /^```(\S*)$/;

/** Reads a page with its fenced blocks, in order. Throws if a block is not closed. */
export function readDocPage(path: string): DocPage {
  const text = readFileSync(repositoryPath(path), "utf8");
  const blocks: DocBlock[] = [];
  let before: string[] = [];
  let open: { language: string; line: number; lines: string[] } | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    const language = FENCE.exec(line)?.[1];
    if (open === null && language !== undefined) open = { language, line: index + 1, lines: [] };
    else if (open === null) before.push(line);
    else if (line === "```") {
      const { lines, ...position } = open;
      blocks.push({ ...position, text: lines.join("\n"), before: before.join("\n").trim() });
      before = [];
      open = null;
    } else open.lines.push(line);
  }
  if (open !== null) throw new Error(`${path}:${open.line} opens a block that does not end.`);
  return { path, text, blocks };
}

/** Returns the only block of a page that begins with a comment with this file name, in any language. */
export function findDocFile({ path, blocks }: DocPage, fileName: string): string {
  const found = blocks.filter(({ text }) => text.split("\n", 2).some((line) => line.includes(`${fileName}: `)));
  const [block] = found;
  if (block === undefined || found.length > 1) throw new Error(`${path} has ${found.length} blocks for ${fileName}.`);
  return block.text;
}

/** Returns the rows of the page's table whose first column has this title, each cell without its backquotes. */
export function readDocTable({ path, text }: DocPage, firstTitle: string): string[][] {
  const lines = text.split("\n");
  const isHead = (index: number) => /^\| ?:?-/.test(lines[index + 1] ?? "");
  const begin = lines.findIndex((line, index) => cellsOf(line)[0] === firstTitle && isHead(index));
  if (begin < 0) throw new Error(`${path} has no table that begins with ${firstTitle}.`);
  const rest = lines.slice(begin + 2);
  const end = rest.findIndex((line) => !line.startsWith("|"));
  return rest.slice(0, end).map(cellsOf);
}

function cellsOf(line: string): string[] {
  if (!line.startsWith("|")) return [];
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("`", ""));
}
