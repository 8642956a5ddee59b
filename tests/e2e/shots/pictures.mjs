/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures of the documents: what each shows, and its numbered marks.
 *
 *   a mark    a CSS selector or text=...; its number stands behind the element's last line,
 *             or with ^ in front over its upper right corner
 *
 * `./dev shots --docs` takes them; docs.test.mjs finds each mark on the page, and in the text below the
 * picture a line for each.
 */
export const SIZE = { width: 1280, height: 720 };

export const PICTURES = {
  'first-profile.md': [
    {
      name: 'first-overview',
      query: '?run=step_1000',
      marks: ['.sentence', '.path-sentence', 'text=What to do first', 'text=of 5 steps'],
    },
    { name: 'first-source', query: '?run=step_1000&view=ops&by=source', marks: ['text=make_samples.py:54'] },
    { name: 'first-flame', query: '?run=step_1000&view=flame', marks: ['.sentence', '^label:has-text("by")'] },
    {
      name: 'first-timeline',
      query: '?run=step_1000&view=timeline',
      marks: ['text=critical path, step', 'text=kind of work', '^text=In view:'],
    },
    { name: 'first-why', query: '?run=step_1000&view=why', marks: ['.sentence', 'text=Drag the end of a bar'] },
    {
      name: 'first-compare',
      query: '?view=compare&a=step_500&b=step_1000',
      marks: ['.sentence', 'text=change (ms)', 'text=longer each time'],
    },
  ],
  'interface.md': [
    {
      name: 'page-runs',
      query: '',
      marks: ['.sentence', 'text=trend', '^text=Open a file…', '^[placeholder^="filter"]', 'text=step_1000 >> nth=-1'],
    },
    {
      name: 'page-ops',
      query: '?run=step_1000&view=ops&op=dot.43&in=jit_train_step',
      marks: ['.sentence', '.chip', '[role=columnheader]:has-text("share")', '.op-card h2'],
    },
    {
      name: 'page-tree',
      query: '?run=step_1000&view=ops&as=tree',
      marks: ['.sentence', 'text=No FLOPs of peak', 'label:has-text("by")', 'text=add_bitcast_fusion.1'],
    },
    {
      name: 'page-steps',
      query: '?run=step_1000&view=steps',
      marks: ['text=Steps: step annotations', 'text=ms a step', '[role=columnheader]:has-text("slower by")'],
    },
    {
      name: 'page-memory',
      query: '?run=step_1000&view=memory',
      marks: ['.sentence', 'text=static heap of a module', 'text=Alive at the peak'],
    },
    {
      name: 'page-graph',
      query: '?run=step_1000&view=hlo&module=jit_train_step&as=graph&name=dot.43',
      marks: ['.sentence', '^label:has-text("around")', 'text=64.0 ms', 'h2:has-text("dot.43")'],
    },
    {
      name: 'page-compiles',
      query: '?run=step_1500&view=compiles',
      marks: ['.sentence', 'text=what is around it', '[role=columnheader]:has-text("what changed")'],
    },
    {
      name: 'page-roofline',
      query: '?run=step_1000&view=roofline',
      marks: ['.sentence', 'text=FLOP/B, arithmetic', 'text=GFLOP/s >> nth=-1'],
    },
    {
      name: 'page-threads',
      query: '?run=step_1000&view=threads',
      marks: ['.sentence', '[role=columnheader]:has-text("longest slice")'],
    },
    {
      name: 'page-sql',
      query: '?run=step_1000&view=sql',
      marks: ['text=derived_slices', '^button:text-is("Run")', 'text=examples', 'text=Chart'],
    },
    {
      name: 'page-trend',
      query: '?view=trend',
      marks: ['.sentence', 'label:has-text("add")', '[role=columnheader]:has-text("noise from")'],
    },
  ],
};

/* Where a mark's element is; waits for it. */
export async function placeOf(page, mark) {
  const over = mark.startsWith('^');
  const element = page.locator(mark.replace(/^\^/, '')).first();
  await element.waitFor();
  return element.evaluate((node, above) => {
    const whole = node.getBoundingClientRect();
    if (above) return { x: whole.right - 22, y: whole.top - 2 };
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
    const last = boxes.at(-1) ?? whole;
    return {
      x: Math.max(...boxes.filter((box) => box.bottom > last.top + 2).map((box) => box.right)),
      y: last.top + last.height / 2,
    };
  }, over);
}

/* Draws the numbers over the page. */
export async function number(page, marks) {
  for (const [at, mark] of marks.entries()) {
    const place = await placeOf(page, mark);
    await page.evaluate(
      ({ x, y, text }) => {
        const dot = document.createElement('div');
        dot.textContent = text;
        Object.assign(dot.style, {
          position: 'fixed',
          left: `${Math.min(x + 8, innerWidth - 24)}px`,
          top: `${y - 10}px`,
          width: '20px',
          height: '20px',
          borderRadius: '10px',
          background: '#c2410c',
          color: '#fff',
          font: '600 13px/20px sans-serif',
          textAlign: 'center',
          zIndex: 1000,
        });
        document.body.append(dot);
      },
      { ...place, text: String(at + 1) },
    );
  }
}
