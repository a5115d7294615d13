// Builds the page into one file, dist/index.html: style and script are inline, nothing is fetched. The Content-Security-Policy of `acu serve` names
// the hashes of these two, so nothing else runs.
import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

// The number formats of the flame graph page are a script that is concatenated there; here it is a module.
const sharedUnits: Plugin = {
  name: "shared-units",
  enforce: "pre",
  transform: (code, id) => (id.endsWith("/page/units.js") ? code + "\nexport { timeText, bytesText, countText, signed, percent };\n" : null),
};

const oneFile: Plugin = {
  name: "one-file",
  enforce: "post",
  generateBundle(_, bundle) {
    const page = bundle["index.html"];
    if (!page || page.type !== "asset") throw new Error("no index.html in the bundle");
    let html = String(page.source).replace(/\n?\s*<(?:script\b[^>]*\bsrc=|link\b[^>]*\brel="stylesheet")[^>]*>(?:<\/script>)?/g, "");
    for (const [name, part] of Object.entries(bundle)) {
      if (part === page) continue;
      const isScript = part.type === "chunk";
      // A closing tag within the text would end the element.
      const text = isScript ? part.code.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--") : String(part.source);
      html = isScript ? html.replace("</body>", () => `<script type="module">${text}</script>\n</body>`) : html.replace("</head>", () => `<style>${text}</style>\n</head>`);
      delete bundle[name];
    }
    page.source = html;
  },
};

export default defineConfig({
  base: "./",
  // The folder of the flame graph page, whose number formats and colors are used here.
  resolve: { alias: { "@page": process.env.ACU_PAGE_SOURCES || resolve("../src/profile/page") } },
  plugins: [sharedUnits, oneFile],
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: { target: "es2022", cssCodeSplit: false, assetsInlineLimit: 1e6, modulePreload: false, outDir: "dist", emptyOutDir: true, reportCompressedSize: false },
  server: { fs: { allow: [".."] }, proxy: { "/api": "http://127.0.0.1:7070" } },
});
