/* SPDX-License-Identifier: Apache-2.0 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/* The settings must stand before the first paint, or a dark page flashes white; the CSP forbids
 * inline scripts. So they are a small classic script of their own, hashed like every other file. */
function settingsScript(): Plugin {
  const source = readFileSync(new URL('./src/settings.js', import.meta.url), 'utf8');
  const fileName = `assets/settings-${createHash('sha256').update(source).digest('hex').slice(0, 8)}.js`;

  return {
    name: 'settings-script',
    apply: 'build',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source });
    },
    transformIndexHtml: () => [{ tag: 'script', attrs: { src: `./${fileName}` }, injectTo: 'head' }],
  };
}

/* What comes later is one file without others of its own: nothing is to be loaded before it. */
function plainImports(): Plugin {
  return {
    name: 'plain-imports',
    apply: 'build',
    enforce: 'pre',
    load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load();' : undefined),
  };
}

export default defineConfig({
  base: './',
  plugins: [settingsScript(), plainImports()],
  build: { target: 'es2022', assetsDir: 'assets', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { fs: { allow: [fileURLToPath(new URL('..', import.meta.url))] } },
  test: {
    globals: true,
    dir: fileURLToPath(new URL('../tests/web', import.meta.url)),
    include: ['**/*.test.ts'],
  },
});
