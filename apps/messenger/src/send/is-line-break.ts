/** True for the one tag that answers have within lines, tables above all, for want of another way to break them. */
export const isLineBreak = (html: string): boolean => /^<br\s*\/?>$/i.test(html);
