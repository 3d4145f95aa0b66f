import type { TicketChange, TicketItem } from "@svc/contracts";

type Fields = Pick<TicketItem, "subject" | "priority" | "tags">;

/** What of subject, priority and tags has to change for `before` to become `after`: what is the same is left out. */
export function differenceOf(before: Fields, after: Fields): TicketChange {
  const hasSameTags =
    before.tags.length === after.tags.length && before.tags.every((tag, index) => tag === after.tags[index]);
  return {
    ...(before.subject === after.subject ? {} : { subject: after.subject }),
    ...(before.priority === after.priority ? {} : { priority: after.priority }),
    ...(hasSameTags ? {} : { tags: after.tags }),
  };
}

/** Of one change what another one is about, too. */
export const pickOf = (change: TicketChange, other: TicketChange): TicketChange =>
  Object.fromEntries(Object.entries(change).filter(([name]) => Object.hasOwn(other, name)));
