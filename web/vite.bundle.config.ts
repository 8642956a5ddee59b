/* SPDX-License-Identifier: Apache-2.0 */
/* The page that stands alone: bundle.html with its script and style inside, and a policy that lets
 * nothing else run. The program puts a run's answers in front of the script. */
import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';
import { defineConfig } from 'vite';

const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/* What ends a script is no part of a script. */
const inside = (code: string): string => code.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');

function singleFile(): Plugin {
  return {
    name: 'single-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle['bundle.html'];
      if (page?.type !== 'asset') throw new Error('there is no bundle.html');
      let script = '';
      let style = '';
      for (const [name, one] of Object.entries(bundle)) {
        if (one === page) continue;
        if (one.type === 'chunk') script += inside(one.code);
        else if (name.endsWith('.css')) style += String(one.source);
        else throw new Error(`${name} does not fit into one file`);
        delete bundle[name];
      }
      const policy =
        `default-src 'none'; script-src ${sha256(script)}; style-src 'unsafe-inline'; img-src data:; ` +
        "base-uri 'none'; form-action 'none'";
      const bare = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, '')
        .replace(/\s*<link rel="stylesheet"[^>]*>/, '');
      page.source = bare
        .replace(
          '<meta charset="utf-8" />',
          () => `<meta charset="utf-8" />\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
        )
        .replace('</head>', () => `<style>${style}</style>\n  </head>`)
        .replace('</body>', () => `<!--answers-->\n    <script type="module">${script}</script>\n  </body>`);
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [singleFile()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: { input: 'bundle.html', output: { codeSplitting: false } },
  },
});
