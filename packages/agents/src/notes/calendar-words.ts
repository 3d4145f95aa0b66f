const known = new Map<string, ReadonlySet<string>>();

/** The names of days and months in a language (ISO 639-1), in lower case, as they stand alone and in a date. */
export function calendarWords(language: string): ReadonlySet<string> {
  const found = known.get(language) ?? readCalendar(language);
  known.set(language, found);
  return found;
}

function readCalendar(language: string): ReadonlySet<string> {
  const formats = [{ weekday: "long" }, { month: "long" }, { month: "long", day: "numeric" }] as const;
  // Every day of a year whose months and weekdays all come up.
  const days = Array.from({ length: 84 }, (_, index) => new Date(Date.UTC(2026, 0, 1 + index * 4)));
  const names = formats.flatMap((format) => {
    const written = new Intl.DateTimeFormat(language, { ...format, timeZone: "UTC" });
    return days.flatMap((day) =>
      written.formatToParts(day).flatMap(({ type, value }) => (type === "weekday" || type === "month" ? [value] : [])),
    );
  });
  return new Set(names.map((name) => name.toLowerCase()));
}
