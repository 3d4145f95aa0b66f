import type { Bot, Entity } from "./update-schema.ts";

/** A text with what is marked in it. */
export interface MarkedText {
  text: string;
  entities: readonly Entity[];
}

/** The part of the text that an entity marks; null where it lies outside, or covers nothing. */
function markedPart(text: string, { offset, length }: Entity): string | null {
  if (offset < 0 || length <= 0 || offset + length > text.length) return null;
  return text.slice(offset, offset + length);
}

/** True for a part that speaks to the bot: its name, a mention of it, or a command with its name behind. */
function namesBot(text: string, entity: Entity, bot: Bot): boolean {
  if (entity.type === "text_mention") return entity.user?.id === bot.id;
  if (bot.username === undefined) return false;
  const part = markedPart(text, entity)?.toLowerCase();
  const name = `@${bot.username.toLowerCase()}`;
  if (entity.type === "mention") return part === name;
  return entity.type === "bot_command" && part?.endsWith(name) === true;
}

/** True when a text speaks to the bot. */
export function mentionsBot({ text, entities }: MarkedText, bot: Bot): boolean {
  return entities.some((entity) => namesBot(text, entity, bot));
}

/** Which command a text begins with, without slash and bot; null when it begins with none, or with another bot's. */
export function readCommand({ text, entities }: MarkedText, bot: Bot): string | null {
  const entity = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  const part = entity === undefined ? null : markedPart(text, entity);
  if (part === null) return null;
  const [name = "", to] = part.slice(1).toLowerCase().split("@");
  return to === undefined || to === bot.username?.toLowerCase() ? name : null;
}

/**
 * A text as plain text in which nothing is lost: the address of a link stands behind its words. The bot's own name is left
 * out, since it says nothing of what is asked.
 */
export function plainText({ text, entities }: MarkedText, bot: Bot): string {
  const changes = entities.flatMap((entity) => {
    const part = markedPart(text, entity);
    if (part === null) return [];
    const { offset, length } = entity;
    if (entity.type === "text_link" && entity.url !== undefined && !part.includes(entity.url)) {
      return [{ from: offset + length, to: offset + length, by: ` (${entity.url})` }];
    }
    const isName = entity.type === "mention" || entity.type === "text_mention";
    return isName && namesBot(text, entity, bot) ? [{ from: offset, to: offset + length, by: "" }] : [];
  });
  changes.sort((one, other) => one.from - other.from || one.to - other.to);
  let result = "";
  let at = 0;
  for (const { from, to, by } of changes) {
    // Entities may overlap; what is gone already is not cut out twice.
    if (from < at) continue;
    result += text.slice(at, from) + by;
    at = to;
  }
  return (result + text.slice(at)).trim();
}
