/** Formatting of a part of a text (https://core.telegram.org/bots/api#messageentity). Offsets are UTF-16 units. */
export interface TelegramEntity {
  type: string;
  offset: number;
  length: number;
  /** Target of a `text_link`. */
  url?: string;
  /** Language of a `pre`. */
  language?: string;
}

/** A text without its markup, and its entities. */
export interface TelegramText {
  text: string;
  entities: TelegramEntity[];
}

/** A start tag that is not closed yet. */
interface OpenTag {
  name: string;
  argument: string;
  /** Offset of its text. */
  offset: number;
}

const TYPE_OF_TAG: Readonly<Record<string, string>> = {
  a: "text_link",
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  u: "underline",
  ins: "underline",
  "tg-spoiler": "spoiler",
  "tg-emoji": "custom_emoji",
  "tg-time": "date_time",
  span: "spoiler",
  pre: "pre",
  code: "code",
  blockquote: "blockquote",
};

const NAMED_CHARACTERS: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

/** The relevant attribute by tag. */
const MEANINGFUL_ATTRIBUTE: Readonly<Record<string, string>> = {
  a: "href",
  code: "class",
  span: "class",
  "tg-emoji": "emoji-id",
  "tg-time": "format",
  blockquote: "expandable",
};

const CHARACTER_REFERENCE = /&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z]+));?/iy;
// Only ASCII white space counts here: other spaces are part of a name.
const START_TAG_NAME = /[^ \t\r\n\v>]*/y;
const ATTRIBUTE_NAME = /[^ \t\r\n\v=>/"']*/y;
const NAME_TOKEN = /[a-z0-9.-]*/iy;
const SPACE = /[ \t\r\n\v]*/y;
/** Telegram ignores longer references. */
const REFERENCE_MAX_LENGTH = 10;
const LAST_CHARACTER = 0x10ffff;

/**
 * Reads a text of `parse_mode` HTML as strictly as Telegram does: its tags alone, closed in their order, every `<` the
 * beginning of one. Tags that stand in each other where they must not are dropped there without a word, and so here.
 * Own code after the rules of https://core.telegram.org/bots/api#html-style.
 *
 * @throws Error whose message is what Telegram says after "can't parse entities: ".
 */
export function parseTelegramHtml(html: string): TelegramText {
  const open: OpenTag[] = [];
  const entities: TelegramEntity[] = [];
  let text = "";
  let position = 0;
  const byteOffset = (at: number) => Buffer.byteLength(html.slice(0, at));

  /** Consumes and returns a match at the current position. */
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = position;
    const found = pattern.exec(html)?.[0] ?? "";
    position += found.length;
    return found;
  };

  /**
   * Consumes and returns the character of a reference at the current position; null if Telegram does not support it.
   */
  const takeReference = (): string | null => {
    CHARACTER_REFERENCE.lastIndex = position;
    const found = CHARACTER_REFERENCE.exec(html);
    if (found === null) return null;
    const character = characterOf(found);
    if (character !== null) position += found[0].length;
    return character;
  };

  function takeStartTag(): void {
    const begin = position++;
    const name = take(START_TAG_NAME).toLowerCase();
    if (position >= html.length) throw new Error(`Unclosed start tag at byte offset ${byteOffset(begin)}`);
    if (!Object.hasOwn(TYPE_OF_TAG, name)) {
      throw new Error(`Unsupported start tag "${name}" at byte offset ${byteOffset(begin)}`);
    }
    let argument = "";
    for (;;) {
      take(SPACE);
      if (html[position] === ">") break;
      const attribute = take(ATTRIBUTE_NAME);
      if (attribute === "") {
        throw new Error(
          position < html.length
            ? `Empty attribute name in the tag "${name}" at byte offset ${byteOffset(begin)}`
            : `Unclosed start tag "${name}" at byte offset ${byteOffset(begin)}`,
        );
      }
      take(SPACE);
      const value = html[position] === "=" ? takeValue(begin) : "";
      if (position >= html.length) throw new Error(`Unclosed start tag "${name}" at byte offset ${byteOffset(begin)}`);
      if (MEANINGFUL_ATTRIBUTE[name] === attribute) argument = argumentOf(name, value);
    }
    position++;
    if (name === "span" && argument !== "spoiler") {
      throw new Error(`Tag "span" must have class "tg-spoiler" at byte offset ${byteOffset(begin)}`);
    }
    open.push({ name, argument, offset: text.length });
  }

  function takeValue(begin: number): string {
    position++;
    take(SPACE);
    const quote = html[position];
    if (quote !== '"' && quote !== "'") {
      const tokenBegin = position;
      const token = take(NAME_TOKEN);
      if (position < html.length && !/[ \t\r\n\v>]/.test(html[position] ?? "")) {
        throw new Error(`Unexpected end of name token at byte offset ${byteOffset(tokenBegin)}`);
      }
      return token.toLowerCase();
    }
    position++;
    let value = "";
    while (position < html.length && html[position] !== quote) {
      const character = html[position] === "&" ? takeReference() : null;
      value += character ?? html[position++];
    }
    if (position >= html.length) throw new Error(`Unclosed start tag at byte offset ${byteOffset(begin)}`);
    position++;
    return value;
  }

  function takeEndTag(): void {
    const begin = position;
    position += 2;
    const tag = open.at(-1);
    if (tag === undefined) throw new Error(`Unexpected end tag at byte offset ${byteOffset(begin)}`);
    const name = take(START_TAG_NAME).toLowerCase();
    take(SPACE);
    if (html[position] !== ">") throw new Error(`Unclosed end tag at byte offset ${byteOffset(begin)}`);
    if (name !== "" && name !== tag.name) {
      const where = `Unmatched end tag at byte offset ${byteOffset(begin)}`;
      throw new Error(`${where}, expected "</${tag.name}>", found "</${name}>"`);
    }
    position++;
    open.pop();
    if (text.length > tag.offset) addEntity(tag, text.length - tag.offset);
  }

  function addEntity({ name, argument, offset }: OpenTag, length: number): void {
    const before = entities.at(-1);
    const isAroundSame = before?.offset === offset && before.length === length;
    if (name === "pre" && isAroundSame && before.type === "code" && before.language !== undefined) {
      before.type = "pre";
      return;
    }
    if (name === "code" && isAroundSame && before.type === "pre" && argument !== "") {
      before.language = argument;
      return;
    }
    if (name === "tg-emoji" && !/^[1-9]\d*$/.test(argument)) {
      throw new Error("Invalid custom emoji identifier specified");
    }
    const url = name === "a" ? argument || text.slice(offset) : "";
    // A link without a valid target is shown as text.
    if (name === "a" && !/^(?:[a-z][a-z\d+.-]*:)?[^\s:]+/i.test(url)) return;
    entities.push({
      type: name === "blockquote" && argument !== "" ? "expandable_blockquote" : (TYPE_OF_TAG[name] ?? name),
      offset,
      length,
      ...(name === "a" ? { url } : {}),
      ...(name === "code" && argument !== "" ? { language: argument } : {}),
    });
  }

  while (position < html.length) {
    const character = html[position];
    if (character === "<") {
      if (html[position + 1] === "/") takeEndTag();
      else takeStartTag();
    } else {
      text += (character === "&" ? takeReference() : null) ?? html[position++];
    }
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) {
    throw new Error(`Can't find end tag corresponding to start tag "${unclosed.name}"`);
  }
  if (!text.isWellFormed()) {
    throw new Error(
      "Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units",
    );
  }
  for (const entity of entities) if (entity.type === "code") delete entity.language;
  return { text, entities: entities.toSorted((one, other) => one.offset - other.offset || other.length - one.length) };
}

function characterOf([whole, hex, decimal, name]: RegExpExecArray): string | null {
  if (name !== undefined) return NAMED_CHARACTERS[name] ?? null;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  const length = whole.endsWith(";") ? whole.length - 1 : whole.length;
  if (code === 0 || code >= LAST_CHARACTER || length >= REFERENCE_MAX_LENGTH) return null;
  return String.fromCodePoint(code);
}

const ARGUMENT_OF: Readonly<Record<string, (value: string) => string>> = {
  code: (value) => (value.startsWith("language-") ? value.slice("language-".length) : ""),
  span: (value) => (value.startsWith("tg-") ? value.slice("tg-".length) : ""),
  blockquote: () => "expandable",
};

const argumentOf = (name: string, value: string): string => (ARGUMENT_OF[name] ?? ((same) => same))(value);
