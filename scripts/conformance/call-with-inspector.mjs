// The Inspector's command line as a client: what people try a server with first.
const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";
const TOOL = "svc_search_kb";

/** Lists the tools and calls one; true when both come out right. */
export async function callWithInspector(runPackages, url, key) {
  const ask = async (...args) => {
    const target = ["--cli", url, "--transport", "http", "--header", `X-Api-Key: ${key}`];
    const { code, output } = await runPackages([INSPECTOR], ["mcp-inspector", ...target, ...args]);
    if (code !== 0) throw new Error(`the Inspector ended with ${code}: ${output}`);
    return JSON.parse(output);
  };
  const { tools } = await ask("--method", "tools/list");
  const query = "query=How do I send a message?";
  const { structuredContent } = await ask("--method", "tools/call", "--tool-name", TOOL, "--tool-arg", query);
  const isRight = tools.some(({ name }) => name === TOOL) && structuredContent.hits.length > 0;
  console.log(
    `Inspector ${INSPECTOR}: ${tools.length} tools; ${TOOL} found ${structuredContent.hits.length} passages.\n`,
  );
  return isRight;
}
