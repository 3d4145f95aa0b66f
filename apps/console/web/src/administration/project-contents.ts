import { queryOptions } from "@tanstack/react-query";
import { ServiceError } from "@svc/client";
import type { ProjectItem } from "@svc/contracts";
import type { Connection } from "../api/connection.ts";
import type { TextKey } from "../i18n/texts.ts";

/** What a project can contain, as the server names it. */
const CONTENTS: readonly (readonly [name: string, label: TextKey])[] = [
  ["agents", "nav.agents"],
  ["knowledge bases", "knowledge.bases"],
  ["documents", "knowledge.documentsTab"],
  ["tickets", "inbox.list"],
  ["API keys", "administration.keys"],
  ["hooks", "projects.hooks"],
  ["gaps", "knowledge.gaps"],
  ["proposals", "knowledge.proposals"],
  ["canned replies", "administration.canned"],
];

/**
 * Returns what the server says a project contains ("…: agents: 1, tickets: 4. To confirm, send …"); its text if that names
 * something else.
 */
export function contentsOf(detail: string): { label: TextKey; count: number }[] | string {
  const contents = CONTENTS.flatMap(([name, label]) => {
    const count = new RegExp(`\\b${name}: (\\d+)`, "u").exec(detail)?.[1];
    return count === undefined ? [] : [{ label, count: Number(count) }];
  });
  return contents.length === 0 && !detail.includes("It is empty.") ? detail : contents;
}

/**
 * What would be deleted with a project. An empty confirmation never matches a project's name, so the server refuses the call
 * and names the counts.
 */
export const projectContentsQuery = (connection: Connection, { id, version }: Pick<ProjectItem, "id" | "version">) =>
  queryOptions({
    queryKey: ["project-contents", id],
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
    queryFn: async () => {
      try {
        await connection.call("deleteProject", null, { params: { id }, body: { confirm: "" }, ifMatch: version });
      } catch (cause) {
        const isUnconfirmed =
          cause instanceof ServiceError && cause.errors.some(({ code }) => code === "not_confirmed");
        if (!isUnconfirmed) throw cause;
        return contentsOf(cause.detail);
      }
      return [];
    },
  });
