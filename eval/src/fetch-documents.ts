// Fetches the documents of the sets in eval/public, of which the repository has the questions only.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { repositoryPath } from "@svc/testing";
import type { Evaluation } from "./read-set.ts";

/** A source.json: the fields of a set.json (eval/src/read-questions.ts), and the source of the documents. */
interface PublicSet {
  name: string;
  pages: number;
  /** The set is only for evaluation: no weight is fitted on it. */
  heldOut?: boolean;
  source: Source;
}

/** A commit of a git repository, or a version of a Debian or npm package, with the folders and files of pages. */
interface Source {
  git?: string;
  commit?: string;
  debian?: string;
  npm?: string;
  version?: string;
  folder?: string;
  paths?: string[];
  endings: string[];
}

/**
 * Writes each set of eval/public as a folder for `readQuestionSets`, held-out ones below `held-out`, and returns the
 * number of pages of each. Existing sets are unchanged.
 */
export function fetchDocuments(folder: string): Evaluation {
  const sets = repositoryPath("eval/public");
  const scores: Record<string, number | string> = {};
  for (const name of readdirSync(sets).sort()) {
    const set = JSON.parse(readFileSync(join(sets, name, "source.json"), "utf8")) as PublicSet;
    const target = join(folder, set.heldOut === true ? "held-out" : "", name);
    if (!existsSync(target)) fetchSet(set, join(sets, name), target);
    const pages = listFiles(join(target, "docs")).length;
    scores[name] = pages === set.pages ? pages : `${pages}, not ${set.pages}`;
  }
  return { predictions: [], scores };
}

function fetchSet({ source }: PublicSet, from: string, target: string) {
  mkdirSync(dirname(target), { recursive: true });
  const work = mkdtempSync(join(dirname(target), ".fetch-"));
  try {
    const root = join(unpack(source, work), source.folder ?? "");
    for (const path of listFiles(root)) {
      const isTaken = source.paths?.some((taken) => path.startsWith(`${taken}/`)) ?? true;
      const isPage = source.endings.some((ending) => path.endsWith(ending));
      if (isTaken && isPage) cpSync(join(root, path), join(work, "set/docs", path));
    }
    cpSync(join(from, "questions.jsonl"), join(work, "set/questions.jsonl"));
    cpSync(join(from, "source.json"), join(work, "set/set.json"));
    renameSync(join(work, "set"), target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => lstatSync(join(folder, path)).isFile());

/** Unpacks a source below `work`, and returns the folder. */
function unpack({ git, commit, debian, npm, version, paths = [""], endings }: Source, work: string): string {
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  if (debian !== undefined) {
    run("apt-get", "download", "--quiet", `${debian}=${version}`);
    run("dpkg-deb", "--extract", readdirSync(work)[0] ?? "", "tree");
  } else if (npm !== undefined) {
    run("tar", "-xzf", run("npm", "pack", "--silent", `${npm}@${version}`).trim());
    renameSync(join(work, "package"), join(work, "tree"));
  } else {
    const inTree = (...args: string[]) => run("git", "-C", "tree", ...args);
    run("git", "init", "--quiet", "tree");
    inTree("remote", "add", "origin", git ?? "");
    const patterns = paths.flatMap((path) => endings.map((ending) => join("/", path, `**/*${ending}`)));
    inTree("sparse-checkout", "set", "--no-cone", ...patterns);
    inTree("fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", commit ?? "");
    inTree("checkout", "--quiet", "FETCH_HEAD");
  }
  return join(work, "tree");
}
