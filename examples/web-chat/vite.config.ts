import { defaultClientConditions, type InlineConfig, type ProxyOptions } from "vite";

/** The page, with the routes of a server of agents behind it: one origin, so that nothing has to be allowed. */
const config = (agents: string): InlineConfig => {
  const proxy = { "/agents": proxyTo(agents), "/sessions": proxyTo(agents) };
  return {
    root: import.meta.dirname,
    configFile: false,
    logLevel: "warn",
    // The sources of this repository. Leave it out where the packages are installed.
    resolve: { conditions: ["@moora/source", ...defaultClientConditions] },
    oxc: { jsx: { runtime: "automatic" } },
    server: { host: "127.0.0.1", proxy },
    preview: { host: "127.0.0.1", proxy },
    build: { target: "es2023" },
  };
};

/** Ends the response of a page when the server behind it ends in the middle of it: otherwise the page waits for more. */
const proxyTo = (target: string): ProxyOptions => ({
  target,
  configure(proxy) {
    proxy.on("proxyRes", (upstream, _request, response) => {
      upstream.once("close", () => void (upstream.complete || response.destroy()));
    });
  },
});

export default config;
