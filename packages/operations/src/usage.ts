import { USAGE_LIMITS, checkInput, invalidInput, usageInputSchema } from "@svc/contracts";
import type { UsageDay, UsageInput } from "@svc/contracts";
import type { Store } from "@svc/store";
import { operation } from "./operation.ts";

async function readUsage(store: Store, input: UsageInput): Promise<{ from: string; to: string; items: UsageDay[] }> {
  const { from, to, project: name } = checkInput(usageInputSchema(new Date()), input, "The query");
  const project = name === undefined ? null : await store.projects.findByName(name);
  if (name !== undefined && project === null) {
    throw invalidInput([{ pointer: "/project", code: "unknown", detail: `is not a project: ${name}` }], "The query");
  }
  const query = { from, to, project: project?.id ?? null, limit: USAGE_LIMITS.maxRows };
  return { from, to, items: await store.quotas.listDays(query) };
}

/**
 * Returns the daily usage of all projects or of one, newest day first. Throws invalid_request for an unknown project.
 */
export const getUsage = operation("getUsage", ({ store }: { store: Store }, _principal, input: UsageInput) =>
  readUsage(store, input),
);

const COLUMNS = [
  "day",
  "project",
  "projectId",
  "messages",
  "documents",
  "storedBytes",
  "sockets",
  "modelTokens",
] as const satisfies readonly (keyof UsageDay)[];

/**
 * Returns the same as CSV (RFC 4180). No value needs quotes: names of projects have only a-z, 0-9 and -. Throws like
 * `getUsage`.
 */
export const exportUsage = operation(
  "exportUsage",
  async ({ store }: { store: Store }, _principal, input: UsageInput) => {
    const { from, to, items } = await readUsage(store, input);
    const rows = [COLUMNS, ...items.map((item) => COLUMNS.map((column) => item[column]))];
    const content = Buffer.from(rows.map((row) => `${row.join(",")}\r\n`).join(""));
    return { filename: `usage-${from}-${to}.csv`, content };
  },
);
