/* SPDX-License-Identifier: Apache-2.0 */
/* A hundred names that would run, restyle or break a page that took them for anything but text. */
const CALL = 'globalThis.hit=1';
const TAGS = [
  'img src=x',
  'svg',
  'video src=x',
  'audio src=x',
  'body',
  'iframe',
  'object data=x',
  'input autofocus',
  'details open',
  'marquee',
  'style',
  'link rel=stylesheet href=x',
  'math',
  'embed src=x',
  'source',
];
const HANDLERS = ['onerror', 'onload', 'onfocus', 'ontoggle', 'onmouseover'];
const WHOLE = [
  `<script>${CALL}</script>`,
  `</script><script>${CALL}</script>`,
  `<ScRiPt>${CALL}</sCrIpT>`,
  `<script src=data:text/javascript,${CALL}>`,
  `"><script>${CALL}</script>`,
  `'><script>${CALL}</script>`,
  `</title><script>${CALL}</script>`,
  `</textarea><script>${CALL}</script>`,
  `<!--<script>${CALL}</script>-->`,
  `<![CDATA[<script>${CALL}</script>]]>`,
  `<a href="javascript:${CALL}">x</a>`,
  `javascript:${CALL}`,
  `data:text/html,<script>${CALL}</script>`,
  `{{constructor.constructor('${CALL}')()}}`,
  '${globalThis.hit=1}',
  `<iframe srcdoc="<script>parent.hit=1</script>">`,
  `<base href="https://evil.example/">`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<form action="https://evil.example/"><input type=submit>`,
  `<style>*{display:none}</style>`,
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
];

export function payloads() {
  const made = TAGS.flatMap((tag) => HANDLERS.map((handler) => `<${tag} ${handler}=${CALL}>`));
  return [...WHOLE, ...made, '\u202e<b>gpj.exe', ' ', '\u0000<b>', '%00<b>', '&lt;b&gt;', `'"--></style><b>`].slice(
    0,
    105,
  );
}
