import { cleanLine } from "./clean-text.ts";
import type { Content } from "./update-schema.ts";

const PART_CHARS = 300;
/** Options of a poll that are told; Telegram has no more. */
const MAX_OPTIONS = 12;

function line(kind: string, ...parts: (string | undefined)[]): string {
  const said = parts.map((part) => cleanLine(part ?? "", PART_CHARS)).filter((part) => part !== "");
  return said.length === 0 ? `[${kind}]` : `[${kind}: ${said.join(", ")}]`;
}

const nameOf = (first = "", last = "") => `${first} ${last}`.trim();
const placeOf = ({ latitude, longitude }: { latitude: number; longitude: number }) => `${latitude} ${longitude}`;

/** What else a message can be than text and files, as a line of text. The first that says something counts. */
const DESCRIPTIONS: readonly ((content: Content) => string | undefined)[] = [
  // A venue comes with its location besides.
  ({ venue }) => venue && line("Place", venue.title, venue.address, placeOf(venue.location)),
  ({ location }) => location && line("Location", placeOf(location)),
  ({ contact }) => contact && line("Contact", nameOf(contact.first_name, contact.last_name), contact.phone_number),
  ({ sticker }) => sticker && line("Sticker", sticker.emoji),
  ({ poll }) => poll && line("Poll", poll.question, ...poll.options.slice(0, MAX_OPTIONS).map(({ text }) => text)),
  ({ dice }) => dice && line("Dice", dice.emoji, dice.value?.toString()),
  ({ checklist }) => checklist && line("Checklist", checklist.title),
  ({ game }) => game && line("Game", game.title),
  ({ story }) => story && line("Story"),
  ({ paid_media: media }) => media && line("Paid media"),
];

/** A line for what a message carries beside text and files, such as `[Location: 48.1 11.5]`; null when there is nothing. */
export function describeContent(content: Content): string | null {
  for (const describe of DESCRIPTIONS) {
    const said = describe(content);
    if (said !== undefined) return said;
  }
  return null;
}
