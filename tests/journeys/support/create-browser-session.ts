/** What a browser remembers while it goes from site to site: cookies by host, and where it is. */
export interface BrowserSession {
  /** Goes to an address, and on wherever it is sent, until a page answers; answers that page. */
  visit(url: string, form?: Record<string, string>): Promise<{ url: string; status: number; text: string }>;
  /** The cookies of a site, as they are sent to it. */
  cookiesOf(url: string): string;
}

const MAX_STEPS = 20;

interface Cookie {
  name: string;
  value: string;
  isStrict: boolean;
}

/**
 * Makes what follows redirects with cookies, as browsers do: strict ones do not come along to where another site sends
 * the browser. Paths and life times of cookies are left out.
 */
export function createBrowserSession(): BrowserSession {
  const jars = new Map<string, Map<string, Cookie>>();
  const hostOf = (url: string) => new URL(url).host;
  const jarOf = (url: string) => {
    const host = hostOf(url);
    const known = jars.get(host) ?? new Map<string, Cookie>();
    jars.set(host, known);
    return known;
  };
  const headerOf = (cookies: Cookie[]) => cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const cookiesOf = (url: string) => headerOf([...jarOf(url).values()]);
  const cookiesFrom = (origin: string, url: string) =>
    headerOf([...jarOf(url).values()].filter(({ isStrict }) => !isStrict || hostOf(origin) === hostOf(url)));

  return {
    cookiesOf,
    async visit(first, form) {
      let url = first;
      let body = form === undefined ? null : new URLSearchParams(form);
      for (let step = 0; step < MAX_STEPS; step++) {
        const answer = await fetch(url, {
          redirect: "manual",
          headers: { Cookie: cookiesFrom(first, url) },
          ...(body === null ? {} : { method: "POST", body }),
        });
        for (const cookie of answer.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
          if (value === "") jarOf(url).delete(name);
          else jarOf(url).set(name, { name, value, isStrict: /samesite=strict/i.test(cookie) });
        }
        const location = answer.headers.get("location");
        const text = await answer.text();
        if (location === null) return { url, status: answer.status, text };
        url = new URL(location, url).href;
        body = null;
      }
      throw new Error(`${first} sends browsers in circles`);
    },
  };
}
