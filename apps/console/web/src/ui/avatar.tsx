/** A hue that is always the same for the same name. */
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

const SIZES = { small: "size-5 text-[0.5625rem]", normal: "size-7 text-2xs", large: "size-9 text-xs" } as const;

/** Initials in a circle; the name is told beside it, or by `label`. */
export function Avatar({ name, size = "normal", label }: { name: string; size?: keyof typeof SIZES; label?: string }) {
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
      // Not as text: whoever hears the page is told the name.
      data-initials={initialsOf(name)}
      className={`inline-flex shrink-0 items-center justify-center rounded-full font-semibold before:content-[attr(data-initials)] ${SIZES[size]}`}
    />
  );
}
