import type { TagColor } from "@svc/contracts";

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
