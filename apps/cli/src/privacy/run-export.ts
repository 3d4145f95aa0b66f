import { resolve } from "node:path";
import { exportPersonalData } from "@svc/operations";
import type { PersonalData } from "@svc/operations";
import { errorCode } from "@svc/primitives";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { safeJson, safeLine } from "../safe-text.ts";
import { withResources } from "../with-resources.ts";
import { subjectOf } from "./privacy-options.ts";
import type { SubjectOptions } from "./privacy-options.ts";
import { writeNewFile } from "./write-new-file.ts";

/** What `privacy export` is told. */
export interface ExportOptions extends SubjectOptions {
  out?: string;
}

/** Writes an export to a file that must not be there yet; an export that breaks off leaves none. */
async function writeFile(cli: Cli, out: string, data: PersonalData): Promise<void> {
  try {
    await writeNewFile(resolve(cli.folder, out), data.itemJson);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "EEXIST") throw error;
    throw new CliError("bad_input", EXIT.failed, `${safeLine(out, 200)} already exists. Choose another file.`);
  }
}

async function readWhole(data: PersonalData): Promise<object> {
  let text = "";
  for await (const piece of data.itemJson) text += piece;
  return JSON.parse(text) as object;
}

/** `svc privacy export`: hands out all that a project holds of somebody, as one JSON document. */
export async function runExport(cli: Cli, options: ExportOptions): Promise<void> {
  const subject = subjectOf(options);
  const { project, out } = options;
  const item = await withResources(cli, {}, async ({ store }) => {
    const data = await exportPersonalData({ store }, await localPrincipal(store, project), subject);
    if (out === undefined) return readWhole(data);
    await writeFile(cli, out, data);
    return null;
  });
  cli.terminal.show({ ok: true, project, ...(item === null ? { out } : { item }) }, () =>
    item === null ? `Written to ${safeLine(out ?? "", 200)}` : safeJson(item),
  );
}
