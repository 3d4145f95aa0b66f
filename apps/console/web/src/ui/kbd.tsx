import { useTexts } from "../i18n/use-texts.ts";

const SIGNS: Record<string, string> = {
  Enter: "↵",
  Escape: "Esc",
  ArrowUp: "↑",
  ArrowDown: "↓",
  " ": "␣",
};

const isApple = () => /mac|iphone|ipad/i.test(navigator.userAgent);

/** A key as it is written on keyboards: `mod+k` is Ctrl K (German: Strg K), and ⌘ K on Apple's. */
function writeKey(key: string, ctrl: string): string[] {
  return key.split(/\+(?=.)/).map((part) => {
    if (part === "mod") return isApple() ? "⌘" : ctrl;
    if (part === "shift") return "⇧";
    return SIGNS[part] ?? part.toUpperCase();
  });
}

/** The keys of a command, for the eyes only: who hears the page reads them in the list of keys. */
export function Kbd({ keys, isOn = "surface" }: { keys: string; isOn?: "surface" | "accent" }) {
  const { t } = useTexts();
  const look = isOn === "accent" ? "border-on-accent/35 text-on-accent" : "border-line bg-page text-muted";
  return (
    <span aria-hidden className="ml-0.5 inline-flex gap-0.5 max-md:hidden">
      {keys.split(" ").flatMap((key) =>
        writeKey(key, t("keys.ctrl")).map((part) => (
          <kbd
            key={key + part}
            className={`inline-flex h-4.5 min-w-4.5 items-center justify-center rounded border px-1 font-sans text-2xs font-medium ${look}`}
          >
            {part}
          </kbd>
        )),
      )}
    </span>
  );
}
