import type { KeyItem, ProjectItem } from "@svc/contracts";
import type { ApiAnswer } from "./api-answer.ts";

/** Body of an administration response with one object. */
interface ItemBody<Item> {
  ok?: boolean;
  item: Item;
}

/** Body of an administration response with a list. */
interface ListBody<Item> {
  ok?: boolean;
  items: Item[];
  nextCursor: string | null;
}

/** Returns the key of a response, with the secret if it was just created. */
export const keyOf = (answer: ApiAnswer) => (answer.body as ItemBody<KeyItem & { key?: string }>).item;

/** Returns the project of a response. */
export const projectOf = (answer: ApiAnswer) => (answer.body as ItemBody<ProjectItem>).item;

/** Return the list of a response. */
export const keysOf = (answer: ApiAnswer) => answer.body as ListBody<KeyItem>;
export const projectsOf = (answer: ApiAnswer) => answer.body as ListBody<ProjectItem>;
