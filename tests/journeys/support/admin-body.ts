import type { KeyItem, ProjectItem } from "@svc/contracts";
import type { ApiAnswer } from "./api-answer.ts";

/** What the administration answers with one object. */
interface ItemBody<Item> {
  ok?: boolean;
  item: Item;
}

/** What the administration answers with a list. */
interface ListBody<Item> {
  ok?: boolean;
  items: Item[];
  nextCursor: string | null;
}

/** The one key of an answer, with the key itself where it was just made. */
export const keyOf = (answer: ApiAnswer) => (answer.body as ItemBody<KeyItem & { key?: string }>).item;

/** The one project of an answer. */
export const projectOf = (answer: ApiAnswer) => (answer.body as ItemBody<ProjectItem>).item;

/** The list of an answer. */
export const keysOf = (answer: ApiAnswer) => answer.body as ListBody<KeyItem>;
export const projectsOf = (answer: ApiAnswer) => answer.body as ListBody<ProjectItem>;
