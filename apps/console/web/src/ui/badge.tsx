import { Globe, Mail, MessageCircle, Phone, Send } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import type { ChannelDescriptor, TagColor } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { createStore, useStore } from "./create-store.ts";

/** Hue and chroma of each color in OKLCH. Lightness, which determines the contrast, is the same for all. */
const COLORS: Record<TagColor, readonly [hue: number, chroma: number]> = {
  gray: [270, 0.008],
  red: [25, 1],
  orange: [55, 1],
  yellow: [95, 1],
  green: [150, 1],
  teal: [195, 1],
  blue: [255, 1],
  purple: [305, 1],
  pink: [350, 1],
};

/** A tag of a ticket, in its color; neutral if it is not managed. */
export function TagChip({
  name,
  color,
  className = "",
}: {
  name: string;
  color: TagColor | undefined;
  className?: string;
}) {
  const [hue, chroma] = COLORS[color ?? "gray"];
  return (
    <span
      dir="auto"
      style={
        color === undefined
          ? {}
          : {
              backgroundColor: `light-dark(oklch(0.92 ${0.06 * chroma} ${hue}), oklch(0.36 ${0.07 * chroma} ${hue}))`,
              color: `light-dark(oklch(0.36 ${0.1 * chroma} ${hue}), oklch(0.93 ${0.05 * chroma} ${hue}))`,
            }
      }
      className={`inline-block max-w-full truncate rounded bg-sunken px-1.5 text-2xs font-medium text-muted ${className}`}
    >
      #{name}
    </span>
  );
}

const TONES = {
  plain: "bg-sunken text-muted",
  accent: "bg-accent-soft text-accent",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
} as const;
export type Tone = keyof typeof TONES;

/** A short label for a state. */
export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex h-5 max-w-full shrink-0 items-center gap-1 truncate rounded px-1.5 text-2xs font-semibold ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}

/** Returns a hue that depends only on the name. */
function hueOf(name: string): number {
  let sum = 0;
  for (const char of name) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 360;
  return sum;
}

function initialsOf(name: string): string {
  const words = name.split(/[\s._@-]+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const letters = words.slice(0, 2).map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0));
  return (letters.join("") || "?").toUpperCase();
}

const AVATAR_SIZES = { small: "size-5 text-[0.5625rem]", normal: "size-7 text-2xs", large: "size-9 text-xs" } as const;

/** Initials in a circle; the name is shown next to it, or given by `label`. */
export function Avatar({
  name,
  size = "normal",
  label,
}: {
  name: string;
  size?: keyof typeof AVATAR_SIZES;
  label?: string;
}) {
  const hue = hueOf(name);
  return (
    <span
      role={label === undefined ? undefined : "img"}
      aria-label={label}
      aria-hidden={label === undefined}
      title={label}
      style={{
        backgroundColor: `light-dark(oklch(0.92 0.045 ${hue}), oklch(0.36 0.06 ${hue}))`,
        color: `light-dark(oklch(0.38 0.1 ${hue}), oklch(0.92 0.05 ${hue}))`,
      }}
      // Not as text, because a screen reader reads the name.
      data-initials={initialsOf(name)}
      className={`inline-flex shrink-0 items-center justify-center rounded-full font-semibold before:content-[attr(data-initials)] ${AVATAR_SIZES[size]}`}
    />
  );
}

/** A dot at the corner of an element with unread items; the element's name contains that too. */
export const UnreadDot = () => (
  <span
    aria-hidden
    className="pointer-events-none absolute top-1 right-1 size-2 rounded-full bg-accent ring-2 ring-page"
  />
);

/** Icons of channels, by the names in their descriptors. */
export const CHANNEL_ICONS = {
  globe: Globe,
  mail: Mail,
  "message-circle": MessageCircle,
  phone: Phone,
  send: Send,
} as const satisfies Record<ChannelDescriptor["icon"], LucideIcon>;

const TICK_MS = 30_000;
const now = createStore(Date.now());
let followers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** A shared clock for all ages; it runs while any component uses it. */
const clock = {
  ...now,
  subscribe(listener: () => void) {
    followers += 1;
    if (followers === 1) timer = setInterval(() => now.set(Date.now()), TICK_MS);
    const end = now.subscribe(listener);
    return () => {
      end();
      followers -= 1;
      if (followers === 0) clearInterval(timer);
    };
  },
};

/** The time in milliseconds, updated twice a minute. */
export const useNow = (): number => useStore(clock);

/**
 * The age of an event as briefly as possible; `as` selects the form within a sentence, or the start time. The exact
 * time is the tooltip.
 */
export function Ago({
  time,
  as = "ago",
  className,
}: {
  time: string;
  as?: "ago" | "past" | "since";
  className?: string;
}) {
  const texts = useTexts();
  const nowMs = useNow();
  return (
    <time dateTime={time} title={texts.dateTime(time)} className={className}>
      {texts[as](time, nowMs)}
    </time>
  );
}
