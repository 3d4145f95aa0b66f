/**
 * The backgrounds behind text in the accent's color: the darkest of the light theme and the lightest of the dark one.
 */
const GROUND = { light: "#eef1f4", dark: "#2b3038" } as const;

/** WCAG 2.2, 1.4.3: minimum contrast between text and background. */
const TEXT_CONTRAST = 4.5;

/** Colors derived from the accent, each `#rrggbb`. */
export interface AccentColors {
  /** Background of buttons and of the visitor's messages. */
  accent: string;
  /** Text on `accent`: white, or black if white would be unreadable. */
  onAccent: string;
  /** Links, icons and the focus ring, on each background of the light and of the dark theme. */
  inLight: string;
  inDark: string;
}

const channelsOf = (color: string) => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

/** Returns the relative luminance of `#rrggbb`, 0 to 1, as WCAG 2.2 defines it. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) =>
    channel / 255 <= 0.04045 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast of two colors `#rrggbb`, 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Returns the color closest to `color`, towards `end` (0 black, 255 white), that is readable on `ground`. */
function readableOn(ground: string, color: string, end: number): string {
  for (let part = 0; part < 1; part += 0.05) {
    const mixed = channelsOf(color)
      .map((channel) =>
        Math.round(channel + (end - channel) * part)
          .toString(16)
          .padStart(2, "0"),
      )
      .join("");
    if (contrastOf(`#${mixed}`, ground) >= TEXT_CONTRAST) return `#${mixed}`;
  }
  return end === 0 ? "#000000" : "#ffffff";
}

/** Returns the colors for an accent `#rrggbb`, each readable where it is used. Any other value counts as blue. */
export function accentColors(color: string): AccentColors {
  const accent = /^#[\da-f]{6}$/i.test(color) ? color : "#3366ff";
  return {
    accent,
    onAccent: contrastOf(accent, "#ffffff") >= TEXT_CONTRAST ? "#ffffff" : "#000000",
    inLight: readableOn(GROUND.light, accent, 0),
    inDark: readableOn(GROUND.dark, accent, 255),
  };
}
