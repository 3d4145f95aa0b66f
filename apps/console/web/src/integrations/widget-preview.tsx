import { FileUp, MessageCircle, SendHorizontal, X } from "lucide-react";
import { useState, useSyncExternalStore } from "react";
import type { ChannelConfigs } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { ChoiceGroup } from "../ui/choice-fields.tsx";
import { previewTextsOf } from "./preview-texts.ts";

/** Format of the widget's `color` setting. */
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

/** Minimum contrast between text and background (WCAG 2.2, 1.4.3). */
const MIN_TEXT_CONTRAST = 4.5;

/** Returns the widget's text color on a background (`#rrggbb`): white, or black if white has too little contrast. */
const textColorOn = (background: string): string =>
  1.05 / (luminanceOf(background) + 0.05) >= MIN_TEXT_CONTRAST ? "#ffffff" : "#000000";

/** Colors of the widget's panel, the same as in its style sheet. */
const PANELS = {
  light: {
    background: "#ffffff",
    raised: "#eef1f4",
    text: "#1a1d21",
    soft: "#565d66",
    line: "#858c95",
    page: "#f4f5f7",
  },
  dark: {
    background: "#15181d",
    raised: "#2b3038",
    text: "#eef0f3",
    soft: "#b3bac4",
    line: "#7d8591",
    page: "#24272d",
  },
} as const;

const darkSystem = globalThis.matchMedia("(prefers-color-scheme: dark)");
const subscribe = (listener: () => void) => {
  darkSystem.addEventListener("change", listener);
  return () => darkSystem.removeEventListener("change", listener);
};

/** The suggested questions below the greeting, or bubbles of a conversation if there are none. */
function PreviewQuestions({
  questions,
  accent,
  line,
  raised,
}: {
  questions: readonly string[];
  accent: string;
  line: string;
  raised: string;
}) {
  if (questions.length === 0) {
    return (
      <>
        <span className="h-8 w-28 self-end rounded-2xl rounded-ee-md" style={{ backgroundColor: accent }} />
        <span className="h-12 w-40 rounded-2xl rounded-es-md" style={{ backgroundColor: raised }} />
      </>
    );
  }
  return (
    <span className="flex flex-wrap gap-1.5">
      {questions.map((question, index) => (
        <span
          key={index}
          dir="auto"
          className="max-w-full truncate rounded-full border px-2.5 py-1 text-xs"
          style={{ borderColor: line }}
        >
          {question}
        </span>
      ))}
    </span>
  );
}

/** The open panel of the widget. */
function PreviewPanel({
  config,
  title,
  variant: theme,
  accent,
  onAccent,
}: {
  config: ChannelConfigs["widget"];
  title: string;
  variant: keyof typeof PANELS;
  accent: string;
  onAccent: string;
}) {
  const defaults = previewTextsOf(config.locale);
  const greeting = config.greeting.trim() || overrideOf(config, "greeting") || defaults.greeting;
  const placeholder = overrideOf(config, "messagePlaceholder") || defaults.placeholder;
  const questions = config.languages[config.locale]?.questions ?? config.questions;
  const { background, line, raised, soft, text } = PANELS[theme];
  return (
    <div
      dir={defaults.dir}
      className="flex h-84 w-full max-w-72 flex-col overflow-hidden rounded-2xl border border-[#8885] text-[0.8125rem] leading-5 shadow-[0_8px_32px_#0003]"
      style={{ backgroundColor: background, color: text }}
    >
      <div
        className="flex items-center gap-2 px-4 py-3 font-semibold"
        style={{ backgroundColor: accent, color: onAccent }}
      >
        <span className="min-w-0 flex-1 truncate">{title}</span>
        <X className="size-4 shrink-0" />
      </div>
      <div className="flex min-h-0 flex-1 flex-col gap-2.5 overflow-hidden p-3.5">
        <span
          className="max-w-[88%] self-start rounded-2xl rounded-es-md px-3 py-2 wrap-anywhere whitespace-pre-line"
          style={{ backgroundColor: raised }}
        >
          {greeting}
        </span>
        <PreviewQuestions questions={questions} {...{ accent, line, raised }} />
      </div>
      <div className="m-2.5 flex items-center gap-2 rounded-2xl border px-3 py-2" style={{ borderColor: line }}>
        {config.features.upload && <FileUp className="size-4 shrink-0" style={{ color: soft }} />}
        <span className="min-w-0 flex-1 truncate" style={{ color: soft }}>
          {placeholder}
        </span>
        <span
          className="flex size-7 items-center justify-center rounded-full rtl:-scale-x-100"
          style={{ backgroundColor: accent, color: onAccent }}
        >
          <SendHorizontal className="size-3.5" />
        </span>
      </div>
    </div>
  );
}

/** Returns the text that overrides one of the widget's default texts, or undefined. */
function overrideOf({ strings }: ChannelConfigs["widget"], name: string): string | undefined {
  const text = strings[name];
  return typeof text === "string" ? text : undefined;
}

/**
 * Preview of the widget with these settings, saved or not, in the widget's colors and default texts. It is not
 * interactive; the demo page has the real widget.
 */
export function WidgetPreview({ config }: { config: ChannelConfigs["widget"] }) {
  const { t } = useTexts();
  const isSystemDark = useSyncExternalStore(subscribe, () => darkSystem.matches);
  const [systemTheme, setSystemTheme] = useState<"light" | "dark">(isSystemDark ? "dark" : "light");
  const defaults = previewTextsOf(config.locale);
  const title = config.title.trim() || overrideOf(config, "title") || defaults.title;
  const theme = config.theme === "auto" ? systemTheme : config.theme;
  const { line, page } = PANELS[theme];
  const accent = isColor(config.color) ? config.color : "#3366ff";
  const onAccent = textColorOn(accent);
  const side = config.position === "bottom-left" ? "items-start" : "items-end";
  return (
    <div>
      {config.theme === "auto" && (
        <ChoiceGroup
          label={t("widget.visitorSystem")}
          value={systemTheme}
          onChange={setSystemTheme}
          options={[
            { value: "light", label: t("widget.light") },
            { value: "dark", label: t("widget.dark") },
          ]}
          className="mb-3"
        />
      )}
      <div
        role="img"
        aria-label={t("widget.previewOf", { title })}
        className="overflow-hidden rounded-xl border border-line"
        style={{ backgroundColor: page }}
      >
        <div aria-hidden className="flex items-center gap-1.5 border-b border-black/10 px-3 py-2">
          {[0, 1, 2].map((dot) => (
            <span key={dot} className="size-2 rounded-full" style={{ backgroundColor: line, opacity: 0.5 }} />
          ))}
        </div>
        <div aria-hidden className={`flex flex-col gap-3 p-4 ${side}`}>
          <PreviewPanel config={config} title={title} variant={theme} accent={accent} onAccent={onAccent} />
          <span
            className="flex size-13 items-center justify-center rounded-full shadow-[0_4px_16px_#0004]"
            style={{ backgroundColor: accent, color: onAccent }}
          >
            <MessageCircle className="size-6" />
          </span>
        </div>
      </div>
    </div>
  );
}
