import type { ProjectItem } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { Field, TextArea } from "../ui/field.tsx";
import { CheckBox, Switch } from "../ui/choice-fields.tsx";

type BusinessHours = ProjectItem["businessHours"];

/** Days of the week, each with a Monday-based date from which `Intl` gets its name. */
const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
/** 2024-01-01 was a Monday. */
const dateOf = (index: number) => new Date(Date.UTC(2024, 0, 1 + index));
const REPLY_TIME_MAX_MINUTES = 40_320;

/** Text fields for a project's business hours and reply time. */
export type HoursFields = Record<(typeof DAYS)[number] | "timeZone" | "holidays" | "replyTimeMinutes", string>;

/** Returns the texts of the fields; without business hours, all except the reply time are empty. */
export function hoursFieldsOf(item: ProjectItem | null): HoursFields {
  const hours = item?.businessHours ?? null;
  const week = Object.fromEntries(
    DAYS.map((day) => [day, (hours?.week[day] ?? []).map((period) => period.join("–")).join(", ")]),
  ) as Record<(typeof DAYS)[number], string>;
  return {
    ...week,
    timeZone: hours?.timeZone ?? "",
    holidays: (hours?.holidays ?? []).map(({ date, name = "" }) => `${date} ${name}`.trim()).join("\n"),
    replyTimeMinutes: item?.replyTimeMinutes?.toString() ?? "",
  };
}

const partsOf = (text: string, separator: RegExp) =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");

const PRIORITIES = ["urgent", "high", "normal", "low"] as const;
const TARGETS = ["firstReplyMinutes", "nextReplyMinutes", "resolutionMinutes"] as const;
type SlaTargets = ProjectItem["slaTargets"];
type SlaName = `${(typeof PRIORITIES)[number]} ${(typeof TARGETS)[number]}`;
const SLA_MAX_MINUTES = 129_600;

/** Text fields of the SLA targets for tickets of any channel. */
export type SlaFields = Record<SlaName, string>;

/** Returns the texts of the fields: the effective targets for each priority on channels without their own. */
export function slaFieldsOf(targets: SlaTargets): SlaFields {
  const entries = PRIORITIES.flatMap((priority) => {
    const target = targets.find((one) => one.channelId === undefined && (one.priority ?? priority) === priority);
    return TARGETS.map((name) => [`${priority} ${name}`, target?.[name]?.toString() ?? ""]);
  });
  return Object.fromEntries(entries) as SlaFields;
}

/** Returns the targets of the fields, after those of single channels, which have no fields. */
export function slaTargetsOf(fields: SlaFields, before: SlaTargets): SlaTargets {
  const own = PRIORITIES.flatMap((priority) => {
    const given = TARGETS.flatMap((name) => {
      const typed = fields[`${priority} ${name}`];
      return typed === "" ? [] : [[name, Number(typed)]];
    });
    return given.length === 0 ? [] : [{ priority, ...(Object.fromEntries(given) as SlaTargets[number]) }];
  });
  return [...before.filter(({ channelId }) => channelId !== undefined), ...own];
}

/** SLA targets of each priority. */
export function SlaFieldset({
  field,
}: {
  field: (name: SlaName) => { value: string; onChange: (value: string) => void };
}) {
  const { t } = useTexts();
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-semibold">{t("projects.sla")}</legend>
      <div className="flex flex-col gap-4">
        {PRIORITIES.map((priority) => (
          <div key={priority} className="grid gap-4 sm:grid-cols-3">
            {TARGETS.map((name) => (
              <Field
                key={name}
                label={t("projects.slaField", { target: t(`projects.${name}`), priority: t(`priority.${priority}`) })}
                type="number"
                inputMode="numeric"
                min={1}
                max={SLA_MAX_MINUTES}
                step={1}
                {...field(`${priority} ${name}`)}
              />
            ))}
          </div>
        ))}
      </div>
      <p className="mt-2 text-xs text-muted">{t("projects.slaHint")}</p>
    </fieldset>
  );
}

/** Parses a period such as `9:00–17:00`; the server checks the times. */
function periodOf(text: string): [string, string] {
  const [from = "", to = ""] = partsOf(text, /[-–—]/u).map((time) => time.padStart(5, "0"));
  return [from, to];
}

/** Returns the business hours of the fields; null without a time zone. */
export function hoursOf(fields: HoursFields): BusinessHours {
  const timeZone = fields.timeZone.trim();
  if (timeZone === "") return null;
  const week = Object.fromEntries(DAYS.map((day) => [day, partsOf(fields[day], /,/u).map(periodOf)]));
  const holidays = partsOf(fields.holidays, /\n/u).map((line) => {
    const [date = "", ...words] = line.split(/\s+/u);
    return words.length === 0 ? { date } : { date, name: words.join(" ") };
  });
  return { timeZone, week, holidays };
}

type HoursField = (name: keyof HoursFields) => { value: string; onChange: (value: string) => void };

/** The hours of each day of the week, and the holidays. */
function WeekFields({ field }: { field: HoursField }) {
  const { t, language } = useTexts();
  const dayName = new Intl.DateTimeFormat(language, { weekday: "long", timeZone: "UTC" });
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        {DAYS.map((day, index) => (
          <Field
            key={day}
            label={dayName.format(dateOf(index))}
            placeholder={t("projects.closed")}
            {...field(day)}
            pointer={`/businessHours/week/${day}`}
          />
        ))}
      </div>
      <p className="text-xs text-muted">{t("projects.hoursHint")}</p>
      <TextArea
        label={t("projects.holidays")}
        hint={t("projects.holidaysHint")}
        rows={3}
        {...field("holidays")}
        pointer="/businessHours/holidays"
      />
    </>
  );
}

/** States whether a project has business hours, and opens their settings. */
export function HoursButton({
  hours,
  describedBy,
  onClick,
}: {
  hours: BusinessHours;
  /** The id of the element with the project's name. */
  describedBy: string;
  onClick: () => void;
}) {
  const { t } = useTexts();
  return (
    <button
      type="button"
      aria-describedby={describedBy}
      onClick={onClick}
      className="rounded-sm font-medium text-accent hover:underline"
    >
      {hours === null ? t("projects.noHours") : t("projects.hoursIn", { timeZone: hours.timeZone })}
    </button>
  );
}

/** Business hours of a project's team, and its usual reply time. `isFirst`: a dialog focuses them first. */
export function HoursFieldset({ field, isOpen, isFirst }: { field: HoursField; isOpen: boolean; isFirst: boolean }) {
  const { t } = useTexts();
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-semibold">{t("projects.hours")}</legend>
      <div className="flex flex-col gap-4">
        <Field
          label={t("projects.timeZone")}
          hint={t("projects.timeZoneHint")}
          list="time-zones"
          placeholder="Europe/Berlin"
          data-autofocus={isFirst ? "" : undefined}
          {...field("timeZone")}
          pointer="/businessHours/timeZone"
        />
        <datalist id="time-zones">
          {Intl.supportedValuesOf("timeZone").map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {isOpen && <WeekFields field={field} />}
        <Field
          label={t("projects.replyTime")}
          hint={t("projects.replyTimeHint")}
          type="number"
          inputMode="numeric"
          min={1}
          max={REPLY_TIME_MAX_MINUTES}
          step={1}
          {...field("replyTimeMinutes")}
        />
      </div>
    </fieldset>
  );
}

type ReplyEmails = ProjectItem["replyEmails"];
/** Recipients of replies by email; null for none. */
type Recipients = NonNullable<ReplyEmails>["recipients"] | null;

const DELAY_MAX_MINUTES = 1_440;

/** Returns the setting for the values of the fields. */
export const replyEmailsOf = (recipients: Recipients, delay: string): ReplyEmails =>
  recipients === null ? null : { recipients, delayMinutes: Number(delay) };

/** Whether customers who have left get replies by email, the delay, and the allowed addresses. */
export function ReplyEmailFields({
  chosen,
  onChange,
  delay,
}: {
  chosen: Recipients;
  onChange: (recipients: Recipients) => void;
  delay: { value: string; onChange: (value: string) => void };
}) {
  const { t } = useTexts();
  return (
    <fieldset className="flex flex-col gap-3">
      <Switch
        label={t("projects.replyEmails")}
        hint={t("projects.replyEmailsHint")}
        isOn={chosen !== null}
        onChange={(isOn) => onChange(isOn ? "all" : null)}
      />
      {chosen !== null && (
        <>
          <Field
            label={t("projects.replyEmailMinutes")}
            className="max-w-xs"
            type="number"
            inputMode="numeric"
            required
            min={1}
            max={DELAY_MAX_MINUTES}
            step={1}
            {...delay}
          />
          <CheckBox
            label={t("projects.replyEmailVerified")}
            hint={t("projects.replyEmailVerifiedHint")}
            isOn={chosen === "verified"}
            onChange={(isOn) => onChange(isOn ? "verified" : "all")}
          />
        </>
      )}
    </fieldset>
  );
}
