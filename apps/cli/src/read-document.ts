import { readFile, stat } from "node:fs/promises";
import { extname, isAbsolute, relative, resolve, sep } from "node:path";
import { DOCUMENT_MAX_BYTES } from "@svc/knowledge";
import type { DocumentInput } from "@svc/knowledge";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";

const MIME_OF_EXTENSION: Readonly<Record<string, string>> = {
  ".md": "text/markdown",
  ".markdown": "text/markdown",
  ".txt": "text/plain",
  ".text": "text/plain",
};

const bad = (message: string, cause?: unknown) => new CliError("bad_file", EXIT.failed, message, { cause });

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  ENAMETOOLONG: "the name is too long",
  ENOTDIR: "there is no such file",
};

async function readBytes(path: string): Promise<Buffer> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw bad("it is a folder; name the files in it, for example folder/*.md");
    if (!found.isFile()) throw bad("it is not a regular file");
    if (found.size > DOCUMENT_MAX_BYTES) throw bad("it has more than 10 MB; split it");
    return await readFile(path);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
    const reason = typeof code === "string" ? READ_FAULTS[code] : undefined;
    throw reason === undefined ? error : bad(reason, error);
  }
}

/** The name under which a file is known: its path from the folder, with forward slashes; its full path if it lies outside. */
export function documentKeyOf(folder: string, file: string): string {
  const path = resolve(folder, file);
  const inside = relative(folder, path);
  const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return (isOutside ? path : inside).split(sep).join("/");
}

/**
 * Reads a Markdown or text file as a document. The file's path is its key, so that the same file added again replaces
 * itself. Throws CliError with the reason why it cannot be read.
 */
export async function readDocument(folder: string, file: string): Promise<DocumentInput> {
  const extension = extname(file).toLowerCase();
  const bytes = await readBytes(resolve(folder, file));
  const mime = MIME_OF_EXTENSION[extension];
  if (mime === undefined)
    throw bad(`only ${Object.keys(MIME_OF_EXTENSION).join(", ")} can be read; convert it to Markdown`);
  try {
    return { key: documentKeyOf(folder, file), mime, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw bad("it is not text in UTF-8; save it as UTF-8", error);
  }
}
