/* SPDX-License-Identifier: Apache-2.0 */
/* Runs before the first paint: theme, contrast and the height of rows, as chosen last time. */
(function () {
  var root = document.documentElement;
  var stored = null;
  try {
    stored = JSON.parse(localStorage.getItem('jviewd') || '{}');
  } catch (error) {
    stored = {};
  }
  var dark = stored.theme ? stored.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'dark' : 'light';
  root.dataset.rows = stored.rows || 'normal';
  root.dataset.contrast = stored.contrast || '';
})();
