/** State of a browser across sites: cookies by host, and the current URL. */
export interface BrowserSession {
  /** Visits a URL and follows redirects; returns the final page. */
  visit(url: string, form?: Record<string, string>): Promise<{ url: string; status: number; text: string }>;
  /** Returns the Cookie header for a site. */
  cookiesOf(url: string): string;
}

const MAX_STEPS = 20;

interface Cookie {
  name: string;
  value: string;
  isStrict: boolean;
}

/**
 * Returns a client that follows redirects with cookies like a browser: SameSite=Strict cookies are not sent to a page
 * reached from another site. Paths and lifetimes of cookies are not implemented.
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
