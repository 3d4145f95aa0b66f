import { projectNameSchema } from "@svc/contracts";

/** The addresses of the console's pages, as their router has them: what begins with `$` stands for anything. */
export const PAGE_PATHS: readonly string[] = [
  "/",
  "/sign-in",
  "/link",
  "/$project",
  "/$project/start",
  "/$project/inbox/$view",
  "/$project/inbox/$view/$ticketId",
  "/$project/knowledge",
  "/$project/knowledge/gaps",
  "/$project/knowledge/proposals",
  "/$project/knowledge/$kbId",
  "/$project/agents",
  "/$project/agents/$agentId",
  "/$project/integrations",
  "/$project/integrations/$integration",
  "/$project/administration",
  "/$project/administration/$section",
  "/$project/overview",
];

const partsOf = (path: string) => path.split("/").filter((part) => part !== "");
const PAGES = PAGE_PATHS.map(partsOf);

const fits = (wanted: string, part: string) =>
  wanted === "$project" ? projectNameSchema.safeParse(part).success : wanted.startsWith("$") || wanted === part;

/**
 * True when there is a page at this path. A path of one part that could be a project's name is one only for whoever asks
 * for a page (`wantsPage`): a program that looks for `/metrics` here is to learn that there is none.
 */
export function isPagePath(path: string, wantsPage: boolean): boolean {
  const parts = partsOf(path);
  return PAGES.some((page) => {
    if (page.length !== parts.length) return false;
    const isProjectAlone = page.length === 1 && page[0] === "$project";
    return (wantsPage || !isProjectAlone) && page.every((wanted, index) => fits(wanted, parts[index] ?? ""));
  });
}
