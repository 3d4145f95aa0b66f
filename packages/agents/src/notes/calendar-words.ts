/** What a word of the calendar names: a day of the week from 0, Sunday, or a month from 0, January. */
export interface CalendarWord {
  type: "weekday" | "month";
  number: number;
}

const known = new Map<string, ReadonlyMap<string, CalendarWord>>();

/** The names of days and months in a language (ISO 639-1), in lower case, as they stand alone and in a date. */
export function calendarWords(language: string): ReadonlyMap<string, CalendarWord> {
  const found = known.get(language) ?? readCalendar(language);
  known.set(language, found);
  return found;
}

function readCalendar(language: string): ReadonlyMap<string, CalendarWord> {
  const formats = [{ weekday: "long" }, { month: "long" }, { month: "long", day: "numeric" }] as const;
  // Every day of a year whose months and weekdays all come up.
  const days = Array.from({ length: 92 }, (_, index) => new Date(Date.UTC(2026, 0, 1 + index * 4)));
  return new Map(
    formats.flatMap((format) => {
      const written = new Intl.DateTimeFormat(language, { ...format, timeZone: "UTC" });
      return days.flatMap((day) =>
        written.formatToParts(day).flatMap(({ type, value }): [string, CalendarWord][] => {
          if (type !== "weekday" && type !== "month") return [];
          return [[value.toLowerCase(), { type, number: type === "month" ? day.getUTCMonth() : day.getUTCDay() }]];
        }),
      );
    }),
  );
}
