/** What `color` of the widget may be. */
const COLOR = /^#[0-9a-f]{6}$/i;

export const isColor = (text: string): boolean => COLOR.test(text);

/** Relative luminance of `#rrggbb`, 0 to 1, as WCAG 2.2 defines it. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** WCAG 2.2, 1.4.3: between a text and its ground. */
const TEXT_CONTRAST = 4.5;

/** The color of text on this ground (`#rrggbb`), as the widget chooses it: white, or black where white is hard to read. */
export const textColorOn = (ground: string): string =>
  1.05 / (luminanceOf(ground) + 0.05) >= TEXT_CONTRAST ? "#ffffff" : "#000000";
